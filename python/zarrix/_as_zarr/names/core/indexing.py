"""Names of ``zarr.core.indexing``.

Selections of arrays are resolved in the engine. The indexer here is for programs that divide
selections by chunks of arrays that are not stored.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from zarrix._as_zarr.names.core.chunk_grids import ChunkGrid
from zarrix._errors import ArrayIndexError, BoundsCheckError
from zarrix._hierarchy.asynchronous import AsyncOIndex, AsyncVIndex
from zarrix._metadata.chunk_grid import AxisGrid, combinations
from zarrix._selection.fancy import resolve_orthogonal

__all__ = [
    "Indexer",
    "SelectorTuple",
    "is_integer",
    "iter_grid",
    "oindex",
    "oindex_set",
    "ArrayIndexError",
    "AsyncOIndex",
    "AsyncVIndex",
    "BasicIndexer",
    "BasicSelection",
    "BoundsCheckError",
    "ChunkProjection",
    "OrthogonalIndexer",
    "Selection",
]

Selection = Any
BasicSelection = Any
SelectorTuple = tuple[Any, ...] | Any


def is_integer(x: Any) -> bool:
    """Whether a part of a key is an integer; True and False are none."""
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def iter_grid(
    grid_shape: Sequence[int],
    *,
    origin: Sequence[int] | None = None,
    selection_shape: Sequence[int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """The coordinates of a box in a grid, in C order.

    Parameters
    ----------
    grid_shape : sequence of int
    origin : sequence of int, optional
        The first coordinates; zeros when omitted.
    selection_shape : sequence of int, optional
        The shape of the box; all that follows the origin when omitted.

    Raises
    ------
    ValueError
        A length is not that of the grid.
    IndexError
        The box reaches beyond the grid.
    """
    first = origin or (0,) * len(grid_shape)
    pairs = zip(grid_shape, first, strict=True)
    box = tuple(count - begin for count, begin in pairs)
    if selection_shape is not None:
        if any(wanted > most for wanted, most in zip(selection_shape, box, strict=True)):
            raise IndexError(
                f"a box of {tuple(selection_shape)} at {tuple(first)} reaches beyond "
                f"the grid of {tuple(grid_shape)}"
            )
        box = tuple(selection_shape)
    pairs = zip(first, box, strict=True)
    return combinations([range(begin, begin + count) for begin, count in pairs])


def _iter_grid(
    grid_shape: Sequence[int], *, order: str = "lexicographic", **box: Any
) -> Iterator[tuple[int, ...]]:
    if order != "lexicographic":
        raise NotImplementedError(f"order={order!r}; coordinates come in lexicographic order")
    return iter_grid(grid_shape, **box)


def _iter_regions(
    domain_shape: Sequence[int],
    region_shape: Sequence[int],
    *,
    trim_excess: bool = True,
    **box: Any,
) -> Iterator[tuple[slice, ...]]:
    """The regions of equal shape that cover a box of their grid; the last ones are cut."""
    pairs = zip(domain_shape, region_shape, strict=True)
    for coords in _iter_grid([-(-length // size) for length, size in pairs], **box):
        axes = zip(coords, region_shape, domain_shape, strict=True)
        yield tuple(
            slice(at * size, min((at + 1) * size, length) if trim_excess else (at + 1) * size, 1)
            for at, size, length in axes
        )


def oindex(a: Any, selection: Any) -> Any:
    """What ``z.oindex[selection]`` of a Zarr array gives, of an array in memory."""
    found, dropped = _orthogonal(selection, a.shape)
    return a[found].squeeze(axis=dropped)


def oindex_set(a: Any, selection: Any, value: Any) -> None:
    """Assign to an array in memory what ``z.oindex[selection] = value`` assigns."""
    found, dropped = _orthogonal(selection, a.shape)
    if dropped and np.ndim(value):
        # Without the axes of integers, or with fewer axes, as NumPy broadcasts.
        kept = tuple(slice(None) if i not in dropped else np.newaxis for i in range(a.ndim))
        shape = a[found].squeeze(axis=dropped).shape
        value = np.broadcast_to(value, shape)[kept]
    a[found] = value


def _orthogonal(selection: Any, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """An open mesh of what is selected along each axis, and the axes of integers."""
    axes = resolve_orthogonal(selection, tuple(shape)).axes
    indices = [_indices_of(one, length) for one, length in zip(axes, shape, strict=True)]
    mesh = np.ix_(*indices)
    return mesh, tuple(i for i, one in enumerate(axes) if isinstance(one, int))


def _indices_of(selected: Any, length: int) -> Any:
    """The indices that an index, a range, an array or the whole of an axis selects."""
    if selected is None:
        return np.arange(length)
    if isinstance(selected, tuple):
        start, step, count = selected
        return np.arange(count) * step + start
    return np.atleast_1d(np.asarray(selected, np.intp))


class Indexer(Protocol):
    """A selection, divided by chunks."""

    shape: tuple[int, ...]
    drop_axes: tuple[int, ...]

    def __iter__(self) -> Iterator[ChunkProjection]: ...


class ChunkProjection(NamedTuple):
    """What a selection has of one chunk: where it is in the chunk, and where in the result."""

    chunk_coords: tuple[int, ...]
    chunk_selection: Any
    out_selection: Any
    is_complete_chunk: bool


class _Part(NamedTuple):
    """The same along one axis."""

    chunk: int
    inside: Any
    out: Any
    is_whole: bool
    size: int


class OrthogonalIndexer:
    """A selection that selects each axis by itself, divided by the chunks of a grid.

    Iterating over it gives a `ChunkProjection` for each chunk that has a selected element.

    Attributes
    ----------
    shape : tuple of int
        Of the result.
    drop_axes : tuple of int
        Axes of a part that the result does not have, for selections with arrays.
    """

    def __init__(self, selection: Any, shape: tuple[int, ...], chunk_grid: ChunkGrid) -> None:
        indexer = resolve_orthogonal(selection, tuple(shape))
        self.shape = indexer.shape
        axes = [one.axis for one in chunk_grid.dimensions]
        self._axes = [
            [*_parts(selected, axis, length)]
            for selected, axis, length in zip(indexer.axes, axes, shape, strict=True)
        ]
        self.is_advanced = any(isinstance(axis, np.ndarray) for axis in indexer.axes)
        dropped = [i for i, axis in enumerate(indexer.axes) if isinstance(axis, int)]
        self.drop_axes = tuple(dropped) if self.is_advanced else ()

    def __iter__(self) -> Iterator[ChunkProjection]:
        for parts in itertools.product(*self._axes):
            inside = tuple(part.inside for part in parts)
            out = tuple(part.out for part in parts if part.out is not None)
            arrays = sum(isinstance(one, np.ndarray) for one in inside)
            if self.is_advanced and (arrays > 1 or self.drop_axes):
                # NumPy selects several axes by arrays as points, except by open meshes.
                inside = _mesh(inside, tuple(part.size for part in parts))
                if any(isinstance(one, np.ndarray) for one in out):
                    out = _mesh(out, self.shape)
            coords = tuple(part.chunk for part in parts)
            yield ChunkProjection(coords, inside, out, all(part.is_whole for part in parts))


class BasicIndexer(OrthogonalIndexer):
    """A selection of integers and slices, divided by the chunks of a grid."""

    def __init__(self, selection: Any, shape: tuple[int, ...], chunk_grid: ChunkGrid) -> None:
        super().__init__(selection, shape, chunk_grid)
        if self.is_advanced:
            raise IndexError(f"{selection!r} selects by an array; OrthogonalIndexer does that")


def _parts(selected: Any, axis: AxisGrid, length: int) -> Iterator[_Part]:
    """What each chunk along an axis has of an index, a range or an array of indices."""
    if isinstance(selected, int):
        chunk = axis.find(selected)
        size = chunk.end - chunk.begin
        yield _Part(chunk.chunk, selected - chunk.begin, None, size == 1, size)
        return
    if isinstance(selected, np.ndarray):
        yield from _parts_of_indices(selected, axis)
        return
    start, step, count = selected
    first = 0
    while first < count:
        chunk = axis.find(start + first * step)
        begin = start + first * step - chunk.begin
        end = min(-(-(chunk.end - start) // step), count)
        last = start + (end - 1) * step - chunk.begin + 1
        is_whole = step == 1 and begin == 0 and last == min(chunk.end, length) - chunk.begin
        out = slice(first, end)
        yield _Part(chunk.chunk, slice(begin, last, step), out, is_whole, chunk.end - chunk.begin)
        first = end


def _parts_of_indices(indices: Any, axis: AxisGrid) -> Iterator[_Part]:
    where = np.argsort(indices, kind="stable")
    ordered = indices[where]
    first = 0
    while first < len(ordered):
        chunk = axis.find(int(ordered[first]))
        end = int(np.searchsorted(ordered, chunk.end))
        inside = ordered[first:end] - chunk.begin
        yield _Part(chunk.chunk, inside, where[first:end], False, chunk.end - chunk.begin)
        first = end


def _mesh(selection: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Index arrays that select each axis by itself, with an axis for integers, too."""
    axes = [
        np.arange(*one.indices(length)) if isinstance(one, slice) else np.atleast_1d(one)
        for one, length in zip(selection, shape, strict=True)
    ]
    return np.ix_(*axes)
