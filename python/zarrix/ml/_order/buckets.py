"""Orders in which neighbours are of one bucket: version 3 of the orders of items and of blocks.

Items of variable length that are padded to one length should be about equally long. Within a window
of the base order, items are sorted by their bucket, and cut into bunches of as many as one batch of
all ranks has; the bunches are shuffled. The size of a bunch is part of the order, so that a run of
another batch size goes on with the same items.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zarrix.ml._order.order import Blocks, Sequential, permuted
from zarrix.ml._order.random import Ints, key_of
from zarrix.ml._order.state import OrderChoice

__all__ = ["BucketedBlocks", "BucketedFull", "arranged"]

# Positions of a full shuffle that are sorted together.
_WINDOW = 2**16
# Windows whose items are kept: a batch may lie in two.
_KEPT = 2


def arranged(buckets: Ints, first: int, bunch: int, key: int) -> Ints:
    """Which of a window's items comes to each of its positions.

    Parameters
    ----------
    buckets : array of int
        Of the items of the window, in their shuffled order.
    first : int
        The position of the window in the epoch, from which bunches are counted.

    Examples
    --------
    >>> arranged(np.array([1, 0, 1, 0]), 0, 2, 0).tolist()
    [1, 3, 0, 2]
    """
    count = len(buckets)
    # With which bucket a window begins is random; otherwise it would always be the first one.
    order = np.roll(np.argsort(buckets, kind="stable"), key % max(1, count))
    head = min(-first % bunch, count)
    whole = (count - head) // bunch
    end = head + whole * bunch
    shuffled = permuted(np.arange(whole), whole, key)
    middle = order[head:end].reshape(whole, bunch)[shuffled].reshape(-1)
    return np.concatenate([order[:head], middle, order[end:]])


class _Kept:
    """The newest of some arrays that are computed by number."""

    def __init__(self, make: Callable[[int], Ints]) -> None:
        self._make = make
        self._arrays: dict[int, Ints] = {}

    def __getitem__(self, number: int) -> Ints:
        values = self._arrays.get(number)
        if values is None:
            values = self._make(number)
            # Replaced as a whole: threads may share an order.
            kept = list(self._arrays.items())[1 - _KEPT :]
            self._arrays = {**dict(kept), number: values}
        return values


class BucketedFull(Sequential):
    """A full shuffle whose windows of 65,536 positions are arranged by buckets."""

    def __init__(
        self,
        size: int,
        seed: int,
        epoch: int,
        bucket_of: Callable[[Ints], Ints],
        choice: OrderChoice,
    ) -> None:
        super().__init__(size)
        self._seed, self._epoch, self._bunch = seed, epoch, choice.bunch
        self._bucket_of = bucket_of
        self._length = max(1, _WINDOW // choice.bunch) * choice.bunch
        self._key = key_of(seed, "item", epoch)
        self._windows = _Kept(self._window)

    def _window(self, number: int) -> Ints:
        begin = number * self._length
        positions = np.arange(begin, min(begin + self._length, self.size))
        items = permuted(positions, self.size, self._key)
        key = key_of(self._seed, "window", self._epoch, number)
        return items[arranged(self._bucket_of(items), begin, self._bunch, key)]

    def at(self, positions: Ints) -> tuple[Ints, Ints | None]:
        items, numbers = np.empty_like(positions), positions // self._length
        for number in np.unique(numbers).tolist():
            here = numbers == number
            items[here] = self._windows[number][positions[here] - number * self._length]
        return items, None


class BucketedBlocks(Blocks):
    """Blocks whose windows are arranged by buckets."""

    def __init__(
        self,
        begins: Ints,
        choice: OrderChoice,
        seed: int,
        epoch: int,
        bucket_of: Callable[[Ints], Ints],
    ) -> None:
        super().__init__(begins, choice, seed, epoch)
        self._bucket_of, self._bunch = bucket_of, choice.bunch
        self._places = _Kept(self._arranged)

    def _arranged(self, window: int) -> Ints:
        begin, end = self._windows[window : window + 2].tolist()
        flat = super()._shuffled(window, np.arange(begin, end))
        key = key_of(self._seed, "window", self._epoch, window)
        # There is one stream, in which places are positions.
        return flat[arranged(self._bucket_of(self._items_at(flat)), begin, self._bunch, key)]

    def _shuffled(self, window: int, flat: Ints) -> Ints:
        found: Ints = self._places[window][flat - self._windows[window]]
        return found
