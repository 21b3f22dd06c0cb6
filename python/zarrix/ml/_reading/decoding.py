"""What has to be decoded for samples, computed from chunk grids before anything is read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.fetch import Entry

__all__ = ["chunks_of", "overlap_of_blocks", "share_of_an_item", "times_less", "used_bytes"]

# Samples, and blocks, of which the mean is taken.
_SAMPLES = 8
_BLOCKS = 64


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
    draws = dataset._draws(items, 0, 0, None)
    touched = 0
    for row in range(count):
        touched += chunks_of(dataset._batch(draws[row : row + 1])[1])[0]
    return touched / count / sum(arrays.values())


def overlap_of_blocks(dataset: Any) -> float:
    """How much of further blocks the items of a block touch, on average; estimated from a few.

    Items of a block begin in one chunk of the reference along the axis of items. The last of them
    reaches farthest.
    """
    axis, blocks = dataset._axis, dataset._blocks
    arrays = [source[0].array for source in dataset._reads]
    if axis is None or not all(type(array) is Array for array in arrays):
        return 0.0
    count = len(blocks) - 1
    some = np.unique(np.linspace(0, count - 1, min(_BLOCKS, count)).astype(np.int64))
    last = blocks[some + 1] - 1
    draws = dataset._draws(last, 0, 0, None)
    groups = np.zeros(len(last), np.int64) if draws.groups is None else draws.groups
    ends = draws.starts[0][:, :, axis].max(axis=1) + dataset._windows(0)[axis] - 1
    further = 0.0
    for group, begin, end in zip(groups, draws.corners[:, axis], ends, strict=True):
        metadata, length = arrays[group]._metadata, int(arrays[group].shape[axis])
        if not length:
            continue
        grid, inner = metadata.grid[axis], metadata.inner_grid[axis]
        own = grid.chunk(grid.find(int(begin)).chunk)
        reach = inner.chunk(inner.find(min(int(end), length - 1)).chunk)
        further += max(0, reach.end - own.end) / (own.end - own.begin)
    return further / len(last)


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
    touched: dict[int, set[tuple[int, ...]]] = {}
    grids: dict[int, Any] = {}
    for array, start, window in _windows(entries):
        if not isinstance(array, Array):
            continue
        grid = array._metadata.inner_grid
        grids[id(array)] = array, grid
        ranges = []
        for axis, begin in enumerate(start):
            length = int(array.shape[axis])
            first = min(max(0, begin), length - 1)
            last = min(max(0, begin + window[axis] - 1), length - 1)
            ranges.append(range(grid[axis].find(first).chunk, grid[axis].find(last).chunk + 1))
        touched.setdefault(id(array), set()).update(itertools.product(*ranges))
    total = 0
    for number, found in touched.items():
        array, grid = grids[number]
        for coords in found:
            extents = [axis.chunk(one) for axis, one in zip(grid, coords, strict=True)]
            elements = math.prod(extent.end - extent.begin for extent in extents)
            total += elements * int(array.dtype.itemsize)
    return total, sum(len(found) for found in touched.values())


def used_bytes(entry: Entry) -> int:
    """The bytes of decoded chunks that windows need."""
    array = entry.source.array
    if isinstance(array, CSR):
        rows = entry.starts[:, 0]
        return int((array._bounds[rows + 1] - array._bounds[rows]).sum()) * array._element_bytes
    if not isinstance(array, Array):
        return 0
    return math.prod(entry.window) * len(entry.starts) * entry.column.source.itemsize


def _windows(entries: Sequence[Entry]) -> Iterator[tuple[Any, Sequence[int], tuple[int, ...]]]:
    """The array, the lowest corner and the shape of each window that is read of stored arrays."""
    for entry in entries:
        array = entry.source.array
        if isinstance(array, CSR):
            for member, begin, end in array._spans(entry.starts[:, 0]):
                yield member, (begin,), (end - begin,)
        else:
            for start in entry.starts.tolist():
                yield array, start, entry.window
