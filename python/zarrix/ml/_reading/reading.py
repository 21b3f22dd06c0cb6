"""A call of the engine in a thread of its own, whose first entries are used while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from zarrix.ml._reading.fetch import Cancel, Entry, Progress, fetch

__all__ = ["Reading"]

# The longest single wait. The engine wakes it earlier, so nothing is polled at this interval.
_LONG_S = 60.0


class Reading:
    """Windows of all batches of a fill, of which each chunk is decoded once.

    Chunks are read in the order of the first batch that needs them, so that this one is not later
    than by a call of its own.

    Parameters
    ----------
    entries : sequence of Entry
        In the order in which they are needed.
    cancel : CancelToken
    ended : callable
        Called in the thread with the seconds that the call took.
    threads : int
        How many threads of the engine work on it.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        cancel: Cancel,
        ended: Callable[[float], None],
        threads: int = 0,
    ) -> None:
        self._threads = threads
        self._progress = Progress()
        #: What ended the call, after `join`.
        self.error: BaseException | None = None
        # The engine counts parts of its own entries; the others are read before its call.
        self._parts: list[int] = []
        self._is_planned = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(entries, cancel, ended), name="zarrix-reading", daemon=True
        )
        self._thread.start()

    def _run(
        self, entries: Sequence[Entry], cancel: Cancel, ended: Callable[[float], None]
    ) -> None:
        since = time.perf_counter()
        try:
            fetch(
                entries,
                cancel,
                progress=self._progress,
                threads=self._threads,
                planned=self._plan,
            )
        except BaseException as error:
            # For the thread that uses the entries. The frames of the traceback have the memory of
            # all batches, and this object: they would keep it until the next garbage collection.
            self.error = error.with_traceback(None)
        finally:
            self._progress.end()
            self._is_planned.set()
            ended(time.perf_counter() - since)

    def _plan(self, counts: list[int]) -> None:
        self._parts = [0, *counts]
        self._is_planned.set()

    def has(self, count: int) -> bool:
        """Whether the first ``count`` entries are complete; waits until they are, or cannot be."""
        self._is_planned.wait()
        needed = max(1, self._parts[count] if self._parts else 1)
        complete, is_over = 0, False
        while complete < needed and not is_over:
            complete, is_over = self._progress.wait(needed, _LONG_S)
        if complete >= needed:
            return True
        # The call has failed, or had no entries for the engine.
        self._thread.join()
        return self.error is None

    def join(self) -> None:
        """Wait until the call has ended: nothing is written to the entries any more."""
        self._thread.join()
