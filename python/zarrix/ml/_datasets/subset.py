"""Items of a dataset that are a dataset again: a part of a split, a fold, a choice of items."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix.ml._datasets.dataset import Dataset, Draws, digest_of
from zarrix.ml._datasets.table import Table
from zarrix.ml._datasets.windows import Windowed
from zarrix.ml._order.cell import Cell
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Entry, Frozen
from zarrix.ml._reading.fields import Column

__all__ = ["Subset", "chosen", "runs_of"]


class Subset(Dataset):
    """Ranges of items of another dataset, in any order; no item is in two of them."""

    def __init__(self, base: Windowed, ranges: Ints) -> None:
        self._base, self._ranges = base, ranges
        self._seed, self._layout = base._seed, base._layout
        self._count_items(ranges[:, 1] - ranges[:, 0])

    def _base_items(self, items: Ints) -> Ints:
        which = np.searchsorted(self._ends, items, "right") - 1
        found: Ints = self._ranges[which, 0] + items - self._ends[which]
        return found

    def _draws(self, visits: Visits) -> Draws:
        draws = self._base._draws(visits._replace(items=self._base_items(visits.items)))
        # A replacement is an item of this part; batches say the item of the whole dataset.
        draws.visits = visits
        return draws

    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        return self._base._entries(draws, batch, rows)

    def _frozen(self, frozen: Frozen) -> Subset:
        return self._with(_base=self._base._frozen(frozen))

    def _reduced(self, factor: int) -> Subset:
        base = self._base._reduced(factor)
        every = np.arange(len(self._base))
        # Otherwise a frame of one part could be in another one, too.
        if len(base) != len(every) or not np.array_equal(
            base._frames_of(every), self._base._frames_of(every)
        ):
            raise ValueError(
                f"reduce={factor} gives {self._base!r} other items, so that the part of it is not "
                "known; divide a dataset of z.reduced() instead"
            )
        return self._with(_base=base)

    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        return self._base._allocated(column)

    def _shown(self) -> list[Column]:
        return self._base._shown()

    def _lengths_of(self, items: Ints) -> Ints:
        return self._base._lengths_of(self._base_items(items))

    def _begins(self) -> Ints:
        base, (first, last) = self._base._begins(), self._ranges.T
        # Where blocks begin inside of ranges.
        low, high = np.searchsorted(base, first, "right"), np.searchsorted(base, last, "left")
        counts = np.maximum(0, high - low)
        before = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(low - before, counts)
        inner = base[places] + np.repeat(self._ends[:-1] - first, counts)
        # A range that goes on in the block where the last one ended does not begin another.
        block = np.searchsorted(base, [first, last - 1], "right")
        is_other = np.append(True, block[0][1:] != block[1][:-1])
        begins = np.concatenate([self._ends[:-1][is_other], inner, self._ends[-1:]])
        return np.unique(begins)

    def _identity(self) -> dict[str, Any]:
        base = self._base._identity()
        parts = base.get("part", "")
        part = digest_of([parts, digest_of(self._ranges)] if parts else self._ranges)
        return {**base, "kind": ["Subset", base["kind"]], "part": part}

    def _is_thin(self) -> bool:
        return self._base._is_thin()

    def _share(self) -> float:
        return self._base._share() * (len(self._base) / len(self))

    def _overlap(self) -> float:
        return self._base._overlap()

    def select(self, items: Any) -> Subset:
        """Some items of this part, as `Rows.select`: 0 is the first item of the part."""
        return Subset(self._base, runs_of(self._base_items(chosen(items, len(self)))))

    def join(self, table: Table) -> Subset:
        """The part with the columns of a table of the whole dataset, as `Rows.join`."""
        return self._with(_base=self._base.join(table))

    def augment(self, *steps: Any) -> Subset:
        """The part with samples that are resized, flipped and rotated, as `Rows.augment`."""
        return self._with(_base=self._base.augment(*steps), _cell=Cell())

    def table(self) -> dict[str, Any]:
        """What is known of each item without reading, as `Rows.table`."""
        rows = self._base_items(np.arange(len(self), dtype=np.int64))
        return {name: values[rows] for name, values in self._base.table().items()}

    def split(self, *_: Any, **__: Any) -> Any:
        """Not possible: a part of a part is not a share of the whole."""
        raise ValueError(f"{self._described()} is not divided again: name all parts in one split")

    def _described(self) -> str:
        return f"a part of {self._base!r}"

    def __repr__(self) -> str:
        return f"{self._count} of {self._base!r}"


def chosen(items: Any, count: int) -> Ints:
    """The numbers of items that were asked for, by numbers or by a mask; none of them twice."""
    values = np.asarray(items[...] if hasattr(items, "shape") else list(items))
    if values.dtype.kind == "b":
        if values.shape != (count,):
            raise ValueError(f"the mask has the shape {values.shape}, for {count} items")
        values = np.flatnonzero(values)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ValueError(f"items are a list of integers or a mask, not {values.dtype} values")
    numbers = values.astype(np.int64)
    beyond = numbers[(numbers < -count) | (numbers >= count)]
    if len(beyond):
        raise IndexError(f"item {beyond[0]} of {count} items")
    numbers %= count
    once, times = np.unique(numbers, return_counts=True)
    if len(once) < len(numbers):
        raise ValueError(
            f"item {once[times > 1][0]} is chosen twice; Loader(weights=) draws items repeatedly"
        )
    if not len(numbers):
        raise ValueError("no item is chosen")
    return numbers


def runs_of(items: Ints) -> Ints:
    """The ranges of consecutive items, in their order.

    Examples
    --------
    >>> runs_of(np.array([4, 5, 6, 2, 0])).tolist()
    [[4, 7], [2, 3], [0, 1]]
    """
    firsts = np.flatnonzero(np.append(True, np.diff(items) != 1))
    lasts = np.append(firsts[1:], len(items)) - 1
    return np.stack([items[firsts], items[lasts] + 1], axis=1)
