"""Reading ahead: a thread that fills batches while the consumer uses those that are ready.

Batches of a window are delivered while the rest of it is read (`Reading`). The samples of a batch
that belong to the next window are read with that one.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from collections import deque
from typing import NamedTuple
from weakref import WeakValueDictionary

from zarrix._runtime.wake import First, Wake, begin
from zarrix.ml._loading.batch_reader import Failure
from zarrix.ml._loading.filler import Filler
from zarrix.ml._loading.finishing import Filled
from zarrix.ml._loading.options import Options
from zarrix.ml._loading.planned import Planned
from zarrix.ml._order.schedule import Schedule

__all__ = ["ReadAhead"]


class _Run:
    """One thread that fills; after an error another one goes on."""

    def __init__(self) -> None:
        # The first that calls this fills, or closes before anything is filled.
        self.is_first = First()
        self.thread: threading.Thread | None = None
        self.is_started = self.has_left = False


class _Wakes(NamedTuple):
    """What ends the waits of the consumer, of the thread that fills, and of `close`."""

    more: Wake
    used: Wake
    over: Wake


# The fillers that may have a thread, for the end of the interpreter.
_open: WeakValueDictionary[int, ReadAhead] = WeakValueDictionary()


class ReadAhead(Filler):
    """Batches are read by a thread of its own, which begins when the first one is asked for."""

    def __init__(self, options: Options, schedule: Schedule) -> None:
        super().__init__(options, schedule)
        self._run = _Run()
        self._wakes = _Wakes(Wake(), Wake(), Wake())
        self._error: BaseException | None = None

    # The caller's side

    def filled(self) -> deque[Filled]:
        ready = self._ready
        if ready:
            return ready
        self._await()
        # `close` replaces it.
        ready = self._ready
        if ready:
            return ready
        error = self._error
        if error is not None:
            run = _Run()
            self._run = run
            self._error = None
            try:
                raise error
            finally:
                # The frames of its traceback have batches; this one would keep them with it.
                del error
        raise StopIteration

    def took(self, samples: int, since: float) -> None:
        self._wakes.used.set()
        super().took(samples, since)

    def _await(self) -> None:
        while not (self._ready or self._error or self._ended or self._reader.cancel.is_cancelled):
            run = self._run
            if not run.is_started:
                _open[id(self)] = self
                # If it is interrupted, the next call starts another thread: one of them fills.
                begin(
                    threading.Thread(
                        target=self._fill_all, args=(run,), name="zarrix-loader", daemon=True
                    )
                )
                run.is_started = True
            # A `took` that was interrupted may not have woken it.
            self._wakes.used.set()
            self._wakes.more.wait()

    def close(self, seconds: float = math.inf) -> None:
        if os.getpid() != self._pid:
            return
        until = time.monotonic() + seconds
        self._reader.cancel.cancel()
        self._ready = deque()
        self._wakes.more.set()
        self._wakes.used.set()
        run = self._run
        if run.is_first():
            run.has_left = True
        while not run.has_left and run.thread is not threading.current_thread():
            if time.monotonic() > until:
                return
            self._wakes.over.wait()
        if run.thread is not None and run.thread is not threading.current_thread():
            run.thread.join()
        self._reader.forget()
        self._ready, self._error = deque(), None

    # The thread's side

    def _fill_all(self, run: _Run) -> None:
        if not run.is_first():
            return
        run.thread = threading.current_thread()
        try:
            self._fill_rest()
            self._ended = True
        except BaseException as error:
            # Before the caller has the error and begins another run.
            run.has_left = True
            # Every error is one for the caller; after `close` no call raises it.
            if self._reader.cancel.is_cancelled:
                self._ended = True
            else:
                self._error = error
        finally:
            run.has_left = True
            self._wakes.more.set()
            self._wakes.over.set()

    def _fill_rest(self) -> None:
        """Make all batches ready that are not yet, unless the filler is closed."""
        reader = self._reader
        reader.forget()
        for fill in self._fills():
            since = time.perf_counter()
            failure = self._fill(fill)
            self._pace.read(time.perf_counter() - since, len(fill))
            if failure is not None:
                try:
                    raise failure.error
                finally:
                    del failure
            # Batches that were taken meanwhile make room for new ones.
            room = self._size.room
            while self._held() > room(len(fill), self._pace) and not self._is_over():
                self._wakes.used.wait(None)
            if self._is_over():
                return

    def _held(self) -> int:
        """How many batches were read and not taken yet."""
        return len(self._ready)

    def _is_over(self) -> bool:
        """Whether nothing more is to be read."""
        return self._reader.cancel.is_cancelled

    def _fill(self, fill: list[Planned]) -> Failure | None:
        """Make batches ready; what failed after the first of them, if anything did."""
        if self._size.delivers_while_reading:
            for batch in self._reader.window(fill):
                self._hand_over([batch])
                del batch
            return None
        result = self._reader.read(fill)
        self._hand_over(result.ready)
        return result.failure

    def _hand_over(self, batches: list[Filled]) -> None:
        if not self._reader.cancel.is_cancelled:
            self._ready.extend(batches)
            self._handed += len(batches)
        self._wakes.more.set()


@atexit.register
def _close_all() -> None:
    """At the end of the interpreter, however long it takes: threads still run then."""
    for reference in _open.valuerefs():
        filler = reference()
        if filler is not None:
            filler.close()
