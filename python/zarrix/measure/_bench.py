"""Random reads of an array, timed."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from zarrix._array.dimension_names import names_of
from zarrix._display.table import Printed
from zarrix._hierarchy.open import open as open_node
from zarrix.measure._access import Access, accesses_of

__all__ = ["Bench", "bench", "compared", "places_of", "read_once", "timed_reads"]

# Places of each access, and how often each is read.
_PLACES = 6
_LEAST_ROUNDS, _MOST_ROUNDS = 3, 100


@dataclass(frozen=True)
class Bench(Printed):
    """The reads of one access.

    Attributes
    ----------
    access : str
    reads : int
    per_s : float
        Accesses a second.
    bytes_per_s : float
        Bytes of the results, a second.
    p50_s, p99_s : float
        Half of the accesses, and 99 of 100, took at most so many seconds.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros((64, 64), chunks=(16, 16))
    >>> (found,) = zarr.measure.bench(z, access="crop 8x8", seconds=0.01)
    >>> found.access, found.reads > 0
    ('crop 8x8', True)
    """

    access: str
    reads: int
    per_s: float
    bytes_per_s: float
    p50_s: float
    p99_s: float

    def to_json(self) -> str:
        """The result as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> from zarrix.measure import Bench
        >>> Bench("all", 1, 1.0, 8.0, 1.0, 1.0).to_json()[:31]
        '{"version": 1, "access": "all",'
        """
        return json.dumps({"version": 1, **asdict(self)})

    def __str__(self) -> str:
        return (
            f"{self.access}: {self.per_s:,.1f}/s, {self.bytes_per_s / 1e6:,.0f} MB/s, "
            f"p50 {1e3 * self.p50_s:.2f} ms, p99 {1e3 * self.p99_s:.2f} ms ({self.reads:,} reads)"
        )


def bench(array: Any, *, access: Any, seconds: float = 1.0, seed: int = 0) -> list[Bench]:
    """Time random reads of an array, as a program would make them.

    Parameters
    ----------
    array : Array, Store, str or Path
    access : str or sequence of str
        As for `suggest`.
    seconds : float
        For each access.
    seed : int
        Of the places.

    Returns
    -------
    list of Bench

    Raises
    ------
    ValueError
        An access is not understood.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros((8, 8))
    >>> len(zarr.measure.bench(z, access=["all", "frame"], seconds=0.01))
    2
    """
    node = array if hasattr(array, "shape") else open_node(array, mode="r")
    found = []
    for one in accesses_of(access, node.shape, names_of(node)):
        times = timed_reads(node, one, seconds, seed)
        nbytes = math.prod(one.extent) * one.count * node.dtype.itemsize
        spent = sum(times)
        found.append(
            Bench(
                one.text,
                len(times),
                len(times) / spent,
                nbytes * len(times) / spent,
                float(np.quantile(times, 0.5)),
                float(np.quantile(times, 0.99)),
            )
        )
    return found


def timed_reads(node: Any, access: Access, seconds: float, seed: int) -> list[float]:
    """The seconds of reads at random places; at least 3 after one that is not timed."""
    places = access.regions(node.shape, seed)
    read_once(node, next(places))
    times: list[float] = []
    spent = 0.0
    while spent < seconds or len(times) < 3:
        region = next(places)
        begun = time.perf_counter()
        read_once(node, region)
        times.append(time.perf_counter() - begun)
        spent += times[-1]
    return times


def compared(
    arrays: Sequence[Any], accesses: Sequence[Access], seconds: float, seed: int
) -> list[float]:
    """The seconds of an access of each array, weighted, from interleaved rounds.

    All arrays have the same shape and are read at the same places, in another order each round:
    what is read after a large chunk finds caches empty and threads that still run. Other programs
    only add time, so that a fast round is the time of a place: a tenth of the rounds are faster, by
    luck of the threads. The median of the places is that of an access.
    """
    places = places_of(accesses, arrays[0].shape, seed)
    orders = np.random.default_rng(seed)
    times: list[list[list[list[float]]]] = [
        [[[] for _ in regions] for regions in places] for _ in arrays
    ]
    end = time.perf_counter() + seconds
    most = max(map(len, places))
    for turn in range(_MOST_ROUNDS * _PLACES // most):
        for place in range(most):
            for at in orders.permutation(len(arrays)):
                for regions, took in zip(places, times[at], strict=True):
                    if place < len(regions):
                        begun = time.perf_counter()
                        read_once(arrays[at], regions[place])
                        took[place].append(time.perf_counter() - begun)
            if turn >= _LEAST_ROUNDS and time.perf_counter() >= end:
                break
        if turn + 1 >= _LEAST_ROUNDS and time.perf_counter() >= end:
            break
    weights = [one.weight for one in accesses]
    return [
        float(np.average([np.median([_fast(one) for one in took]) for took in taken], 0, weights))
        for taken in times
    ]


def _fast(times: list[float]) -> float:
    return sorted(times)[len(times) // 10]


def places_of(accesses: Sequence[Access], shape: Sequence[int], seed: int) -> list[list[Any]]:
    """The regions that `compared` reads of each access, once each: that of everything is one."""
    places = []
    for one in accesses:
        found: list[Any] = []
        for region in itertools.islice(one.regions(shape, seed), _PLACES):
            if region not in found:
                found.append(region)
        places.append(found)
    return places


def read_once(node: Any, region: Any) -> None:
    """One access: a box, or a list of points."""
    if isinstance(region, list):
        columns = zip(*[[one.start for one in each] for each in region], strict=True)
        node.vindex[tuple(np.array(column) for column in columns)]
    else:
        node[region]


bench.__module__ = "zarrix.measure"
