"""What all datasets share: from item numbers to windows of fields, and to batches of them."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from zarrix._array.array import Array
from zarrix._display.table import info_table
from zarrix._errors import check_keywords
from zarrix.ml._batch import Batch, Samples
from zarrix.ml._cell import Cell
from zarrix.ml._csr import CSR
from zarrix.ml._fetch import Entry, Frozen, fetch, source_of
from zarrix.ml._fields import Column, Field
from zarrix.ml._nan import NanRule
from zarrix.ml._random import Ints
from zarrix.ml._shared import Shared, in_worker
from zarrix.ml._slots import allocate
from zarrix.ml._substitutes import settle
from zarrix.ml._threads import threads_of_worker

__all__ = ["BORDERS", "Dataset", "Draws", "check_border"]

BORDERS = ("inside", "pad", "edge", "reflect")


class Draws:
    """The windows of some items: what a batch needs beside memory. A slice is a batch's part."""

    __slots__ = ("corners", "extras", "groups", "items", "rounds", "starts")

    # Only of a mix: rows and windows of each of its datasets.
    parts: list[tuple[Ints, Draws]]

    def __init__(
        self,
        items: Ints,
        rounds: Ints | None,
        groups: Ints | None,
        corners: Ints,
        starts: list[Ints],
        extras: dict[str, Any],
    ) -> None:
        self.items, self.rounds = items, rounds
        # None where the dataset has one group.
        self.groups, self.corners, self.starts, self.extras = groups, corners, starts, extras

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, part: slice) -> Draws:
        return Draws(
            self.items[part],
            None if self.rounds is None else self.rounds[part],
            None if self.groups is None else self.groups[part],
            self.corners[part],
            [one[part] for one in self.starts],
            {name: value[part] for name, value in self.extras.items()},
        )


class Dataset:
    """What `Crops`, `Clips`, `Rows`, `Grid` and `Mix` share; it is not constructed itself.

    A dataset has items, which an epoch visits once, and gives samples: a mapping of names to NumPy
    arrays. It reads nothing when it is made. Any number of threads and processes may use it.
    """

    _groups: list[dict[str, Field]]
    _columns: list[Column]
    _dims: tuple[str, ...]
    _border = "inside"
    _pad_value: Any = None
    _seed = 0

    def _prepare(self, counts: Sequence[int] | Ints) -> None:
        """Count the items, ``counts`` of each group."""
        self._ends = np.concatenate([[0], np.cumsum(np.array(counts, np.int64))])
        self._count = int(self._ends[-1])
        # The array of each column in each group, with what the engine needs of it.
        self._reads = [
            [
                source_of(group[c.name].array, c, self._windows(n), self._pad_value)
                for n, c in enumerate(self._columns)
            ]
            for group in self._groups
        ]
        if not self._count:
            raise ValueError(f"{type(self).__name__} of {self._described()} has no items")
        self._cell = Cell()

    # What subclasses define

    def _corners(
        self, items: Ints, seed: int, epoch: Any, rounds: Ints | None
    ) -> tuple[Ints, Ints, dict[str, Any]]:
        """The group of each item, its corner on the reference's grid, and more entries."""
        raise TypeError(f"{type(self).__name__} is made by one of its subclasses")

    @property
    def _axis(self) -> int | None:
        """The axis of the reference along which items are in order; None if there is none."""
        return 0

    def _before(self, group: int, positions: Ints) -> Ints:
        """How many items of a group come before these positions along `_axis`."""
        raise TypeError(f"{type(self).__name__} is made by one of its subclasses")

    def _parts_by(self) -> dict[str, Ints]:
        """What a split may be by: the first item of each, and the number of items."""
        return {"group": self._ends}

    def _spans(self) -> int:
        """How far apart two items are that share nothing, along `_axis`."""
        return 1

    def _spec(self) -> dict[str, Any]:
        """What determines the samples, in terms of JSON: part of the fingerprint."""
        return {}

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

    # Items to batches

    def __len__(self) -> int:
        return self._count

    def _draws(self, items: Ints, seed: int, epoch: Any, rounds: Ints | None) -> Draws:
        groups, corners, extras = self._corners(items, seed, epoch, rounds)
        starts = [column.starts(corners)[:, None] for column in self._columns]
        extras = {"item": items, "start": corners, **extras}
        if len(self._groups) > 1:
            extras["group"] = groups
        if self._border != "inside":
            extras["inside"] = self._inside(groups, corners)
        return Draws(
            items, rounds, groups if len(self._groups) > 1 else None, corners, starts, extras
        )

    def _inside(self, groups: Ints, corners: Ints) -> Ints:
        """The range of each window that lies in the array, along each axis of the reference."""
        shapes = np.array([next(iter(group.values())).array.shape for group in self._groups])
        window = np.array(self._columns[0].window)
        low = np.clip(-corners, 0, window)
        high = np.clip(shapes[groups] - corners, low, window)
        return np.stack([low, high], axis=-1)

    def _windows(self, number: int) -> tuple[int, ...]:
        """The shape of each read of a column."""
        return self._columns[number].window

    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        """What fills the samples of ``draws``, which are these rows of a batch; all when omitted.

        There is one entry for a run of consecutive rows of one group, for each column.
        """
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
        entries = []
        for number, column in enumerate(self._columns):
            out, window = batch[column.name], self._windows(number)
            if column.order is not None:
                out = out.transpose(column.order)
            every = draws.starts[number]
            each, axes = every.shape[1:]
            for begin, end in runs:
                place = 0 if draws.groups is None else int(draws.groups[begin])
                first = begin if rows is None else int(rows[begin])
                target = out[first : first + end - begin].reshape(-1, *window)
                starts = every[begin:end].reshape(-1, axes)
                source = self._reads[place][number]
                entries.append(
                    Entry(source, starts, window, target, self._border, column, first, each)
                )
        return entries

    def _batch(self, draws: Draws, memory: Any = allocate) -> tuple[Batch, list[Entry]]:
        """A batch whose memory is not filled yet, and what fills it."""
        batch = Batch()
        for column in self._shown():
            shape, axes = self._allocated(column)
            out = memory((len(draws), *shape), column.dtype)
            batch[column.name] = out if axes is None else out.transpose(axes)
        batch.update(draws.extras)
        return batch, self._entries(draws, batch)

    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """The shape of a sample in memory, and the axes of a batch in another order, if it is."""
        return column.shape, None

    def _shown(self) -> list[Column]:
        """The columns by which a batch is allocated."""
        return self._columns

    # The protocols of data loaders

    def __getitem__(self, index: int) -> dict[str, Any]:
        """One sample of the current epoch: each entry without the axis of a batch."""
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> Samples:
        """The samples of a batch, read in one call."""
        items, seed, epochs, rounds, valid = self._decoded(indices)
        shared = Shared() if in_worker() else None
        draws = self._draws(items, seed, epochs, rounds)
        batch, entries = self._batch(draws, allocate if shared is None else shared)
        fetch(entries, threads=threads_of_worker())
        if rules := self._nan_rules():
            settle(self, rules, batch, draws, seed, epochs)
        if valid is not None:
            batch["valid"] = valid
        samples = Samples.of(batch)
        samples.kinds = self._kinds()
        if shared is not None:
            columns = zip(self._shown(), shared.storages, strict=True)
            samples.shared = {column.name: one for column, one in columns if one is not None}
        return samples

    def _getitems(self, indices: Sequence[int]) -> Samples:
        """Grain's name of `__getitems__`."""
        return self.__getitems__(indices)

    def _decoded(self, indices: Sequence[int]) -> tuple[Ints, int, Any, Ints | None, Any]:
        """Item, seed, epoch and round of indices, and which are valid; see `_encoded`."""
        count, numbers = len(self), [int(index) for index in indices]
        if all(-count <= index < count for index in numbers):
            return np.array(numbers, np.int64) % count, self._seed, self._cell.epoch, None, None
        valid = np.array([index >= 0 for index in numbers])
        numbers = [index if index >= 0 else -1 - index for index in numbers]
        parts = [divmod(index, count) for index in numbers]
        items = np.array([item for _, item in parts], np.int64)
        keys = {(key - 1) >> 96 for key, _ in parts}
        if any(key == 0 for key, _ in parts) or len(keys) > 1:
            raise IndexError(f"{indices} of {count} items: some are beyond, or of other samplers")
        epochs = np.array([key - 1 & 0xFFFFFFFF for key, _ in parts])
        rounds = np.array([(key - 1) >> 32 & 0xFFFFFFFFFFFFFFFF for key, _ in parts], np.uint64)
        return items, keys.pop(), epochs, rounds.astype(np.int64), valid

    def _encoded(
        self, items: Ints, seed: int, epoch: int, rounds: Ints | None, valid: Any
    ) -> list[int]:
        """Indices that carry seed and epoch, so that they mean the same in every process.

        Those below the number of items mean the current epoch, for samplers of others. A negative
        one is a sample that pads a batch.
        """
        again = [0] * len(items) if rounds is None else rounds.tolist()
        base = (seed << 96) + epoch + 1
        count = len(self)
        found = [
            (base + (number << 32)) * count + item
            for item, number in zip(items.tolist(), again, strict=True)
        ]
        if valid is None:
            return found
        return [one if ok else -1 - one for one, ok in zip(found, valid.tolist(), strict=True)]

    def set_epoch(self, epoch: int) -> None:
        """Make samples those of this epoch, in worker processes that run already as well.

        Only samplers that are not of zarrix need it: indices of `zarrix.ml.torch.BatchSampler` and
        batches of a `Loader` have an epoch.

        Parameters
        ----------
        epoch : int

        Raises
        ------
        ValueError
            ``epoch`` is negative.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> z = zarr.zeros((2, 8, 8), chunks=(1, 8, 8))
        >>> crops = ml.Crops({"x": z}, dims="tyx", size={"y": 2})
        >>> crops.set_epoch(1)
        """
        if epoch < 0:
            raise ValueError(f"epoch {epoch} is negative")
        self._cell.epoch = int(epoch)

    # Identity

    def _fingerprint(self) -> str:
        """A digest of what determines the samples apart from the values in the arrays."""
        text = json.dumps(self._identity(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _identity(self) -> dict[str, Any]:
        return {
            "kind": type(self).__name__,
            "items": len(self),
            "fields": [[c.name, c.window, str(c.dtype)] for c in self._columns],
            "shapes": [
                [list(field.array.shape) for field in group.values()] for group in self._groups
            ],
            "border": self._border,
            **self._spec(),
            **({"nan": rules} if (rules := self._nan_rules()) else {}),
        }

    def _kinds(self) -> dict[str, str]:
        """What each converted field is converted to."""
        return {c.name: c.target for c in self._columns if c.target is not None}

    def _nan_rules(self) -> dict[str, NanRule]:
        """What becomes of NaN in the fields where it is counted."""
        return {c.name: c.nan for c in self._shown() if c.nan.counts}

    def _described(self) -> str:
        groups = f"{len(self._groups)} groups of " if len(self._groups) > 1 else ""
        return groups + ", ".join(
            f"{name} {field.array.shape} {field.array.dtype}"
            for name, field in self._groups[0].items()
        )

    def _repr_html_(self) -> str:
        fields = ((c.name, f"{c.shape} {c.target or c.dtype}") for c in self._shown())
        rows = [("Dataset", f"{type(self).__name__}, {self._count} items"), *fields]
        return info_table(rows)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{c.name} {c.shape} {c.target or c.dtype}" for c in self._columns)
        return f"{type(self).__name__}({self._count} items: {shapes})"

    def _frozen(self, frozen: Frozen) -> Self:
        """The dataset with arrays that do not change while it is used."""
        return self._with(
            _reads=[[frozen.source(source) for source in group] for group in self._reads]
        )

    def _with(self, **changes: Any) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy


def check_border(border: str) -> str:
    """The name of a border, which is known."""
    if border not in BORDERS:
        check_keywords({border: None}, set(BORDERS), "border")
    return border


def sizes_of(size: Any, dims: Sequence[str], what: str) -> dict[str, int]:
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
            raise ValueError(f"{what} has no dimension {dim!r}; it has {', '.join(dims)}")
        if int(length) < 1:
            raise ValueError(f"size {length} along {dim!r}")
    return {str(dim): int(length) for dim, length in size.items()}


def chunk_ends(array: Any, axis: int) -> Ints:
    """Where the chunks along one axis end; an array in memory is one chunk."""
    if isinstance(array, CSR):
        return array._row_ends
    length = int(array.shape[axis])
    is_stored = isinstance(array, Array)
    sizes = list(array._metadata.grid[axis].sizes(length)) if is_stored else [length]
    ends: Ints = np.cumsum(np.array(sizes, np.int64))
    return ends
