"""What all datasets share: items that become batches, for a loader and for loaders of others.

A dataset of windows (`windows.py`) reads arrays; a mix and a part of a split ask other datasets.
What the former defines and the latter must ask for is abstract here, so that none can forget it.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from zarrix._display.table import info_table
from zarrix.ml._order.cell import Cell
from zarrix.ml._order.random import Ints
from zarrix.ml._order.state import checked_epoch
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch, Samples
from zarrix.ml._reading.fetch import Entry, Frozen, fetch
from zarrix.ml._reading.fields import Column
from zarrix.ml._reading.layout import Layout
from zarrix.ml._reading.nan import NanRule
from zarrix.ml._reading.shared import Shared, in_worker
from zarrix.ml._reading.slots import allocate
from zarrix.ml._reading.substitutes import settle
from zarrix.ml._reading.threads import threads_of_worker

__all__ = ["Dataset", "Draws", "digest_of"]


class Draws:
    """The windows of some items: what a batch needs beside memory. A slice is a batch's part."""

    __slots__ = ("corners", "extras", "groups", "starts", "turns", "visits")

    # Only a mix sets it: rows and windows of each of its datasets.
    parts: list[tuple[Ints, Draws]]

    def __init__(
        self,
        visits: Visits,
        groups: Ints | None,
        corners: Ints,
        starts: list[Ints],
        extras: dict[str, Any],
        turns: list[Any] | None = None,
    ) -> None:
        self.visits = visits
        # How the windows of each column lie in a batch; None where as they are stored.
        self.turns = turns
        # None where the dataset has one group.
        self.groups, self.corners, self.starts, self.extras = groups, corners, starts, extras

    def __len__(self) -> int:
        return len(self.visits.items)

    def __getitem__(self, part: slice) -> Draws:
        return Draws(
            self.visits.take(part),
            None if self.groups is None else self.groups[part],
            self.corners[part],
            [starts[part] for starts in self.starts],
            {name: value[part] for name, value in self.extras.items()},
            self.turns and [None if turns is None else turns[part] for turns in self.turns],
        )


class Dataset(ABC):
    """What `Crops`, `Clips`, `Rows`, `Grid` and `Mix` share; it is not constructed itself.

    A dataset has items, which an epoch visits once, and gives samples: a mapping of names to NumPy
    arrays. It reads nothing when it is made. Any number of threads and processes may use it.
    """

    _seed = 0
    # Whether each position along the axis of items begins one item at most.
    _begins_once = False
    _kept_blocks: Ints | None = None
    # Where samples differ in length: how a batch holds them.
    _layout: Layout | None = None

    def _count_items(self, counts: Sequence[int] | Ints) -> None:
        """Number the items, of which each part has so many."""
        self._ends = np.concatenate([[0], np.cumsum(np.array(counts, np.int64))])
        self._count = int(self._ends[-1])
        if not self._count:
            raise ValueError(f"{type(self).__name__} of {self._described()} has no items")
        self._cell = Cell()

    # What subclasses define

    @abstractmethod
    def _draws(self, visits: Visits) -> Draws:
        """The windows of items in an epoch, and what else a batch has of them."""

    @abstractmethod
    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        """What fills the samples of ``draws``, which are these rows of a batch; all when omitted.

        There is one entry for a run of consecutive rows of one group, for each column.
        """

    @abstractmethod
    def _shown(self) -> list[Column]:
        """The columns by which a batch is allocated."""

    @abstractmethod
    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """The shape of a sample in memory, and the axes of a batch in another order, if it is."""

    @abstractmethod
    def _begins(self) -> Ints:
        """The first item of each block, and the number of items."""

    @abstractmethod
    def _is_thin(self) -> bool:
        """Whether each item surely is a block of its own, found without a list of blocks."""

    @abstractmethod
    def _share(self) -> float:
        """Which part of all chunks one item touches, by bytes; estimated from a few."""

    @abstractmethod
    def _overlap(self) -> float:
        """How many further blocks the items of a block touch, on average."""

    @abstractmethod
    def _identity(self) -> dict[str, Any]:
        """What determines the samples apart from the values in the arrays, in terms of JSON."""

    @abstractmethod
    def _described(self) -> str:
        """What it has, for messages."""

    @abstractmethod
    def _frozen(self, frozen: Frozen) -> Self:
        """The dataset with arrays that do not change while it is used."""

    @abstractmethod
    def _reduced(self, factor: int) -> Dataset:
        """The dataset of smaller pictures, made anew of its fields by `Array.reduced`."""

    # Items to batches

    def __len__(self) -> int:
        return self._count

    @property
    def _epoch_length(self) -> int:
        """Samples of an epoch."""
        return self._count

    def _batch(self, draws: Draws, memory: Any = allocate) -> tuple[Batch, list[Entry]]:
        """A batch whose memory is not filled yet, and what fills it."""
        count, columns = len(draws), self._shown()
        if self._layout is not None:
            batch = self._layout.allocate(columns, draws.extras["length"], memory)
            columns = []
        else:
            batch = Batch()
        for column in columns:
            shape, axes = self._allocated(column)
            out = memory((count, *shape), column.dtype)
            batch[column.name] = out if axes is None else out.transpose(axes)
        batch.update(draws.extras)
        return batch, self._entries(draws, batch)

    def _lengths_of(self, items: Ints) -> Ints:
        """How many elements items have, in datasets with a layout."""
        raise TypeError(f"the items of {self._described()} have one shape")

    def _bucket_of(self, items: Ints) -> Ints:
        """The bucket of each item by its length, in datasets whose layout has them."""
        assert self._layout is not None
        return self._layout.buckets(self._lengths_of(items))

    def _mean_bytes(self) -> int:
        """The bytes of one sample's fields; of the mean where samples differ."""
        if self._layout is not None:
            every = np.arange(len(self), dtype=np.int64)
            return self._layout.mean_bytes(self._shown(), self._lengths_of(every))
        total = 0
        for column in self._shown():
            total += math.prod(column.shape) * column.dtype.itemsize
            if column.resizing is not None:
                # Windows have their stored size first.
                total += math.prod(column.window) * column.dtype.itemsize
        return max(1, total)

    def _most_bytes(self, count: int) -> int:
        """The most bytes of one sample in a batch of so many, on average."""
        if self._layout is None:
            return self._mean_bytes()
        every = np.arange(len(self), dtype=np.int64)
        most = self._layout.most_bytes(self._shown(), self._lengths_of(every), count)
        return -(-most // count)

    @property
    def _blocks(self) -> Ints:
        """The blocks, as they were when they were asked for first: arrays may change meanwhile."""
        if self._kept_blocks is None:
            self._kept_blocks = self._begins()
        return self._kept_blocks

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed again is not sent to workers.
        return {**self.__dict__, "_kept_blocks": None}

    # The protocols of data loaders

    def __getitem__(self, index: int) -> dict[str, Any]:
        """One sample of the current epoch: each entry without the axis of a batch."""
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> Samples:
        """The samples of a batch, read in one call."""
        visits, valid = self._decoded(indices)
        shared = Shared() if in_worker() else None
        draws = self._draws(visits)
        batch, entries = self._batch(draws, allocate if shared is None else shared)
        fetch(entries, threads=threads_of_worker())
        if rules := self._nan_rules():
            settle(self, rules, batch, visits)
        if valid is not None:
            batch["valid"] = valid
        batch.seeds = visits.draw("batch")[0]
        samples = Samples.of(batch) if self._layout is None else self._layout.samples(batch)
        samples.kinds, samples.layout = self._kinds(), self._layout
        if shared is not None:
            columns = zip(self._shown(), shared.storages, strict=True)
            samples.shared = {
                column.name: storage for column, storage in columns if storage is not None
            }
        return samples

    def _getitems(self, indices: Sequence[int]) -> Samples:
        """Grain's name of `__getitems__`."""
        return self.__getitems__(indices)

    def _decoded(self, indices: Sequence[int]) -> tuple[Visits, Any]:
        """The visits that indices mean, and which of them are valid; see `_encoded`."""
        count, numbers = len(self), [int(index) for index in indices]
        if all(-count <= index < count for index in numbers):
            items = np.array(numbers, np.int64) % count
            return Visits(items, self._seed, self._cell.epoch), None
        valid = np.array([index >= 0 for index in numbers])
        numbers = [index if index >= 0 else -1 - index for index in numbers]
        parts = [divmod(index, count) for index in numbers]
        items = np.array([item for _, item in parts], np.int64)
        keys = {(key - 1) >> 96 for key, _ in parts}
        if any(key == 0 for key, _ in parts) or len(keys) > 1:
            raise IndexError(f"{indices} of {count} items: some are beyond, or of other samplers")
        epochs = np.array([key - 1 & 0xFFFFFFFF for key, _ in parts])
        rounds = np.array([(key - 1) >> 32 & 0xFFFFFFFFFFFFFFFF for key, _ in parts], np.uint64)
        return Visits(items, keys.pop(), epochs, rounds.astype(np.int64)), valid

    def _encoded(self, visits: Visits, valid: Any) -> list[int]:
        """Indices that carry seed and epoch, so that they mean the same in every process.

        Those below the number of items mean the current epoch, for samplers of others. A negative
        one is a sample that pads a batch.
        """
        items, seed, epoch, rounds = visits
        again = [0] * len(items) if rounds is None else rounds.tolist()
        # Seeds are words of 64 bits, in every draw; a negative one is one, too.
        base = ((seed & 0xFFFFFFFFFFFFFFFF) << 96) + epoch + 1
        count = len(self)
        indices = [
            (base + (number << 32)) * count + item
            for item, number in zip(items.tolist(), again, strict=True)
        ]
        if valid is None:
            return indices
        return [
            index if ok else -1 - index for index, ok in zip(indices, valid.tolist(), strict=True)
        ]

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
            ``epoch`` is negative, or more than 4294967295.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> z = zarr.zeros((2, 8, 8), chunks=(1, 8, 8))
        >>> crops = ml.Crops({"x": z}, dims="tyx", size={"y": 2})
        >>> crops.set_epoch(1)
        """
        self._cell.epoch = checked_epoch(epoch)

    # Identity

    def _fingerprint(self) -> dict[str, str]:
        """A digest of each part of the identity, by its name."""
        return {name: digest_of(value) for name, value in self._identity().items()}

    def _kinds(self) -> dict[str, str]:
        """What each converted field is converted to."""
        return {c.name: c.target for c in self._shown() if c.target is not None}

    def _nan_rules(self) -> dict[str, NanRule]:
        """What becomes of NaN in the fields where it is counted."""
        return {c.name: c.nan for c in self._shown() if c.nan.counts}

    def _repr_html_(self) -> str:
        fields = ((c.name, f"{c.shape} {c.target or c.dtype}") for c in self._shown())
        rows = [("Dataset", f"{type(self).__name__}, {self._count} items"), *fields]
        return info_table(rows)

    def _with(self, **changes: Any) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy


def digest_of(value: Any) -> str:
    """A digest of an array of integers or floats, or of a value in terms of JSON.

    Examples
    --------
    >>> digest_of([1, 2]) == digest_of((1, 2)), digest_of([1, 2]) == digest_of([2, 1])
    (True, False)
    """
    if isinstance(value, np.ndarray):
        little = value.dtype.newbyteorder("<")
        data = str((little.str, value.shape)).encode() + value.astype(little).tobytes()
    else:
        data = json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:12]
