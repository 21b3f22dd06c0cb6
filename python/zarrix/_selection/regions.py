"""Large selections are processed in chunk-aligned regions, so that memory is bounded.

A region has several chunks, so that the engine can process them in parallel. Regions end at chunk
boundaries, because otherwise two regions would read and write one chunk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._metadata.chunk_grid import AxisGrid, combinations
from zarrix._selection.fancy import Indexer, Indices

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["chunk_aligned_parts", "chunk_aligned_regions"]

_REGION_BYTES = 64 * 2**20


def chunk_aligned_regions(
    shape: tuple[int, ...], grid: Iterable[AxisGrid], itemsize: int
) -> Iterator[tuple[slice, ...]]:
    """Chunk-aligned regions that cover ``shape``, each about 64 MiB or one chunk.

    Examples
    --------
    >>> grid = AxisGrid(even=2), AxisGrid(even=5)
    >>> list(chunk_aligned_regions((4, 5), grid, 2**23))
    [(slice(0, 2, None), slice(0, 5, None)), (slice(2, 4, None), slice(0, 5, None))]
    """
    everything = Indexer(tuple((0, 1, size) for size in shape), shape)
    return (region for _, region in chunk_aligned_parts(everything, tuple(grid), itemsize))


def chunk_aligned_parts(
    indexer: Indexer, grid: tuple[AxisGrid, ...], itemsize: int
) -> Iterator[tuple[Indexer, tuple[slice, ...]]]:
    """Parts of a selection of about 64 MiB or one chunk, with their regions of the result.

    Parts come in C order: if an element is selected twice, the last occurrence is in the last part.
    Coordinates may take the same memory again, so that points alone are mostly one part.

    Parameters
    ----------
    indexer : Indexer
    grid : tuple of AxisGrid
        The chunks along each axis of the array.
    itemsize : int
        Bytes of an element.
    """
    # For each axis of the result: the elements of one chunk, and the function that divides it.
    axes = [
        _Range(axis, chunks) if isinstance(axis, tuple) else _Listed(axis, chunks)
        for axis, chunks in zip(indexer.axes, grid, strict=True)
        if isinstance(axis, tuple | np.ndarray)
    ]
    first, count = indexer.points
    points = [_Points(size) for size in indexer.shape[first : first + count]]
    shown: list[_Range | _Listed | _Points] = [*axes[:first], *points, *axes[first:]]
    steps = [axis.unit for axis in shown]
    most_bytes = max(_REGION_BYTES, sum(one.nbytes for one in indexer.coords))
    room = most_bytes // max(1, itemsize * math.prod(steps))
    for i in reversed(range(len(shown))):
        units = max(1, min(room, -(-indexer.shape[i] // steps[i])))
        steps[i] *= units
        room //= units
    cuts = [_Parts(axis, step) for axis, step in zip(shown, steps, strict=True)]
    for region in combinations(cuts):
        yield _part(indexer, region), _with_new_axes(region, indexer.new_axes)


class _Parts:
    """The parts of an axis of the result, once more each time that they are asked for."""

    def __init__(self, axis: _Range | _Listed | _Points, most: int) -> None:
        self._axis, self._most = axis, most

    def __iter__(self) -> Iterator[slice]:
        return self._axis.parts(self._most)


class _Range:
    """An axis of the result that is a range of an axis of the array."""

    def __init__(self, axis: tuple[int, int, int], chunks: AxisGrid) -> None:
        self.start, self.step, self.count = axis
        self.chunks = chunks
        self.unit = max(1, -(-max(chunks.lengths) // abs(self.step)))

    def parts(self, most: int) -> Iterator[slice]:
        return self.chunks.parts(self.count, most, self.start, self.step)


class _Listed:
    """An axis of the result that is a list of indices of an axis of the array."""

    def __init__(self, indices: Indices, chunks: AxisGrid) -> None:
        self.count = len(indices)
        changes = np.flatnonzero(np.diff(_chunk_numbers(indices, chunks)))
        self.borders: npt.NDArray[Any] = changes + 1
        # The mean: sorted indices have that many in each chunk; of unsorted ones nearly each is in
        # another chunk.
        self.unit = max(1, self.count // (len(changes) + 1))

    def parts(self, most: int) -> Iterator[slice]:
        begin = 0
        while begin < self.count:
            end = self.count
            if begin + most < self.count:
                place = np.searchsorted(self.borders, begin + most, side="right")
                border = int(self.borders[place - 1]) if place else 0
                end = border if border > begin else begin + most
            yield slice(begin, end)
            begin = end


class _Points:
    """An axis of the result that counts points."""

    unit = 1

    def __init__(self, count: int) -> None:
        self.count = count

    def parts(self, most: int) -> Iterator[slice]:
        return (slice(i, min(i + most, self.count)) for i in range(0, self.count, most))


def _chunk_numbers(indices: Indices, chunks: AxisGrid) -> npt.NDArray[Any]:
    """The number, along its axis, of the chunk of each index."""
    if chunks.even:
        return indices // chunks.even
    ends = np.cumsum([count * length for length, count in chunks.runs])
    lengths = np.array([length for length, _ in chunks.runs])
    counts = np.array([count for _, count in chunks.runs])
    run = np.searchsorted(ends, indices, side="right")
    begins, numbers = ends - lengths * counts, np.cumsum(counts) - counts
    found: npt.NDArray[Any] = numbers[run] + (indices - begins[run]) // lengths[run]
    return found


def _part(indexer: Indexer, region: tuple[slice, ...]) -> Indexer:
    """The part of a selection for a region of its result."""
    first, count = indexer.points
    points = region[first : first + count]
    shown = iter(region[:first] + region[first + count :])
    axes: list[Any] = []
    for axis in indexer.axes:
        if isinstance(axis, tuple):
            cut = next(shown)
            axes.append((axis[0] + cut.start * axis[1], axis[1], cut.stop - cut.start))
        else:
            axes.append(axis[next(shown)] if isinstance(axis, np.ndarray) else axis)
    around = indexer.shape[first : first + count]
    return Indexer(
        tuple(axes),
        tuple(cut.stop - cut.start for cut in region),
        indexer.new_axes,
        tuple(coords.reshape(around)[points].ravel() for coords in indexer.coords),
        indexer.points,
    )


def _with_new_axes(region: tuple[slice, ...], new_axes: tuple[int, ...]) -> tuple[slice, ...]:
    whole = list(region)
    for axis in new_axes:
        whole.insert(axis, slice(0, 1))
    return tuple(whole)
