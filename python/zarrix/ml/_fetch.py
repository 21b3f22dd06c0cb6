"""The one place where a loader reads: windows of several arrays, for one or several batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix import _engine
from zarrix._array.array import Array
from zarrix._array.many import read_many
from zarrix._selection.values import fill_element
from zarrix.ml._fields import Column
from zarrix.ml._random import Ints

__all__ = ["Cancel", "Damage", "Entry", "fetch", "padding_of"]

Cancel = _engine.CancelToken


class Entry(NamedTuple):
    """Windows of one array, and where they go.

    The windows are those of samples from row ``first`` of a batch on, ``per_sample`` of each.
    ``padding`` is one element as bytes.
    """

    array: Any
    starts: Ints
    window: tuple[int, ...]
    out: Any
    border: str
    padding: bytes | None
    column: Column
    first: int
    per_sample: int


class Damage(NamedTuple):
    """A window that a corrupt chunk touches."""

    entry: int
    window: int
    key: str | None
    error: Exception


def padding_of(array: Any, pad_value: Any) -> bytes | None:
    """What fills the parts of windows outside of an array; None where the engine cannot."""
    dtype = np.dtype(array.dtype)
    if dtype.kind in "OT":
        return None
    if pad_value is None:
        return fill_element(dtype, getattr(array, "fill_value", 0)).tobytes()
    element = np.empty((), dtype)
    element[()] = pad_value
    return element.tobytes()


def fetch(
    entries: Sequence[Entry],
    cancel: Cancel | None = None,
    tolerate: Callable[[Damage], None] | None = None,
) -> None:
    """Fill the outs of all entries, by one call of the engine.

    ``tolerate`` is called with each window that a corrupt chunk touches, which then has the fill
    value; without it the error is raised.
    """
    native, numbers, converted = [], [], []
    for number, entry in enumerate(entries):
        array, out = entry.array, entry.out
        if entry.column.target is not None:
            out = np.empty(out.shape, entry.column.source)
            converted.append((entry, out))
        if type(array) is not Array or array._cast_to is not None or out.dtype.kind in "OT":
            _read_alone(entry, out, cancel)
            continue
        array._refresh()
        padding = entry.padding if entry.border == "pad" else None
        native.append((array._io, entry.starts, out, entry.border, padding))
        numbers.append(number)
    failures: Any = _engine.read_many(
        native,  # type: ignore[arg-type]
        tolerate=tolerate is not None,
        cancel=cancel,
    )
    for entry, raw in converted:
        _convert(raw, entry.column, entry.out)
    if tolerate is not None:
        for number, window, key, error in failures:
            tolerate(Damage(numbers[number], window, key, error))


def _read_alone(entry: Entry, out: Any, cancel: Cancel | None) -> None:
    """Read what the engine does not fill in place: arrays in memory, views, and text."""
    array, border = entry.array, entry.border
    if isinstance(array, Array):
        whole = (array, entry.starts, entry.window, out)
        read_many([whole], border=border, cancel=cancel)
        return
    for start, one in zip(entry.starts, out, strict=True):
        index = []
        outside = np.zeros(entry.window, np.bool_)
        for axis, (begin, reach) in enumerate(zip(start, entry.window, strict=True)):
            along = np.arange(begin, begin + reach)
            length = array.shape[axis]
            beyond = (along < 0) | (along >= length)
            if beyond.any():
                outside |= beyond.reshape([-1 if i == axis else 1 for i in range(array.ndim)])
                along = _folded(along, length, border)
            index.append(along)
        one[...] = array[np.ix_(*index)] if index else array
        if border == "pad" and entry.padding is not None:
            one[outside] = np.frombuffer(entry.padding, array.dtype)[0]


def _folded(index: Ints, length: int, border: str) -> Ints:
    """Indices beyond an axis, as the border takes them from inside."""
    if border == "reflect" and length > 1:
        period = 2 * (length - 1)
        index = index % period
        return np.minimum(index, period - index)
    return np.clip(index, 0, length - 1)


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
