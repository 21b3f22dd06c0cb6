"""Moments of elements that merge: counts, exact sums of integers, means and squared differences.

Chan's formulas merge the means and the sums of squared differences of two parts. The parts and the
order in which they merge are fixed by the shape and the chunks of the array, so that the bits of
the result do not depend on workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Moments"]

AnyArray = npt.NDArray[Any]

# Elements of a part: they are converted to float64, and stay in the caches.
_PART = 1 << 17


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

    @classmethod
    def of(cls, values: AnyArray) -> Moments:
        """The moments of a block."""
        found = cls()
        with np.errstate(invalid="ignore", over="ignore"):
            for part in _parts(values):
                found.merge(cls._of_part(part))
        return found

    @classmethod
    def _of_part(cls, values: AnyArray) -> Moments:
        exact = values.astype(np.float64)
        mean = float(exact.mean())
        exact -= mean
        return cls(
            values.size,
            _total(values) if values.dtype.kind in "iu" else 0,
            mean,
            float(np.dot(exact, exact)),
            values.min().item(),
            values.max().item(),
        )

    def merge(self, other: Moments) -> None:
        """Add the elements of another part."""
        if not other.count:
            return
        count = self.count + other.count
        # A difference of infinities is NaN, which is what the mean of both is.
        difference = other.mean - self.mean
        self.squares += other.squares + difference * difference * self.count * other.count / count
        self.mean = self.mean + difference * other.count / count if self.count else other.mean
        self.count, self.total = count, self.total + other.total
        # Comparisons with NaN are false: it would stay hidden.
        self.least = _first(self.least, other.least, other.least != other.least)
        self.largest = _last(self.largest, other.largest, other.largest != other.largest)

    def to_json(self) -> list[Any]:
        """JSON values that have every bit."""
        numbers = (self.mean, self.squares, self.least, self.largest)
        return [self.count, str(self.total), *map(_text, numbers)]

    @classmethod
    def from_json(cls, told: list[Any]) -> Moments:
        """The moments of `to_json`."""
        count, total, mean, squares, least, largest = told
        return cls(
            count, int(total), _number(mean), _number(squares), _number(least), _number(largest)
        )


def _parts(values: AnyArray) -> Iterator[AnyArray]:
    flat = values.reshape(-1)
    for begin in range(0, flat.size, _PART):
        yield flat[begin : begin + _PART]


def _total(values: AnyArray) -> int:
    if values.dtype.itemsize < 8:
        return int(values.sum(dtype=np.int64))
    bits = values.dtype.type(32)
    low = values & values.dtype.type(0xFFFFFFFF)
    return (int((values >> bits).sum()) << 32) + int(low.sum(dtype=np.uint64))


def _first(one: Any, other: Any, is_nan: bool) -> Any:
    return other if one is None or is_nan or other < one else one


def _last(one: Any, other: Any, is_nan: bool) -> Any:
    return other if one is None or is_nan or other > one else one


def _text(number: Any) -> Any:
    return number if number is None or isinstance(number, int) else float(number).hex()


def _number(told: Any) -> Any:
    return float.fromhex(told) if isinstance(told, str) else told
