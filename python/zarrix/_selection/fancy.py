"""Resolve keys with integer arrays, boolean arrays, coordinates or blocks to an `Indexer`.

Four rules of indexing, each a function from key and shape to an `Indexer`:

    `resolve`             ``z[key]``: NumPy's, but where one array stands beside integers and
                          slices it stays in place, as in zarr
    `resolve_orthogonal`  ``z.oindex[key]``: each axis on its own
    `resolve_points`      ``z.vindex[key]``: arrays broadcast together; their axes come first
    `resolve_blocks`      ``z.blocks[key]``: whole chunks, by their position in the grid

Everything is checked here against the shape. The indices of an `Indexer` are within bounds, so that
a call with an invalid key neither reads nor writes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from zarrix._errors import (
    ArrayIndexError,
    BoundsCheckError,
    VindexInvalidSelectionError,
    shorten,
)
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._selection.basic import (
    AxisSelection,
    check_index,
    is_array_like,
    parse_basic,
    slice_range,
)

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "Indexer",
    "Rule",
    "resolve",
    "resolve_blocks",
    "resolve_mask",
    "resolve_orthogonal",
    "resolve_points",
]

Indices = np.ndarray[Any, np.dtype[np.int64]]


class Indexer(NamedTuple):
    """The elements that a key selects, within bounds, and the shape of the result.

    Attributes
    ----------
    axes : tuple, one entry per axis of the array
        An int (the axis is dropped), ``(start, step, count)``, an array of indices, or None if each
        point has its own index.
    shape : tuple of int
        Of the result, without new axes.
    new_axes : tuple of int
        Additional axes of length one in the result, as for ``numpy.expand_dims``.
    coords : tuple of ndarray
        The points' indices, one contiguous array per None in ``axes``.
    points : tuple of int
        First axis of the result that counts points, and the number of such axes.
    """

    axes: tuple[AxisSelection | Indices | None, ...]
    shape: tuple[int, ...]
    new_axes: tuple[int, ...] = ()
    coords: tuple[Indices, ...] = ()
    points: tuple[int, int] = (0, 0)


# A rule of indexing: from a key and a shape to what is selected.
Rule = Callable[[Any, tuple[int, ...]], Indexer]


def resolve(key: Any, shape: tuple[int, ...]) -> Indexer:
    """The rule of ``z[key]``.

    Examples
    --------
    >>> resolve(([3, 1], slice(0, 2)), (4, 5)).shape
    (2, 2)
    >>> resolve(([3, 1], [0, 2]), (4, 5)).shape
    (2,)
    """
    items = _items(key)
    arrays = [item for item in items if isinstance(item, np.ndarray)]
    if not arrays:
        return Indexer(*parse_basic(key, shape))
    if len(arrays) > 1 and any(array.dtype == bool for array in arrays):
        # An error as in zarr 2.18: NumPy and zarr-python 3 give different elements.
        raise ArrayIndexError(
            "a mask beside another array has two meanings: use z.oindex[...] to select each axis "
            "by itself, as zarr-python 3 does, or z.vindex[...] to select points, as NumPy does"
        )
    entries = _entries(items, shape)
    if len(arrays) > 1:
        # NumPy's rule: integers are coordinates, too. If all coordinates are adjacent, the axes of
        # the points replace them; otherwise the axes of the points come first.
        pointwise = [i for i, entry in enumerate(entries) if isinstance(entry, int | np.ndarray)]
        positions = [i for i, item in enumerate(items) if not _is_range(item)]
        adjacent = positions[-1] - positions[0] == len(positions) - 1
        return _with_points(entries, shape, pointwise, pointwise[0] if adjacent else 0)
    if arrays[0].ndim == 1 and len(shape) > 1:
        return _without_points(entries, shape)
    pointwise = [i for i, entry in enumerate(entries) if isinstance(entry, np.ndarray)]
    return _with_points(entries, shape, pointwise, pointwise[0])


def resolve_orthogonal(key: Any, shape: tuple[int, ...]) -> Indexer:
    """The rule of ``z.oindex[key]``: every axis is selected independently.

    Examples
    --------
    >>> resolve_orthogonal(([3, 1], [0, 2, 2]), (4, 5)).shape
    (2, 3)
    """
    items = _items(key)
    for item in items:
        if item is None:
            _refuse(item, "an orthogonal selection")
        if isinstance(item, np.ndarray) and item.ndim != 1:
            raise ArrayIndexError(
                f"an array of {item.ndim} axes in an orthogonal selection; "
                "each axis takes an array with one axis"
            )
    return _without_points(_entries(items, shape), shape)


def resolve_points(key: Any, shape: tuple[int, ...], strict: bool = False) -> Indexer:
    """The rule of ``z.vindex[key]``: arrays broadcast together, and each element is a point.

    Parameters
    ----------
    key : int, integer or boolean array, slice or Ellipsis, or a tuple of these
        If there are slices, the axes of the points come first.
    shape : tuple of int
    strict : bool
        Accept only coordinates: one integer or integer array per axis.

    Examples
    --------
    >>> resolve_points(([3, 1], [0, 2]), (4, 5)).shape
    (2,)
    >>> resolve_points((slice(None), [0, 2]), (4, 5)).shape
    (2, 4)
    """
    try:
        return _resolve_points(_items(key), shape, strict)
    except BoundsCheckError:
        raise
    except ArrayIndexError as error:
        raise VindexInvalidSelectionError(str(error)) from None


def _resolve_points(items: tuple[Any, ...], shape: tuple[int, ...], strict: bool) -> Indexer:
    if strict and (len(items) != len(shape) or any(map(_is_no_coordinate, items))):
        raise ArrayIndexError(
            f"a coordinate selection is one integer or integer array per axis, {len(shape)} for "
            f"this array, not {shorten(items)}"
        )
    if any(item is None for item in items):
        _refuse(None, "a selection of points")
    if not any(isinstance(item, np.ndarray) for item in items):
        indexer = Indexer(*parse_basic(items, shape))
        if indexer.shape or not shape:
            return indexer
        # One point is an array of one element, as in zarr.
        coords = tuple(np.array([index], np.int64) for index in indexer.axes)
        return Indexer((None,) * len(coords), (1,), (), coords, (0, 1))
    entries = _entries(items, shape)
    pointwise = [i for i, entry in enumerate(entries) if isinstance(entry, int | np.ndarray)]
    return _with_points(entries, shape, pointwise, 0)


def resolve_mask(mask: Any, shape: tuple[int, ...]) -> Indexer:
    """The elements where a boolean array of the array's shape is true, in C order.

    Examples
    --------
    >>> resolve_mask([True, False, True], (3,)).shape
    (2,)
    """
    if type(mask) is tuple and len(mask) == 1:
        mask = mask[0]
    array = np.asarray(mask)
    if array.dtype != bool or array.shape != shape or not shape:
        raise VindexInvalidSelectionError(
            f"a mask selection is one boolean array of the array's shape {shape}, not "
            f"{array.dtype} of shape {array.shape}"
        )
    return _with_points(list(np.nonzero(array)), shape, list(range(len(shape))), 0)


def resolve_blocks(key: Any, shape: tuple[int, ...], grid: tuple[AxisGrid, ...]) -> Indexer:
    """The rule of ``z.blocks[key]``: complete chunks (or shards) by their position.

    Examples
    --------
    >>> resolve_blocks((1, slice(0, 2)), (10, 10), (AxisGrid(even=4),) * 2).axes
    ((4, 1, 4), (0, 1, 8))
    """
    items = _items(key)
    for item in items:
        if item is None or isinstance(item, np.ndarray):
            _refuse(item, "a selection of blocks")
        if isinstance(item, slice) and item.step not in (None, 1):
            raise ArrayIndexError(f"blocks are selected with a step of 1, not {item.step}")
    counts = tuple(axis.count(size) for size, axis in zip(shape, grid, strict=True))
    try:
        blocks = parse_basic(items, counts)[0]
    except BoundsCheckError as error:
        raise BoundsCheckError(f"in the grid of blocks, {error}") from None
    axes: list[AxisSelection] = []
    for block, chunks, size in zip(blocks, grid, shape, strict=True):
        first, count = (block, 1) if isinstance(block, int) else (block[0], block[2])
        start, stop = chunks.chunk(first).begin, chunks.chunk(first + count).begin
        axes.append((start, 1, min(size, stop) - start) if count else (0, 1, 0))
    return Indexer(tuple(axes), tuple(count for _, _, count in axes))  # type: ignore[misc]


# From items to entries: one per axis, and None for each new axis

Entry = int | slice | Indices | None


def _entries(items: tuple[Any, ...], shape: tuple[int, ...]) -> list[Entry]:
    """An entry per axis: checked ints and arrays of indices; slices, and None for a new axis.

    A boolean array with several axes becomes one array of indices per axis.
    """
    taken = [_axes_of(item) for item in items]
    if sum(item is Ellipsis for item in items) > 1:
        raise ArrayIndexError("an index can hold one Ellipsis ('...') only")
    missing = len(shape) - sum(taken)
    if missing < 0:
        raise ArrayIndexError(
            f"too many indices: the array has {len(shape)} axes, but {sum(taken)} were indexed"
        )
    entries: list[Entry] = []
    axis = 0
    for item, count in zip(items, taken, strict=True):
        if item is None or isinstance(item, slice):
            entries.append(item)
        elif item is Ellipsis:
            entries += [slice(None)] * missing
            axis += missing
        elif not isinstance(item, np.ndarray):
            entries.append(check_index(item, axis, shape))
        elif item.dtype == bool:
            entries += _nonzero(item, axis, shape)
        else:
            entries.append(_indices(item, axis, shape))
        axis += count
    return entries + [slice(None)] * (len(shape) - axis)


def _without_points(entries: Sequence[Entry], shape: tuple[int, ...]) -> Indexer:
    axes: list[AxisSelection | Indices] = []
    out: list[int] = []
    new_axes: list[int] = []
    for entry in entries:
        if entry is None:
            new_axes.append(len(out) + len(new_axes))
        elif isinstance(entry, np.ndarray):
            axes.append(np.ascontiguousarray(entry))
            out.append(len(entry))
        elif isinstance(entry, slice):
            axis = slice_range(entry, shape[len(axes)])
            axes.append(axis)
            out.append(axis[2])
        else:
            axes.append(entry)
    return Indexer(tuple(axes), tuple(out), tuple(new_axes))


def _with_points(
    entries: Sequence[Entry], shape: tuple[int, ...], pointwise: list[int], at: int
) -> Indexer:
    """The entries numbered ``pointwise`` are coordinates; the axes of the points go to position
    ``at``.
    """
    given = [np.asarray(entries[i], np.int64) for i in pointwise]
    points = given[0].shape
    if any(array.shape != points for array in given):
        try:
            points = np.broadcast_shapes(*(array.shape for array in given))
        except ValueError:
            shapes = " and ".join(str(array.shape) for array in given)
            message = f"arrays of indices of shapes {shapes} do not broadcast"
            raise ArrayIndexError(message) from None
        given = [np.broadcast_to(array, points) for array in given]
    coords = tuple(array.ravel() for array in given)
    axes: list[AxisSelection | None] = []
    out: list[int] = []
    new_axes: list[int] = []
    first = 0
    for i, entry in enumerate(entries):
        if i == at:
            first = len(out)
            out += points
        if i in pointwise:
            axes.append(None)
        elif entry is None:
            new_axes.append(len(out) + len(new_axes))
        elif isinstance(entry, int):
            axes.append(entry)
        else:
            assert isinstance(entry, slice)
            axis = slice_range(entry, shape[len(axes)])
            axes.append(axis)
            out.append(axis[2])
    return Indexer(tuple(axes), tuple(out), tuple(new_axes), coords, (first, len(points)))


# What an item is


def _items(key: Any) -> tuple[Any, ...]:
    """The items of a key, with array-likes as arrays."""
    items = key if type(key) is tuple else (key,)
    return tuple(_as_array(item) if is_array_like(item) else _as_scalar(item) for item in items)


def _as_scalar(item: Any) -> Any:
    return item[()] if isinstance(item, np.ndarray) else item


def _as_array(item: Any) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.asarray(item)
    except ValueError:
        raise ArrayIndexError(
            f"{shorten(item)} is not an index: its lists have different lengths"
        ) from None
    return array if array.size or hasattr(item, "dtype") else array.astype(np.int64)


def _axes_of(item: Any) -> int:
    """The number of axes of the array that an item selects from."""
    if isinstance(item, np.ndarray) and item.dtype == bool:
        return item.ndim
    return int(item is not None and item is not Ellipsis)


def _is_range(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice)


def _is_no_coordinate(item: Any) -> bool:
    return _is_range(item) or (isinstance(item, np.ndarray) and item.dtype == bool)


def _nonzero(
    mask: npt.NDArray[np.bool_], axis: int, shape: tuple[int, ...]
) -> Iterable[npt.NDArray[np.int64]]:
    wanted = shape[axis : axis + mask.ndim]
    if mask.shape != wanted:
        where = f"axis {axis}" if mask.ndim == 1 else f"axes {axis} to {axis + mask.ndim - 1}"
        sizes = wanted[0] if len(wanted) == 1 else wanted
        lengths = mask.shape[0] if mask.ndim == 1 else mask.shape
        raise ArrayIndexError(
            f"a boolean array of length {lengths} indexes {where} of length {sizes}; "
            "both must be the same"
        )
    return np.nonzero(mask)


def _indices(array: npt.NDArray[Any], axis: int, shape: tuple[int, ...]) -> Indices:
    """Integers within bounds, none of them negative."""
    # NumPy has no dtype for integers of more than 64 bits; the error is out of bounds, not a wrong
    # type.
    large = array.dtype == object and all(type(index) is int for index in array.flat)
    if array.dtype.kind not in "iu" and not large:
        _refuse_array(array, axis)
    size = shape[axis]
    if array.size == 0:
        return array.astype(np.int64)
    low, high = int(array.min()), int(array.max())
    if low < -size or high >= size:
        index = low if low < -size else high
        allowed = f"{-size} to {size - 1}" if size else "none, the axis is empty"
        raise BoundsCheckError(
            f"index {index} is out of bounds for axis {axis} of size {size} (allowed: {allowed})"
        )
    indices = array.astype(np.int64, copy=False)
    return np.where(indices < 0, indices + size, indices) if low < 0 else indices


def _refuse_array(array: npt.NDArray[Any], axis: int) -> NoReturn:
    if array.dtype.kind in "UT" and array.size:
        raise ArrayIndexError(
            f"field {array.flat[0]!s:.40} selected from an array whose dtype has no fields; "
            "index with integers, slices and Ellipsis"
        )
    raise ArrayIndexError(
        f"axis {axis} was indexed with an array of {array.dtype}; arrays of integers or booleans "
        "select elements"
    )


def _refuse(item: Any, what: str) -> NoReturn:
    raise ArrayIndexError(
        f"{shorten(item)} cannot be part of {what}; docs/indexing.md has the rules of each kind"
    )
