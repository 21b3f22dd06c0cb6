"""Which samples are in which batch, and which batches are read together.

Global batch g has the positions from g x B on, B = batch size x ranks, and rank r the r-th part of
it. With streams of blocks the positions of a global batch are sorted by stream first, so that a
rank reads the blocks of its own stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix.ml._order.order import Blocks, Order
from zarrix.ml._order.random import Ints

__all__ = ["Schedule", "Share"]

# Positions whose items and windows are computed at once: NumPy's cost of a call is divided by them.
_AHEAD = 4096


@dataclass(frozen=True)
class Share:
    """Batches of one rank, in order: their positions, and which of them count.

    Attributes
    ----------
    positions : array of int, shape (samples,)
    valid : array of bool, shape (samples,), or None if all count
    sizes : tuple of int
        How many samples each batch has.
    windows : array of int, or None
        The block window of each batch's first sample.
    inside : array of int, or None
        How many of each batch's samples come before those of later windows.
    """

    positions: Ints
    valid: npt.NDArray[np.bool_] | None
    sizes: tuple[int, ...]
    windows: Any
    inside: Any


@dataclass(frozen=True)
class Schedule:
    """The batches of one rank in one epoch, from a position on."""

    order: Order
    batch_size: int
    rank: int
    world: int
    drop_last: bool
    first: int = 0

    @property
    def whole(self) -> int:
        """How many samples all ranks take at once."""
        return self.batch_size * self.world

    def __len__(self) -> int:
        left = max(0, self.order.size - self.first)
        return left // self.whole if self.drop_last else -(-left // self.whole)

    def shares(self) -> Iterator[Share]:
        """All batches; few at first, so that the first one is soon there, then many at once."""
        count, done, ahead = len(self), 0, 1
        most = max(1, _AHEAD // self.batch_size)
        while done < count:
            ahead = min(ahead, count - done)
            yield self._share(done, ahead, done + ahead == count)
            done += ahead
            ahead = min(most, ahead * 4)

    def _share(self, number: int, count: int, last: bool) -> Share:
        begin = self.first + number * self.whole
        grid = begin + np.arange(count * self.whole, dtype=np.int64).reshape(count, self.whole)
        size, streams = self.order.size, self.order.streams
        # Only the last batch is short, and only if it may be.
        alone = last and self.world == 1 and not self.drop_last and grid[-1, -1] >= size
        padded = not alone and grid[-1, -1] >= size
        # The first samples of the epoch, again and again if it is shorter than the batch.
        tail = grid >= size
        grid = np.where(tail, (grid - size) % size, grid)
        if streams > 1:
            stream = self.order.stream_of(grid.reshape(-1)).reshape(grid.shape)
            stream = np.where(tail, streams, stream)
            grid = np.take_along_axis(grid, np.argsort(stream, axis=1, kind="stable"), axis=1)
        mine = grid[:, self.rank * self.batch_size : (self.rank + 1) * self.batch_size]
        positions = mine.reshape(-1)
        sizes = [self.batch_size] * count
        valid = None
        if alone:
            sizes[-1] = size - (begin + (count - 1) * self.whole)
            positions = positions[: (count - 1) * self.batch_size + sizes[-1]]
        elif padded:
            # Samples that pad come last in their global batch, in every order of streams.
            within = np.arange(self.rank * self.batch_size, (self.rank + 1) * self.batch_size)
            firsts = begin + np.arange(count)[:, None] * self.whole
            valid = (firsts + within < size).reshape(-1)
        windows = inside = None
        if isinstance(self.order, Blocks):
            every = self.order.window_of(mine.reshape(-1)).reshape(mine.shape)
            windows = every[:, 0]
            # With several streams, windows of all of them are open; padding is of an earlier one.
            if streams == 1:
                is_later = every != windows[:, None]
                inside = np.where(is_later.any(1), is_later.argmax(1), self.batch_size)
        return Share(positions, valid, tuple(sizes), windows, inside)
