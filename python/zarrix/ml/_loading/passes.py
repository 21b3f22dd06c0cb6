"""One pass over an epoch: its batches, or their indices for a DataLoader of another library."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

from zarrix.ml._loading.filler import Filler
from zarrix.ml._loading.finishing import Filled
from zarrix.ml._loading.options import Options
from zarrix.ml._loading.transform_ahead import filler_of
from zarrix.ml._order.position import Position
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.uploads import OnItsWay

__all__ = ["Batches", "Indices", "Pass"]

# How long dropping an iterator waits for its thread.
_DROPPED_S = 5.0


class _Loader(Protocol):
    """What a pass changes of its loader, and by what it knows whether it may."""

    _position: Position
    _running: Any


class Pass:
    """What the iterators of a loader share: they move its position as long as they are the newest.

    Attributes
    ----------
    schedule : Schedule
    position : Position
        After the batches that this pass delivered.
    finished : bool
        Whether all of them were.
    """

    def __init__(self, loader: _Loader, schedule: Schedule) -> None:
        # A loader has its newest iterator, which must not keep it alive in turn.
        self._loader = weakref.ref(loader)
        self.schedule, self.finished = schedule, False
        self._whole = schedule.whole
        self.position = loader._position._replace(seen=schedule.first)

    def _newest_of(self) -> _Loader | None:
        """The loader, if it is in this epoch and has made no other iterator since."""
        loader = self._loader()
        if loader is None or loader._running is not self:
            return None
        return loader if loader._position.epoch == self.position.epoch else None

    def _move(self, samples: int) -> None:
        """Count samples that were delivered, up to the end of the epoch."""
        position, loader = self.position.delivered(samples), self._newest_of()
        self.position = position
        if loader is not None:
            loader._position = position

    def _finish(self) -> None:
        self.finished = True
        self._move(self.schedule.order.size - self.position.seen)


class Indices(Pass, Iterator[list[int]]):
    """One pass over an epoch as indices that carry seed and epoch."""

    def __init__(self, loader: _Loader, dataset: Any, seed: int, schedule: Schedule) -> None:
        super().__init__(loader, schedule)
        self._lists = _lists_of(dataset, seed, self.position.epoch, schedule)

    def __next__(self) -> list[int]:
        found = next(self._lists, None)
        if found is None:
            self._finish()
            raise StopIteration
        self._move(self._whole)
        return found

    def close(self) -> None:
        """Nothing is read ahead here."""


def _lists_of(dataset: Any, seed: int, epoch: int, schedule: Schedule) -> Iterator[list[int]]:
    """The indices of each batch."""
    for share in schedule.shares():
        items, rounds = schedule.order.at(share.positions)
        indices = dataset._encoded(Visits(items, seed, epoch, rounds), share.valid)
        begin = 0
        for size in share.sizes:
            yield indices[begin : begin + size]
            begin += size


class Batches(Pass, Iterator[Any]):
    """One pass over an epoch as batches, which are read ahead."""

    def __init__(self, loader: _Loader, options: Options, schedule: Schedule) -> None:
        super().__init__(loader, schedule)
        self._filler: Filler = filler_of(options, schedule)
        # At exit, fillers are closed by themselves, however long it takes.
        weakref.finalize(self, self._filler.close, _DROPPED_S).atexit = False
        # Threads that share this iterator take different batches. A batch is here until the call
        # of its thread returns it.
        self._turn = threading.Lock()
        self._taken: dict[int, Filled] = {}

    def __next__(self) -> Any:
        # An exception of a signal handler leaves the iterator as it was: what must change together
        # is changed without a call in between, because handlers run only after calls.
        filler, since = self._filler, self._filler.asked()
        thread, taken = threading.get_ident(), self._taken
        if thread not in taken:
            with self._turn:
                try:
                    ready = filler.filled()
                except StopIteration:
                    if filler.is_complete:
                        self._finish()
                    raise
                taken[thread] = ready[0]
                del ready[0]
        batch, samples = taken[thread]
        if isinstance(batch, OnItsWay):
            batch = batch.take()
        filler.took(samples, since)
        loader, whole = self._newest_of(), self._whole
        while True:
            before = self.position
            position = before.delivered(whole)
            # Not so if another thread has moved it meanwhile.
            if self.position is before:
                del taken[thread]
                self.position = position
                if loader is not None:
                    loader._position = position
                return batch

    def __len__(self) -> int:
        """Batches that are left."""
        return len(replace(self.schedule, first=self.position.seen))

    def close(self) -> None:
        self._filler.close()
