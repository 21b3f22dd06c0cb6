"""The rounds: every contender once, in turn, again and again.

A timing repeats its call until it lasts some milliseconds, with garbage collection off. The order
rotates by one in each round, so that no contender always follows the same neighbour. A row ends
after its rounds or its share of the clock, but never before three rounds; a quick one also as soon
as its ratios have settled. Each timing has the processor time of all threads beside the time that
passed: on a busy machine it is the one that says something.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple


def installed() -> dict[str, str]:
    """The environment of a process of Python that stores bytecode, as an installed package has it.

    A run that may not store it would compile every module.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def nothing() -> None:
    """Needs no preparation."""


class Spent(NamedTuple):
    """Seconds for one unit: as they passed, and of processors."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Call:
    """Something to time.

    Parameters
    ----------
    run : callable
        The timed work. What it returns is not looked at, unless ``seconds`` is set.
    units : int
        How many reads, or other operations, one ``run`` is; times are given for one.
    prepare : callable
        Done before each timing, not timed. A call that has one is never repeated in a timing.
    seconds : bool
        ``run`` returns the time that counts, in seconds, instead of being timed from outside.
    """

    run: Callable[[], Any]
    units: int = 1
    prepare: Callable[[], None] = nothing
    seconds: bool = False

    def timing(self, repeats: int) -> Spent:
        """Seconds for one unit, from one timing of ``repeats`` runs."""
        self.prepare()
        run, cpu = self.run, _processor_s()
        if self.seconds:
            total = math.fsum(run() for _ in range(repeats))
        else:
            start = time.perf_counter()
            for _ in range(repeats):
                run()
            total = time.perf_counter() - start
        units = repeats * self.units
        return Spent(total / units, (_processor_s() - cpu) / units)

    def repeats(self, least_s: float) -> int:
        """How often to run it so that a timing lasts ``least_s``."""
        if self.prepare is not nothing:
            return 1
        start = time.perf_counter()
        self.run()
        return max(1, math.ceil(least_s / max(time.perf_counter() - start, 1e-9)))


def _processor_s() -> float:
    """Processor time of all threads of this process, and of children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@dataclass(frozen=True)
class Pace:
    """How long to measure a row.

    settled : a row ends when the medians of its ratios are known within this part; 0: never before
        its rounds or its budget end
    """

    rounds: int = 15
    least_s: float = 0.02
    budget_s: float = 20.0
    settled: float = 0.0


@dataclass(frozen=True)
class Ratio:
    """How many times as fast: over all rounds the median, the smallest and the largest.

    ``fastest`` compares the fastest timings of both. It is not a result, because one lucky round is
    enough; but if a busy machine scatters the rounds, it shows the cost of the work itself.
    """

    median: float
    low: float
    high: float
    fastest: float

    @classmethod
    def of(cls, slower: list[float], faster: list[float]) -> Ratio:
        """Round by round, ``slower`` over ``faster``."""
        ratios = [a / b for a, b in zip(slower, faster, strict=True)]
        fastest = min(slower) / min(faster)
        return cls(statistics.median(ratios), min(ratios), max(ratios), fastest)


@contextmanager
def _collector_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# Before so many rounds, their scatter says nothing of the median.
_FEWEST = 7


def uncertainty(ratios: list[float]) -> float:
    """By how much of itself the median may be wrong: McGill's notch of a box plot."""
    if len(ratios) < _FEWEST:
        return math.inf
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return 1.57 * (high - low) / math.sqrt(len(ratios)) / middle


def _is_settled(times: Mapping[str, list[Spent]], within: float) -> bool:
    first, *others = [[one.wall for one in times[name]] for name in times]
    ratios = [[a / b for a, b in zip(other, first, strict=True)] for other in others] or [first]
    return all(uncertainty(one) <= within for one in ratios)


def rounds(calls: Mapping[str, Call], pace: Pace) -> dict[str, list[float]]:
    """Seconds for one unit of each call, as they passed, one number for each round."""
    return {name: [one.wall for one in found] for name, found in spent(calls, pace).items()}


def spent(calls: Mapping[str, Call], pace: Pace) -> dict[str, list[Spent]]:
    """What one unit of each call took, for each round."""
    times: dict[str, list[Spent]] = {name: [] for name in calls}
    with _collector_off():
        repeats = {name: call.repeats(pace.least_s) for name, call in calls.items()}
        started = time.monotonic()
        for done in range(pace.rounds):
            if done >= 3 and time.monotonic() - started > pace.budget_s:
                break
            if pace.settled and done and _is_settled(times, pace.settled):
                break
            turn = done % len(calls)
            names = list(calls)
            for name in names[turn:] + names[:turn]:
                times[name].append(calls[name].timing(repeats[name]))
    return times
