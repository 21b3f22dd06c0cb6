"""Reading ahead while worker processes transform what was read before.

One thread reads batches and gives their samples to the workers; another takes the transformed
batches in their order, and makes them ready.
"""

from __future__ import annotations

import queue
import threading

from zarrix.ml._loading.filler import Filler, ReadHere
from zarrix.ml._loading.finishing import Filled
from zarrix.ml._loading.options import Options
from zarrix.ml._loading.read_ahead import ReadAhead
from zarrix.ml._order.schedule import Schedule

__all__ = ["TransformAhead", "filler_of"]


def filler_of(options: Options, schedule: Schedule) -> Filler:
    """What reads the batches of a pass, as its options ask for."""
    if not options.prefetch:
        return ReadHere(options, schedule)
    if options.workers is None:
        return ReadAhead(options, schedule)
    return TransformAhead(options, schedule)


class TransformAhead(ReadAhead):
    """A thread reads, workers transform, and another thread finishes batches in their order."""

    def __init__(self, options: Options, schedule: Schedule) -> None:
        super().__init__(options, schedule)
        self._reader.deliver = self._reader.finishing.begin
        # Batches that workers have, up to the None behind the last one.
        self._begun: queue.SimpleQueue[Filled | None] = queue.SimpleQueue()
        self._unfinished = 0
        self._failure: BaseException | None = None
        self._counting = threading.Lock()

    def _fill_rest(self) -> None:
        self._begun, self._unfinished, self._failure = queue.SimpleQueue(), 0, None
        finishes = threading.Thread(
            target=self._finish_all, name="zarrix-loader-finishes", daemon=True
        )
        finishes.start()
        try:
            super()._fill_rest()
        finally:
            self._begun.put(None)
            finishes.join()
            failure, self._failure = self._failure, None
            if failure is not None:
                # That of an earlier batch than one that could not be read.
                try:
                    raise failure
                finally:
                    del failure

    def _held(self) -> int:
        return len(self._ready) + self._unfinished

    def _is_over(self) -> bool:
        return super()._is_over() or self._failure is not None

    def _hand_over(self, batches: list[Filled]) -> None:
        if self._failure is not None:
            raise self._failure
        with self._counting:
            self._unfinished += len(batches)
        for batch in batches:
            self._begun.put(batch)

    # The other thread's side

    def _finish_all(self) -> None:
        while (begun := self._begun.get()) is not None:
            self._finish(begun)
            del begun

    def _finish(self, begun: Filled) -> None:
        """Make a batch ready, unless one before it failed."""
        try:
            if self._is_over():
                self._reader.finishing.drop(begun)
            else:
                super()._hand_over([self._reader.finishing.end(begun)])
        except BaseException as error:
            # For the thread that reads, which raises it.
            self._failure = error
        finally:
            with self._counting:
                self._unfinished -= 1
            self._wakes.used.set()
