"""The chunks along an axis by NumPy, without a step of Python for each: an axis may have 10^9."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix.ml._order.random import Ints

__all__ = ["bounds_along", "ends_along", "numbers_along"]


def ends_along(array: Any, axis: int) -> Ints:
    """Where the chunks of a stored array end along an axis; shards count as chunks."""
    grid, length = metadata_of(array).grid[axis], int(array.shape[axis])
    # What is declared beyond the axis takes no memory.
    runs = [
        (size, min(count, -(-length // size)))
        for size, count in grid.runs or ((grid.even, length),)
    ]
    sizes, counts = (np.array(part, np.int64) for part in zip(*runs, strict=True))
    ends: Ints = np.cumsum(np.repeat(sizes, counts))
    last = int(np.searchsorted(ends, length)) + 1
    return np.minimum(ends[:last], length)


def numbers_along(axis: AxisGrid, positions: Ints) -> Ints:
    """The number of the chunk that each position lies in.

    Examples
    --------
    >>> numbers_along(AxisGrid(runs=((10, 2), (5, 1))), np.array([0, 12, 24])).tolist()
    [0, 1, 2]
    """
    if axis.even:
        return positions // axis.even
    lengths, begins, firsts = _runs(axis)
    run = np.searchsorted(begins, positions, "right") - 1
    numbers: Ints = firsts[run] + (positions - begins[run]) // lengths[run]
    return numbers


def bounds_along(axis: AxisGrid, numbers: Ints) -> tuple[Ints, Ints]:
    """Where each of these chunks begins and ends.

    Examples
    --------
    >>> begins, ends = bounds_along(AxisGrid(runs=((10, 2), (5, 1))), np.array([1, 2]))
    >>> begins.tolist(), ends.tolist()
    ([10, 20], [20, 25])
    """
    if axis.even:
        return numbers * axis.even, (numbers + 1) * axis.even
    lengths, begins, firsts = _runs(axis)
    run = np.searchsorted(firsts, numbers, "right") - 1
    chunk_begins = begins[run] + (numbers - firsts[run]) * lengths[run]
    return chunk_begins, chunk_begins + lengths[run]


def _runs(axis: AxisGrid) -> tuple[Ints, Ints, Ints]:
    """The chunk length of each run, where it begins, and the number of its first chunk."""
    lengths, counts = np.array(axis.runs, np.int64).T
    return lengths, np.cumsum(lengths * counts) - lengths * counts, np.cumsum(counts) - counts
