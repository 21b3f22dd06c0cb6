"""Moments of elements that merge: counts, exact sums of integers, means and squared differences.

Chan's formulas merge the means and the sums of squared differences of two parts. The parts and the
order in which they merge are fixed by the shape and the chunks of the array, so that the bits of
the result do not depend on workers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Moments"]


@dataclass
class Moments:
    """The moments of some elements.

    Attributes
    ----------
    count : int
    total : int
        The exact sum of integers; 0 for other elements.
    mean, squares : float
        The mean, and the sum of squared differences from it.
    least, largest : int or float or None
        None without elements.
    """

    count: int = 0
    total: int = 0
    mean: float = 0.0
    squares: float = 0.0
    least: Any = None
    largest: Any = None

    def merge(self, other: Moments) -> None:
        """Add the elements of another part."""
        if not other.count:
            return
        count = self.count + other.count
        difference = other.mean - self.mean
        self.squares += other.squares + difference * difference * self.count * other.count / count
        self.mean = self.mean + difference * other.count / count if self.count else other.mean
        self.count, self.total = count, self.total + other.total
        # Comparisons with NaN are false: it would stay hidden.
        self.least = _first(self.least, other.least, other.least != other.least)
        self.largest = _last(self.largest, other.largest, other.largest != other.largest)

    def mean_and_variance(self) -> tuple[float, float]:
        """The mean and the variance of all elements; NaN without any.

        Differences of infinities are NaN, so that the mean of infinite elements is told by the
        extremes: it does not depend on the parts that have them.
        """
        if not self.count:
            return math.nan, math.nan
        if isinstance(self.least, int):
            return self.total / self.count, self.squares / self.count
        infinite = [one for one in (self.least, self.largest) if math.isinf(one)]
        if infinite:
            return sum(infinite), math.nan
        return self.mean, self.squares / self.count

    def to_json(self) -> list[Any]:
        """JSON values that have every bit."""
        numbers = (self.mean, self.squares, self.least, self.largest)
        return [self.count, str(self.total), *map(_text, numbers)]

    @classmethod
    def from_json(cls, values: list[Any]) -> Moments:
        """The moments of `to_json`."""
        count, total, mean, squares, least, largest = values
        return cls(
            count, int(total), _number(mean), _number(squares), _number(least), _number(largest)
        )


def _first(earlier: Any, later: Any, is_nan: bool) -> Any:
    return later if earlier is None or is_nan or later < earlier else earlier


def _last(earlier: Any, later: Any, is_nan: bool) -> Any:
    return later if earlier is None or is_nan or later > earlier else earlier


def _text(number: Any) -> Any:
    return number if number is None or isinstance(number, int) else float(number).hex()


def _number(value: Any) -> Any:
    return float.fromhex(value) if isinstance(value, str) else value
