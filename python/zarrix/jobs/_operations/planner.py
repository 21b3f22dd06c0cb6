"""The plan of a rechunk: how many passes, and the region of a task in each.

One pass reads what it needs of the source for each region of the destination. Where a region that
fits into memory touches only parts of source chunks, these are read many times: the amplification.
More passes go through intermediate arrays of shards. A task of pass i writes one shard, whose inner
chunks are its cuts with the regions of pass i + 1, so that a task is written by one request, and
the next pass reads ranges.

All candidates are computed by arithmetic and compared by the time that they would take; equal ones
go to fewer passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from zarrix._errors import JobError
from zarrix._runtime.sizes import size_text

__all__ = [
    "LOCAL",
    "REMOTE",
    "Pass",
    "Plan",
    "Problem",
    "Rates",
    "candidates",
    "choose",
    "rates_of",
]

MOST_PASSES = 4
_MOST_INNER = 1000
_FEW_TASKS = 64
# The seconds of equal tasks differ by about so much of them.
SCATTER = 0.1
_ENOUGH_BYTES = 32 << 20

Lengths = tuple[int, ...]


@dataclass(frozen=True)
class Rates:
    """How fast a worker moves data.

    Attributes
    ----------
    bandwidth, codecs : float
        Bytes a second to and from the store, and through the codecs.
    latency : float
        Seconds of a request.
    concurrency : int
        Requests in flight.
    gets, puts : float
        Requests a second that the service allows all workers together.
    workers : int
        Which share them.
    barrier : float
        Seconds between two passes, in which workers are idle.
    """

    bandwidth: float
    codecs: float
    latency: float
    concurrency: int
    gets: float = math.inf
    puts: float = math.inf
    workers: int = 1
    barrier: float = 0.0


# A disk with a page cache; a bucket as seen by one virtual machine, from public measurements.
LOCAL = Rates(1.5e9, 8e8, 1e-4, 2)
REMOTE = Rates(8e7, 4e8, 0.03, 64, 5500, 3500, barrier=1.0)


@dataclass(frozen=True)
class Problem:
    """What is to be rechunked.

    Attributes
    ----------
    shape : tuple of int
    itemsize : int
    read : tuple of int
        The unit that is decoded: chunks of the source, or inner chunks of its shards.
    stored : tuple of int
        The stored values of the source: chunks or shards.
    write : tuple of int
        The stored values of the destination.
    memory : int
        The bytes that a task may use.
    threads : int
        Units that are decoded at once.
    rates : Rates
    """

    shape: tuple[int, ...]
    itemsize: int
    read: tuple[int, ...]
    stored: tuple[int, ...]
    write: tuple[int, ...]
    memory: int
    threads: int
    rates: Rates
    # What the search has computed already: the same passes are in thousands of plans.
    _inner: dict[tuple[Lengths, Lengths], Lengths] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _costs: dict[tuple[object, ...], Pass] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def nbytes(self) -> int:
        """Decoded bytes of the array."""
        return math.prod(self.shape) * self.itemsize

    def clipped(self, lengths: Sequence[int]) -> tuple[int, ...]:
        """Lengths that are at most those of the array."""
        pairs = zip(lengths, self.shape, strict=True)
        return tuple([(a if a < n else n) or 1 for a, n in pairs])


@dataclass(frozen=True)
class Pass:
    """One pass of a plan.

    Attributes
    ----------
    region : tuple of int
        The elements that a task writes: whole stored values.
    inner : tuple of int or None
        The inner chunks of the shards of an intermediate; None in the last pass.
    tasks, memory : int
    amplification : float
        Decoded elements of the input for each element.
    gets, puts : int
    bytes_in, bytes_out : int
    seconds : float
        Estimated for all workers together.
    """

    region: tuple[int, ...]
    inner: tuple[int, ...] | None
    tasks: int = 0
    memory: int = 0
    amplification: float = 1.0
    gets: int = 0
    puts: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Plan:
    """Passes, and the time that they would take."""

    passes: tuple[Pass, ...]
    seconds: float = field(default=0.0)

    @property
    def memory(self) -> int:
        """The bytes that a task needs at most."""
        return max(one.memory for one in self.passes)


@lru_cache(maxsize=65536)
def _pieces(n: int, a: int, b: int) -> int:
    """The number of pieces of an axis that is cut every ``a`` and every ``b`` elements."""
    return -(-n // a) + -(-n // b) - -(-n // math.lcm(a, b))


def _all_pieces(shape: Sequence[int], a: Sequence[int], b: Sequence[int]) -> int:
    return math.prod(_pieces(n, x, y) for n, x, y in zip(shape, a, b, strict=True))


def _counts(shape: Sequence[int], lengths: Sequence[int]) -> int:
    return math.prod(-(-n // length) for n, length in zip(shape, lengths, strict=True))


def _runs(box: Sequence[float], whole: Sequence[int]) -> float:
    """The contiguous runs of a box of inner chunks in a shard, whose chunks are in C order."""
    axis = len(box) - 1
    while axis > 0 and box[axis] >= whole[axis]:
        axis -= 1
    return math.prod(box[:axis]) if axis > 0 else 1.0


def _gets(
    problem: Problem, region: Sequence[int], stored: Sequence[int], inner: Sequence[int]
) -> int:
    """Requests of a pass that reads regions of an array of shards, or of chunks."""
    shape = problem.shape
    touched = _all_pieces(shape, stored, region)
    if tuple(stored) == tuple(inner):
        return touched
    whole = [max(1, -(-s // c)) for s, c in zip(stored, inner, strict=True)]
    box = [max(1.0, min(s, r) / c) for s, r, c in zip(stored, region, inner, strict=True)]
    return int(touched * (1 + _runs(box, whole)))


@lru_cache(maxsize=65536)
def _inner_length(n: int, length: int, region: int) -> int:
    """The length of inner chunks along an axis that shards and the regions after them cut."""
    if length >= n:
        # The shard may end after the array, so that any length divides it.
        return min(region, n)
    # Many pieces are many requests, and small chunks make a long index. What divides the regions
    # is cut by none of them, so that anything smaller is worse.
    least = math.gcd(length, region)
    found, lowest = length, _pieces(n, length, region) * 1.02 / -(-n // length)
    for one in reversed(_divisors(length)):
        index = 1 + 0.02 * length / one
        if one < least or index >= lowest:
            break
        if one <= region:
            cost = _pieces(n, one, region) * index / -(-n // one)
            if cost < lowest:
                found, lowest = one, cost
    return found


def _inner(problem: Problem, shard: Lengths, after: Lengths) -> Lengths:
    """The inner chunks of an intermediate: cuts of its shards with the regions that read it."""
    found = [_inner_length(*lengths) for lengths in zip(problem.shape, shard, after, strict=True)]
    # An index of many inner chunks is as long as the data.
    while math.prod(-(-s // c) for s, c in zip(shard, found, strict=True)) > _MOST_INNER:
        axis = max(range(len(found)), key=lambda i: -(-shard[i] // found[i]))
        length, chunk = shard[axis], found[axis]
        larger = [d for d in _divisors(length) if d > chunk]
        found[axis] = min(larger) if larger else length
    return tuple(found)


@lru_cache(maxsize=65536)
def _divisors(n: int) -> tuple[int, ...]:
    """The largest divisors, as many as a planner can use."""
    tried = np.arange(1, min(math.isqrt(n), 4096) + 1)
    small = tried[n % tried == 0].tolist()
    return tuple(sorted({*small, *(n // one for one in small)}))


def _evaluated(problem: Problem, regions: Sequence[tuple[int, ...]]) -> Plan:
    """The plan with these regions, with all costs."""
    passes = []
    stored, unit = problem.clipped(problem.stored), problem.clipped(problem.read)
    for at, region in enumerate(regions):
        inner, shard = None, region
        if at < len(regions) - 1:
            cut = region, regions[at + 1]
            inner = problem._inner.get(cut)
            if inner is None:
                inner = problem._inner[cut] = _inner(problem, *cut)
            # A shard is a multiple of its inner chunks.
            shard = tuple([-(-r // c) * c for r, c in zip(region, inner, strict=True)])
        known = at == 0, shard, inner, stored, unit
        one = problem._costs.get(known)
        if one is None:
            one = problem._costs[known] = _costs(problem, at, shard, inner, stored, unit)
        passes.append(one)
        if inner is not None:
            stored, unit = problem.clipped(shard), inner
    return Plan(tuple(passes), sum(one.seconds for one in passes))


def _costs(
    problem: Problem,
    at: int,
    region: tuple[int, ...],
    inner: tuple[int, ...] | None,
    stored: tuple[int, ...],
    unit: tuple[int, ...],
) -> Pass:
    shape, rates = problem.shape, problem.rates
    cut = problem.clipped(region)
    read = _all_pieces(shape, unit, cut) / _counts(shape, unit)
    tasks = _counts(shape, cut)
    gets = _gets(problem, cut, stored, unit)
    writes = region if inner is not None else problem.clipped(problem.write)
    puts = tasks if inner is not None else _counts(shape, writes)
    bytes_in, bytes_out = int(problem.nbytes * read), problem.nbytes
    # What is in shards of our own is hardly compressed.
    decoded = bytes_in * (1.0 if at == 0 else 0.3) + bytes_out * (1.0 if inner is None else 0.3)
    # The time of a task of full size: those at the far edges have less to do.
    share = math.prod(cut) / math.prod(shape)
    one = max((bytes_in + bytes_out) / rates.bandwidth, decoded / rates.codecs) * share
    # It waits for one request at least.
    one += rates.latency * max(1.0, (gets + puts) * share / rates.concurrency)
    seconds = one * _rounds(shape, cut, rates.workers)
    # What the service allows all workers together.
    seconds = max(seconds, gets / rates.gets + puts / rates.puts) + rates.barrier
    return Pass(
        region,
        inner,
        tasks,
        _memory(problem, cut, inner is not None, unit),
        read,
        gets,
        puts,
        bytes_in,
        bytes_out,
        seconds,
    )


def _rounds(shape: Sequence[int], region: Sequence[int], workers: int) -> float:
    """The time of a pass, where that of a task of full size is 1.

    The last round of tasks leaves workers idle, and the slowest of equal tasks takes longer than
    the others: a tenth is their usual scatter, of which the largest of many is a few times as much.
    """
    work = math.prod(n / length for n, length in zip(shape, region, strict=True))
    full = math.prod(n // length for n, length in zip(shape, region, strict=True))
    at_once = min(workers, full)
    rounds = max(math.ceil(full / workers), work / workers)
    if work > workers:
        rounds = max(rounds, work / workers + 0.4 * (1 - 1 / workers))
    return rounds + SCATTER * math.sqrt(2 * math.log(at_once))


def _memory(problem: Problem, region: Sequence[int], is_shard: bool, unit: Sequence[int]) -> int:
    """The bytes of a task: the region, units that are decoded, and what is encoded."""
    size = problem.itemsize
    own = math.prod(region) * size
    # Encoded and decoded; a task does not decode more units at once than it reads.
    units = math.prod(
        -(-r // u) + 1 if r % u else r // u for r, u in zip(region, unit, strict=True)
    )
    reading = 2 * min(problem.threads, units) * math.prod(problem.clipped(unit)) * size
    # A shard is put together in memory; of chunks, as many as threads.
    value = math.prod(problem.clipped(problem.write)) * size
    writing = own if is_shard else min(own, value * problem.threads)
    return own + max(reading, writing)


def _steps(
    problem: Problem,
    lengths: tuple[int, ...],
    unit: tuple[int, ...],
    others: Sequence[Sequence[int]],
    *,
    divides: bool = True,
) -> Iterator[tuple[int, ...]]:
    """Larger regions: along one axis twice as long, aligned with another grid, or whole; and with
    ``divides`` as long as needed for one region fewer, of the array or of a region of another grid.
    """
    for axis, (n, length, u) in enumerate(zip(problem.shape, lengths, unit, strict=True)):
        if length >= n:
            continue
        whole = -(-n // u) * u
        longer = {min(2 * length, whole), whole}
        for other in others:
            own = max(1, other[axis])
            aligned = math.lcm(u, own)
            multiple = (length // aligned + 1) * aligned
            longer.add(multiple)
            if divides:
                longer.add(_one_fewer(own, length, u))
        if divides:
            longer.add(_one_fewer(n, length, u))
        for one in longer:
            if length < one <= whole:
                yield (*lengths[:axis], one, *lengths[axis + 1 :])


def _one_fewer(n: int, length: int, unit: int) -> int:
    """The shortest length, in units, that divides an axis into one region fewer than another."""
    count = -(-n // length) - 1
    return -(-n // (count * unit)) * unit if count else -(-n // unit) * unit


def _one_more(n: int, length: int, unit: int) -> int:
    """The longest length, in units, that divides an axis into more regions than another."""
    count = -(-n // length) + 1
    return max(unit, (-(-n // count) + unit - 1) // unit * unit)


def _grown(
    problem: Problem, start: Sequence[tuple[int, ...]], units: Sequence[tuple[int, ...]]
) -> Plan | None:
    """The regions made larger, as long as that makes the plan faster and memory suffices."""
    regions = list(start)
    best = _evaluated(problem, regions)
    if best.memory > problem.memory:
        return None
    while True:
        found: tuple[float, Plan, list[tuple[int, ...]]] | None = None
        for at in range(len(regions)):
            others = [problem.read, *regions[:at], *regions[at + 1 :]]
            # More steps are worth their time where chunks of the source are decoded again.
            divides = len(regions) == 1
            for longer in _steps(problem, regions[at], units[at], others, divides=divides):
                tried = [*regions[:at], longer, *regions[at + 1 :]]
                plan = _evaluated(problem, tried)
                if plan.memory > problem.memory:
                    continue
                # The time that is saved for the memory that it takes.
                grown = math.prod(longer) / math.prod(regions[at])
                gain = math.log(max(best.seconds, 1e-12) / max(plan.seconds, 1e-12))
                rate = gain / math.log(grown)
                if gain > 1e-9 and (found is None or rate > found[0]):
                    found = (rate, plan, tried)
        if found is None and len(regions) == 1:
            found = _exchanged(problem, regions[0], units[0], best)
        if found is None:
            return best
        _, best, regions = found


def _exchanged(
    problem: Problem, region: tuple[int, ...], unit: tuple[int, ...], best: Plan
) -> tuple[float, Plan, list[tuple[int, ...]]] | None:
    """A faster plan of one pass whose regions are shorter along an axis and longer along another.

    Growth alone ends where no longer region fits into memory.
    """
    found = None
    fastest = best.seconds * 0.999
    for axis, (n, length, u) in enumerate(zip(problem.shape, region, unit, strict=True)):
        for shorter in {_one_more(n, min(length, n), u), -(-length // (2 * u)) * u}:
            if shorter >= length:
                continue
            less = (*region[:axis], shorter, *region[axis + 1 :])
            for tried in _steps(problem, less, unit, [problem.read]):
                plan = _evaluated(problem, [tried])
                if plan.memory <= problem.memory and plan.seconds < fastest:
                    found, fastest = (0.0, plan, [tried]), plan.seconds
    return found


def _padded(problem: Problem, plan: Plan) -> Plan:
    """The same plan with larger tasks in the last pass, where they are very small.

    A task is also larger where it would have fewer chunks than the threads that work on it.
    """
    regions = [one.region for one in plan.passes]
    unit = tuple(problem.write)
    least = 8 * problem.rates.workers
    while True:
        last = plan.passes[-1]
        size = math.prod(problem.clipped(last.region)) * problem.itemsize
        busy = math.prod(last.region) >= 2 * problem.threads * math.prod(unit)
        if size * 2 > _ENOUGH_BYTES or last.tasks < 2 * (max(_FEW_TASKS, least) if busy else least):
            return plan
        axes = [i for i, (n, r) in enumerate(zip(problem.shape, last.region, strict=True)) if r < n]
        for axis in reversed(axes):
            longer = min(2 * regions[-1][axis], -(-problem.shape[axis] // unit[axis]) * unit[axis])
            tried = [*regions[:-1], (*regions[-1][:axis], longer, *regions[-1][axis + 1 :])]
            larger = _evaluated(problem, tried)
            if larger.memory <= problem.memory and larger.seconds <= plan.seconds * 1.02:
                plan, regions = larger, tried
                break
        else:
            return plan


def _between(
    problem: Problem, first: Sequence[int], last: Sequence[int], count: int
) -> list[tuple[int, ...]]:
    """Shapes between two shapes, by equal factors."""
    found = []
    for at in range(1, count + 1):
        share = at / (count + 1)
        lengths = [
            a if a == b else max(1, round(a ** (1 - share) * b**share))
            for a, b in zip(problem.clipped(first), problem.clipped(last), strict=True)
        ]
        # Multiples of the nearer shape have divisors in common with it.
        near = first if share <= 0.5 else last
        lengths = [
            max(u, round(x / u) * u) if x >= u else _nearest_divisor(u, x)
            for x, u in zip(lengths, near, strict=True)
        ]
        found.append(problem.clipped(lengths))
    return found


def _nearest_divisor(n: int, target: int) -> int:
    return min(_divisors(n), key=lambda d: abs(math.log(d / target)))


def candidates(problem: Problem, max_passes: int = MOST_PASSES) -> list[Plan]:
    """The best plan for each number of passes that fits into memory."""
    if 0 in problem.shape:
        return [Plan((Pass(tuple(problem.write), None),))]
    if not problem.shape:
        max_passes = 1
    write, read = tuple(problem.write), problem.clipped(problem.read)
    found = []
    one = _grown(problem, [write], [write])
    if one is not None:
        found.append(_padded(problem, one))
    two = _grown(problem, [read, write], [read, write]) if max_passes > 1 else None
    if two is None:
        return found
    found.append(two)
    ones = (1,) * len(read)
    first, last = two.passes[0].region, two.passes[-1].region
    for count in range(3, max_passes + 1):
        # The middle ones have no grid to keep to.
        middle = _between(problem, first, last, count - 2)
        starts = ([first, *middle, last], [read, *middle, write])
        units = [read, *(ones for _ in middle), write]
        grown = [_grown(problem, start, units) for start in starts]
        kept = [plan for plan in grown if plan is not None]
        if kept:
            found.append(min(kept, key=lambda plan: plan.seconds))
    return found


def choose(problem: Problem, passes: int | None = None) -> tuple[Plan, list[Plan]]:
    """The fastest plan, and all candidates; fewer passes where they take about as long.

    Raises
    ------
    JobError
        No plan fits into memory; it says how much the smallest one needs.
    """
    if 0 in problem.shape or not problem.shape:
        passes = None
    found = candidates(problem, MOST_PASSES if passes is None else passes)
    if passes is not None:
        found = [plan for plan in found if len(plan.passes) == passes]
    if not found:
        read, write = problem.clipped(problem.read), tuple(problem.write)
        least = min(_evaluated(problem, [write]).memory, _evaluated(problem, [read, write]).memory)
        raise JobError(
            f"max_memory={size_text(problem.memory)} is not enough"
            + (f" for {passes} passes" if passes else "")
            + f": a task holds at least {size_text(least)}, because the source is decoded by "
            f"{read} elements and the destination stores {problem.clipped(write)}; pass a larger "
            "max_memory, or smaller chunks or shards"
        )
    best = min(plan.seconds for plan in found)
    chosen = next(plan for plan in found if plan.seconds <= best * 1.05)
    return chosen, found


def rates_of(overrides: Mapping[str, float] | None, is_remote: bool) -> Rates:
    """The rates of a store, with those that a user knows better.

    Raises
    ------
    TypeError
        There is no such rate.
    """
    base = REMOTE if is_remote else LOCAL
    unknown = sorted({*(overrides or {})} - set(vars(base)))
    if unknown:
        raise TypeError(f"rates has no {unknown[0]!r}; it has {', '.join(vars(base))}")
    return replace(base, **(overrides or {}))  # type: ignore[arg-type]  # Numbers, by name.
