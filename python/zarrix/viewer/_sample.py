"""A sample of a selection that is too large to read: the same one each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix.viewer._cost import decoded_bytes, is_affordable

__all__ = ["sampled"]

_SAMPLE_BYTES = 32 * 2**20
_MOST_CHUNKS = 256


def sampled(array: Any, axes: Any) -> Iterator[tuple[Any, ...]]:
    """The axes of chunks that the selection touches, drawn at random, with one element or more.

    A chunk larger than the sample is left out, so that the sample may be empty.
    """
    rng = np.random.default_rng(0)
    grid = metadata_of(array).inner_grid
    left = _SAMPLE_BYTES
    seen: set[tuple[int, ...]] = set()
    for _ in range(_MOST_CHUNKS):
        picked = [
            axis if isinstance(axis, int) else axis[0] + axis[1] * int(rng.integers(axis[2]))
            for axis in axes
        ]
        extents = [one.find(at) for one, at in zip(grid, picked, strict=True)]
        coords = tuple(one.chunk for one in extents)
        if coords in seen:
            continue
        seen.add(coords)
        parts = [_within(*pair) for pair in zip(axes, extents, strict=True)]
        left -= decoded_bytes(array, parts)
        if left < 0 or not is_affordable(array, parts):
            return
        yield tuple(parts)


def _within(axis: Any, extent: Any) -> Any:
    """The part of an axis of a selection that lies in a chunk."""
    if isinstance(axis, int):
        return axis
    start, step, count = axis
    if step < 0:
        start, step = start + step * (count - 1), -step
    first = max(0, -(-(extent.begin - start) // step))
    last = min(count, -(-(extent.end - start) // step))
    return start + first * step, step, last - first
