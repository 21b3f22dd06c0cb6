"""Datasets of windows: from item numbers to windows of arrays, and to the memory of a batch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._runtime.signatures import check_keywords
from zarrix.ml._datasets.augment import Augmentation, Flip, Resize, Rot90, augmented
from zarrix.ml._datasets.dataset import Dataset, Draws, digest_of
from zarrix.ml._datasets.table import Table
from zarrix.ml._order.cell import Cell
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.chunks import ends_along
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.decoding import overlap_of_blocks, share_of_an_item
from zarrix.ml._reading.fetch import Entry, Frozen, source_of
from zarrix.ml._reading.fields import Column, Field, reduced_fields

__all__ = ["BORDERS", "Windowed", "check_border", "frame_dims", "sizes_of"]

BORDERS = ("inside", "pad", "edge", "reflect")


class Windowed(Dataset):
    """What datasets of arrays share: `Crops`, `Clips`, `Rows` and `Grid`."""

    _groups: list[dict[str, Field]]
    _columns: list[Column]
    _dims: tuple[str, ...]
    _border = "inside"
    _pad_value: Any = None
    _tables: tuple[Table, ...] = ()
    # The steps of `augment`, their turns, and what determines samples of them.
    _steps: tuple[Any, ...] = ()
    _augmentation: Augmentation | None = None
    _augmented_by: Any = None
    # The options of the constructor, by which a dataset of other fields is made.
    _given: dict[str, Any]

    def _prepare(self, counts: Sequence[int] | Ints) -> None:
        """Count the items, ``counts`` of each group."""
        # The array of each column in each group, with what the engine needs of it.
        self._reads = [
            [
                source_of(group[c.name].array, c, self._windows(n), self._pad_value)
                for n, c in enumerate(self._columns)
            ]
            for group in self._groups
        ]
        # As they are now: another process may resize an array.
        self._lengths = [
            [tuple(map(int, field.array.shape)) for field in group.values()]
            for group in self._groups
        ]
        self._count_items(counts)

    # What subclasses define

    def _corners(self, visits: Visits) -> tuple[Ints, Ints, dict[str, Any]]:
        """The group of each item, its corner on the reference's grid, and more entries."""
        raise TypeError(f"{type(self).__name__} is made by one of its subclasses")

    @property
    def _axis(self) -> int | None:
        """The axis of the reference along which items are in order; None if there is none."""
        return 0

    def _before(self, group: int, positions: Ints) -> Ints:
        """How many items of a group come before these positions along `_axis`."""
        raise TypeError(f"{type(self).__name__} is made by one of its subclasses")

    def _frames_of(self, items: Ints) -> tuple[Ints, Ints]:
        """The group of each item, and its first frame: the position along `_axis`, or 0."""
        raise TypeError(f"{type(self).__name__} is made by one of its subclasses")

    def _parts_by(self) -> dict[str, Ints]:
        """What a split may be by: the first item of each, and the number of items."""
        return {"group": self._ends}

    def _spans(self) -> int:
        """How far apart two items are that share nothing, along `_axis`."""
        return 1

    def _spec(self) -> dict[str, Any]:
        """What determines the samples beside fields and borders, in terms of JSON."""
        return {}

    # What a dataset defines

    def _begins(self) -> Ints:
        """The first item of each block, and the number of items.

        A block has the items of one chunk of the reference along the axis of the items. A shard,
        which is fetched as one, counts as a chunk.
        """
        begins = [np.zeros(1, np.int64)]
        for number, group in enumerate(self._groups):
            array = next(iter(group.values())).array
            if self._axis is None:
                ends = np.array([self._ends[number + 1] - self._ends[number]])
            else:
                ends = self._before(number, chunk_ends(array, self._axis))
            begins.append(self._ends[number] + ends)
        return np.unique(np.concatenate(begins))

    def _draws(self, visits: Visits) -> Draws:
        groups, corners, extras = self._corners(visits)
        starts = [column.starts(corners)[:, None] for column in self._columns]
        extras = {"item": visits.items, "start": corners, **extras}
        if len(self._groups) > 1:
            extras["group"] = groups
        if self._border != "inside":
            extras["inside"] = self._inside(groups, corners)
        if self._tables:
            axis = self._axis
            frames = np.zeros_like(groups) if axis is None else corners[:, axis]
            extras.update(self._labels(groups, frames))
        own_groups = groups if len(self._groups) > 1 else None
        draws = Draws(visits, own_groups, corners, starts, extras)
        if self._augmentation is not None:
            self._augmentation.add(draws)
        return draws

    def _labels(self, groups: Ints, frames: Ints) -> dict[str, Any]:
        """The columns of the tables for samples of these groups, which have these frames."""
        labels = {}
        for table in self._tables:
            rows = groups
            if table.on == "frame":
                firsts = self._frame_ends()[:-1][groups]
                rows = firsts.reshape(-1, *[1] * (frames.ndim - 1)) + frames
            labels.update({name: values[rows] for name, values in table.columns.items()})
        return labels

    def _frame_ends(self) -> Ints:
        """How many frames the groups before each one have, and all."""
        axis = self._axis
        counts = [1 if axis is None else lengths[0][axis] for lengths in self._lengths]
        return np.concatenate([[0], np.cumsum(np.array(counts, np.int64))])

    def join(self, table: Table) -> Self:
        """The dataset with the columns of a table in its samples.

        A sample has the value of its frame; a clip has one value for each of its frames, of shape
        (frames,). In a table of groups it has the value of its group.

        Parameters
        ----------
        table : Table

        Returns
        -------
        dataset
            Of the same kind. The one that is joined is not changed.

        Raises
        ------
        ValueError
            The table has not a row for each frame or group, or a name that batches have.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.zeros((3, 2))})
        >>> rows.join(ml.Table({"label": ["a", "b", "a"]}))[1]["label"]
        np.str_('b')
        """
        if not isinstance(table, Table):
            raise TypeError(f"join takes a Table of zarrix.ml, not {type(table).__name__}")
        count = len(self._groups) if table.on == "group" else int(self._frame_ends()[-1])
        names = {name for other in self._tables for name in other.columns}
        names |= {column.name for column in self._columns}
        table._check(count, names | {f"{column.name}_nan" for column in self._columns})
        return self._with(_tables=(*self._tables, table))

    def table(self) -> dict[str, Any]:
        """What is known of each item without reading: a column for each, such as for pandas.

        Returns
        -------
        dict of str to ndarray, shape (items,)
            ``item``, ``group``, ``episode`` (of clips) and ``frame``, the first one of a clip along
            the first dimension; then the columns of joined tables, of that frame.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> clips = ml.Clips({"x": zarr.zeros((6, 2))}, dims="tx", frames=2, episodes=[3, 6])
        >>> table = clips.table()
        >>> list(table), table["episode"].tolist(), table["frame"].tolist()
        (['item', 'group', 'frame', 'episode'], [0, 0, 1, 1], [0, 1, 3, 4])
        """
        items = np.arange(len(self), dtype=np.int64)
        groups, frames = self._frames_of(items)
        columns: dict[str, Any] = {"item": items, "group": groups, "frame": frames}
        if "episode" in (ends := self._parts_by()):
            columns["episode"] = np.searchsorted(ends["episode"], items, "right") - 1
        return {**columns, **self._labels(groups, frames)}

    def _inside(self, groups: Ints, corners: Ints) -> Ints:
        """The range of each window that lies in the array, along each axis of the reference."""
        shapes = np.array([lengths[0] for lengths in self._lengths])
        window = np.array(self._columns[0].window)
        low = np.clip(-corners, 0, window)
        high = np.clip(shapes[groups] - corners, low, window)
        return np.stack([low, high], axis=-1)

    def _windows(self, number: int) -> tuple[int, ...]:
        """The shape of each read of a column."""
        return self._columns[number].window

    def _extents(self, number: int, draws: Draws) -> Ints:
        """The shape of the reads of a column: one for all samples, or one for each."""
        return np.array(self._windows(number), np.int64)

    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        count = len(draws)
        runs = [(0, count)]
        if draws.groups is not None or rows is not None:
            ends = np.zeros(max(0, count - 1), np.bool_)
            if draws.groups is not None:
                ends |= np.diff(draws.groups) != 0
            if rows is not None:
                ends |= np.diff(rows) != 1
            cuts = [0, *(np.flatnonzero(ends) + 1).tolist(), count]
            runs = list(itertools.pairwise(cuts)) if count else []
        entries: list[Entry] = []
        for number in self._whole_columns():
            self._add_entries(entries, number, draws, batch, rows, runs)
        return entries

    def _whole_columns(self) -> Sequence[int]:
        """The columns whose samples have one shape."""
        return range(len(self._columns))

    def _add_entries(
        self,
        entries: list[Entry],
        number: int,
        draws: Draws,
        batch: Batch,
        rows: Ints | None,
        runs: list[tuple[int, int]],
    ) -> None:
        """Add what fills a column: an entry for each of the runs, which are of one group each."""
        column, window = self._columns[number], self._windows(number)
        out = batch[column.name]
        if column.order is not None:
            out = out.transpose(column.order)
        every = draws.starts[number]
        each, axes = every.shape[1:]
        turns = None if draws.turns is None else draws.turns[number]
        # In a batch that a mix shares among layouts, the windows of a sample may be apart.
        together = each == 1 or out.strides[0] == out.shape[1] * out.strides[1]
        for begin, end in runs:
            place = 0 if draws.groups is None else int(draws.groups[begin])
            first = begin if rows is None else int(rows[begin])
            source, part = self._reads[place][number], out[first : first + end - begin]
            starts = every[begin:end]
            targets = [(part, starts, each)] if together else _apart(part, starts)
            for target, at, count in targets:
                # Not by -1: samples may have no elements, and fields no axes.
                windows = (end - begin) * count
                views, at = target.reshape(windows, *column.landing), at.reshape(windows, axes)
                entry = Entry(source, at, window, views, self._border, column, first, count)
                if turns is not None or column.resizing is not None:
                    # Contiguous for the engine, with a row for each window.
                    rows_of = None if turns is None else np.repeat(turns[begin:end], count, axis=0)
                    size = None if column.resizing is None else (window, *column.resizing)
                    entry = entry._replace(way=(rows_of, size))
                entries.append(entry)

    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """The shape of a sample in memory, and the axes of a batch in another order, if it is."""
        return column.shape, None

    def _shown(self) -> list[Column]:
        """The columns by which a batch is allocated."""
        return self._columns

    def _is_thin(self) -> bool:
        if not self._begins_once or self._axis is None:
            return False
        arrays = [next(iter(group.values())).array for group in self._groups]
        return all(
            isinstance(array, Array) and metadata_of(array).grid[self._axis].even == 1
            for array in arrays
        )

    def _share(self) -> float:
        return share_of_an_item(self)

    def _overlap(self) -> float:
        return overlap_of_blocks(self)

    def _identity(self) -> dict[str, Any]:
        # The fill value of an array is what lies beyond its border.
        padding = [[source.padding for source in group] for group in self._reads]
        return {
            "kind": type(self).__name__,
            "items": self._count,
            "fields": [column.identity() for column in self._columns],
            "shapes": digest_of(self._lengths),
            "border": self._border,
            "padding": digest_of(
                [[element and element.hex() for element in group] for group in padding]
                if self._border == "pad"
                else None
            ),
            **({"tables": [table._identity() for table in self._tables]} if self._tables else {}),
            **({"augment": self._augmented_by} if self._steps else {}),
            **self._spec(),
        }

    def _described(self) -> str:
        groups = f"{len(self._groups)} groups of " if len(self._groups) > 1 else ""
        return groups + ", ".join(
            f"{name} {field.array.shape} {field.array.dtype}"
            for name, field in self._groups[0].items()
        )

    def __repr__(self) -> str:
        shapes = ", ".join(f"{c.name} {c.shape} {c.target or c.dtype}" for c in self._columns)
        return f"{type(self).__name__}({self._count} items: {shapes})"

    def _frozen(self, frozen: Frozen) -> Self:
        """The dataset with arrays that do not change while it is used."""
        return self._with(
            _reads=[[frozen.source(source) for source in group] for group in self._reads]
        )

    def _reduced(self, factor: int) -> Self:
        make: Any = type(self)
        made: Self = make(reduced_fields(self._groups, factor), **self._given)
        made = made._with(_tables=self._tables)
        return made.augment(*self._steps) if self._steps else made

    def augment(self, *steps: Flip | Rot90 | Resize) -> Self:
        """The dataset with samples that are resized, flipped and rotated as they are read.

        A `Resize` comes first; the others follow in their order. What is drawn for a sample depends
        on seed, epoch and item alone, and is the same for all of its fields that have the
        dimensions. Batches say it: ``flips``, of shape (samples, number of `Flip`), and ``turns``,
        quarter turns of shape (samples, number of `Rot90`). ``start`` and ``inside`` are those of
        the stored window.

        Parameters
        ----------
        *steps : Flip, Rot90 or Resize

        Returns
        -------
        dataset
            Of the same kind. The one that is augmented is not changed.

        Raises
        ------
        ValueError
            No field has a dimension, samples have one index along it, or it is augmented already.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> from zarrix import ml
        >>> z = zarr.array(np.arange(32).reshape(2, 4, 4))
        >>> crops = ml.Crops({"x": z}, dims="tyx", size={"y": 2, "x": 2})
        >>> batch = next(iter(ml.Loader(crops.augment(ml.Flip("x"), ml.Rot90("yx")), 2)))
        >>> batch["x"].shape, batch["flips"].shape, batch["turns"].shape
        ((2, 2, 2), (2, 1), (2, 1))
        """
        if self._layout is not None:
            raise ValueError("samples that differ in length are not augmented: use transform=")
        if self._steps:
            raise ValueError("this dataset is augmented already: pass all steps at once")
        names = {"flips", "turns"} & {
            *(column.name for column in self._columns),
            *(name for table in self._tables for name in table.columns),
        }
        if names:
            raise ValueError(f"a batch has an entry {min(names)!r} of its own: rename the field")
        columns, augmentation, identity = augmented(self._columns, steps)
        dims = {dim for step in steps for dim in step.dims}
        for column, field in zip(self._columns, self._groups[0].values(), strict=True):
            if isinstance(field.array, CSR) and dims & set(column.dims):
                raise ValueError(f"field {column.name!r} is a sparse matrix, and is not augmented")
        return self._with(
            _columns=columns,
            _steps=steps,
            _augmentation=augmentation,
            _augmented_by=identity,
            _cell=Cell(),
        )


def _apart(out: Any, starts: Ints) -> list[tuple[Any, Ints, int]]:
    """For each window of a sample the part of ``out`` that it fills, its starts, and one a sample.

    Only of each is there a view whose first axis counts windows.
    """
    each = starts.shape[1]
    length = out.shape[1] // each
    return [
        (
            out[:, number * length : (number + 1) * length],
            np.ascontiguousarray(starts[:, number]),
            1,
        )
        for number in range(each)
    ]


def check_border(border: str) -> str:
    """The name of a border, which is known."""
    if border not in BORDERS:
        check_keywords({border: None}, set(BORDERS), "border")
    return border


def sizes_of(size: Any, dims: Sequence[str], label: str) -> dict[str, int]:
    """The window along each windowed dimension; numbers stand for the last dimensions."""
    if not isinstance(size, Mapping):
        try:
            lengths = tuple(size)
        except TypeError:
            raise ValueError(
                f"size={size!r}; pass a length for each dimension that is cropped, such as "
                f"size={{{dims[-1]!r}: {size!r}}}"
            ) from None
        size = dict(zip(dims[len(dims) - len(lengths) :], lengths, strict=False))
    for dim, length in size.items():
        if dim not in dims:
            raise ValueError(f"{label} has no dimension {dim!r}; it has {', '.join(dims)}")
        if int(length) < 1:
            raise ValueError(f"size {length} along {dim!r}")
    return {str(dim): int(length) for dim, length in size.items()}


def frame_dims(
    over: str | Sequence[str] | None, dims: Sequence[str], size: Mapping[str, int]
) -> tuple[str, ...]:
    """The dimensions each index of which is a frame; the first one, or none if it has a window."""
    if over is None:
        return () if dims[0] in size else (dims[0],)
    names = (over,) if isinstance(over, str) and over in dims else tuple(over)
    for dim in names:
        if dim not in dims or dim in size:
            raise ValueError(f"over={over!r}: {dim!r} is cropped, or not one of {tuple(dims)}")
    return names


def chunk_ends(array: Any, axis: int) -> Ints:
    """Where the chunks along one axis end; an array in memory is one chunk."""
    if isinstance(array, CSR):
        return array._row_ends
    return ends_along(array, axis) if isinstance(array, Array) else np.array(array.shape)[[axis]]
