"""A NumPy-style key becomes the selection that the engine executes.

This runs on every read and write, before anything else: a key of ints and slices, one per axis,
takes one loop without a further Python call; Ellipsis, newaxis, missing axes and everything wrong
go through a second, slower one. The engine gets bounds that are already checked.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from zarrix._errors import ArrayIndexError, BoundsCheckError

__all__ = ["AxisSelection", "parse_basic", "split_fields"]

AxisSelection = int | tuple[int, int, int]


def parse_basic(
    key: Any, shape: tuple[int, ...]
) -> tuple[tuple[AxisSelection, ...], tuple[int, ...], tuple[int, ...]]:
    """Resolve a basic key against a shape; what comes back is within bounds.

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
        Where the result has axes of length one that the array does not have, as
        ``numpy.expand_dims`` takes them; empty unless ``key`` holds newaxis.

    Raises
    ------
    BoundsCheckError
        An integer lies outside its axis (also an ``IndexError``).
    ArrayIndexError
        Too many indices, or something that is not a basic index (also an ``IndexError``).

    Examples
    --------
    >>> from zarrix.indexing import parse_basic
    >>> parse_basic((3, slice(None, None, 2)), (10, 5))
    ((3, (0, 2, 3)), (3,), ())
    >>> parse_basic((None, -1), (10, 5))
    ((9, (0, 1, 5)), (5,), (0,))
    """
    items = key if type(key) is tuple else (key,)
    if len(items) == len(shape):
        selection: list[AxisSelection] = []
        out_shape: list[int] = []
        for item, size in zip(items, shape, strict=True):
            if type(item) is slice:
                start, stop, step = item.indices(size)
                if step == 1:
                    count = stop - start if stop > start else 0
                elif step > 0:
                    count = (stop - start + step - 1) // step if stop > start else 0
                else:
                    count = (start - stop - step - 1) // -step if start > stop else 0
                selection.append((start, step, count) if count else (0, 1, 0))
                out_shape.append(count)
            elif type(item) is int and -size <= item < size:
                selection.append(item if item >= 0 else item + size)
            elif isinstance(item, np.integer) and -size <= (index := int(item)) < size:
                selection.append(index if index >= 0 else index + size)
            else:
                break
        else:
            return tuple(selection), tuple(out_shape), ()
    return _parse_any(items, shape)


def split_fields(key: Any) -> tuple[str | list[str] | None, Any]:
    """Take field names out of a key for a structured array.

    Parameters
    ----------
    key : object
        Any key of an array.

    Returns
    -------
    fields : str, list of str or None
        One name, several, or None where the key holds no name.
    key : object
        What remains, for `parse_basic`; Ellipsis where nothing does.

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
    items: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[tuple[AxisSelection, ...], tuple[int, ...], tuple[int, ...]]:
    ellipses = given = 0
    for item in items:
        if item is Ellipsis:
            ellipses += 1
        elif item is not None:
            given += 1
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
            start, _, step = item.indices(shape[axis])
            count = len(range(*item.indices(shape[axis])))
            selection.append((start, step, count) if count else (0, 1, 0))
            out_shape.append(count)
        else:
            selection.append(_index(item, axis, shape))
    return tuple(selection), tuple(out_shape), tuple(new_axes)


def _index(item: Any, axis: int, shape: tuple[int, ...]) -> int:
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
            f"a bool ({item!r}) cannot index axis {axis}; write 0 or 1 for an integer index"
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
