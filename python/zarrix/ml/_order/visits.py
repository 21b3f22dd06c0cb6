"""Items as an epoch visits them: all that the random numbers of their samples depend on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zarrix.ml._order.random import Ints, Words, draw

__all__ = ["Visits"]


class Visits(NamedTuple):
    """Visits of some items, from which samples are drawn.

    Attributes
    ----------
    items : array of int
    seed : int
    epoch : int or array of int
        An array has the epoch of each item.
    rounds : array of int, or None
        By what the visits of one item in an epoch differ; None if no item is visited twice.
    """

    items: Ints
    seed: int = 0
    epoch: Any = 0
    rounds: Ints | None = None

    def take(self, rows: Any) -> Visits:
        """Some of the visits: a slice, or the rows of an array of integers."""
        items, seed, epoch, rounds = self
        return Visits(
            items[rows],
            seed,
            epoch[rows] if isinstance(epoch, np.ndarray) else epoch,
            None if rounds is None else rounds[rows],
        )

    def draw(self, tag: str, attempt: int = 0) -> tuple[Words, Words]:
        """Two words of 64 random bits for each visit; see `draw`."""
        items, seed, epoch, rounds = self
        return draw(seed, tag, epoch, items, rounds=rounds, attempt=attempt)
