"""A sample of a selection that is too large to read: the same one each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.stored import box_of
from zarrix._engine import CancelToken
from zarrix.viewer._cost import decoded_bytes, is_affordable, is_listable
from zarrix.viewer._stored import sizes_of

__all__ = ["sampled"]

_SAMPLE_BYTES = 32 * 2**20
_MOST_CHUNKS = 256


def sampled(array: Any, axes: Any, cancel: CancelToken) -> Iterator[tuple[Any, ...]]:
    """The axes of chunks that the selection touches, drawn at random, with one element or more.

    Where chunks are missing, only those that are stored are drawn. A chunk larger than the sample
    is left out, so that the sample may be empty.
    """
    rng = np.random.default_rng(0)
    grid = metadata_of(array).inner_grid
    left = _SAMPLE_BYTES
    seen: set[tuple[int, ...]] = set()
    stored = _stored_parts(array, axes, cancel)
    for _ in range(_MOST_CHUNKS):
        among = axes if stored is None else stored[int(rng.integers(len(stored)))]
        picked = [
            axis if isinstance(axis, int) else axis[0] + axis[1] * int(rng.integers(axis[2]))
            for axis in among
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


def _stored_parts(array: Any, axes: Any, cancel: CancelToken) -> list[list[Any]] | None:
    """The parts of a selection in stored chunks (or shards); None if all are, or if unknown."""
    if not is_listable(array, axes):
        return None
    grid = metadata_of(array).grid
    box = box_of(grid, axes)
    is_stored = sizes_of(array, box, cancel) >= 0
    if is_stored.all() or not is_stored.any():
        return None
    found = []
    for at in np.argwhere(is_stored).tolist():
        extents = [axis.chunk(begin + one)
                   for axis, (begin, _), one in zip(grid, box, at, strict=True)]  # fmt: skip
        part = [_within(*pair) for pair in zip(axes, extents, strict=True)]
        if all(isinstance(one, int) or one[2] > 0 for one in part):
            found.append(part)
    return found or None


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
