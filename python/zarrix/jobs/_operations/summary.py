"""The report of `statistics`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix.jobs._operations.bit_counts import bucket_of, is_counted_exactly, values_of_buckets

__all__ = ["Statistics", "between", "ranks_of"]


def ranks_of(quantile: float, count: int) -> tuple[int, int, float]:
    """The ranks of the elements around a quantile, and how far it is from the first of them."""
    at = quantile * (count - 1)
    low = math.floor(at)
    return low, min(low + 1, count - 1), at - low


def between(low: float, high: float, part: float) -> float:
    """The number at a part of the way between two elements, which may be infinite."""
    return low if low == high or not part else low + (high - low) * part


class Statistics:
    """What the elements of an array are like.

    Elements that were skipped do not count. Without elements, numbers are NaN and extremes None.

    Attributes
    ----------
    count : int
        The number of elements that count.
    nan_count, fill_count : int
        The number of NaN, and of elements that are equal to the fill value.
    fill_fraction : float
        The part of all elements that is equal to the fill value.
    min, max : int or float or None
    mean, var, std : float
        The variance and its root divide by the count, as in NumPy.
    histogram, edges : ndarray or None
        The number of elements in each bin, and the edges of the bins, as from `numpy.histogram`.
        None also where float64 has no bins between the smallest and the largest element.

    Examples
    --------
    >>> import zarrix as zarr
    >>> found = zarr.jobs.statistics(zarr.array([1, 2, 3, 10]))
    >>> found.min, found.max, found.mean
    (1, 10, 4.0)
    """

    __module__ = "zarrix.jobs"

    def __init__(self) -> None:
        self.count = self.nan_count = self.fill_count = 0
        self.fill_fraction = math.nan
        self.min: Any = None
        self.max: Any = None
        self.mean = self.var = math.nan
        self.histogram: npt.NDArray[np.int64] | None = None
        self.edges: npt.NDArray[np.float64] | None = None
        self._quantiles: dict[float, float] = {}
        self._asked: tuple[float, ...] = ()
        self._counts: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._values: npt.NDArray[np.float64] = np.zeros(0)
        self._is_exact = self._has_nan = False
        # What further passes begin with.
        self._state: Any = None

    @classmethod
    def _of(
        cls,
        state: Any,
        size: int,
        quantiles: Sequence[float],
        bins: int | None,
        range: tuple[float, float] | None,
    ) -> Statistics:
        found = cls()
        found.nan_count, found.fill_count = state.nans, state.fills
        found.fill_fraction = state.fills / size if size else math.nan
        found._asked = tuple(quantiles)
        found._has_nan = state.nans > 0 and state.counts_nan
        found._take_counts(state)
        if is_counted_exactly(state.dtype):
            found._take_moments_of_counts(state)
            if bins is not None and (range is not None or found._can_have_bins()):
                used = found._counts > 0
                counted, edges = np.histogram(
                    found._values[used], bins, range, weights=found._counts[used]
                )
                found.histogram, found.edges = counted.astype(np.int64), edges
        else:
            moments = state.moments
            found.count = moments.count
            found.min, found.max = moments.least, moments.largest
            found.mean, found.var = moments.mean_and_variance()
            if range is not None:
                found._take_bins(state.bins, range)
        return found

    def _take_counts(self, state: Any) -> None:
        """The counts that quantiles are computed from."""
        exact = state._told["exact"]
        if exact:
            # The buckets of the exact images have other values; only the asked quantiles are known.
            return
        self._counts, self._values = state.leading, values_of_buckets(state.dtype)
        self._is_exact = is_counted_exactly(state.dtype)

    def _take_moments_of_counts(self, state: Any) -> None:
        """Exact moments of elements of which every value is counted."""
        used = np.flatnonzero(self._counts)
        counts = [int(one) for one in self._counts[used]]
        values = self._values[used]
        self.count = sum(counts)
        if not counts:
            return
        kind = state.dtype.kind
        as_written = {"f": float, "b": bool}.get(kind, int)
        self.min, self.max = as_written(values.min()), as_written(values.max())
        if kind == "f" and not np.isfinite(values).all():
            self.mean = float(np.sum(values * counts)) / self.count
            return
        self.mean = math.fsum(n * v for n, v in zip(counts, values, strict=True)) / self.count
        squares = (n * (v - self.mean) ** 2 for n, v in zip(counts, values, strict=True))
        self.var = math.fsum(squares) / self.count

    def _can_have_bins(self) -> bool:
        return self.count > 0 and math.isfinite(self.min) and math.isfinite(self.max)

    def _take_bins(self, counted: Any, range: Sequence[float]) -> None:
        self.histogram = counted
        self.edges = np.linspace(range[0], range[1], len(counted) + 1)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var) if self.var >= 0 else math.nan

    @property
    def quantiles(self) -> dict[float, float]:
        """The quantiles that were asked for."""
        return {one: self.quantile(one) for one in self._asked}

    def quantile(self, at: float) -> float:
        """The element below which a part of all elements is.

        Between two elements it is interpolated, as `numpy.quantile` does.

        Parameters
        ----------
        at : float
            From 0 to 1.

        Returns
        -------
        float
            Of elements of more than 16 bits within a relative error of 2 ** -8, unless it was asked
            for with ``exact=True``.

        Raises
        ------
        ValueError
            It is not from 0 to 1; or it was not asked for, with ``exact=True``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.jobs.statistics(zarr.array([1, 2, 3, 10], dtype="u1")).quantile(0.5)
        2.5
        """
        if at in self._quantiles:
            return self._quantiles[at]
        if not 0 <= at <= 1:
            raise ValueError(f"{at!r} is not from 0 to 1")
        if not self.count or self._has_nan:
            return math.nan
        if not self._counts.size:
            raise ValueError(f"{at} was not in quantiles=, and exact=True finds no other")
        low, high, part = ranks_of(at, self.count)
        first, last = (float(self._values[bucket_of(self._counts, n)[0]]) for n in (low, high))
        found = between(first, last, part)
        return found if self._is_exact else min(max(found, float(self.min)), float(self.max))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values; numbers that JSON does not have are None.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.jobs.statistics(zarr.array([1, 2, 3, 10])).to_json()["max"]
        10
        """
        names = ("count", "nan_count", "fill_count", "fill_fraction", "min", "max", "mean", "std")
        told = {name: _in_json(getattr(self, name)) for name in names}
        told["quantiles"] = {str(q): _in_json(value) for q, value in self.quantiles.items()}
        for name in ("histogram", "edges"):
            found = getattr(self, name)
            told[name] = None if found is None else found.tolist()
        return told

    def __repr__(self) -> str:
        asked = "".join(f", {q:g}: {value:g}" for q, value in self.quantiles.items())
        return (
            f"<Statistics of {self.count:,} elements: {self.min} to {self.max}, "
            f"mean {self.mean:g}, std {self.std:g}{asked}>"
        )


def _in_json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
