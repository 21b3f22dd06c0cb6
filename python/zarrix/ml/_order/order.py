"""The order of an epoch: from a position to an item, by a function without state.

Version 1, 2 of blocks in runs, and 3 of buckets (`buckets.py`). An order is a function of seed,
epoch and position, so to resume is to continue at a position, and ranks and workers need to agree
on nothing else. The option that lost is a shuffled list: it takes memory proportional to the epoch,
and the streams of the generators that shuffle it are not promised across releases of NumPy and
torch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from zarrix.ml._order.random import GOLDEN, Ints, Words, key_of, mix64, philox
from zarrix.ml._order.state import OrderChoice

__all__ = [
    "Blocks",
    "Full",
    "Mixed",
    "Order",
    "Sequential",
    "Source",
    "Stage",
    "Weighted",
    "permuted",
    "proportions",
]

# Below this many, the network is too regular: the keys of all are sorted instead.
_SORTED = 4096
_ROUNDS = 8
_MASK64 = 2**64 - 1


class Order(Protocol):
    """The items of one epoch."""

    size: int
    streams: int

    def at(self, positions: Ints) -> tuple[Ints, Ints | None]:
        """The items at these positions, and a number for each, by which the visits of one item in
        an epoch differ; None if no item is visited twice.
        """

    def stream_of(self, positions: Ints) -> Ints:
        """The stream of blocks that each position belongs to."""


def permuted(positions: Ints, size: int, key: int) -> Ints:
    """The images of ``positions`` under a pseudo-random permutation of ``range(size)``.

    Memory does not depend on ``size``: an unbalanced Feistel network that adds modulo a and b on a
    grid of a x b cells, of which less than a cells are outside ``range(size)`` and are walked over.
    """
    if size <= _SORTED:
        return _sorted(size, key)[positions]
    rows = math.isqrt(size - 1) + 1
    columns = -(-size // rows)
    keys = mix64([(key + (i + 1) * GOLDEN) & _MASK64 for i in range(_ROUNDS)])
    images = _network(positions.astype(np.uint64), rows, columns, keys)
    outside = images >= size
    while outside.any():
        images[outside] = _network(images[outside], rows, columns, keys)
        outside = images >= size
    return images.astype(np.int64)


def _network(positions: Words, rows: int, columns: int, keys: Words) -> Words:
    a, b = np.uint64(rows), np.uint64(columns)
    left, right = positions // b, positions % b
    for step, key in enumerate(keys):
        if step % 2 == 0:
            left = (left + mix64(right + key) % a) % a
        else:
            right = (right + mix64(left + key) % b) % b
    return left * b + right


@lru_cache(maxsize=64)
def _sorted(size: int, key: int) -> Ints:
    keys = mix64(np.arange(size, dtype=np.uint64) + np.uint64(key))
    order = np.argsort(keys, kind="stable")
    order.setflags(write=False)
    return order


class Sequential:
    """0, 1, 2, ..."""

    streams = 1

    def __init__(self, size: int) -> None:
        self.size = size

    def at(self, positions: Ints) -> tuple[Ints, Ints | None]:
        return positions, None

    def stream_of(self, positions: Ints) -> Ints:
        return np.zeros_like(positions)


class Full(Sequential):
    """Every item once, at a position that does not depend on its neighbours."""

    def __init__(self, size: int, seed: int, epoch: int) -> None:
        super().__init__(size)
        self._key = key_of(seed, "item", epoch)

    def at(self, positions: Ints) -> tuple[Ints, Ints | None]:
        return permuted(positions, self.size, self._key), None


class Weighted(Sequential):
    """Items drawn with replacement, in proportion to their weights.

    A table of cumulative weights is searched; an alias table of the same size would be built item
    by item.
    """

    def __init__(self, cumulative: npt.NDArray[np.float64], size: int, seed: int, epoch: int):
        super().__init__(size)
        self._cumulative = cumulative
        self._key = key_of(seed, "draw", epoch)

    def at(self, positions: Ints) -> tuple[Ints, Ints]:
        words = positions.astype(np.uint64)
        low, high = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
        a, b, _, _ = philox(self._key, (0, 0, low, high))
        uniform = ((a << np.uint64(21)) ^ b).astype(np.float64) * 2.0**-53
        total = self._cumulative[-1]
        items = np.searchsorted(
            self._cumulative, np.minimum(uniform, 1 - 2.0**-53) * total, "right"
        )
        return np.minimum(items, len(self._cumulative) - 1).astype(np.int64), positions + 1


class Blocks:
    """Blocks of consecutive items are permuted, and the items of each ``group`` of them.

    Where items of a block touch chunks of the next one, ``run`` blocks stay together, so that most
    chunks are read in one window: version 2 of this order. Where runs begin differs by epoch.

    With several streams, run number i of the permutation belongs to stream i modulo their number,
    and positions take the streams in turn, so that a rank can read the blocks of one stream alone.

    Parameters
    ----------
    begins : array of int, shape (blocks + 1,)
        The first item of each block, and the number of items.
    choice : OrderChoice
        Of how many blocks the items are permuted together, and how many stay together.
    """

    def __init__(self, begins: Ints, choice: OrderChoice, seed: int, epoch: int) -> None:
        count, run = len(begins) - 1, choice.run
        self.size = int(begins[-1])
        self._seed, self._epoch, self._items = seed, epoch, begins
        # The first block of each run.
        shift = key_of(seed, "block", epoch, 1) % run if run > 1 else 0
        firsts = np.unique(np.append(0, np.arange(shift, count, run)))
        self.streams = streams = max(1, min(choice.partitions, len(firsts)))
        shuffled = permuted(np.arange(len(firsts)), len(firsts), key_of(seed, "block", epoch))
        runs = np.concatenate([shuffled[stream::streams] for stream in range(streams)])
        counts = [len(range(stream, len(firsts), streams)) for stream in range(streams)]
        self._blocks, ends = _expanded(firsts, np.diff(np.append(firsts, count)), runs)
        lengths = np.diff(begins)[self._blocks]
        self._begins = np.concatenate([[0], np.cumsum(lengths)])
        # Streams and windows end where runs do.
        first_runs = np.concatenate([[0], np.cumsum(counts)])
        self._stream_begins = self._begins[ends[first_runs[:-1]]]
        self._lengths = np.diff(self._begins[ends[first_runs]])
        step = max(1, min(choice.group, count) // run)
        windows = [
            np.arange(begin, end, step) for begin, end in itertools.pairwise(first_runs.tolist())
        ]
        self._windows = self._begins[ends[np.concatenate([*windows, [len(runs)]])]]
        self._turns = _turns(self._lengths)

    def stream_of(self, positions: Ints) -> Ints:
        return self._place(positions)[0]

    def _place(self, positions: Ints) -> tuple[Ints, Ints]:
        """The stream of each position, and the position in it."""
        if self.streams == 1:
            return np.zeros_like(positions), positions
        firsts, begins, alive = self._turns
        which = np.searchsorted(firsts, positions, "right") - 1
        streams, inner = np.empty_like(positions), np.empty_like(positions)
        for turn in np.unique(which):
            here = which == turn
            number, stream = np.divmod(positions[here] - firsts[turn], len(alive[turn]))
            streams[here] = alive[turn][stream]
            inner[here] = begins[turn] + number
        return streams, inner

    def at(self, positions: Ints) -> tuple[Ints, None]:
        streams, inner = self._place(positions)
        flat = self._stream_begins[streams] + inner
        windows = np.searchsorted(self._windows, flat, "right") - 1
        for window in np.unique(windows).tolist():
            here = windows == window
            flat[here] = self._shuffled(window, flat[here])
        return self._items_at(flat), None

    def _shuffled(self, window: int, flat: Ints) -> Ints:
        """Which place of a window comes to each of these."""
        begin = self._windows[window]
        size = int(self._windows[window + 1] - begin)
        key = key_of(self._seed, "window", self._epoch, window)
        found: Ints = begin + permuted(flat - begin, size, key)
        return found

    def _items_at(self, flat: Ints) -> Ints:
        blocks = np.searchsorted(self._begins, flat, "right") - 1
        items: Ints = self._items[self._blocks[blocks]] + flat - self._begins[blocks]
        return items

    def windows(self, min_items: int, max_window_items: int) -> Iterator[Ints]:
        """The items of the first windows, until there are enough; of each at most so many."""
        count = 0
        for begin, end in itertools.pairwise(self._windows.tolist()):
            if count >= min_items:
                return
            flat = np.arange(begin, min(end, begin + max_window_items))
            count += len(flat)
            yield self._items_at(flat)

    def window_of(self, positions: Ints) -> Ints:
        """The window of each position: a call that reads whole windows decodes each block once."""
        streams, inner = self._place(positions)
        found: Ints = np.searchsorted(self._windows, self._stream_begins[streams] + inner, "right")
        return found


def _expanded(firsts: Ints, lengths: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The numbers of chosen ranges, one after the other, and where each begins, and the end."""
    counts = lengths[chosen]
    ends = np.concatenate([[0], np.cumsum(counts)])
    numbers = np.repeat(firsts[chosen] - ends[:-1], counts) + np.arange(ends[-1])
    return numbers, ends


def _turns(lengths: Ints) -> tuple[Ints, Ints, list[Ints]]:
    """From which position on which streams take part, as the shorter ones end.

    Positions where that changes, the position in each stream there, and the streams that go on.
    """
    firsts, begins, alive = [0], [0], [np.nonzero(lengths > 0)[0]]
    for length in np.unique(lengths[lengths > 0])[:-1]:
        firsts.append(firsts[-1] + (int(length) - begins[-1]) * len(alive[-1]))
        begins.append(int(length))
        alive.append(np.nonzero(lengths > length)[0])
    return np.array(firsts), np.array(begins), alive


def proportions(weights: Sequence[float], max_sum: int = 65536) -> list[int]:
    """Integers in proportion to ``weights``, whose sum is at most ``max_sum``.

    Examples
    --------
    >>> proportions([0.75, 0.25]), proportions([1, 2.5])
    ([3, 1], [2, 5])
    """
    exact = [Fraction(weight).limit_denominator(max_sum) for weight in weights]
    shared = math.lcm(*(number.denominator for number in exact))
    whole = [int(number * shared) for number in exact]
    divisor = math.gcd(*whole)
    whole = [number // divisor for number in whole]
    if sum(whole) <= max_sum and all(whole):
        return whole
    scale = (max_sum - len(weights)) / math.fsum(weights)
    return [max(1, round(weight * scale)) for weight in weights]


class Source(NamedTuple):
    """An order of a mix.

    Attributes
    ----------
    order_of : callable
        From a round to the order of that round.
    items : int
        Of the dataset.
    samples : int
        Of an epoch of the dataset, which a mix has fewer or more of than items.
    """

    order_of: Callable[[int], Order]
    items: int
    samples: int


class Stage(NamedTuple):
    """From which position on, each run of ``sum(shares)`` positions has these shares."""

    begin: int
    shares: list[int]


class _Runs:
    """Which source each position of a stage belongs to, and how many visits each had before."""

    def __init__(self, shares: Sequence[int], key: int, before: Sequence[int]) -> None:
        self.shares, self.before = shares, before
        self._key = np.uint64(key)
        self._source_of = np.repeat(np.arange(len(shares)), shares)

    def at(self, positions: Ints) -> tuple[Ints, Ints]:
        """The source at positions of the stage, and the number of this visit of the source."""
        length = len(self._source_of)
        runs, inner = np.divmod(positions, length)
        numbers, row = np.unique(runs, return_inverse=True)
        keys = mix64(numbers.astype(np.uint64) + self._key)[:, None]
        keys = mix64(keys + np.arange(length, dtype=np.uint64))
        pattern = self._source_of[np.argsort(keys, axis=1, kind="stable")]
        chosen, visits = pattern[row.reshape(-1), inner], np.empty_like(positions)
        for number, share in enumerate(self.shares):
            here = chosen == number
            if here.any():
                earlier = np.cumsum(pattern == number, axis=1)[row.reshape(-1)[here], inner[here]]
                visits[here] = self.before[number] + runs[here] * share + earlier - 1
        return chosen, visits

    def visits_after(self, length: int) -> list[int]:
        """How many visits each source had after so many positions of the stage."""
        run = sum(self.shares)
        whole, rest = divmod(length, run)
        sources, _ = self.at(np.arange(whole * run, whole * run + rest))
        part = np.bincount(sources, minlength=len(self.shares)).tolist()
        return [
            before + whole * share + more
            for before, share, more in zip(self.before, self.shares, part, strict=True)
        ]


class Mixed:
    """Items of several orders: each run of positions has exactly the share of each order.

    An order that ends goes on with its own next round, in another permutation. Item numbers are
    those of the orders, one order after the other.
    """

    streams = 1

    def __init__(
        self,
        sources: Sequence[Source],
        stages: Sequence[Stage],
        size: int,
        seed: int,
        epoch: int,
    ) -> None:
        self.size = size
        self._sources = sources
        self._offsets = np.concatenate([[0], np.cumsum([source.items for source in sources])])
        self._begins = np.array([stage.begin for stage in stages])
        self._runs: list[_Runs] = []
        before = [0] * len(sources)
        for number, (stage, later) in enumerate(itertools.zip_longest(stages, stages[1:])):
            runs = _Runs(stage.shares, key_of(seed, "mix", epoch, number), before)
            self._runs.append(runs)
            before = before if later is None else runs.visits_after(later.begin - stage.begin)

    def stream_of(self, positions: Ints) -> Ints:
        return np.zeros_like(positions)

    def at(self, positions: Ints) -> tuple[Ints, Ints]:
        items, rounds = np.empty_like(positions), np.empty_like(positions)
        which = np.searchsorted(self._begins, positions, "right") - 1
        for number, runs in enumerate(self._runs):
            here = np.flatnonzero(which == number)
            if not len(here):
                continue
            chosen, visits = runs.at(positions[here] - self._begins[number])
            for place, source in enumerate(self._sources):
                of_source = chosen == place
                if not of_source.any():
                    continue
                rows = here[of_source]
                again, places = np.divmod(visits[of_source], source.samples)
                own, rounds[rows] = _of_rounds(source, again, places)
                items[rows] = self._offsets[place] + own
        return items, rounds


def _of_rounds(source: Source, rounds: Ints, positions: Ints) -> tuple[Ints, Ints]:
    """The items of an order at positions of its rounds, and the rounds of these visits."""
    items, again = np.empty_like(positions), rounds.copy()
    for number in np.unique(rounds):
        here = rounds == number
        items[here], inner = source.order_of(int(number)).at(positions[here])
        if inner is not None:
            # A mix in a mix has another round for each pair.
            words = inner.astype(np.uint64) * np.uint64(GOLDEN) + np.uint64(number)
            other = (words >> np.uint64(1)).astype(np.int64)
            again[here] = np.where(inner == 0, number, other)
    return items, again
