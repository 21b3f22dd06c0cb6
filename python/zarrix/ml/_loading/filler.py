"""The queue of batches that are ready, which a pass takes them from."""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator

from zarrix.ml._loading.batch_reader import BatchReader, Failure
from zarrix.ml._loading.fill_size import FillSize
from zarrix.ml._loading.finishing import Filled
from zarrix.ml._loading.options import Options
from zarrix.ml._loading.planned import Planned, fills_of, planned_batches
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._reading.pace import Pace

__all__ = ["Filler", "ReadHere"]


class Filler(ABC):
    """The batches of a schedule, in their order; subclasses say who reads them, and when."""

    def __init__(self, options: Options, schedule: Schedule) -> None:
        self._schedule = schedule
        self._pid = os.getpid()
        self._reader = BatchReader(options)
        self._size = FillSize.of(options, schedule.batch_size)
        self._pace = Pace()
        self._ready: deque[Filled] = deque()
        # How many batches were made ready.
        self._handed = 0
        self._ended = False

    def asked(self) -> float:
        """The consumer asks for a batch; returns the time.

        Raises RuntimeError in a forked child, before it could wait for a lock of its parent.
        """
        if os.getpid() != self._pid:
            raise RuntimeError(
                "this iterator belongs to the process that was forked; iter(loader) makes one here"
            )
        now = time.perf_counter()
        self._pace.asked(now)
        return now

    @abstractmethod
    def filled(self) -> deque[Filled]:
        """The batches that are ready, in their order; the caller deletes the one that it takes.

        Raises StopIteration at the end of the epoch. An exception of a signal handler, at any
        point, changes nothing. After an error the next call reads the batch again that failed.
        """

    @property
    def is_complete(self) -> bool:
        """Whether all batches were taken, rather than that it was closed before."""
        return self._ended and not self._reader.cancel.is_cancelled

    def took(self, samples: int, since: float) -> None:
        """A batch of so many samples, which was asked for at that time, is not ready any more."""
        self._pace.gave(time.perf_counter())
        self._reader.options.counters.delivered(samples, since)

    @abstractmethod
    def close(self, seconds: float = math.inf) -> None:
        """Stop, and wait until nothing is read any more; nothing is done in a forked child.

        A finalizer waits for so many seconds at most: garbage collection may run in a thread that
        holds a lock which the reading takes.
        """

    def _fills(self) -> Iterator[list[Planned]]:
        """The batches that were not made ready yet, in fills."""
        batches = planned_batches(self._reader.options, self._schedule, self._handed)
        return fills_of(batches, self._size, self._ready, self._pace)


class ReadHere(Filler):
    """Nothing is read ahead: the call that asks for a batch reads its fill."""

    def __init__(self, options: Options, schedule: Schedule) -> None:
        super().__init__(options, schedule)
        # None if they may have been interrupted.
        self._remaining: Iterator[list[Planned]] | None = None
        # The fill that is not complete.
        self._begun: list[Planned] | None = None
        self._failed: Failure | None = None

    def filled(self) -> deque[Filled]:
        if not self._ready and not self._reader.cancel.is_cancelled:
            self._fill()
        if self._ready:
            return self._ready
        raise StopIteration

    def _fill(self) -> None:
        failed = self._failed
        if failed is not None:
            self._begun, self._failed = failed.rest, None
            try:
                raise failed.error
            finally:
                # The frames of its traceback have batches; this one would keep them with it.
                del failed
        if self._begun is None:
            fills = self._remaining
            if fills is None:
                fills = self._fills()
            # An exception of a signal handler ends a generator.
            self._remaining = None
            planned = next(fills, None)
            self._begun, self._remaining = planned, fills
        if self._begun is None:
            self._ended = True
            return
        # Kept until it is complete: an interrupted fill is read again.
        fill = self._reader.read(self._begun)
        ready, handed = deque(fill.ready), self._handed + len(fill.ready)
        self._ready, self._begun, self._handed = ready, None, handed
        self._failed = fill.failure

    def close(self, seconds: float = math.inf) -> None:
        if os.getpid() != self._pid:
            return
        self._reader.cancel.cancel()
        self._reader.forget()
        self._ready, self._failed = deque(), None
