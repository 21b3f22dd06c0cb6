"""The one place where a loader reads: windows of several arrays, for one or several batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix._errors import CorruptChunkError
from zarrix.ml._fields import Column
from zarrix.ml._random import Ints

__all__ = ["Cancel", "Damage", "Entry", "fetch"]


class Cancel:
    """Ends a call from another thread."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Entry(NamedTuple):
    """Windows of one array, and where they go.

    The windows are those of samples from row ``first`` of a batch on, ``per_sample`` of each.
    """

    array: Any
    starts: Ints
    window: tuple[int, ...]
    out: Any
    border: str
    pad_value: Any
    column: Column
    first: int
    per_sample: int


class Damage(NamedTuple):
    """A window that a corrupt chunk touches."""

    entry: int
    window: int
    key: str
    error: Exception


def fetch(
    entries: Sequence[Entry],
    cancel: Cancel | None = None,
    tolerate: Callable[[Damage], None] | None = None,
) -> None:
    """Fill the outs of all entries.

    ``tolerate`` is called with each window that a corrupt chunk touches, which then has the fill
    value; without it the error is raised.
    """
    for number, entry in enumerate(entries):
        if cancel is not None and cancel.is_cancelled:
            return
        try:
            _read(entry, entry.starts, entry.out)
        except CorruptChunkError:
            if tolerate is None:
                raise
            for window, start in enumerate(entry.starts):
                try:
                    _read(entry, start[None], entry.out[window : window + 1])
                except CorruptChunkError as error:
                    entry.out[window] = entry.array.fill_value or 0
                    tolerate(Damage(number, window, "", error))


def _read(entry: Entry, starts: Ints, out: Any) -> None:
    column = entry.column
    raw = out if column.target is None else np.empty(out.shape, column.source)
    if isinstance(entry.array, np.ndarray):
        _gather(entry, starts, raw)
    elif entry.border == "inside":
        entry.array.read_windows(starts, entry.window, out=raw)
    else:
        entry.array.read_windows(
            starts, entry.window, out=raw, outside="pad", pad_value=entry.pad_value
        )
        if entry.border in ("edge", "reflect"):
            _extend(entry, starts, raw)
    if column.target is not None:
        _convert(raw, column, out)


def _gather(entry: Entry, starts: Ints, out: Any) -> None:
    for start, one in zip(starts, out, strict=True):
        one[...] = entry.array[
            tuple(slice(s, s + n) for s, n in zip(start, entry.window, strict=True))
        ]


def _extend(entry: Entry, starts: Ints, out: Any) -> None:
    """Fill what lies outside from what lies inside; the array itself is only read there."""
    for start, one in zip(starts, out, strict=True):
        for axis, (begin, reach) in enumerate(zip(start, entry.window, strict=True)):
            length = entry.array.shape[axis]
            index = np.arange(begin, begin + reach)
            if index[0] >= 0 and index[-1] < length:
                continue
            if entry.border == "edge":
                index = np.clip(index, 0, length - 1)
            else:
                period = max(1, 2 * (length - 1))
                index = np.abs((index + length - 1) % period - (length - 1))
            one[...] = np.take(one, index - begin, axis)


def _convert(raw: Any, column: Column, out: Any) -> None:
    shape = [-1 if axis == column.channel else 1 for axis in range(raw.ndim - 1)]
    shape = shape if column.scale.ndim else []
    values = raw * column.scale.reshape(shape) + column.offset.reshape(shape)
    if column.clip is not None:
        values = np.clip(values, *column.clip)
    if column.target == "bfloat16":
        bits = values.astype(np.float32).view(np.uint32)
        out[...] = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    else:
        out[...] = values
