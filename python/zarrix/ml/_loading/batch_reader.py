"""Reading planned batches: all of a fill and then their delivery, or both at the same time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from zarrix.ml._loading.damage import Repair
from zarrix.ml._loading.finishing import Filled, Finishing
from zarrix.ml._loading.options import Options
from zarrix.ml._loading.planned import Planned
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Cancel, Entry, fetch
from zarrix.ml._reading.reading import Reading

__all__ = ["BatchReader", "Failure", "ReadFill"]


class Failure(NamedTuple):
    """What ended the delivery of a fill, and the batches that it left."""

    error: Exception
    rest: list[Planned]


class ReadFill(NamedTuple):
    """The batches that were read; those before one that failed are delivered first."""

    ready: list[Filled]
    failure: Failure | None


class _Allocated(NamedTuple):
    """A batch whose samples are complete when so many entries of its call are."""

    planned: Planned
    batch: Batch
    end: int


class BatchReader:
    """Reads the batches of one pass, in their order, until it is cancelled."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.cancel = Cancel()
        self.finishing = Finishing(options, self.cancel)
        # What a batch passes through when it is read.
        self.deliver = self.finishing.deliver
        # The batch of which only the first samples were read.
        self._divided: tuple[Planned, Batch] | None = None

    def forget(self) -> None:
        """Let go of the samples of a batch whose other samples are not read any more."""
        self._divided = None

    def read(self, fill: list[Planned]) -> ReadFill:
        """Read batches by one call; an error of the first one is raised."""
        since, options = time.perf_counter(), self.options
        batches: list[Batch] = []
        entries: list[Entry] = []
        cuts = [0]
        for planned in fill:
            batch, more = options.dataset._batch(planned.draws, options.slots)
            batches.append(batch)
            entries.extend(more)
            cuts.append(len(entries))
        if options.corrupt.kind == "raise":
            fetch(entries, self.cancel, threads=options.threads)
        else:
            repair = Repair(options, [planned.draws for planned in fill], entries, cuts)
            fetch(entries, self.cancel, repair, threads=options.threads)
            repair.finish(batches, self.cancel)
        for batch, planned in zip(batches, fill, strict=True):
            self.finishing.check(batch, planned)
        size = sum(entry.out.nbytes for entry in entries)
        options.counters.read(time.perf_counter() - since, size)
        return self._delivered(batches, fill)

    def _delivered(self, batches: list[Batch], fill: list[Planned]) -> ReadFill:
        ready: list[Filled] = []
        for place, batch in enumerate(batches):
            if self.cancel.is_cancelled:
                break
            try:
                ready.append(self.deliver(batch, fill[place]))
            except Exception as error:
                if not ready:
                    raise
                return ReadFill(ready, Failure(error, fill[place:]))
        return ReadFill(ready, None)

    def window(self, fill: list[Planned]) -> Iterator[Filled]:
        """Batches of one window, each as soon as it is complete, while the others are read."""
        waiting, entries = self._allocate(fill)
        # Samples may have no elements, and so a batch no entries.
        if not entries and not waiting:
            return
        reading = self._begin(entries)
        # The batches are the consumer's: what it has used is free for the next window.
        del entries
        try:
            while waiting and not self.cancel.is_cancelled and reading.has(waiting[0].end):
                planned, batch, _ = waiting.popleft()
                self.finishing.check(batch, planned)
                yield self.deliver(batch, planned)
                del batch
        finally:
            reading.join()
        if reading.error is None or self.cancel.is_cancelled:
            return
        # One by one, so that all batches before the one that fails are delivered.
        again = [planned for planned, _, _ in waiting]
        if self._divided is not None:
            again.append(self._divided[0])
            self._divided = None
        waiting.clear()
        for planned in again:
            yield from self.read([planned]).ready

    def _begin(self, entries: list[Entry]) -> Reading:
        options, size = self.options, sum(entry.out.nbytes for entry in entries)
        return Reading(
            entries,
            self.cancel,
            lambda seconds: options.counters.read(seconds, size),
            options.threads,
        )

    def _allocate(self, fill: list[Planned]) -> tuple[deque[_Allocated], list[Entry]]:
        """The batches that a window completes, in order, and the entries of all its samples."""
        dataset, slots = self.options.dataset, self.options.slots
        waiting: deque[_Allocated] = deque()
        entries: list[Entry] = []
        divided, self._divided = self._divided, None
        if divided is not None:
            planned, batch = divided
            rest = slice(planned.inside, len(planned.draws))
            entries += dataset._entries(
                planned.draws[rest], batch, np.arange(rest.start, rest.stop)
            )
            waiting.append(_Allocated(planned, batch, len(entries)))
        for planned in fill:
            batch, more = dataset._batch(planned.draws, slots)
            if planned.is_divided and planned is fill[-1]:
                self._divided = planned, batch
                entries += dataset._entries(planned.draws[0 : planned.inside], batch)
            else:
                entries += more
                waiting.append(_Allocated(planned, batch, len(entries)))
        return waiting, entries
