"""Threads beside the main thread, which a signal may interrupt.

The main thread runs signal handlers between two instructions, and Ctrl-C raises there. The
conditions, semaphores and events of `threading` are written in Python: an exception within them
leaves their lock taken, or becomes a `RuntimeError` about it. The main thread uses a `Wake`
instead, and changes what is shared by assignments without a call, which no handler comes between.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["First", "Wake", "begin", "without_signals"]

T = TypeVar("T")

# A signal that arrives just before a wait does not end it: Python's locks look for signals only
# when they are woken.
_SIGNALS_S = 0.08


class Wake:
    """Ends the waits of other threads, of which each looks again whether to go on.

    A `set` ends a wait that has begun or the next one, so that a thread which looked just before it
    does not sleep. An exception in `set` leaves the waits as they were; call it again before
    waiting for an answer.

    Parameters
    ----------
    waiters : int
        How many threads wait.
    """

    def __init__(self, waiters: int = 1) -> None:
        self._waiters = waiters
        self._tokens: queue.SimpleQueue[None] = queue.SimpleQueue()

    def set(self) -> None:
        """End one wait; several calls before a wait may end it only once for each waiter."""
        if self._tokens.qsize() < self._waiters:
            self._tokens.put(None)

    def wait(self, seconds: float | None = _SIGNALS_S) -> None:
        """Wait for `set`, for so many seconds at most; a thread without signals may pass None."""
        try:
            self._tokens.get(timeout=seconds)
        except queue.Empty:
            return


class First:
    """True for the first call, in whichever thread, and False for all others."""

    def __init__(self) -> None:
        self._left = [True]

    def __call__(self) -> bool:
        try:
            return self._left.pop()
        except IndexError:
            return False


def begin(thread: threading.Thread) -> None:
    """Start a thread; an exception of a signal handler is raised as it is.

    The thread may then run, or never begin.
    """
    handled = sys.exception()
    raised: BaseException | None = None
    try:
        thread.start()
    except RuntimeError as error:
        # `start` waits for the thread by an event, see above.
        cause = error.__context__
        raised = error if cause is None or cause is handled else cause
        del cause
    try:
        if raised is not None:
            # Outside of the clause above, so that the second error is not its context: a frame in
            # the traceback of that one has the first as an argument.
            raise raised
    finally:
        # An exception has this frame in its traceback. If the frame had the exception, both would
        # keep all that the callers hold until the next garbage collection.
        del raised, handled


def without_signals(function: Callable[[], T]) -> T:
    """What a function returns, within which no signal handler runs.

    The main thread calls it in a thread of its own, and an exception of a handler is raised after
    it has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    results: list[T] = []
    errors: list[BaseException] = []
    is_first, over = First(), Wake()

    def run() -> None:
        if not is_first():
            return
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        over.set()

    interrupts: list[BaseException] = []
    try:
        begin(threading.Thread(target=run, name="zarrix-without-signals", daemon=True))
    except BaseException as error:
        if is_first():
            raise
        interrupts.append(error)
    while not (results or errors):
        try:
            over.wait()
        except BaseException as error:
            interrupts.append(error)
    # Taken out of the lists for the same reason as in `begin`.
    if interrupts:
        errors[:] = interrupts[:1]
        interrupts.clear()
    if errors:
        raise errors.pop()
    return results.pop()
