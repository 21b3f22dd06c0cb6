"""What many elements are like: moments, percentiles, a histogram.

Elements of 8 and 16 bits are counted by value, so that everything follows exactly from at most
65,536 counts. The finite elements of wider types are held until the range of the histogram is
known, and their percentiles are those of their leading 16 bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zarrix.jobs._operations.bit_counts import (
    BUCKETS,
    bucket_of,
    is_counted_exactly,
    values_of_buckets,
)
from zarrix.jobs._operations.block_summary import summary_of
from zarrix.jobs._operations.moments import Moments

__all__ = ["Counted"]

_PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
_BLOCK = 2**18


class Counted:
    """Counts of elements, which are added part by part.

    Parameters
    ----------
    dtype : dtype
        Of real numbers or truth values.
    fill_value : scalar or None
        The value that is counted as fill.
    """

    def __init__(self, dtype: np.dtype[Any], fill_value: Any) -> None:
        self._is_exact = is_counted_exactly(dtype) and dtype.kind in "biuf"
        self._dtype = np.dtype("u1") if dtype.kind == "b" else dtype
        self._fill_value = fill_value
        self._counts = np.zeros(BUCKETS, np.int64)
        self._held: list[Any] = []
        self._moments = Moments()
        self._seen = self._nan = self._inf = self._fill = 0

    def add(self, values: Any) -> None:
        """Count these elements, of one axis."""
        self._seen += values.size
        if self._fill_value is not None and not _is_nan(self._fill_value):
            self._fill += int(np.count_nonzero(values == self._fill_value))
        if values.dtype.kind == "b":
            values = values.view("u1")
        for begin in range(0, values.size, _BLOCK):
            self._add(values[begin : begin + _BLOCK])

    def _add(self, values: Any) -> None:
        if values.dtype.kind == "f" and values.dtype.itemsize > 2:
            finite = np.isfinite(values)
            nan = int(np.count_nonzero(np.isnan(values)))
            self._nan += nan
            self._inf += int(values.size - np.count_nonzero(finite)) - nan
            values = values[finite]
        if not values.size:
            return
        found = summary_of(values)
        self._counts += found.leading
        if not self._is_exact:
            self._moments.merge(found.moments)
            self._held.append(values)

    def _by_value(self) -> tuple[Any, Any]:
        """The finite values that occur, in their order, and how often."""
        values = values_of_buckets(self._dtype)
        at = np.flatnonzero((self._counts > 0) & np.isfinite(values))
        return values[at], self._counts[at]

    def document(self) -> dict[str, Any]:
        """The counts and the moments, as the route ``stats`` has them."""
        values, counts = self._by_value()
        if self._is_exact:
            every = values_of_buckets(self._dtype)
            self._nan = int(self._counts[np.isnan(every)].sum())
            self._inf = int(self._counts[np.isinf(every)].sum())
            moments = _moments_of(values, counts)
        else:
            moments = self._moments
        is_whole = self._dtype.kind in "iu"
        ends = [moments.least, moments.largest]
        low, high = (int(one) if is_whole and one is not None else one for one in ends)
        return {
            "count": moments.count,
            "nan": self._nan,
            "inf": self._inf,
            "fill": self._fill,
            "sampled": self._seen,
            "min": low,
            "max": high,
            "mean": moments.mean if moments.count else None,
            "std": math.sqrt(moments.squares / moments.count) if moments.count else None,
            "percentiles": self._percentiles(values, counts),
        }

    def _percentiles(self, values: Any, counts: Any) -> dict[str, float] | None:
        total = int(counts.sum())
        if not total:
            return None
        ranks = {p: round(p / 100 * (total - 1)) for p in _PERCENTILES}
        return {str(p): float(values[bucket_of(counts, rank)[0]]) for p, rank in ranks.items()}

    def histogram(
        self, ends: tuple[float, float] | None, bins: int
    ) -> tuple[list[int], list[float]]:
        """The number of finite elements in each bin, and the edges of the bins."""
        if ends is None:
            found = self.document()
            if found["min"] is None:
                return [], []
            ends = float(found["min"]), float(found["max"])
        low, high = ends
        if not low < high:
            low, high = low - 0.5, high + 0.5
        edges = _edges(low, high, bins)
        if self._is_exact:
            values, counts = self._by_value()
            # As integers: weights would make numbers of 53 bits of them.
            inside = (values >= low) & (values <= high)
            at = np.minimum(np.searchsorted(edges, values[inside], side="right") - 1, bins - 1)
            total = np.zeros(bins, np.int64)
            np.add.at(total, at, counts[inside])
            return total.tolist(), edges.tolist()
        total = np.zeros(bins, np.int64)
        for part in self._held:
            total += np.histogram(part, edges)[0]
        return total.tolist(), edges.tolist()


def _edges(low: float, high: float, bins: int) -> Any:
    # The difference of two large numbers may be none.
    by = 1.0 if math.isfinite(high - low) else 2.0
    return np.linspace(low / by, high / by, bins + 1) * by


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def _moments_of(values: Any, counts: Any) -> Moments:
    total = int(counts.sum())
    if not total:
        return Moments()
    mean = float(np.dot(values, counts / total))
    squares = float(np.dot((values - mean) ** 2, counts))
    return Moments(total, 0, mean, squares, values[0].item(), values[-1].item())
