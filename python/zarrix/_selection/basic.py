"""Resolve a NumPy-style key to the selection that the engine executes.

This runs first in every read and write. A key of ints and slices takes one loop without another
Python call. Ellipsis, newaxis and invalid keys go through a second, slower loop. A key with arrays
or field names is left to `zarrix._selection.fancy`. The engine gets bounds that are already
checked.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from zarrix._errors import ArrayIndexError, BoundsCheckError

__all__ = [
    "AxisSelection",
    "Fields",
    "check_index",
    "is_array_like",
    "parse_basic",
    "slice_range",
    "split_fields",
    "try_basic",
]

AxisSelection = int | tuple[int, int, int]
Fields = str | list[str] | None
Basic = tuple[tuple[AxisSelection, ...], tuple[int, ...], tuple[int, ...]]

# Items of these types are neither arrays nor names.
_BASIC_TYPES = frozenset({int, slice, np.int64})


def try_basic(key: Any, shape: tuple[int, ...]) -> Basic | None:
    """`parse_basic`, but None for a key with arrays or field names, which are not basic.

    Examples
    --------
    >>> try_basic((3, slice(None, None, 2)), (10, 5))
    ((3, (0, 2, 3)), (3,), ())
    >>> try_basic([3, 1], (10,)) is None
    True
    """
    selection: list[AxisSelection] = []
    if key is Ellipsis:
        # Not a comprehension, which would be one more frame.
        for size in shape:
            selection.append((0, 1, size))  # noqa: PERF401
        return tuple(selection), shape, ()
    items = key if type(key) is tuple else (key,)
    if len(items) <= len(shape):
        out_shape: list[int] = []
        # strict= would cost 150 ns, a twentieth of a small read.
        for item, size in zip(items, shape):  # noqa: B905
            if type(item) is slice:
                start, stop, step = item.indices(size)
                if step == 1:
                    count = stop - start if stop > start else 0
                elif step > 0:
                    count = (stop - start + step - 1) // step if stop > start else 0
                else:
                    count = (start - stop - step - 1) // -step if start > stop else 0
                # The step of one element may be larger than any index.
                selection.append((start, step if count > 1 else 1, count) if count else (0, 1, 0))
                out_shape.append(count)
            elif type(item) is int and -size <= item < size:
                selection.append(item if item >= 0 else item + size)
            elif isinstance(item, np.integer) and -size <= (index := int(item)) < size:
                selection.append(index if index >= 0 else index + size)
            else:
                break
        else:
            if len(items) < len(shape):
                for size in shape[len(items) :]:
                    selection.append((0, 1, size))
                    out_shape.append(size)
            return tuple(selection), tuple(out_shape), ()
    return _parse_any(items, shape)


def parse_basic(key: Any, shape: tuple[int, ...]) -> Basic:
    """Resolve a basic key against a shape; the result is within bounds.

    Parameters
    ----------
    key : int, slice, Ellipsis, None (newaxis), or a tuple of these
    shape : tuple of int

    Returns
    -------
    selection : tuple, one entry per axis of ``shape``
        An int (the axis is dropped) or ``(start, step, count)``; ``step`` may be negative.
    out_shape : tuple of int
        The counts of the ranges: the shape of the buffer that the engine fills or reads.
    new_axes : tuple of int
        Positions of new axes of length one in the result, as for ``numpy.expand_dims``; empty
        unless ``key`` contains newaxis.

    Raises
    ------
    BoundsCheckError
        An integer is out of range for its axis (also an ``IndexError``).
    ArrayIndexError
        There are too many indices, or an item is not a basic index (also an ``IndexError``).

    Examples
    --------
    >>> from zarrix.indexing import parse_basic
    >>> parse_basic((3, slice(None, None, 2)), (10, 5))
    ((3, (0, 2, 3)), (3,), ())
    >>> parse_basic((None, -1), (10, 5))
    ((9, (0, 1, 5)), (5,), (0,))
    """
    basic = try_basic(key, shape)
    if basic is None:
        basic = _parse_any(key if type(key) is tuple else (key,), shape, refuse=True)
    assert basic is not None
    return basic


def slice_range(item: slice, size: int) -> tuple[int, int, int]:
    """``(start, step, count)`` of a slice of an axis of ``size`` elements.

    Examples
    --------
    >>> slice_range(slice(None, None, -2), 5), slice_range(slice(9, None), 5)
    ((4, -2, 3), (0, 1, 0))
    """
    start, stop, step = item.indices(size)
    # Not len(), which has a limit below that of axes.
    count = max(0, -((start - stop) // step))
    return (start, step if count > 1 else 1, count) if count else (0, 1, 0)


def _is_fancy(item: Any) -> bool:
    return isinstance(item, str) or is_array_like(item)


def is_array_like(item: Any) -> bool:
    """Whether an item of a key is an array, not an index, a slice, Ellipsis or newaxis."""
    return isinstance(item, list | tuple | range) or (
        hasattr(item, "__array__") and bool(getattr(item, "shape", None))
    )


def split_fields(key: Any) -> tuple[Fields, Any]:
    """Take field names out of a key for a structured array.

    Parameters
    ----------
    key : object
        Any key of an array.

    Returns
    -------
    fields : str, list of str or None
        One name, several, or None if the key has no name.
    key : object
        The rest of the key, for `parse_basic`; Ellipsis if it is empty.

    Raises
    ------
    TypeError
        ``key`` cannot be compared with a str.

    Examples
    --------
    >>> from zarrix.indexing import pop_fields
    >>> pop_fields(("a", slice(0, 2)))
    ('a', slice(0, 2, None))
    >>> pop_fields(["a", "b"])
    (['a', 'b'], Ellipsis)
    """
    if isinstance(key, str):
        return key, ...
    if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
        return list(key), ...
    if not isinstance(key, tuple):
        return None, key
    names: list[str] = []
    rest: list[Any] = []
    several = False
    for item in key:
        if isinstance(item, str):
            names.append(item)
        elif isinstance(item, list) and item and all(isinstance(name, str) for name in item):
            names.extend(item)
            several = True
        else:
            rest.append(item)
    if not names:
        return None, key
    fields = names if several or len(names) > 1 else names[0]
    if not rest:
        return fields, ...
    return fields, rest[0] if len(rest) == 1 else tuple(rest)


def _parse_any(
    items: tuple[Any, ...], shape: tuple[int, ...], refuse: bool = False
) -> Basic | None:
    """The selection; for arrays and names it is None, or with ``refuse`` an error that names
    them.
    """
    ellipses = given = 0
    for item in items:
        if item is Ellipsis:
            ellipses += 1
        elif item is not None:
            given += 1
            if type(item) not in _BASIC_TYPES and not refuse and _is_fancy(item):
                return None
    if ellipses > 1:
        raise ArrayIndexError("an index can hold one Ellipsis ('...') only")
    if given > len(shape):
        raise ArrayIndexError(
            f"too many indices: the array has {len(shape)} axes, but {given} were indexed"
        )
    selection: list[AxisSelection] = []
    out_shape: list[int] = []
    new_axes: list[int] = []
    for item in items if ellipses else (*items, Ellipsis):
        if item is None:
            new_axes.append(len(out_shape) + len(new_axes))
            continue
        if item is Ellipsis:
            for size in shape[len(selection) : len(selection) + len(shape) - given]:
                selection.append((0, 1, size))
                out_shape.append(size)
            continue
        axis = len(selection)
        if isinstance(item, slice):
            found = slice_range(item, shape[axis])
            selection.append(found)
            out_shape.append(found[2])
        else:
            selection.append(check_index(item, axis, shape))
    return tuple(selection), tuple(out_shape), tuple(new_axes)


def check_index(item: Any, axis: int, shape: tuple[int, ...]) -> int:
    """An integer index for ``axis``, within bounds and not negative."""
    # An array of one integer has __index__ too; as a key it would still mean a fancy selection.
    has_axes = bool(getattr(item, "shape", None))
    if isinstance(item, bool) or has_axes or not hasattr(item, "__index__"):
        _refuse(item, axis)
    try:
        index = operator.index(item)
    except TypeError:
        _refuse(item, axis)
    size = shape[axis]
    if not -size <= index < size:
        allowed = f"{-size} to {size - 1}" if size else "none, the axis is empty"
        raise BoundsCheckError(
            f"index {index} is out of bounds for axis {axis} of size {size} (allowed: {allowed})"
        )
    return index + size if index < 0 else index


def _refuse(item: Any, axis: int) -> NoReturn:
    kind = type(item).__name__
    if isinstance(item, str):
        raise ArrayIndexError(
            f"field {item!r} selected from an array whose dtype has no fields; "
            "index with integers, slices and Ellipsis"
        )
    if isinstance(item, bool) or kind in ("bool", "bool_"):
        raise ArrayIndexError(
            f"a bool ({item!r}) cannot index axis {axis}; write 0 or 1 for an integer index, "
            "and z[z[...] == 1], not z[z == 1], for a mask"
        )
    if isinstance(item, (list, tuple)) or getattr(item, "shape", None):
        raise ArrayIndexError(
            f"axis {axis} was indexed with an array ({kind}); allowed here are integers, slices, "
            "Ellipsis and newaxis"
        )
    raise ArrayIndexError(
        f"{item!r} ({kind}) cannot index axis {axis}; "
        "allowed are integers, slices, Ellipsis and newaxis"
    )
