"""Keys of zarr-python 3's five kinds of selections, as the engine takes them.

Each function returns None for a key that zarr-python might refuse, or answer in another way: the
caller then uses zarr-python's own method. Therefore every error is that of zarr-python, and only
keys whose meaning is certain are resolved here. Nothing here imports zarr-python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zarrix._selection.basic import AxisSelection
from zarrix._selection.fancy import Indexer, Indices

__all__ = ["basic", "block", "coordinate", "is_scalar_key", "mask", "orthogonal", "repeats"]

_ARRAYS = (list, np.ndarray)
Box = tuple[tuple[AxisSelection, ...], tuple[int, ...]]


def basic(key: Any, shape: tuple[int, ...]) -> Box | None:
    """The ranges of a key of integers, slices and at most one Ellipsis, and the result's shape.

    Examples
    --------
    >>> basic((3, slice(None, None, 2)), (10, 5))
    ((3, (0, 2, 3)), (3,))
    >>> basic(slice(None, None, -1), (10,)) is None
    True
    """
    items = key if type(key) is tuple else (key,)
    if len(items) > len(shape):
        expanded = without_ellipsis(items, shape) if len(items) == len(shape) + 1 else None
        if expanded is None:
            return None
        items = expanded
    axes: list[AxisSelection] = []
    out: list[int] = []
    # strict= would cost 150 ns, a tenth of all that accelerate() adds to a small read.
    for item, size in zip(items, shape):  # noqa: B905
        if type(item) is slice:
            start, stop, step = item.indices(size)
            if step == 1:
                count = stop - start if stop > start else 0
            elif step > 0:
                count = (stop - start + step - 1) // step if stop > start else 0
            else:
                return None
            axes.append((start, step, count) if count else (0, 1, 0))
            out.append(count)
        elif type(item) is int or isinstance(item, np.integer):
            if not -size <= item < size:
                return None
            axes.append(int(item) if item >= 0 else int(item) + size)
        elif item is Ellipsis:
            expanded = without_ellipsis(items, shape)
            return None if expanded is None else basic(expanded, shape)
        else:
            return None
    for size in shape[len(items) :]:
        axes.append((0, 1, size))
        out.append(size)
    return tuple(axes), tuple(out)


def without_ellipsis(items: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """``items`` with complete slices instead of Ellipsis; None unless there is exactly one."""
    at = [number for number, item in enumerate(items) if item is Ellipsis]
    missing = len(shape) - len(items) + 1
    if len(at) != 1 or missing < 0:
        return None
    return (*items[: at[0]], *(slice(None),) * missing, *items[at[0] + 1 :])


def is_scalar_key(key: Any) -> bool:
    """Whether ``z[key]``, of integers, is a scalar in zarr-python; else it is a 0-d array.

    Examples
    --------
    >>> import numpy as np
    >>> is_scalar_key((1, 2)), is_scalar_key((1, np.int64(2))), is_scalar_key((..., 1))
    (False, True, True)
    """
    if type(key) is int:
        return False
    return type(key) is not tuple or not key or any(type(item) is not int for item in key)


def orthogonal(key: Any, shape: tuple[int, ...]) -> Indexer | None:
    """A key of integers, slices, and arrays that each select along their own axis.

    Examples
    --------
    >>> orthogonal(([3, 1], slice(0, 2)), (4, 5)).shape
    (2, 2)
    """
    items = key if type(key) is tuple else (key,)
    if not any(type(item) in _ARRAYS for item in items):
        box = basic(key, shape)
        return None if box is None else Indexer(*box)
    if len(items) > len(shape):
        return None
    axes: list[AxisSelection | Indices] = []
    out: list[int] = []
    for item, size in zip(items, shape, strict=False):
        if type(item) in _ARRAYS:
            indices = _along(_array(item), size)
            if indices is None:
                return None
            axes.append(indices)
            out.append(len(indices))
        elif item is Ellipsis:
            return None
        else:
            box = basic(item, (size,))
            if box is None:
                return None
            axes.extend(box[0])
            out.extend(box[1])
    for size in shape[len(items) :]:
        axes.append((0, 1, size))
        out.append(size)
    return Indexer(tuple(axes), tuple(out))


def coordinate(key: Any, shape: tuple[int, ...]) -> Indexer | None:
    """A key of one integer or integer array per axis, which broadcast together to points.

    Examples
    --------
    >>> coordinate(([3, 1], [0, 2]), (4, 5)).shape
    (2,)
    """
    items = key if type(key) is tuple else (key,)
    if len(items) != len(shape) or not shape:
        return None
    given = []
    for item, size in zip(items, shape, strict=True):
        if type(item) is int or isinstance(item, np.integer):
            array: Any = np.array([item])
        else:
            array = _array(item) if type(item) in _ARRAYS else None
        if array is None or array.dtype == bool or not array.ndim:
            return None
        indices = _within(array, size)
        if indices is None:
            return None
        given.append(indices)
    try:
        return _points(np.broadcast_arrays(*given))
    except ValueError:
        return None


def mask(key: Any, shape: tuple[int, ...]) -> Indexer | None:
    """A boolean array of the shape of the whole array.

    Examples
    --------
    >>> import numpy as np
    >>> mask(np.array([True, False, True]), (3,)).shape
    (2,)
    """
    if type(key) is tuple and len(key) == 1:
        key = key[0]
    if type(key) is not np.ndarray or key.dtype != bool or key.shape != shape or not shape:
        return None
    return _points(np.nonzero(key))


def block(key: Any, shape: tuple[int, ...], borders: Sequence[Any]) -> Box | None:
    """A key of integers and slices that count chunks along each axis.

    Parameters
    ----------
    key : int, slice or Ellipsis, or a tuple of these
    shape : tuple of int
    borders : sequence
        For each axis, zarr-python's description of its chunks.
    """
    items = key if type(key) is tuple else (key,)
    if any(item is Ellipsis for item in items):
        expanded = without_ellipsis(items, shape)
        if expanded is None:
            return None
        items = expanded
    if len(items) > len(shape):
        return None
    items += (slice(None),) * (len(shape) - len(items))
    slices = []
    for item, size, chunks in zip(items, shape, borders, strict=True):
        ends = _chunks(item, chunks.nchunks)
        if ends is None:
            return None
        start, stop = (chunks.chunk_offset(end) if end < chunks.nchunks else size for end in ends)
        if not 0 <= start < size:
            return None
        slices.append(slice(start, stop))
    return basic(tuple(slices), shape)


def repeats(indexer: Indexer, shape: tuple[int, ...]) -> bool:
    """Whether an element is selected twice.

    zarr-python writes the values of such an element in the order of an unstable sort.

    Examples
    --------
    >>> repeats(orthogonal([3, 1, 3], (5,)), (5,)), repeats(orthogonal([3, 1], (5,)), (5,))
    (True, False)
    """
    if indexer.coords:
        flat = np.ravel_multi_index(indexer.coords, shape)
        return _has_equal(flat)
    return any(isinstance(axis, np.ndarray) and _has_equal(axis) for axis in indexer.axes)


def _has_equal(indices: Any) -> bool:
    if bool((indices[1:] > indices[:-1]).all()):
        return False
    ordered = np.sort(indices)
    return bool((ordered[1:] == ordered[:-1]).any())


def _chunks(item: Any, count: int) -> tuple[int, int] | None:
    """The first chunk and the one after the last; None for what zarr-python might refuse."""
    if type(item) is int:
        first = item + count if item < 0 else item
        return (first, first + 1) if 0 <= first < count else None
    if type(item) is not slice or item.step not in (None, 1):
        return None
    ends = (0 if item.start is None else item.start, count if item.stop is None else item.stop)
    if any(type(end) is not int for end in ends):
        return None
    first, last = (end + count if end < 0 else end for end in ends)
    return (first, last) if first >= 0 and last >= 0 else None


def _array(item: Any) -> Any:
    """An array of integers or booleans; None for any other item."""
    try:
        array = np.asarray(item)
    except (ValueError, OverflowError):
        return None
    return array if array.dtype.kind in "iub" else None


def _along(array: Any, size: int) -> Any:
    """The indices of an array along one axis; None if zarr-python has to check them."""
    if array is None or array.ndim != 1:
        return None
    if array.dtype == bool:
        return np.nonzero(array)[0] if len(array) == size and size else None
    return _within(array, size)


def _within(array: Any, size: int) -> Any:
    """Indices within bounds, none negative; None if one is out of bounds."""
    if not array.size:
        return array.astype(np.int64)
    low, high = int(array.min()), int(array.max())
    if low < -size or high >= size:
        return None
    indices = array.astype(np.int64, copy=False)
    return np.where(indices < 0, indices + size, indices) if low < 0 else indices


def _points(indices: Sequence[Any]) -> Indexer:
    shape = indices[0].shape
    coords = tuple(np.ascontiguousarray(array, np.int64).ravel() for array in indices)
    return Indexer((None,) * len(coords), shape, (), coords, (0, len(shape)))
