"""Where a loader stands in its epochs."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Position"]


class Position(NamedTuple):
    """How many samples of an epoch were delivered.

    It is replaced as a whole, so that a signal handler or another thread never sees the samples of
    one epoch beside the number of another one.
    """

    epoch: int = 0
    seen: int = 0
    # Whether a pass delivered samples from here. The next pass is then of the next epoch.
    has_pass: bool = False

    def delivered(self, samples: int) -> Position:
        """The position after so many more samples of a pass."""
        return Position(self.epoch, self.seen + samples, True)

    def of_next_pass(self) -> Position:
        """Where the next pass begins."""
        return Position(self.epoch + 1) if self.has_pass else self
