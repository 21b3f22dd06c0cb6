"""The labels of one axis, and where a label lies among them.

An `Axis` has all labels in memory. It is sorted if its labels ascend or descend, also with equal
neighbours, and none of them is missing; then a label is found by bisection.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._labels._cf import Decoding, Labels
from zarrix._labels._dates import DAY, SECOND, text_of

__all__ = ["Axis"]

_RESOLUTIONS = (DAY, 3600 * SECOND, 60 * SECOND, SECOND, 10**6, 10**3, 1)


class Axis:
    """The labels of the dimension ``name``.

    Attributes
    ----------
    name : str
    decoding : Decoding
    length : int
    """

    def __init__(self, name: str, labels: Labels, decoding: Decoding) -> None:
        self.name, self.decoding = name, decoding
        self.values, self._missing = labels.values, labels.missing
        self.length = len(labels.values)

    @cached_property
    def direction(self) -> int:
        """1 if the labels ascend, -1 if they descend, and 0 if they are not sorted."""
        values = self.values
        if self._missing is not None:
            return 0
        if len(values) < 2 or bool((values[1:] >= values[:-1]).all()):
            return 1
        return -1 if bool((values[1:] <= values[:-1]).all()) else 0

    @cached_property
    def is_unique(self) -> bool:
        """Whether no label is there twice."""
        if self.direction:
            return not bool((self.values[1:] == self.values[:-1]).any())
        return bool(len(self._sorted[0]) == len(np.unique(self._sorted[0])))

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """The labels that are not missing, sorted, and the index of each."""
        indices = np.arange(self.length)
        if self._missing is not None:
            indices = indices[~self._missing]
        order = np.argsort(self.values[indices], kind="stable")
        return self.values[indices][order], indices[order]

    @cached_property
    def resolution(self) -> int:
        """Nanoseconds of the longest unit, from days, of which all times are whole numbers."""
        for length in _RESOLUTIONS:
            ticks = length // self.decoding.tick
            if ticks <= 1 or not (self.values % ticks).any():
                return length
        return 1

    # Where a label lies in a sorted axis

    def left(self, value: Any) -> Any:
        """The index of the first label at ``value`` or after it, in the direction of the axis."""
        return self._searched(value, self.direction > 0)

    def right(self, value: Any) -> Any:
        """The index behind the last label at ``value`` or before it."""
        return self._searched(value, self.direction < 0)

    def _searched(self, value: Any, is_before_equal: bool) -> Any:
        """The index before or behind labels equal to ``value``, from the smallest label on; from
        the end, if they descend.
        """
        values = self.values if self.direction > 0 else self.values[::-1]
        found: Any
        if isinstance(value, int) and values.dtype.kind in "iu":
            info = np.iinfo(values.dtype)
            if not info.min <= value <= info.max:
                found = 0 if value < info.min else self.length
                return found if self.direction > 0 else self.length - found
            value = values.dtype.type(value)
        found = np.searchsorted(values, value, "left" if is_before_equal else "right")
        return found if self.direction > 0 else self.length - found

    # In any axis

    def between(self, low: Any, high: Any) -> npt.NDArray[np.int64]:
        """The indices of all labels from ``low`` to ``high``."""
        found = (self.values >= low) & (self.values <= high)
        if self._missing is not None:
            found &= ~self._missing
        return np.flatnonzero(found)

    def indices_of(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The index of each of ``values`` in an axis without duplicates; -1 where there is none."""
        labels, indices = self._sorted
        if not len(labels):
            return np.full(len(values), -1)
        at = np.minimum(np.searchsorted(labels, values), len(labels) - 1)
        return np.where(labels[at] == values, indices[at], -1)

    # For people

    def decoded(self) -> npt.NDArray[Any]:
        """The labels as values of NumPy; dates of calendars that it does not have are texts."""
        values, tick = self.values, self.decoding.tick
        if self.decoding.kind not in ("time", "duration"):
            return values
        calendar = self.decoding.calendar
        if calendar is None or calendar.is_real:
            code = "M" if self.decoding.kind == "time" else "m"
            shown = values.view(f"{code}8[{'ns' if tick == 1 else 'us'}]")
            return shown if self._missing is None else np.where(self._missing, "NaT", shown)
        texts = np.array([text_of(int(one) * tick, calendar) for one in values], "U")
        return texts if self._missing is None else np.where(self._missing, "", texts)

    def shown(self, value: Any) -> str:
        """A label as text."""
        if self.decoding.kind == "time" and self.decoding.calendar is not None:
            return text_of(int(value) * self.decoding.tick, self.decoding.calendar)
        return f"{value.item() if isinstance(value, np.generic) else value!r:.60}"

    def described(self) -> str:
        """Which labels there are."""
        if not self.length:
            return f"{self.name} has no labels"
        values = self.values if self._missing is None else self.values[~self._missing]
        if not len(values):
            return f"{self.name} has {self.length:,} labels, all of them missing values"
        absent = (
            "" if self._missing is None else f", and {self.length - len(values):,} missing ones"
        )
        ends = f"from {self.shown(values[0])} to {self.shown(values[-1])}"
        return f"{self.name} has {len(values):,} labels {ends}{absent}"
