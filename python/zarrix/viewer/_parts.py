"""A selection read part by part, so that memory does not grow with it, and a request can end.

Parts end at the borders of chunks, and each is at most some MiB and some thousand stored values:
every chunk is decoded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._engine import CancelToken
from zarrix._errors import CallCancelledError
from zarrix.viewer._cost import check_cost, decoded_bytes, touched

__all__ = ["check_going", "divided", "key_of_axes", "parts_of", "read"]

_PART_BYTES = 32 * 2**20
_PART_VALUES = 2**13


def check_going(cancel: CancelToken) -> None:
    """End the request if its connection has ended.

    Raises
    ------
    CallCancelledError
    """
    if cancel.is_cancelled:
        raise CallCancelledError("the request was cancelled")


def read(array: Any, axes: Any, cancel: CancelToken, field: str | None = None) -> Any:
    """The selected values as a NumPy array.

    Raises
    ------
    Refused
        Their chunks are too many or too large for one request.
    CallCancelledError
        The request was cancelled.
    """
    check_cost(array, axes)
    found: Any = None
    for part in parts_of(array, axes):
        check_going(cancel)
        key = key_of_axes(part)
        values = array.get_basic_selection(key, fields=field) if field else array[key]
        values = np.asarray(values)
        if part == tuple(axes):
            return values
        if found is None:
            shape = [one[2] for one in axes if not isinstance(one, int)]
            # A field of arrays has further axes.
            found = np.empty((*shape, *values.shape[len(shape) :]), values.dtype)
        pairs = zip(axes, part, strict=True)
        found[tuple(_within(*pair) for pair in pairs if not isinstance(pair[0], int))] = values
    return found


def _within(whole: Any, part: Any) -> slice:
    """Where the part of a range lies in it."""
    begin = (part[0] - whole[0]) // whole[1]
    return slice(begin, begin + part[2])


def parts_of(array: Any, axes: Any) -> Iterator[tuple[Any, ...]]:
    """The axes of parts of a selection that together are all of it, in no certain order."""
    # Not inner chunks, because each part of a shard reads its index again.
    grid = metadata_of(array).grid
    waiting = [tuple(axes)]
    while waiting:
        part = waiting.pop()
        is_large = decoded_bytes(array, part) > _PART_BYTES or touched(grid, part) > _PART_VALUES
        halves = divided(array, part) if is_large else None
        if halves is None:
            yield part
        else:
            waiting.extend(halves)


def divided(array: Any, part: Any) -> list[tuple[Any, ...]] | None:
    """The axes of two parts of a selection, at a border of chunks; None if it is in one chunk."""
    axis = _longest(array, part)
    if axis is None:
        return None
    start, step, count = part[axis]
    middle = _border(metadata_of(array).inner_grid[axis], start, step, count)
    found = []
    for begin, length in ((0, middle), (middle, count - middle)):
        half = (start + begin * step, step, length)
        found.append((*part[:axis], half, *part[axis + 1 :]))
    return found


def _longest(array: Any, part: Any) -> int | None:
    """The axis to divide: the one with the most chunks; None if all of it is one chunk."""
    most, found = 1, None
    for axis, one in enumerate(part):
        if isinstance(one, int):
            continue
        grid = metadata_of(array).inner_grid[axis]
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


def key_of_axes(axes: Any) -> tuple[Any, ...]:
    """What the array is indexed with."""
    return tuple(one if isinstance(one, int) else _slice(*one) for one in axes)


def _slice(start: int, step: int, count: int) -> slice:
    stop = start + step * count
    return slice(start, stop if stop >= 0 else None, step) if count else slice(0, 0)
