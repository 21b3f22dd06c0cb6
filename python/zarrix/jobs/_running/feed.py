"""The tasks that a stage still has to hand out: new ones, and those to try again."""

from __future__ import annotations

import contextlib
import heapq
import signal
import threading
import time
from collections.abc import Iterator

__all__ = ["Feed", "ending_on_ctrl_c"]

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 15.0


class Feed:
    """Numbers of tasks, in order; one that failed comes again after a pause.

    It is used by one thread, or by a pool's own thread while the driver waits for results. `stop`
    may be called at any time: then there are no more.

    Parameters
    ----------
    numbers : iterator of int
    count : int
        The number of tasks, at most; for estimates.
    """

    def __init__(self, numbers: Iterator[int], count: int) -> None:
        self._numbers = numbers
        self._left = count
        self._again: list[tuple[float, int]] = []
        self._lock = threading.Lock()
        self.stopped = False

    def take(self, length: int) -> list[int]:
        """At most ``length`` tasks that can be done now; none if all wait or there are no more."""
        taken: list[int] = []
        with self._lock:
            while len(taken) < length and not self.stopped:
                if self._again and self._again[0][0] <= time.monotonic():
                    taken.append(heapq.heappop(self._again)[1])
                    continue
                number = next(self._numbers, None)
                if number is None:
                    break
                self._left -= 1
                taken.append(number)
        return taken

    def again(self, number: int, attempt: int) -> None:
        """Hand out a task again, after a pause that grows with the attempts."""
        pause = 0.0 if not attempt else min(_FIRST_PAUSE_S * 4 ** (attempt - 1), _LONGEST_PAUSE_S)
        with self._lock:
            heapq.heappush(self._again, (time.monotonic() + pause, number))

    def stop(self) -> None:
        """Hand out no more."""
        self.stopped = True

    @property
    def left(self) -> int:
        """About how many new tasks there are."""
        return max(self._left, 0)

    def pause(self) -> float | None:
        """The seconds until a task can be tried again; None if there is none."""
        with self._lock:
            if self.stopped or not self._again:
                return None
            return max(0.0, self._again[0][0] - time.monotonic())


@contextlib.contextmanager
def ending_on_ctrl_c(feed: Feed) -> Iterator[None]:
    """The first Ctrl-C stops the feed, and is raised when running tasks have ended; a second one
    is raised at once.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed = False

    def note(number: int, frame: object) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        feed.stop()

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt
