"""A limit of the bytes that a call moves in a second: a token bucket."""

from __future__ import annotations

import threading
import time

__all__ = ["Bandwidth"]

# What may be moved at once after a pause, in seconds of the rate.
_BURST_SECONDS = 0.25


class Bandwidth:
    """A token bucket that any number of threads take bytes from.

    Parameters
    ----------
    rate : float or None
        Bytes a second; None does not limit.
    ended : threading.Event
        Ends every wait when it is set.
    """

    def __init__(self, rate: float | None, ended: threading.Event) -> None:
        self._rate, self._ended = rate, ended
        self._lock = threading.Lock()
        # The time at which everything that was taken will have been moved.
        self._paid = time.monotonic()

    @property
    def is_limited(self) -> bool:
        """Whether a call may have to wait."""
        return self._rate is not None

    def take(self, nbytes: int) -> None:
        """Wait until ``nbytes`` more may be moved."""
        if self._rate is None:
            return
        with self._lock:
            now = time.monotonic()
            self._paid = max(self._paid, now - _BURST_SECONDS) + nbytes / self._rate
            wait = self._paid - now
        if wait > 0:
            self._ended.wait(wait)
