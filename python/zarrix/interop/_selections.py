"""One selection of an ``AsyncArray`` of zarr-python, by its key and its kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from zarrix._selection.fancy import Indexer
from zarrix.interop import _keys as keys
from zarrix.interop._bound import Bound, bound_to
from zarrix.interop._calls import DECLINED, read_selected, write_selected

__all__ = ["KINDS", "plain_buffers", "read_key", "write_key"]


def plain_buffers() -> Callable[[Any], bool]:
    """A function that tells whether results are NumPy arrays for the ``prototype`` of a call."""
    config = importlib.import_module("zarr.core.config").config
    cpu = importlib.import_module("zarr.core.buffer.cpu")
    known = (cpu.Buffer, cpu.NDBuffer)

    def is_plain(prototype: Any) -> bool:
        if prototype is None:
            values = config.config
            return bool(
                values["ndbuffer"] == "zarr.buffer.cpu.NDBuffer"
                and values["buffer"] == "zarr.buffer.cpu.Buffer"
            )
        return bool((prototype.buffer, prototype.nd_buffer) == known)

    return is_plain


# One kind of selection: from a key and a `Bound` to what it selects.


def _basic(bound: Bound, key: Any, array: Any) -> Indexer | None:
    box = keys.basic(key, bound.shape)
    return None if box is None else Indexer(*box)


def _block(bound: Bound, key: Any, array: Any) -> Indexer | None:
    box = keys.block(key, bound.shape, array._chunk_grid._dimensions)
    return None if box is None else Indexer(*box)


def _orthogonal(bound: Bound, key: Any, array: Any) -> Indexer | None:
    return keys.orthogonal(key, bound.shape)


def _coordinate(bound: Bound, key: Any, array: Any) -> Indexer | None:
    return keys.coordinate(key, bound.shape)


def _mask(bound: Bound, key: Any, array: Any) -> Indexer | None:
    return keys.mask(key, bound.shape)


KINDS: dict[str, Callable[[Bound, Any, Any], Indexer | None]] = {
    "basic": _basic,
    "orthogonal": _orthogonal,
    "coordinate": _coordinate,
    "mask": _mask,
    "block": _block,
}


def read_key(array: Any, kind: str, selection: Any, out: Any, fields: Any, is_plain: bool) -> Any:
    """The result of reading ``selection`` of an ``AsyncArray``, or `DECLINED`."""
    if not is_plain or not _has_none(fields):
        return DECLINED
    bound = bound_to(array)
    if bound is None:
        return DECLINED
    indexer = KINDS[kind](bound, selection, array)
    if out is None:
        found = read_selected(bound, indexer)
    else:
        target = _memory_of(out, bound, indexer)
        if target is None or kind == "coordinate":
            return DECLINED
        found = read_selected(bound, indexer, target)
    return found[()] if found is not DECLINED and kind == "basic" and not found.shape else found


def _has_none(fields: Any) -> bool:
    return fields is None or (type(fields) is list and not fields)


def _memory_of(out: Any, bound: Bound, indexer: Indexer | None) -> Any:
    """The NumPy array of a buffer that a caller passed; None if zarr-python has to check it."""
    data = getattr(out, "_data", None)
    if type(data) is not np.ndarray or indexer is None:
        return None
    if data.shape != indexer.shape or data.dtype != bound.dtype or not data.flags.writeable:
        return None
    return data


def write_key(
    array: Any, kind: str, selection: Any, value: Any, fields: Any, is_plain: bool
) -> Any:
    """Write ``value`` to ``selection`` of an ``AsyncArray``, or return `DECLINED`."""
    if not is_plain or not _has_none(fields):
        return DECLINED
    bound = bound_to(array)
    if bound is None:
        return DECLINED
    indexer = KINDS[kind](bound, selection, array)
    return write_selected(bound, indexer, value, flat=kind == "coordinate")
