"""Parts of a dataset that share nothing: for training, validation and tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix.ml._datasets.dataset import Dataset, Draws, digest_of
from zarrix.ml._datasets.windows import Windowed
from zarrix.ml._order.order import permuted
from zarrix.ml._order.random import Ints, key_of
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Entry, Frozen
from zarrix.ml._reading.fields import Column

__all__ = ["Divisible", "Subset"]


class Divisible(Windowed):
    """A dataset of windows, which can be split."""

    def split(
        self,
        parts: Mapping[str, float],
        *,
        by: str | None = None,
        gap: int | None = None,
        seed: int = 0,
    ) -> tuple[Any, ...]:
        """Divide the items into parts that share nothing, such as for training and validation.

        Items are never divided one by one: neighbours in time, and crops of one frame, are in one
        part.

        Parameters
        ----------
        parts : mapping of str to float
            The share of each part; together at most 1.
        by : str, optional
            "group" or, for clips, "episode": whole ones, chosen by ``seed``. The name of the first
            dimension: ranges of it, in order, in each group. When omitted, by group if there are
            several, else by episode if there are several, else along the dimension.
        gap : int, optional
            Along a dimension, how many positions between two parts are in neither; for clips their
            length when omitted, so that no frame is in two parts.
        seed : int

        Returns
        -------
        tuple of datasets
            One for each part, in order.

        Raises
        ------
        ValueError
            Shares are not positive, a part would have no items, or ``by`` is not known.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.array(np.arange(10))})
        >>> train, val = rows.split({"train": 0.8, "val": 0.2})
        >>> [val[item]["x"].item() for item in range(len(val))]
        [8, 9]
        """
        ranges = ranges_of(self, parts, by, gap, seed)
        return tuple(Subset(self, ranges[name]) for name in parts)


class Subset(Dataset):
    """Ranges of items of another dataset."""

    def __init__(self, base: Dataset, ranges: Ints) -> None:
        self._base, self._ranges = base, ranges
        self._seed = base._seed
        self._count_items([int(end - begin) for begin, end in ranges])

    def _draws(self, visits: Visits) -> Draws:
        items = visits.items
        which = np.searchsorted(self._ends, items, "right") - 1
        base = self._ranges[which, 0] + items - self._ends[which]
        draws = self._base._draws(visits._replace(items=base))
        # A replacement is an item of this part; batches say the item of the whole dataset.
        draws.visits = visits
        return draws

    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        return self._base._entries(draws, batch, rows)

    def _frozen(self, frozen: Frozen) -> Subset:
        return self._with(_base=self._base._frozen(frozen))

    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        return self._base._allocated(column)

    def _shown(self) -> list[Column]:
        return self._base._shown()

    def _begins(self) -> Ints:
        base = self._base._begins()
        begins = [np.zeros(1, np.int64)]
        for number, (begin, end) in enumerate(self._ranges):
            inner = base[(base > begin) & (base < end)] - begin
            begins.append(self._ends[number] + np.append(inner, end - begin))
        return np.unique(np.concatenate(begins))

    def _identity(self) -> dict[str, Any]:
        base = self._base._identity()
        return {**base, "kind": ["Subset", base["kind"]], "part": digest_of(self._ranges)}

    def _is_thin(self) -> bool:
        return self._base._is_thin()

    def _share(self) -> float:
        return self._base._share() * (len(self._base) / len(self))

    def _overlap(self) -> float:
        return self._base._overlap()

    def split(self, *_: Any, **__: Any) -> Any:
        """Not possible: a part of a part is not a share of the whole."""
        raise ValueError(f"{self._described()} is not divided again: name all parts in one split")

    def _described(self) -> str:
        return f"a part of {self._base!r}"

    def __repr__(self) -> str:
        return f"{self._count} of {self._base!r}"


def ranges_of(
    dataset: Windowed, parts: Mapping[str, float], by: str | None, gap: int | None, seed: int
) -> dict[str, Ints]:
    """The ranges of items of each part.

    By groups or episodes the parts are permuted by the seed; along an axis they are in order, and
    ``gap`` positions between two of them are in neither.
    """
    if not isinstance(parts, Mapping) or not parts:
        raise ValueError(
            "split needs a mapping of names to shares, such as {'train': 0.9, 'val': 0.1}"
        )
    if not all(0 < share <= 1 for share in parts.values()) or sum(parts.values()) > 1 + 1e-9:
        raise ValueError(f"shares {dict(parts)!r} are positive, and at most 1 together")
    ends = dataset._parts_by()
    several = [name for name, ends_of in ends.items() if len(ends_of) > 2]
    axis = dataset._axis
    along = None if axis is None else dataset._dims[axis]
    by = (several[0] if several else along) if by is None else by
    if by in ends:
        return _by_parts(parts, ends[by], seed)
    if axis is None or by != along:
        names = " or ".join(repr(name) for name in (*ends, along) if name is not None)
        raise ValueError(f"by={by!r}; this dataset is split by {names}")
    return _along(dataset, parts, dataset._spans() - 1 if gap is None else gap, axis)


def _by_parts(parts: Mapping[str, float], ends: Ints, seed: int) -> dict[str, Ints]:
    count = len(ends) - 1
    order = permuted(np.arange(count), count, key_of(seed, "split", 0))
    edges = np.round(np.cumsum([0.0, *parts.values()]) * count).astype(np.int64)
    ranges = {}
    for number, name in enumerate(parts):
        chosen = np.sort(order[edges[number] : edges[number + 1]])
        if not len(chosen):
            raise ValueError(f"{count} parts are too few for {name!r} to have one")
        ranges[name] = np.stack([ends[chosen], ends[chosen + 1]], axis=1)
    return ranges


def _along(dataset: Windowed, parts: Mapping[str, float], gap: int, axis: int) -> dict[str, Ints]:
    ranges_of_parts: dict[str, list[tuple[int, int]]] = {name: [] for name in parts}
    for number, group in enumerate(dataset._groups):
        length = int(next(iter(group.values())).array.shape[axis])
        edges = np.round(np.cumsum([0.0, *parts.values()]) * length).astype(np.int64)
        for place, name in enumerate(parts):
            begin = edges[place] + (gap if place else 0)
            items = (
                dataset._before(number, np.array([begin, edges[place + 1]])) + dataset._ends[number]
            )
            if items[1] > items[0]:
                ranges_of_parts[name].append((int(items[0]), int(items[1])))
    for name, ranges in ranges_of_parts.items():
        if not ranges:
            raise ValueError(
                f"{name!r} has no items; its share is too small, or gap={gap} too large"
            )
    return {name: np.array(ranges, np.int64) for name, ranges in ranges_of_parts.items()}
