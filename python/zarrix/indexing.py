"""Functions of zarr 2.18's ``indexing`` module that zarrix supports."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from zarrix._array.indexing import BlockIndex, OIndex, VIndex
from zarrix._errors import (
    ArrayIndexError,
    BoundsCheckError,
    NegativeStepError,
    VindexInvalidSelectionError,
)
from zarrix._selection.basic import parse_basic, split_fields

__all__ = [
    "ArrayIndexError",
    "BlockIndex",
    "BoundsCheckError",
    "NegativeStepError",
    "OIndex",
    "VIndex",
    "VindexInvalidSelectionError",
    "ceildiv",
    "check_fields",
    "is_integer",
    "is_scalar",
    "is_slice",
    "parse_basic",
    "pop_fields",
    "replace_ellipsis",
]

pop_fields = split_fields


def is_integer(value: Any) -> bool:
    """Whether ``value`` is an integer, and not a bool.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.indexing import is_integer
    >>> is_integer(np.int8(3)), is_integer(True), is_integer(3.0)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_slice(value: Any) -> bool:
    """Whether ``value`` is a slice.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarrix.indexing import is_slice
    >>> is_slice(slice(2)), is_slice(...)
    (True, False)
    """
    return isinstance(value, slice)


def is_scalar(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether ``value`` is one element: a scalar, a 0-d array, or a tuple for a structure.

    Parameters
    ----------
    value : object
    dtype : numpy.dtype

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.indexing import is_scalar
    >>> is_scalar(3, np.dtype("f4")), is_scalar([3], np.dtype("f4"))
    (True, False)
    >>> is_scalar((1, 2), np.dtype("i4,i4"))
    True
    """
    if np.isscalar(value) or getattr(value, "shape", None) == ():
        return True
    return isinstance(value, tuple) and dtype.names is not None and len(value) == len(dtype.names)


def ceildiv(a: int, b: int) -> int:
    """``a / b``, rounded up.

    Parameters
    ----------
    a, b : int or float

    Returns
    -------
    int or float

    Raises
    ------
    ZeroDivisionError
        ``b`` is 0.

    Examples
    --------
    >>> from zarrix.indexing import ceildiv
    >>> ceildiv(10, 4), ceildiv(8, 4)
    (3, 2)
    """
    return -(-a // b)


def replace_ellipsis(selection: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """``selection`` as one entry per axis of ``shape``, with full slices for missing axes.

    Parameters
    ----------
    selection : int, slice, Ellipsis, or a tuple of these
    shape : tuple of int

    Returns
    -------
    tuple
        As many as ``shape`` has.

    Raises
    ------
    ArrayIndexError
        There are two Ellipses, or more entries than axes.

    Examples
    --------
    >>> from zarrix.indexing import replace_ellipsis
    >>> replace_ellipsis((Ellipsis, 3), (5, 6))
    (slice(None, None, None), 3)
    """
    items = selection if isinstance(selection, tuple) else (selection,)
    positions = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(positions) > 1:
        raise ArrayIndexError("an index can hold one Ellipsis ('...') only")
    place = positions[0] if positions else len(items)
    before, after = items[:place], items[place + 1 :]
    missing = len(shape) - len(before) - len(after)
    if missing < 0:
        raise ArrayIndexError(
            f"too many indices: the array has {len(shape)} axes, but "
            f"{len(before) + len(after)} were indexed"
        )
    return (*before, *(slice(None),) * missing, *after)


def check_fields(fields: str | list[str] | None, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a selection of ``fields`` from elements of ``dtype``.

    Parameters
    ----------
    fields : str, list of str or None
    dtype : numpy.dtype

    Returns
    -------
    numpy.dtype
        ``dtype`` itself for None.

    Raises
    ------
    ArrayIndexError
        ``dtype`` has no fields, or not these (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.indexing import check_fields
    >>> check_fields("a", np.dtype([("a", "i4"), ("b", "f8")]))
    dtype('int32')
    """
    if fields is None:
        return dtype
    names = dtype.names or ()
    for name in [fields] if isinstance(fields, str) else fields:
        if name not in names:
            known = f"its fields are {', '.join(map(repr, names))}" if names else "it has no fields"
            raise ArrayIndexError(f"no field {name!r} in dtype {dtype}; {known}")
    return dtype[fields]
