"""Normalisation of arguments, sizes and JSON, under the names of zarr 2.18's module.

These are the functions that other packages import from there; zarrix itself imports them from their
own modules.
"""

from __future__ import annotations

import importlib
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._dtypes.v2 import normalize_fill_value
from zarrix._metadata.arguments import (
    normalize_chunks,
    normalize_dtype,
    normalize_order,
    normalize_resize_args,
    normalize_shape,
)
from zarrix._metadata.guess import chunks_of_bytes, guess_chunks, guess_shards
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._runtime.sizes import human_readable_size, parse_size, size_text
from zarrix._stores.path import normalize_dimension_separator, normalize_storage_path

if TYPE_CHECKING:
    from zarrix._display.info import InfoReporter as InfoReporter
    from zarrix._display.tree import TreeViewer as TreeViewer

__all__ = [
    "buffer_size",
    "chunks_of_bytes",
    "guess_chunks",
    "guess_shards",
    "human_readable_size",
    "is_total_slice",
    "json_dumps",
    "json_loads",
    "normalize_chunks",
    "normalize_dimension_separator",
    "normalize_dtype",
    "normalize_fill_value",
    "normalize_order",
    "normalize_resize_args",
    "normalize_shape",
    "normalize_storage_path",
    "parse_size",
    "size_text",
]


def is_total_slice(item: Any, shape: tuple[int, ...]) -> bool:
    """Whether ``item`` selects every element of an array of this shape.

    Parameters
    ----------
    item : slice, int, Ellipsis, or a tuple of these
    shape : tuple of int

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        ``item`` contains something else.

    Examples
    --------
    >>> from zarrix.util import is_total_slice
    >>> is_total_slice((slice(0, 3), Ellipsis), (3, 4)), is_total_slice(0, (3, 4))
    (True, False)
    """
    items = item if isinstance(item, tuple) else (item,)
    if not all(part is Ellipsis or isinstance(part, (slice, numbers.Integral)) for part in items):
        raise TypeError(f"expected slices, integers or Ellipsis, found {item!r}")
    explicit = len(items) - sum(part is Ellipsis for part in items)
    axis = 0
    for part in items:
        if part is Ellipsis:
            axis += len(shape) - explicit
            continue
        size = shape[axis]
        chosen = range(size)[part] if isinstance(part, slice) else None
        whole = chosen == range(size) if chosen is not None else part == 0 and size == 1
        if not whole:
            return False
        axis += 1
    return True


def buffer_size(value: Any) -> int:
    """Length in bytes of any object with a buffer, contiguous or not.

    Parameters
    ----------
    value : bytes-like or ndarray

    Returns
    -------
    int

    Raises
    ------
    TypeError
        ``value`` has no buffer.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.util import buffer_size
    >>> buffer_size(b"abc"), buffer_size(np.zeros((10, 4), "f8")[::2])
    (3, 160)
    """
    return int(value.nbytes) if isinstance(value, np.ndarray) else memoryview(value).nbytes


# Imported when they are first named: pickles of reports and trees name them.
_ON_DEMAND = {"InfoReporter": "zarrix._display.info", "TreeViewer": "zarrix._display.tree"}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
