"""An axis with more labels than are read at once: sorted, and searched part by part.

Only the parts that a search comes by are read, so that not all are known to be
sorted; those that are read are checked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._errors import LabelError
from zarrix._labels._axis import Axis
from zarrix._labels._cf import Decoding, Labels

__all__ = ["LongAxis"]

_MOST_KEPT = 4


class _Parts:
    """Labels that are read part by part, in place of an array of them."""

    def __init__(self, name: str, length: int, part: int, read: Callable[[int, int], Labels]):
        self._name, self._length, self._part, self._read = name, length, part, read
        self._kept: OrderedDict[int, npt.NDArray[Any]] = OrderedDict()
        self.count = -(-length // part)

    def __len__(self) -> int:
        return self._length

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.part(0).dtype

    def part(self, number: int) -> npt.NDArray[Any]:
        """The labels of one part."""
        found = self._kept.get(number)
        if found is None:
            begin = number * self._part
            labels, missing = self._read(begin, min(self._length, begin + self._part))
            rises = bool((labels[1:] >= labels[:-1]).all())
            falls = bool((labels[1:] <= labels[:-1]).all())
            if missing is not None or not (rises or falls):
                raise LabelError(
                    f"the labels of {self._name} from {begin:,} on are not sorted, as those of a "
                    "coordinate of more than 64 MiB have to be"
                )
            found = self._kept[number] = labels
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, np.ndarray):
            found = [self[int(one)] for one in index]
            return np.array(found, self.dtype)
        number, inside = divmod(index + (self._length if index < 0 else 0), self._part)
        return self.part(number)[inside]

    def first(self, number: int) -> Any:
        """The first label of a part."""
        return self[number * self._part]

    @property
    def length(self) -> int:
        """Labels in a part."""
        return self._part


class LongAxis(Axis):
    """The labels of a dimension whose coordinate is not read as a whole.

    Parameters
    ----------
    name : str
    length : int
    part : int
        The number of labels that are read at once.
    read : function
        The labels from one index to another.
    decoding : Decoding
    """

    def __init__(
        self,
        name: str,
        length: int,
        part: int,
        read: Callable[[int, int], Labels],
        decoding: Decoding,
    ) -> None:
        self._parts = _Parts(name, length, part, read)
        values: Any = self._parts
        super().__init__(name, Labels(values, None), decoding)

    @cached_property
    def direction(self) -> int:
        """1 if the last label is not less than the first one, else -1."""
        return 1 if self._parts[0] <= self._parts[-1] else -1

    @cached_property
    def is_unique(self) -> bool:
        """True, because it would take all labels to know; one that is found twice is an error."""
        return True

    @cached_property
    def resolution(self) -> int:
        """That of the first and the last part."""
        ends = [self._parts.part(0), self._parts.part(self._parts.count - 1)]
        return min(Axis(self.name, Labels(one, None), self.decoding).resolution for one in ends)

    def _searched(self, value: Any, is_before_equal: bool) -> Any:
        if isinstance(value, np.ndarray):
            found = [self._searched(one, is_before_equal) for one in value]
            return np.array(found, np.int64)
        # Counted from the smallest label on, as in an array: parts from the end if they descend.
        ascends = self.direction > 0
        low, high = 0, self._parts.count
        while low < high:
            middle = (low + high) // 2
            number = middle if ascends else self._parts.count - 1 - middle
            smallest = self._smallest(number)
            if smallest < value or (smallest == value and not is_before_equal):
                low = middle + 1
            else:
                high = middle
        if low == 0:
            before = 0
        else:
            number = low - 1 if ascends else self._parts.count - low
            before = self._before(number) + self._inside(number, value, is_before_equal)
        return before if ascends else self.length - before

    def _smallest(self, number: int) -> Any:
        part = self._parts.part(number)
        return part[0] if self.direction > 0 else part[-1]

    def _before(self, number: int) -> int:
        """How many labels lie in the parts with smaller ones."""
        begin = number * self._parts.length
        if self.direction > 0:
            return begin
        return self.length - min(self.length, begin + self._parts.length)

    def _inside(self, number: int, value: Any, is_before_equal: bool) -> int:
        part = self._parts.part(number)
        inside = Axis(
            self.name, Labels(part if self.direction > 0 else part[::-1], None), self.decoding
        )
        return int(inside._searched(value, is_before_equal))

    def between(self, low: Any, high: Any) -> npt.NDArray[np.int64]:
        """The indices of all labels from ``low`` to ``high``."""
        first, last = sorted((int(self.left(low)), int(self.right(high))))
        return np.arange(first, last)

    def indices_of(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The index of each of ``values``; -1 where there is none."""
        first, last = self.left(values), self.right(values)
        if (last > first + 1).any():
            raise LabelError(f"{self.name} has one of the labels more than once")
        return np.where(last == first + 1, first, -1)

    def decoded(self) -> npt.NDArray[Any]:
        """The labels, which are too many for memory.

        Raises
        ------
        LabelError
            Always.
        """
        raise LabelError(
            f"{self.name} has {self.length:,} labels, which are not read at once; read the array"
        )
