"""How a batch holds samples of variable length: padded, one after the other, or apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarrix.ml._order.random import Ints
from zarrix.ml._reading.batch import Batch, Samples
from zarrix.ml._reading.fields import Column

__all__ = ["KINDS", "Layout"]

KINDS = ("pad", "packed", "nested")
# Batches differ in size. Memory is asked for in steps of an eighth, so that it fits the next ones.
_STEPS = 8


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of the fields whose samples differ in length.

    Attributes
    ----------
    kind : {"pad", "packed", "nested"}
    pads : dict of str to scalar
        The variable fields, and what follows the elements of a padded sample.
    edges : tuple of int
        The lengths that samples are padded to, ascending; empty for that of the longest sample.
    """

    kind: str
    pads: dict[str, Any]
    edges: tuple[int, ...]

    def identity(self) -> list[Any]:
        """The same in terms of JSON."""
        return [self.kind, {name: str(pad) for name, pad in self.pads.items()}, list(self.edges)]

    def buckets(self, lengths: Ints) -> Ints:
        """The bucket of samples of these lengths."""
        found: Ints = np.searchsorted(np.array(self.edges, np.int64), lengths)
        return found

    def padded(self, lengths: Ints) -> Ints:
        """How many elements samples of these lengths take in a batch where none is longer."""
        if self.kind != "pad" or not self.edges:
            return lengths
        found: Ints = np.array(self.edges, np.int64)[self.buckets(lengths)]
        return found

    def allocate(self, columns: Sequence[Column], lengths: Ints, memory: Any) -> Batch:
        """A batch whose samples are not read yet, and what pads them is in place."""
        batch, count = Batch(), len(lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        length = int(self.padded(lengths).max(initial=0))
        for column in columns:
            if column.name not in self.pads:
                batch[column.name] = memory((count, *column.shape), column.dtype)
                continue
            first = (count, length) if self.kind == "pad" else (int(offsets[-1]),)
            shape = (*first, *column.shape)
            out = _stepped(shape, column.dtype, memory)
            batch[column.name] = out
            if self.kind == "pad":
                pad = _element(self.pads[column.name], column)
                for row in np.flatnonzero(lengths < length).tolist():
                    out[row, lengths[row] :] = pad
        if self.kind != "pad":
            batch["offsets"] = offsets
        return batch

    def targets(self, batch: Batch, name: str, rows: Ints) -> list[Any]:
        """The memory of some samples of a variable field, each of shape (1, length, ...)."""
        out = batch[name]
        if self.kind == "pad":
            lengths = batch["length"]
            return [out[row : row + 1, : lengths[row]] for row in rows.tolist()]
        bounds = batch["offsets"].tolist()
        return [out[None, bounds[row] : bounds[row + 1]] for row in rows.tolist()]

    def finish(self, batch: Any) -> None:
        """Make a batch that was read what its layout says; of arrays, or of tensors."""
        if self.kind == "nested":
            bounds = batch.pop("offsets").tolist()
            for name in self.pads:
                batch[name] = [batch[name][begin:end] for begin, end in itertools.pairwise(bounds)]

    def samples(self, batch: Batch) -> Samples:
        """The samples of a batch that is not finished; each field has the length of its sample."""
        common = {name: v for name, v in batch.items() if name not in ("offsets", *self.pads)}
        samples = Samples.of(Batch(common))
        for name in self.pads:
            parts = self.targets(batch, name, np.arange(len(samples)))
            for sample, part in zip(samples, parts, strict=True):
                sample[name] = part[0]
        samples.batch = batch
        return samples

    def mean_bytes(self, columns: Sequence[Column], lengths: Ints) -> int:
        """The bytes of one sample, on average."""
        return self._bytes(columns, float(self.padded(lengths).mean()), 1)

    def most_bytes(self, columns: Sequence[Column], lengths: Ints, count: int) -> int:
        """The bytes of a batch of so many samples at most."""
        padded, count = self.padded(lengths), min(count, len(lengths))
        longest = float(padded.max())
        if self.kind == "pad":
            return self._bytes(columns, longest * count, count)
        top = np.partition(padded, len(padded) - count)[len(padded) - count :]
        return self._bytes(columns, float(top.sum()), count)

    def _bytes(self, columns: Sequence[Column], elements: float, count: int) -> int:
        total = 0.0
        for column in columns:
            number = elements if column.name in self.pads else count
            total += number * math.prod(column.shape) * column.dtype.itemsize
        return max(1, math.ceil(total))


def _stepped(shape: tuple[int, ...], dtype: np.dtype[Any], memory: Callable[..., Any]) -> Any:
    """Memory of one of few sizes, of which the shape takes the first part."""
    count = math.prod(shape)
    step = 1 << max(0, count.bit_length() - _STEPS.bit_length())
    out = memory((-(-count // step) * step,), dtype)
    return out[:count].reshape(shape)


def _element(pad: Any, column: Column) -> Any:
    """What pads a field, as its batches have it."""
    if column.target != "bfloat16":
        return pad
    bits = np.array(pad, np.float32).view(np.uint32)
    return np.uint16((int(bits) + 0x7FFF + (int(bits) >> 16 & 1)) >> 16)
