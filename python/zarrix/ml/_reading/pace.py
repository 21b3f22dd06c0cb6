"""How long the steps of a consumer take, beside how long its batches are read."""

from __future__ import annotations

__all__ = ["Pace"]

# Steps of a fast consumer take at most this part of the time in which a batch is read.
_FAST = 0.25


class Pace:
    """Bounds the batches that are read together while few are ready.

    Batches that are read together share chunks, but the first of them may be complete only near the
    end. A consumer whose steps take longer than reading a batch alone need not wait for that: it
    uses what is ready meanwhile. One whose steps are shorter waits in any case, and the least work
    in all serves it best. All times are seconds of one clock.
    """

    def __init__(self) -> None:
        self._step_s: float | None = None
        self._given: float | None = None
        self._batch_s: float | None = None

    def asked(self, now: float) -> None:
        """The consumer asks for a batch: a step has ended, unless it is the first."""
        if self._given is not None:
            self._step_s, self._given = now - self._given, None

    def gave(self, now: float) -> None:
        """The consumer has a batch: a step begins."""
        self._given = now

    def read(self, seconds: float, batches: int) -> None:
        """So many batches were read together in so many seconds."""
        if batches:
            self._batch_s = seconds / batches

    @property
    def is_known(self) -> bool:
        """Whether a step has ended."""
        return self._step_s is not None

    @property
    def is_fast(self) -> bool:
        """Whether steps are so short that reading hardly gains by what goes on beside them."""
        step_s, batch_s = self._step_s, self._batch_s
        return step_s is not None and batch_s is not None and step_s <= _FAST * batch_s

    def at_most(self, max_batches: int, ready: int, now: float) -> int:
        """How many batches, 1 to ``max_batches``, are read before ``ready`` ones are used."""
        if self._batch_s is None:
            return 1
        given, step_s = self._given, self._step_s
        if step_s is not None and step_s < self._batch_s:
            return max_batches
        step_s = max(step_s or 0.0, 0.0 if given is None else now - given)
        return max(1, min(max_batches, int(ready * step_s / max(self._batch_s, 1e-9))))
