"""`statistics`: what the elements of an array are like, from one read of it.

A task reads a fixed run of regions and gives back a state; states merge in the order of the tasks.
Regions and tasks depend on the array alone, so that the bits of the result are equal for every
executor, order and interruption. An exact quantile of elements of more than 16 bits, and a
histogram without a range of such elements, need the result of one pass for the next: each pass is
a job.

`statistics` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._errors import DataTypeError
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.signatures import takes
from zarrix._stores.memory import MemoryStore
from zarrix.jobs._operations.along import job_along
from zarrix.jobs._operations.bit_counts import (
    BUCKETS,
    add_packed,
    bits_of,
    bucket_of,
    counts_after,
    is_counted_exactly,
    packed,
    value_of,
)
from zarrix.jobs._operations.block_summary import summary_of
from zarrix.jobs._operations.moments import Moments
from zarrix.jobs._operations.summary import Statistics, between, ranks_of
from zarrix.jobs._operations.task_size import task_bytes
from zarrix.jobs._running.documents import opened
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, source_array
from zarrix.jobs._running.places import Place, digest_of, place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.jobs._running.tiling import Tiling

__all__ = ["Summarize", "statistics"]

AnyArray = npt.NDArray[Any]

# A task has several regions, each of which is read at once, so that the driver has few states.
_REGION_BYTES = 32 << 20
_MOST_TASKS = 512
_SKIPS = ("nan", "fill", "none")


class Summarize(Operation):
    """Merges states of all tasks; writes nothing."""

    kind = "statistics"
    destination = None

    @cached_property
    def _array(self) -> Array:
        return source_array(self.places["source"], self.parameters["digest"])

    @cached_property
    def _tiling(self) -> Tiling:
        told = self.parameters
        shape, chunk = tuple(told["shape"]), told["chunk"]
        units = _units(shape, chunk, np.dtype(told["dtype"]).itemsize)
        return Tiling(shape, _even(chunk), units)

    @property
    def _each(self) -> int:
        """The number of regions of a task."""
        return max(1, -(-len(self._tiling) // _MOST_TASKS))

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage."""
        told = self.parameters
        itemsize = np.dtype(told["dtype"]).itemsize
        size = math.prod(told["shape"])
        region = tuple(
            min(n, unit * length)
            for n, unit, length in zip(
                told["shape"], self._tiling.units, told["chunk"], strict=True
            )
        )
        count = -(-len(self._tiling) // self._each)
        memory = 3 * math.prod(region) * itemsize + BUCKETS * 8
        return [Stage("read", count, shape=region, memory=memory, bytes_in=size * itemsize)]

    def check(self) -> None:
        """The source must be the one that was planned for."""
        source_array(self.places["source"], self.parameters["digest"])

    def read_places(self) -> Mapping[str, Place]:
        """The array."""
        return {"source": self.places["source"]}

    def run(self, stage: int, number: int) -> Done:
        """The state of a run of regions."""
        state = _State(self.parameters, self._array.fill_value)
        first, bytes_in = number * self._each, 0
        for at in range(first, min(first + self._each, len(self._tiling))):
            block = np.asarray(self._array[self._tiling.region(at)])
            state.add(block)
            bytes_in += block.nbytes
        return Done(state.to_json(), bytes_in)

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Any:
        """The report of the first pass; the merged state of any other."""
        told = self.parameters
        state = _State(told, None)
        for one in values[0].values():
            state.merge(one)
        if not told["first"]:
            return state
        bounds = told["report"]["range"]
        found = Statistics._of(
            state,
            math.prod(told["shape"]),
            told["report"]["quantiles"],
            told["report"]["bins"],
            None if bounds is None else (bounds[0], bounds[1]),
        )
        found._state = state
        return found


class _State:
    """What a pass finds; each part is there if the parameters ask for it."""

    def __init__(self, parameters: Mapping[str, Any], fill_value: Any) -> None:
        self._told = parameters
        self.dtype = np.dtype(parameters["dtype"])
        self._fill = fill_value
        self.counts_nan = parameters["skip"] == "none"
        self.fills = self.nans = 0
        self.moments = Moments()
        self.leading = np.zeros(BUCKETS, np.int64)
        self.following = np.zeros((len(parameters["prefixes"]), BUCKETS), np.int64)
        self.bins = np.zeros(parameters["bins"] or 0, np.int64)
        self._edges: list[float] = []
        if parameters["range"] is not None:
            none = np.empty(0, self.dtype)
            edges = np.histogram_bin_edges(none, parameters["bins"], parameters["range"])
            self._edges = edges.tolist()

    def add(self, block: AnyArray) -> None:
        """Add the elements of a block."""
        values, told = block.reshape(-1), self._told
        if told["prefixes"]:
            self.following += counts_after(self._kept(values), told["prefixes"], told["bits"])
            return
        fill, skip = self._fill, told["skip"]
        is_nan = fill is not None and fill != fill
        if self.dtype.kind == "f" and self.dtype.itemsize == 2:
            values, fill, skip = self._kept(values), None, "none"
        found = summary_of(
            values,
            fill=None if is_nan else fill,
            skip=skip,
            leading=told["first"],
            exact=told["exact"],
            edges=self._edges,
        )
        self.nans += found.nans
        self.fills += found.nans if is_nan and fill is not None else found.fills
        if told["first"]:
            self.moments.merge(found.moments)
            self.leading += found.leading
        self.bins += found.bins

    def _kept(self, values: AnyArray) -> AnyArray:
        """The elements that count; the others are counted."""
        skip, fill = self._told["skip"], self._fill
        if self.dtype.kind == "f":
            is_nan = np.isnan(values)
            nans = int(np.count_nonzero(is_nan))
            self.nans += nans
            if nans and skip != "none":
                values = values[~is_nan]
        if fill is not None and fill == fill:
            is_fill = values == fill
            self.fills += int(np.count_nonzero(is_fill))
            if skip == "fill":
                values = values[~is_fill]
        elif fill is not None and self.dtype.kind == "f":
            self.fills = self.nans
        return values

    def to_json(self) -> dict[str, Any]:
        """The state as JSON values."""
        told: dict[str, Any] = {"skipped": [self.fills, self.nans]}
        if self._told["prefixes"]:
            return {"following": packed(self.following)}
        if self._told["first"]:
            told |= {"moments": self.moments.to_json(), "leading": packed(self.leading)}
        return told | {"bins": self.bins.tolist()}

    def merge(self, state: Mapping[str, Any]) -> None:
        """Add the state of another task."""
        if "following" in state:
            add_packed(self.following, state["following"])
            return
        fills, nans = state["skipped"]
        self.fills, self.nans = self.fills + fills, self.nans + nans
        if "moments" in state:
            self.moments.merge(Moments.from_json(state["moments"]))
            add_packed(self.leading, state["leading"])
        self.bins += np.array(state["bins"], np.int64)


@takes(Running, like=Job.run)
def statistics(
    source: Any,
    *,
    bins: int | None = None,
    range: Sequence[float] | None = None,
    quantiles: Sequence[float] = (),
    skip: str = "nan",
    exact: bool = False,
    axis: int | str | Sequence[int | str] | None = None,
    dest: Any = None,
    overwrite: bool = False,
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Count, mean, deviation, extremes, histogram and quantiles of all elements, or along axes.

    The array is read once, by any number of workers, and the result has the same bits for each of
    them. Nothing is written, except with ``axis``.

    Parameters
    ----------
    source : Array, Store, str or Path
        An array of numbers or bools.
    bins : int, optional
        The number of bins of a histogram, of equal width.
    range : (float, float), optional
        The range of the histogram; by default from the smallest to the largest element. Elements
        of more than 16 bits are then read a second time.
    quantiles : sequence of float
        Quantiles that are wanted, from 0 to 1; `Statistics.quantile` gives others, too.
    skip : {"nan", "fill", "none"}
        Which elements do not count: NaN; NaN and the fill value; or none.
    exact : bool
        Find the quantiles exactly, as `numpy.quantile` does. Elements of 32 bits are then read
        twice, and those of 64 bits four times. By default, quantiles of elements of more than 16
        bits have a relative error of at most 2 ** -8, and all others are exact.
    axis : int, str or sequence of these, optional
        The axes along which elements are counted, by number or name. The result is then a group of
        arrays over the other axes: count, nan_count, min, max, mean and std. Where no element
        counts, they are NaN, or 0 in arrays of integers.
    dest : Store, str or Path, optional
        Where this group is written; by default in memory.
    overwrite : bool
        Replace what is at ``dest``.
    run : bool
        False returns the `Job` with its plan.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Statistics, Group or Job
        The group with ``axis``; the job with ``run=False``.

    Raises
    ------
    DataTypeError
        The elements are not real numbers (also a ``TypeError``).
    TypeError
        The source is a group.
    ValueError
        A quantile is not from 0 to 1; or more than one pass is needed, and ``run`` is false; or
        quantiles or a histogram along axes.
    ContainsArrayError, ContainsGroupError
        Something is at ``dest``.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> z = zarr.array(np.arange(1001, dtype="u2"), chunks=100)
    >>> found = zarr.jobs.statistics(z, bins=4, quantiles=(0.5, 0.99))
    >>> found.count, found.mean, found.max, found.quantile(0.99)
    (1001, 500.0, 1000, 990.0)
    >>> found.histogram
    array([250, 250, 250, 251])
    >>> rows = zarr.array(np.arange(6.0).reshape(2, 3))
    >>> zarr.jobs.statistics(rows, axis=0)["mean"][:]
    array([1.5, 2.5, 3.5])
    """
    place = place_of(source)
    array = opened(place)
    if not isinstance(array, Array):
        raise TypeError(f"statistics are of an array, and {array!r} is a group")
    _check(array, bins, range, quantiles, skip)
    if axis is not None:
        if bins is not None or len(quantiles) or exact:
            raise ValueError("quantiles and histograms are of all elements; leave out axis=")
        into = place_of(MemoryStore() if dest is None else dest)
        job = job_along(array, place, into, axis, skip, overwrite=overwrite)
        return run_or_plan(job, run, **running)
    if dest is not None:
        raise ValueError("dest= is for statistics along axes; pass axis=, too")
    is_wide = not is_counted_exactly(array.dtype)
    has_two_passes = is_wide and bins is not None and range is None
    if not run and (has_two_passes or (exact and is_wide)):
        raise ValueError(
            "exact quantiles, and a histogram without range=, take several passes over elements of "
            "more than 16 bits, each planned from the one before; use run=True"
        )
    asked = _asked(array, bins, range, quantiles, skip, exact=exact)
    first: list[Job] = []

    def one_pass(**more: Any) -> Any:
        job = Job("statistics", Setting(asked | more, {"source": place}))
        first.append(job)
        job._follows = first[0]._claim
        return run_or_plan(job, run, **running)

    found = one_pass()
    if not run:
        return found
    if exact and is_wide and quantiles and found.count:
        found._quantiles.update(_exactly(one_pass, found._state, quantiles))
    if has_two_passes and found._can_have_bins():
        _count_in_bins(one_pass, found, bins)
    return found


def _check(
    array: Array,
    bins: int | None,
    range: Sequence[float] | None,
    quantiles: Sequence[float],
    skip: str,
) -> None:
    """Raise an error for elements or arguments that statistics cannot be of."""
    dtype = array.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DataTypeError(f"statistics are of real numbers, and {array!r} has {dtype}")
    if any(not 0 <= one <= 1 for one in quantiles):
        raise ValueError(f"quantiles={quantiles!r}; expected numbers from 0 to 1")
    if skip not in _SKIPS:
        raise ValueError(f"skip={skip!r}; expected one of {', '.join(map(repr, _SKIPS))}")
    if bins is not None and (not isinstance(bins, int) or bins < 1):
        raise ValueError(f"bins={bins!r}; expected a number of at least 1")
    if range is not None and (bins is None or len(range) != 2 or not range[0] < range[1]):
        raise ValueError(f"range={range!r}; expected (low, high), with bins=")


def _asked(
    array: Array,
    bins: int | None,
    range: Sequence[float] | None,
    quantiles: Sequence[float],
    skip: str,
    *,
    exact: bool,
) -> dict[str, Any]:
    """The parameters of the first pass."""
    is_wide = not is_counted_exactly(array.dtype)
    bounds = None if range is None else [float(one) for one in range]
    return {
        "digest": digest_of(metadata_of(array)),
        "shape": list(array.shape),
        "chunk": list(metadata_of(array).inner_chunk_shape),
        "dtype": array.dtype.str,
        "skip": skip,
        "first": True,
        "exact": exact and is_wide,
        "bins": bins if range is not None and is_wide else None,
        "range": bounds if is_wide else None,
        "prefixes": [],
        "bits": 0,
        "report": {
            "quantiles": [float(one) for one in quantiles],
            "bins": bins,
            "range": bounds,
        },
    }


def _count_in_bins(one_pass: Any, result: Statistics, bins: Any) -> None:
    """The histogram between the extremes, which the first pass has found."""
    edges = [float(result.min), float(result.max)]
    if edges[0] == edges[1]:
        edges = [edges[0] - 0.5, edges[1] + 0.5]
    # Between large numbers float64 may have no bins, as between infinite ones.
    if (np.diff(np.linspace(edges[0], edges[1], bins + 1)) > 0).all():
        again = one_pass(first=False, bins=bins, range=edges)
        result._take_bins(again.bins, edges)


def _exactly(one_pass: Any, state: _State, quantiles: Sequence[float]) -> Iterator[Any]:
    """Pairs of a quantile and its value: each pass finds 16 more bits of the elements needed."""
    count = int(state.leading.sum())
    wanted = {rank for one in quantiles for rank in ranks_of(one, count)[:2]}
    at = {rank: bucket_of(state.leading, rank) for rank in wanted}
    for bits in range(16, bits_of(state.dtype), 16):
        prefixes = sorted({prefix for prefix, _ in at.values()})
        after = one_pass(first=False, prefixes=prefixes, bits=bits, bins=None, range=None)
        counts = dict(zip(prefixes, after.following, strict=True))
        for rank, (prefix, within) in at.items():
            bucket, rest = bucket_of(counts[prefix], within)
            at[rank] = (prefix << 16 | bucket, rest)
    values = {rank: float(value_of(prefix, state.dtype)) for rank, (prefix, _) in at.items()}
    for one in quantiles:
        low, high, part = ranks_of(one, count)
        yield one, between(values[low], values[high], part)


def _even(chunk: Sequence[int]) -> tuple[AxisGrid, ...]:
    return tuple(AxisGrid(even=max(1, length)) for length in chunk)


def _units(shape: Sequence[int], chunk: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """The chunks of a region along each axis: a contiguous run in C order, of the usual size."""
    units = [1] * len(shape)
    most = task_bytes(math.prod(shape) * itemsize, _REGION_BYTES)
    size = itemsize * math.prod(min(n, length) for n, length in zip(shape, chunk, strict=True))
    for axis in reversed(range(len(shape))):
        count = max(1, -(-shape[axis] // max(1, chunk[axis])))
        units[axis] = max(1, min(count, most // max(1, size)))
        size *= units[axis]
        if units[axis] < count:
            break
    return tuple(units)
