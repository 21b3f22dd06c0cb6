"""What has to be decoded for samples, computed from chunk grids before anything is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.chunks import bounds_along, numbers_along
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.fetch import Entry

__all__ = [
    "bytes_of_chunks",
    "chunks_of",
    "overlap_of_blocks",
    "share_of_an_item",
    "times_less",
    "used_bytes",
]

# Samples, and blocks, of which the mean is taken.
_SAMPLES = 8
_BLOCKS = 64


class _Windows(NamedTuple):
    """Windows of a stored array, and the number of the sample that each belongs to."""

    array: Array
    begins: Ints
    ends: Ints
    samples: Ints


def share_of_an_item(dataset: Any) -> float:
    """Which part of all chunks of a dataset of windows one item touches, by bytes."""
    arrays = {
        id(source.array): int(source.array.nbytes)
        for group in dataset._reads
        for source in group
        if isinstance(source.array, Array | CSR)
    }
    if not sum(arrays.values()):
        return 0.0
    count = min(_SAMPLES, len(dataset))
    items = np.linspace(0, len(dataset) - 1, count).astype(np.int64)
    return _touched(_windows_of(dataset, items))[0] / count / sum(arrays.values())


def _windows_of(dataset: Any, items: Ints) -> Iterator[_Windows]:
    """The windows of stored arrays that items of a dataset read."""
    draws = dataset._draws(Visits(items))
    groups = np.zeros(len(items), np.int64) if draws.groups is None else draws.groups
    for group in np.unique(groups):
        samples = np.flatnonzero(groups == group)
        for number, starts in enumerate(draws.starts):
            each, axes = starts.shape[1:]
            extents = np.broadcast_to(dataset._extents(number, draws), (len(items), axes))
            yield from _windows(
                dataset._reads[group][number].array,
                # Not by -1: fields may have no axes.
                starts[samples].reshape(len(samples) * each, axes),
                np.repeat(extents[samples], each, axis=0),
                np.repeat(samples, each),
            )


def overlap_of_blocks(dataset: Any) -> float:
    """How much of further blocks the items of a block touch, on average; estimated from a few.

    Items of a block begin in one chunk of the reference along the axis of items. The last of them
    reaches farthest.
    """
    axis, blocks = dataset._axis, dataset._blocks
    arrays = [sources[0].array for sources in dataset._reads]
    if axis is None or any(type(array) is not Array for array in arrays):
        return 0.0
    count = len(blocks) - 1
    some = np.unique(np.linspace(0, count - 1, min(_BLOCKS, count)).astype(np.int64))
    last = blocks[some + 1] - 1
    draws = dataset._draws(Visits(last))
    groups = np.zeros(len(last), np.int64) if draws.groups is None else draws.groups
    begins = draws.corners[:, axis]
    ends = draws.starts[0][:, :, axis].max(axis=1) + dataset._extents(0, draws)[..., axis]
    further = np.zeros(len(last))
    for group in np.unique(groups):
        here = np.flatnonzero(groups == group)
        metadata, length = metadata_of(arrays[group]), int(arrays[group].shape[axis])
        if not length:
            continue
        grid, inner = metadata.grid[axis], metadata.inner_grid[axis]
        begin, end = bounds_along(grid, numbers_along(grid, begins[here]))
        reach = numbers_along(inner, np.minimum(ends[here], length) - 1)
        further[here] = np.maximum(0, bounds_along(inner, reach)[1] - end) / (end - begin)
    # One after the other: the order of blocks depends on the last bit, and NumPy sums by pairs.
    total = 0.0
    for part in further.tolist():
        total += part
    return total / len(last)


def times_less(share: float, items: int, size: int) -> float:
    """How many times less one call for so many random items of an epoch decodes than one for each.

    In the epoch, whose ``size`` items come once each, ``size x share`` of them touch a chunk. It is
    decoded unless all of these are in the rest of the epoch.
    """
    touch = max(1.0, share * size)
    part = min(1.0, items / size)
    return part * touch / (1.0 - math.pow(1.0 - part, touch))


def chunks_of(entries: Sequence[Entry]) -> tuple[int, int]:
    """Bytes and number of the chunks that windows touch; each counts once for each array."""
    return _touched(
        windows
        for entry in entries
        for windows in _windows(
            entry.source.array, entry.starts, entry.window, np.zeros(len(entry.starts), np.int64)
        )
    )


def bytes_of_chunks(calls: Sequence[Sequence[Entry]], chunks: tuple[int, ...]) -> int:
    """The bytes of the chunks of one array that calls touch, if chunks had this shape."""
    grid, total = [AxisGrid(even=length) for length in chunks], 0
    for entries in calls:
        begins = np.concatenate([entry.starts for entry in entries])
        windows = [np.tile(np.array(entry.window), (len(entry.starts), 1)) for entry in entries]
        ends, samples = begins + np.concatenate(windows), np.zeros(len(begins), np.int64)
        array = entries[0].source.array
        elements, _ = _touched_of(_Windows(array, begins, ends, samples), grid)
        total += elements * int(array.dtype.itemsize)
    return total


def _windows(array: Any, starts: Ints, window: Any, samples: Ints) -> list[_Windows]:
    """What is read of stored arrays for windows of an array; nothing if it is in memory."""
    if isinstance(array, CSR):
        begins, ends = array._spans(starts[:, 0])
        return [_Windows(member, begins, ends, samples) for member in array._members]
    if isinstance(array, Array):
        return [_Windows(array, starts, starts + np.array(window, np.int64), samples)]
    return []


def _touched(windows_of_arrays: Iterable[_Windows]) -> tuple[int, int]:
    """Bytes and number of the chunks that each sample touches; each counts once for each array."""
    of_arrays: dict[int, list[_Windows]] = {}
    for windows in windows_of_arrays:
        of_arrays.setdefault(id(windows.array), []).append(windows)
    total = number = 0
    for same in of_arrays.values():
        array, begins, ends, samples = same[0]
        if len(same) > 1:
            begins, ends, samples = (
                np.concatenate([windows[place] for windows in same]) for place in (1, 2, 3)
            )
        grid = metadata_of(array).inner_grid
        elements, count = _touched_of(_Windows(array, begins, ends, samples), grid)
        total += elements * int(array.dtype.itemsize)
        number += count
    return total, number


def _touched_of(windows: _Windows, grid: Sequence[AxisGrid]) -> tuple[int, int]:
    """Elements and number of the chunks of one array on a grid that each sample touches."""
    array, begins, ends, samples = windows
    shape = np.array(array.shape, np.int64)
    is_read = (ends > begins).all(axis=1)
    if not is_read.all():
        begins, ends, samples = begins[is_read], ends[is_read], samples[is_read]
    if not len(samples) or not shape.all():
        return 0, 0
    low = np.minimum(np.maximum(begins, 0), shape - 1)
    high = np.minimum(np.maximum(ends, 1), shape) - 1
    firsts, lasts = np.empty_like(low), np.empty_like(high)
    for number, axis in enumerate(grid):
        firsts[:, number] = numbers_along(axis, low[:, number])
        lasts[:, number] = numbers_along(axis, high[:, number])
    if len(set(samples.tolist())) < len(samples):
        # Windows of a sample may share chunks: these are listed.
        boxes = np.unique(np.column_stack([samples, firsts, lasts]), axis=0)
        samples, firsts, lasts = np.split(boxes, [1, 1 + len(grid)], axis=1)
        firsts = lasts = np.unique(_listed(samples, firsts, lasts), axis=0)[:, 1:]
    sizes = np.empty_like(firsts)
    for number, axis in enumerate(grid):
        first, _ = bounds_along(axis, firsts[:, number])
        sizes[:, number] = bounds_along(axis, lasts[:, number])[1] - first
    counts = lasts - firsts + 1
    # Integers of Python: an array may declare more elements than 64 bits count.
    return sum(map(math.prod, sizes.tolist())), sum(map(math.prod, counts.tolist()))


def _listed(samples: Ints, firsts: Ints, lasts: Ints) -> Ints:
    """The sample and the coordinates of each chunk of boxes of chunks."""
    counts = lasts - firsts + 1
    totals = counts.prod(axis=1)
    owner = np.repeat(np.arange(len(totals)), totals)
    rest = np.arange(int(totals.sum())) - np.repeat(np.cumsum(totals) - totals, totals)
    listed = np.empty((len(owner), 1 + counts.shape[1]), np.int64)
    listed[:, 0] = samples[owner, 0]
    for axis in reversed(range(counts.shape[1])):
        rest, along = np.divmod(rest, counts[owner, axis])
        listed[:, 1 + axis] = firsts[owner, axis] + along
    return listed


def used_bytes(entry: Entry) -> int:
    """The bytes of decoded chunks that windows need."""
    array = entry.source.array
    if isinstance(array, CSR):
        rows = entry.starts[:, 0]
        return int((array._bounds[rows + 1] - array._bounds[rows]).sum()) * array._element_bytes
    if not isinstance(array, Array):
        return 0
    return math.prod(entry.window) * len(entry.starts) * entry.column.source.itemsize
