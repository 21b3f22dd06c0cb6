"""Boxes that overlap: found, refused, or cut so that each element lies in one box."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Box", "first_overlap", "subtracted", "uncovered"]


class Box(NamedTuple):
    """A box by its lowest corner, and the corner behind its highest element."""

    start: tuple[int, ...]
    stop: tuple[int, ...]


def first_overlap(starts: Any, stops: Any) -> tuple[int, int] | None:
    """The numbers of two boxes that overlap; None if no two do.

    Boxes are divided along one axis after the other, where no box lies on both sides; only those
    that cannot be divided are compared with each other.

    Examples
    --------
    >>> first_overlap(np.array([[0], [4], [3]]), np.array([[2], [6], [5]]))
    (1, 2)
    """
    numbers = np.nonzero((stops > starts).all(axis=1))[0] if starts.size else np.zeros(0, np.int64)
    if not starts.shape[1]:
        return (0, 1) if len(starts) > 1 else None
    groups = np.zeros(len(numbers), np.int64)
    unchanged, axis = 0, 0
    while len(numbers) > 1 and unchanged < starts.shape[1]:
        numbers, divided = _divided(numbers, groups, starts[:, axis], stops[:, axis])
        unchanged = unchanged + 1 if divided[-1] == groups.max() else 0
        # Groups of one box overlap nothing.
        is_alone = np.bincount(divided)[divided] == 1
        numbers, groups = numbers[~is_alone], divided[~is_alone]
        groups = np.unique(groups, return_inverse=True)[1] if len(groups) else groups
        axis = (axis + 1) % starts.shape[1]
    return _compared(numbers, groups, starts, stops)


def _divided(numbers: Any, groups: Any, starts: Any, stops: Any) -> tuple[Any, Any]:
    """The boxes sorted by group and position along an axis, and new groups."""
    order = np.lexsort((starts[numbers], groups))
    numbers, groups = numbers[order], groups[order]
    begin, end = starts[numbers], stops[numbers]
    is_new = np.ones(len(numbers), bool)
    furthest = np.empty(len(numbers), np.int64)
    bounds = [*np.nonzero(np.diff(groups, prepend=groups[0] - 1))[0].tolist(), len(numbers)]
    for first, last in itertools.pairwise(bounds):
        furthest[first:last] = np.maximum.accumulate(end[first:last])
    same = groups[1:] == groups[:-1]
    is_new[1:] = ~same | (begin[1:] >= furthest[:-1])
    return numbers, np.cumsum(is_new) - 1


def _compared(numbers: Any, groups: Any, starts: Any, stops: Any) -> tuple[int, int] | None:
    for lag in range(1, len(numbers)):
        mine, theirs = numbers[:-lag], numbers[lag:]
        same = groups[:-lag] == groups[lag:]
        if not same.any():
            return None
        meets = (starts[mine] < stops[theirs]) & (starts[theirs] < stops[mine])
        found = np.nonzero(same & meets.all(axis=1))[0]
        if len(found):
            pair = sorted((int(mine[found[0]]), int(theirs[found[0]])))
            return pair[0], pair[1]
    return None


def subtracted(box: Box, other: Box) -> Iterator[Box]:
    """The parts of a box that do not lie in another one.

    Examples
    --------
    >>> [*subtracted(Box((0, 0), (4, 4)), Box((1, 1), (9, 9)))]
    [Box(start=(0, 0), stop=(1, 4)), Box(start=(1, 0), stop=(4, 1))]
    """
    start, stop = list(box.start), list(box.stop)
    corners = zip(box.start, box.stop, other.start, other.stop, strict=True)
    if any(a >= d or c >= b for a, b, c, d in corners):
        yield box
        return
    for axis in range(len(start)):
        low, high = other.start[axis], other.stop[axis]
        if start[axis] < low:
            yield Box(tuple(start), (*stop[:axis], low, *stop[axis + 1 :]))
            start[axis] = low
        if high < stop[axis]:
            yield Box((*start[:axis], high, *start[axis + 1 :]), tuple(stop))
            stop[axis] = high


def uncovered(shape: Sequence[int], boxes: Sequence[Box]) -> Box | None:
    """A box of an array that lies in none of some boxes; None if there is none."""
    left = [Box((0,) * len(shape), tuple(shape))]
    for one in boxes:
        left = [part for box in left for part in subtracted(box, one)]
    return min(left) if left else None
