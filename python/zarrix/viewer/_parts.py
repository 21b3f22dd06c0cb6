"""A selection read part by part, so that memory does not grow with it.

Parts end at the borders of chunks, and each is at most some MiB: every chunk is decoded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zarrix.viewer._cost import decoded_bytes

__all__ = ["parts_of"]

_PART_BYTES = 32 * 2**20


def parts_of(array: Any, axes: Any) -> Iterator[tuple[Any, ...]]:
    """Keys of parts of a selection that together are all of it, in no certain order."""
    waiting = [tuple(axes)]
    while waiting:
        part = waiting.pop()
        axis = _longest(array, part) if decoded_bytes(array, part) > _PART_BYTES else None
        if axis is None:
            yield tuple(one if isinstance(one, int) else _slice(*one) for one in part)
            continue
        start, step, count = part[axis]
        middle = _border(array._metadata.inner_grid[axis], start, step, count)
        for begin, length in ((0, middle), (middle, count - middle)):
            half = (start + begin * step, step, length)
            waiting.append((*part[:axis], half, *part[axis + 1 :]))


def _longest(array: Any, part: Any) -> int | None:
    """The axis to divide: the one with the most chunks; None if all of it is one chunk."""
    most, found = 1, None
    for axis, one in enumerate(part):
        if isinstance(one, int):
            continue
        grid = array._metadata.inner_grid[axis]
        start, step, count = one
        if count < 2:
            continue
        ends = grid.find(start).chunk, grid.find(start + step * (count - 1)).chunk
        chunks = abs(ends[1] - ends[0]) + 1
        if chunks > most:
            most, found = chunks, axis
    return found


def _border(grid: Any, start: int, step: int, count: int) -> int:
    """How many elements lie before a border of chunks near the middle; at least 1."""
    middle = start + step * (count // 2)
    if step > 0:
        before = -(-(grid.find(middle).begin - start) // step)
    else:
        before = (start - grid.find(middle).end) // -step + 1
    # The chunk of the middle may be that of the start.
    return before if 0 < before < count else count // 2


def _slice(start: int, step: int, count: int) -> slice:
    stop = start + step * count
    return slice(start, stop if stop >= 0 else None, step) if count else slice(0, 0)
