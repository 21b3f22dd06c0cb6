"""The rounds: every contender once, in turn, again and again.

A timing repeats its call until it lasts some milliseconds, with garbage collection off. The order
rotates by one in each round, so that no contender always follows the same neighbour. A row ends
after its rounds or its share of the clock, but never before three rounds.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


def nothing() -> None:
    """Needs no preparation."""


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

    def timing(self, repeats: int) -> float:
        """Seconds for one unit, from one timing of ``repeats`` runs."""
        self.prepare()
        run = self.run
        if self.seconds:
            total = math.fsum(run() for _ in range(repeats))
        else:
            start = time.perf_counter()
            for _ in range(repeats):
                run()
            total = time.perf_counter() - start
        return total / (repeats * self.units)

    def repeats(self, least_s: float) -> int:
        """How often to run it so that a timing lasts ``least_s``."""
        if self.prepare is not nothing:
            return 1
        start = time.perf_counter()
        self.run()
        return max(1, math.ceil(least_s / max(time.perf_counter() - start, 1e-9)))


@dataclass(frozen=True)
class Pace:
    """How long to measure a row."""

    rounds: int = 15
    least_s: float = 0.02
    budget_s: float = 20.0


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


def rounds(calls: Mapping[str, Call], pace: Pace) -> dict[str, list[float]]:
    """Seconds for one unit of each call, one number for each round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    with _collector_off():
        repeats = {name: call.repeats(pace.least_s) for name, call in calls.items()}
        started = time.monotonic()
        for done in range(pace.rounds):
            if done >= 3 and time.monotonic() - started > pace.budget_s:
                break
            turn = done % len(calls)
            names = list(calls)
            for name in names[turn:] + names[:turn]:
                times[name].append(calls[name].timing(repeats[name]))
    return times
