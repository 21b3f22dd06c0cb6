"""Which of many boxes a selection touches, and which part of each: arithmetic on integers.

Boxes do not overlap. Where they lie behind one another along one axis, and reach over all others,
they are found by a binary search; all others are compared at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

__all__ = ["BoxIndex", "Cut", "SortedList", "cut_axis"]


@dataclass(frozen=True, slots=True)
class SortedList:
    """An array of indices in ascending order.

    Attributes
    ----------
    values : ndarray of int64
    order : ndarray of int64, or None
        Where each value is in the array; None if that was ascending.
    """

    values: Numbers
    order: Numbers | None

    @classmethod
    def of(cls, indices: Any) -> SortedList:
        """The indices of one axis of a selection.

        Examples
        --------
        >>> SortedList.of(np.array([2, 5])).order is None
        True
        """
        values = np.asarray(indices).astype(np.int64, copy=False)
        if len(values) < 2 or bool((values[1:] >= values[:-1]).all()):
            return cls(values, None)
        order = np.argsort(values, kind="stable")
        return cls(values[order], order)


# Part of one axis of a selection: the indices relative to a box, and where they are in the result.
Cut = tuple[Any, Any]


def cut_axis(selection: Any, begin: int, end: int) -> Cut | None:
    """The part of one axis of a selection that lies in ``[begin, end)``, relative to ``begin``, and
    where it is in the result; None if there is none.

    Examples
    --------
    >>> cut_axis((1, 3, 5), 5, 11)
    ((2, 3, 2), slice(2, 4, None))
    >>> cut_axis((13, -3, 5), 5, 11)
    ((5, -3, 2), slice(1, 3, None))
    >>> cut_axis(7, 5, 11), cut_axis(4, 5, 11)
    ((2, None), None)
    """
    if isinstance(selection, int):
        return (selection - begin, None) if begin <= selection < end else None
    if isinstance(selection, tuple):
        start, step, count = selection
        if step > 0:
            first, last = -((start - begin) // step), -((start - end) // step)
        else:
            first, last = (start - end) // -step + 1, (start - begin) // -step + 1
        first, last = max(first, 0), min(last, count)
        if first >= last:
            return None
        return (start + first * step - begin, step, last - first), slice(first, last)
    low, high = np.searchsorted(selection.values, (begin, end)).tolist()
    if low >= high:
        return None
    where = slice(low, high) if selection.order is None else selection.order[low:high]
    return selection.values[low:high] - begin, where


def _bounds(selection: Any) -> tuple[int, int] | None:
    """The least and the greatest index of one axis of a selection; None if it is empty."""
    if isinstance(selection, int):
        return selection, selection
    if isinstance(selection, tuple):
        start, step, count = selection
        last = start + step * (count - 1)
        return (min(start, last), max(start, last)) if count else None
    values = selection.values
    return (int(values[0]), int(values[-1])) if len(values) else None


class BoxIndex:
    """Boxes in an array, by their lowest corners and the corners behind their highest elements.

    Parameters
    ----------
    shape : tuple of int
    starts, stops : ndarray of int64, shape (N, ndim)
        Within ``shape``; boxes may be empty.

    Attributes
    ----------
    axis : int or None
        The axis along which the boxes lie in ascending order, while they reach over all others.
    covered : int
        The number of elements in boxes.
    """

    def __init__(self, shape: tuple[int, ...], starts: Numbers, stops: Numbers) -> None:
        self.starts, self.stops = starts, stops
        differ = [
            axis
            for axis, size in enumerate(shape)
            if len(starts) and ((starts[:, axis] != 0).any() or (stops[:, axis] != size).any())
        ]
        axis = differ[0] if len(differ) == 1 else 0 if shape and not differ else None
        is_sorted = axis is not None and bool((starts[1:, axis] >= stops[:-1, axis]).all())
        self.axis = axis if is_sorted else None
        if self.axis is not None:
            self._begin = np.ascontiguousarray(starts[:, self.axis])
            self._end = np.ascontiguousarray(stops[:, self.axis])

        sizes = stops - starts
        # In 64 bits where that cannot overflow.
        is_small = math.prod(shape) * max(1, len(starts)) < 2**63
        if is_small:
            self.covered = int(np.prod(sizes, axis=1).sum())
        else:
            self.covered = sum(map(math.prod, sizes.tolist()))

    def __len__(self) -> int:
        return len(self.starts)

    def touched(self, selection: Any) -> Numbers:
        """The numbers of the boxes that a selection may touch, ascending; a `SortedList` stands for
        an array of indices.
        """
        bounds = []
        for one in selection:
            bound = _bounds(one)
            if bound is None:
                return np.zeros(0, np.int64)
            bounds.append(bound)
        if self.axis is None:
            is_touched = np.ones(len(self.starts), bool)
            for axis, (low, high) in enumerate(bounds):
                is_touched &= (self.starts[:, axis] <= high) & (self.stops[:, axis] > low)
            return np.nonzero(is_touched)[0]
        along = selection[self.axis]
        if isinstance(along, SortedList):
            found = np.unique(np.searchsorted(self._end, along.values, side="right"))
            found = found[found < len(self._begin)]
            kept: Numbers = found[self._begin[found] <= along.values[-1]]
            return kept
        return self._between(*bounds[self.axis])

    def _between(self, low: int, high: int) -> Numbers:
        """The boxes along `axis` that have an element from ``low`` to ``high``, or lie there."""
        first = int(np.searchsorted(self._end, low, side="right"))
        last = int(np.searchsorted(self._begin, high, side="right"))
        return np.arange(first, last)

    def along(self, start: int, step: int, count: int) -> tuple[list[int], ...]:
        """For a range along `axis`: the numbers of the boxes that it touches, and for each the
        first index in the box, how many there are, and the position of the first in the range.
        """
        if not count:
            return [], [], [], []
        last_index = start + step * (count - 1)
        numbers = self._between(min(start, last_index), max(start, last_index))
        begin, end = self._begin[numbers], self._end[numbers]
        if step > 0:
            first, last = -((start - begin) // step), -((start - end) // step)
        else:
            first, last = (start - end) // -step + 1, (start - begin) // -step + 1
        first, last = np.maximum(first, 0), np.minimum(last, count)
        counts = last - first
        if not (counts > 0).all():
            kept = counts > 0
            numbers, begin, first, counts = numbers[kept], begin[kept], first[kept], counts[kept]
        return (
            numbers.tolist(),
            (start + first * step - begin).tolist(),
            counts.tolist(),
            first.tolist(),
        )
