"""Which items stay together in a split, and in which part they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from zarrix.ml._datasets.subset import runs_of
from zarrix.ml._datasets.windows import Windowed
from zarrix.ml._order.order import permuted
from zarrix.ml._order.random import Ints, key_of

__all__ = ["Rule", "fold_ranges", "ranges_of"]

_POSITION = "position"


class Rule(NamedTuple):
    """By what a dataset is divided, as `split` takes it."""

    by: str | None
    gap: int | None
    stratify: Any
    seed: int


class _Units(NamedTuple):
    """Items that stay together, and the part of each: -1 where it is in none.

    ``of_items`` has the unit of each item, or is None where units are the ranges between ``ends``.
    """

    parts: Ints
    ends: Any
    of_items: Any

    def ranges(self, is_chosen: Any) -> Ints:
        """The items of some of the units."""
        if self.of_items is None:
            units = np.flatnonzero(is_chosen)
            return np.stack([self.ends[units], self.ends[units + 1]], axis=1)
        return runs_of(np.flatnonzero(is_chosen[self.of_items]))


def ranges_of(dataset: Windowed, parts: Mapping[str, float], rule: Rule) -> dict[str, Ints]:
    """The ranges of items of each part.

    Units are permuted by the seed; along an axis parts are in order, and ``gap`` positions between
    two of them are in neither.
    """
    if not isinstance(parts, Mapping) or not parts:
        raise ValueError(
            "split needs a mapping of names to shares, such as {'train': 0.9, 'val': 0.1}"
        )
    if not all(0 < share <= 1 for share in parts.values()) or sum(parts.values()) > 1 + 1e-9:
        raise ValueError(f"shares {dict(parts)!r} are positive, and at most 1 together")
    by = _by_what(dataset, rule)
    if by is not None:
        units = _units(dataset, by, list(parts), list(parts.values()), rule)
        return {name: units.ranges(units.parts == n) for n, name in enumerate(parts)}
    ranges, gap = dict[str, Ints](), _gap_of(dataset, rule)
    shares = np.cumsum([0.0, *parts.values()])
    for place, name in enumerate(parts):
        ranges[name] = _between(dataset, shares[place], shares[place + 1], gap if place else 0, 0)
        if not len(ranges[name]):
            raise ValueError(
                f"{name!r} has no items; its share is too small, or gap={gap} too large"
            )
    return ranges


def fold_ranges(dataset: Windowed, count: int, rule: Rule) -> list[tuple[Ints, Ints]]:
    """The ranges for training and for validation of each of ``count`` folds."""
    if count < 2:
        raise ValueError(f"count={count}; there are at least 2 folds")
    by, names = _by_what(dataset, rule), [f"fold {number}" for number in range(count)]
    if by is not None:
        units = _units(dataset, by, names, [1 / count] * count, rule)
        return [
            (units.ranges(units.parts != number), units.ranges(units.parts == number))
            for number in range(count)
        ]
    gap, edges, folds = _gap_of(dataset, rule), np.arange(count + 1) / count, []
    for number, name in enumerate(names):
        low, high = edges[number], edges[number + 1]
        before = _between(dataset, 0, low, 0, gap)
        after = _between(dataset, high, 1, gap, 0) if high < 1 else before[:0]
        train, val = np.concatenate([before, after]), _between(dataset, low, high, 0, 0)
        if not len(train) or not len(val):
            raise ValueError(f"{name!r} of {count} has no items for training or for validation")
        folds.append((train[np.argsort(train[:, 0])], val))
    return folds


def _gap_of(dataset: Windowed, rule: Rule) -> int:
    return dataset._spans() - 1 if rule.gap is None else int(rule.gap)


def _by_what(dataset: Windowed, rule: Rule) -> str | None:
    """The name of the units, or None for ranges along the first dimension."""
    by, ends, axis = rule.by, dataset._parts_by(), dataset._axis
    along = None if axis is None else dataset._dims[axis]
    columns = [name for table in dataset._tables for name in table.columns]
    if by is None:
        several = [name for name, ends_of in ends.items() if len(ends_of) > 2]
        by = several[0] if several else along if rule.stratify is None else _POSITION
    if by is not None and by in (*ends, *columns):
        return by
    if axis is not None and by == along:
        if rule.stratify is not None:
            raise ValueError(f"by={by!r} makes ranges; stratify= needs units, such as 'position'")
        return None
    if axis is None or by != _POSITION:
        positions = () if axis is None else (along, _POSITION)
        names = " or ".join(repr(name) for name in (*ends, *columns, *positions))
        raise ValueError(f"by={by!r}; this dataset is split by {names}")
    if dataset._spans() > 1:
        raise ValueError("clips of neighbouring positions have frames in common: by='episode'")
    return by


def _units(dataset: Windowed, by: str, names: list[str], shares: list[float], rule: Rule) -> _Units:
    """The units of a dataset, each in one of the parts."""
    ends: Any = dataset._parts_by().get(by)
    of_items: Any = None
    table = {} if ends is not None and rule.stratify is None else dataset.table()
    if ends is None:
        if by == _POSITION:
            values = dataset._frame_ends()[table["group"]] + table["frame"]
        else:
            values = table[by]
        of_items = np.unique(values, return_inverse=True)[1].reshape(-1)
    count = len(ends) - 1 if ends is not None else int(of_items.max()) + 1
    classes = None
    if rule.stratify is not None:
        inside = of_items
        if inside is None:
            inside = np.repeat(np.arange(count), np.diff(ends))
        classes = _classes(table, rule.stratify, inside, count, by)
    parts = _assigned(count, shares, rule.seed, classes)
    for number, name in enumerate(names):
        if not (parts == number).any():
            raise ValueError(f"{count} parts are too few for {name!r} to have one")
    return _Units(parts, ends, of_items)


def _classes(table: dict[str, Any], stratify: Any, unit: Ints, count: int, by: str) -> Ints:
    """The class of each unit; -1 where it has no items."""
    if isinstance(stratify, str):
        if stratify not in table:
            raise ValueError(f"stratify={stratify!r} is not one of the columns {list(table)}")
        values = table[stratify]
    else:
        values = np.asarray(stratify[...] if hasattr(stratify, "shape") else list(stratify))
    if values.shape != unit.shape:
        raise ValueError(f"stratify= has the shape {values.shape}, for {len(unit)} items")
    of_items = np.unique(values, return_inverse=True)[1].reshape(-1)
    classes = np.full(count, -1)
    classes[unit] = of_items
    differs = np.flatnonzero(classes[unit] != of_items)
    if len(differs):
        raise ValueError(
            f"the items of one {by}, such as item {differs[0]}, have several classes: stratify= "
            "needs one class for each"
        )
    return classes


def _assigned(count: int, shares: list[float], seed: int, classes: Ints | None) -> Ints:
    """The part of each unit. In each class a part has its share, rounded up or down."""
    order = permuted(np.arange(count), count, key_of(seed, "split", 0))
    parts = np.full(count, -1)
    if classes is None:
        edges = np.round(np.cumsum([0.0, *shares]) * count).astype(np.int64)
        for number in range(len(shares)):
            parts[order[edges[number] : edges[number + 1]]] = number
        return parts
    rest = 1 - sum(shares)
    wanted = np.array([*shares, rest if rest > 1e-9 else 0.0])
    # By how much each part is behind its share of all classes so far.
    behind = np.where(wanted > 0, 0.0, -np.inf)
    for value in np.unique(classes):
        mine = order[classes[order] == value]
        sizes = np.floor(wanted * len(mine) + 1e-9).astype(np.int64)
        behind += wanted * len(mine) - sizes
        rounded_up = np.argsort(-behind, kind="stable")[: len(mine) - sizes.sum()]
        sizes[rounded_up] += 1
        behind[rounded_up] -= 1
        edges = np.concatenate([[0], np.cumsum(sizes)])
        for number in range(len(shares)):
            parts[mine[edges[number] : edges[number + 1]]] = number
    return parts


def _between(dataset: Windowed, low: float, high: float, after: int, before: int) -> Ints:
    """The items of each group from one share of its length to another.

    The first ``after`` positions are left out, and the last ``before`` ones.
    """
    ranges: list[tuple[int, int]] = []
    axis = dataset._axis or 0
    for number, group in enumerate(dataset._groups):
        length = int(next(iter(group.values())).array.shape[axis])
        begin, end = np.round(np.array([low, high]) * length).astype(np.int64)
        places = np.array([begin + after, max(begin, end - before)])
        first, last = (dataset._before(number, places) + dataset._ends[number]).tolist()
        if last > first:
            ranges.append((first, last))
    return np.array(ranges, np.int64).reshape(-1, 2)
