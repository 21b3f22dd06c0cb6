"""Samples of variable length, which lie one after the other in their arrays.

`Ragged` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._errors import suggestion
from zarrix.ml._datasets.dataset import Draws, digest_of
from zarrix.ml._datasets.lengths import Limits, Spans, bounds_of, edges_of, spans_of
from zarrix.ml._datasets.rows import counted_by_item, digests_of
from zarrix.ml._datasets.split import Divisible
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.chunks import numbers_along
from zarrix.ml._reading.fetch import Entry
from zarrix.ml._reading.fields import Field, as_fields, columns_of, reduced_fields
from zarrix.ml._reading.layout import KINDS, Layout

__all__ = ["Ragged"]

_OWN = ("length", "offsets")


class Ragged(Divisible):
    """Samples of variable length: documents, audio, point clouds, episodes.

    An item is a range of the first axis of all fields, which has the elements of one item after the
    other. It may be empty. A batch has ``length``, the number of elements of each sample.

    Parameters
    ----------
    fields : mapping of str to Array or Field, or a list of such mappings
        All fields of a group have the same length.
    offsets : array of int, or a list of arrays, optional
        Where each item begins, and where the last one ends: one number more than items.
    episodes : array of int, or a list of arrays, optional
        Where each item ends, as in `Clips`. Either of the two is passed.
    rows : mapping of str to Array or Field, or a list of such mappings, optional
        Fields with one row for each item, such as labels.
    as_ : {"pad", "packed", "nested"}
        How a batch holds a field. "pad" has the shape (samples, length, ...), in which samples
        are followed by ``pad_value``. "packed" has the elements of all samples one after the other,
        and ``batch["offsets"]`` where each begins, and the end. "nested" is a list with an array
        for each sample.
    buckets : int or sequence of int, optional
        Lengths that samples are padded to, ascending; or how many such lengths, so chosen that each
        has as many items. Where a loader shuffles, the samples of a batch, on all ranks, have the
        same one, except in a batch where one bucket follows another. When omitted, a batch is as
        long as its longest sample, and a shuffle does not look at lengths.
    max_length : int, optional
        The most elements of a sample.
    longer : {"raise", "cut", "crop", "drop"}
        What becomes of longer items: an error; their first elements; a range of them, which is a
        function of seed, epoch and item; or they are left out.
    pad_value : scalar, or mapping of str to scalar
        What pads samples, as batches have it, after any conversion.
    seed : int
        The seed of samples that a loader of another library asks for; a `Loader` has its own.

    Raises
    ------
    ValueError
        Offsets do not fit the fields, or items are longer than ``max_length`` or all buckets.
    TypeError
        Neither or both of ``offsets`` and ``episodes`` are passed.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> tokens = zarr.array(np.arange(1, 11), chunks=4)
    >>> documents = ml.Ragged({"token": tokens}, offsets=[0, 3, 3, 10])
    >>> documents
    Ragged(3 items of 0 to 7 elements: token () int64)
    >>> batch = next(iter(ml.Loader(documents, 3, shuffle=False)))
    >>> batch["token"].tolist(), batch["length"].tolist()
    ([[1, 2, 3, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0], [4, 5, 6, 7, 8, 9, 10]], [3, 0, 7])

    >>> packed = ml.Ragged({"token": tokens}, offsets=[0, 3, 3, 10], as_="packed")
    >>> batch = next(iter(ml.Loader(packed, 3, shuffle=False)))
    >>> batch["token"].tolist(), batch["offsets"].tolist()
    ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0, 3, 3, 10])
    """

    __module__ = "zarrix.ml"

    _begins_once = True
    _layout: Layout

    def __init__(
        self,
        fields: Any,
        *,
        offsets: Any = None,
        episodes: Any = None,
        rows: Any = None,
        as_: str = "pad",
        buckets: Any = None,
        max_length: int | None = None,
        longer: str = "raise",
        pad_value: Any = 0,
        seed: int = 0,
    ) -> None:
        if as_ not in KINDS:
            raise ValueError(
                f"as_={as_!r}; allowed are {', '.join(KINDS)}{suggestion(str(as_), KINDS)}"
            )
        limits = Limits.of(max_length, longer)
        if (offsets is None) == (episodes is None):
            raise TypeError("Ragged takes offsets= or episodes=, which say where items begin")
        elements = as_fields(fields, "Ragged")
        for name, field in elements[0].items():
            if name in _OWN:
                raise ValueError(f"a batch has an entry {name!r} of its own: rename the field")
            if field.layout is not None or field.nan.counts:
                raise ValueError(f"field {name!r} of variable length has no layout=, nor this nan=")
        self._given = {
            "offsets": offsets,
            "episodes": episodes,
            "rows": rows,
            "as_": as_,
            "buckets": buckets,
            "max_length": max_length,
            "longer": longer,
            "pad_value": pad_value,
            "seed": seed,
        }
        self._seed, self._dims = int(seed), ("item",)
        self._elements = elements
        self._groups = [counted_by_item(group, n) for n, group in enumerate(elements)]
        label = "offsets=" if episodes is None else "episodes="
        bounds = _bounds_of_groups(self._groups, offsets if episodes is None else episodes, label)
        self._columns = columns_of(self._groups, None, {}, ("item",))
        self._variable = len(self._columns)
        # How many items each group has in its tables, in which none is left out.
        self._stored = [len(of_group) - 1 for of_group in bounds]
        if rows is not None:
            self._add_rows(rows)
        spans = [spans_of(b, limits, f"group {n}") for n, b in enumerate(bounds)]
        self._items = Spans(*(np.concatenate(parts) for parts in zip(*spans, strict=True)))
        edges = edges_of(buckets, self._items.lengths)
        self._layout = Layout(kind=as_, pads=_pads(pad_value, elements[0]), edges=edges)
        self._prepare([len(of_group.numbers) for of_group in spans])

    def _add_rows(self, rows: Any) -> None:
        """Add the fields that have one row for each item."""
        groups = [counted_by_item(group, n) for n, group in enumerate(as_fields(rows, "rows="))]
        lengths = [int(next(iter(g.values())).array.shape[0]) for g in groups]
        if lengths != self._stored:
            raise ValueError(f"rows= has {lengths} rows in its groups, of {self._stored} items")
        taken = sorted((groups[0].keys() & self._groups[0].keys()) | (groups[0].keys() & set(_OWN)))
        if taken:
            raise ValueError(f"rows= has the field {taken[0]!r}, and a batch has one of this name")
        self._columns = [*self._columns, *columns_of(groups, None, {}, ("item",))]
        pairs = zip(self._groups, groups, strict=True)
        self._groups = [{**elements, **of_items} for elements, of_items in pairs]

    # What datasets of windows define

    def _draws(self, visits: Visits) -> Draws:
        spans, items = self._items, visits.items
        groups = np.searchsorted(self._ends, items, "right") - 1
        begins, lengths, numbers = spans.begins[items], spans.lengths[items], spans.numbers[items]
        spare = spans.spare[items]
        if spare.any():
            words = visits.draw("corner")[0]
            begins = begins + (words % (spare.astype(np.uint64) + np.uint64(1))).astype(np.int64)
        starts = [
            column.starts(_first_axis(begins if place < self._variable else numbers, column.axes))
            for place, column in enumerate(self._columns)
        ]
        extras = {"item": items, "start": begins[:, None], "length": lengths}
        several = len(self._groups) > 1
        if several:
            extras["group"] = groups
        extras.update(self._labels(groups, numbers))
        windows = [start[:, None] for start in starts]
        return Draws(visits, groups if several else None, begins[:, None], windows, extras)

    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        entries = super()._entries(draws, batch, rows)
        rows = np.arange(len(draws)) if rows is None else rows
        groups = [0] * len(draws) if draws.groups is None else draws.groups.tolist()
        samples = list(zip(rows.tolist(), groups, draws.extras["length"].tolist(), strict=True))
        for number, column in enumerate(self._columns[: self._variable]):
            starts, rest = draws.starts[number], column.window[1:]
            sources = [reads[number] for reads in self._reads]
            targets = self._layout.targets(batch, column.name, rows)
            for place, (row, group, length) in enumerate(samples):
                # Nothing is read of items without elements.
                if length:
                    window, out = (length, *rest), targets[place]
                    entries.append(
                        Entry(sources[group], starts[place], window, out, "inside", column, row, 1)
                    )
        return entries

    def _extents(self, number: int, draws: Draws) -> Ints:
        extents: Ints = np.tile(super()._extents(number, draws), (len(draws), 1))
        if number < self._variable:
            extents[:, 0] = draws.extras["length"]
        return extents

    def _whole_columns(self) -> Sequence[int]:
        return range(self._variable, len(self._columns))

    def _lengths_of(self, items: Ints) -> Ints:
        return self._items.lengths[items]

    def _frames_of(self, items: Ints) -> tuple[Ints, Ints]:
        return np.searchsorted(self._ends, items, "right") - 1, self._items.numbers[items]

    def _frame_ends(self) -> Ints:
        return np.concatenate([[0], np.cumsum(np.array(self._stored, np.int64))])

    def _before(self, group: int, positions: Ints) -> Ints:
        low, high = self._ends[group : group + 2].tolist()
        found = np.searchsorted(self._items.begins[low:high], positions, "left")
        # Items without elements may begin where the fields end.
        ended = positions >= self._lengths[group][0][0]
        return np.where(ended, high - low, found)

    def _begins(self) -> Ints:
        # By items: an array may have more chunks than memory has bytes.
        begins = [np.zeros(1, np.int64), self._ends]
        for number, group in enumerate(self._groups):
            array, low = next(iter(group.values())).array, self._ends[number]
            if isinstance(array, Array):
                firsts = self._items.begins[low : self._ends[number + 1]]
                chunks = numbers_along(metadata_of(array).grid[0], firsts)
                begins.append(low + 1 + np.flatnonzero(np.diff(chunks)))
        return np.unique(np.concatenate(begins))

    def _spec(self) -> dict[str, Any]:
        return {
            "spans": [digest_of(part) for part in self._items],
            "layout": self._layout.identity(),
            **digests_of(self._groups),
        }

    def _reduced(self, factor: int) -> Ragged:
        made = type(self)(reduced_fields(self._elements, factor), **self._given)
        return made._with(_tables=self._tables)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{c.name} {c.shape} {c.target or c.dtype}" for c in self._columns)
        lengths = self._items.lengths
        return (
            f"Ragged({self._count} items of {lengths.min()} to {lengths.max()} elements: {shapes})"
        )


def _bounds_of_groups(groups: list[dict[str, Field]], bounds: Any, label: str) -> list[Ints]:
    """Where the items of each group begin, and the last one ends."""
    bounds = [bounds] if len(groups) == 1 else list(bounds)
    if len(bounds) != len(groups):
        raise ValueError(f"{label} is for {len(bounds)} groups, of {len(groups)}")
    return [
        bounds_of(of_group, int(next(iter(group.values())).array.shape[0]), label)
        for group, of_group in zip(groups, bounds, strict=True)
    ]


def _first_axis(positions: Ints, axes: Ints) -> Ints:
    """Corners at these positions of the first axis."""
    corners = np.zeros((len(positions), len(axes)), np.int64)
    corners[:, 0] = positions
    return corners


def _pads(pad_value: Any, fields: Mapping[str, Field]) -> dict[str, Any]:
    """What pads each field."""
    if not isinstance(pad_value, Mapping):
        return dict.fromkeys(fields, pad_value)
    for name in pad_value:
        if name not in fields:
            raise ValueError(
                f"pad_value= has {name!r}, which is not one of the fields {list(fields)}"
                f"{suggestion(str(name), list(fields))}"
            )
    return {name: pad_value.get(name, 0) for name in fields}
