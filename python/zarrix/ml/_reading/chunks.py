"""Where the chunks of an axis end, without a step of Python for each: an axis may have 10^9."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix.ml._order.random import Ints

__all__ = ["ends_along"]


def ends_along(array: Any, axis: int) -> Ints:
    """Where the chunks of a stored array end along an axis; shards count as chunks."""
    grid, length = array._metadata.grid[axis], int(array.shape[axis])
    # What is declared beyond the axis takes no memory.
    runs = [
        (size, min(count, -(-length // size)))
        for size, count in grid.runs or ((grid.even, length),)
    ]
    sizes, counts = (np.array(one, np.int64) for one in zip(*runs, strict=True))
    ends: Ints = np.cumsum(np.repeat(sizes, counts))
    last = int(np.searchsorted(ends, length)) + 1
    return np.minimum(ends[:last], length)
