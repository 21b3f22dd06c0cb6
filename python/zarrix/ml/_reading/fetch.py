"""The one place where a loader reads: windows of several arrays, for one or several batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from zarrix import _engine
from zarrix._array.access import current_snapshot, is_made_of_boxes, options_of
from zarrix._array.array import Array
from zarrix._array.conversion import NativeConversion, conversion_of
from zarrix._array.many import read_many
from zarrix._array.other_stores import with_stores
from zarrix._errors import ArrayReplacedError
from zarrix._selection.values import fill_element
from zarrix._stores.base import Store
from zarrix._stores.remote.store import RemoteStore
from zarrix.ml._order.random import Ints
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.csr_reading import RowRequest, read_rows
from zarrix.ml._reading.fields import Column
from zarrix.ml._reading.files import Files
from zarrix.ml._reading.parts import Part, parts_of, read_parts
from zarrix.ml._staging.staged_array import StagedArray

__all__ = [
    "Cancel",
    "Damage",
    "Entry",
    "Frozen",
    "Progress",
    "Source",
    "fetch",
    "source_of",
]

Cancel = _engine.CancelToken
Progress = _engine.Progress


class Entry(NamedTuple):
    """Windows of one array, and where they go.

    The windows are those of samples from row ``first`` of a batch on, ``per_sample`` of each.
    """

    source: Source
    starts: Ints
    window: tuple[int, ...]
    out: Any
    border: str
    column: Column
    first: int
    per_sample: int
    # How the engine brings windows to the out, if not as they are: turns, and size.
    way: tuple[Any, Any] | None = None


class Damage(NamedTuple):
    """A window that a corrupt chunk touches."""

    entry: int
    window: int
    key: str | None
    error: Exception


class Source(NamedTuple):
    """An array as a column reads it, with what the engine needs beside windows."""

    array: Any
    padding: bytes | None
    conversion: NativeConversion | None
    # As they were when the dataset was made.
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    # Whether the engine fills its windows; it reads no arrays in memory, views, or text.
    is_native: bool
    # Where its decoded chunks are on a local disk, if they are.
    staged: StagedArray | None = None


def source_of(array: Any, column: Column, window: tuple[int, ...], pad_value: Any) -> Source:
    """How a column reads an array; ``pad_value`` is of the array, and is converted as all are."""
    dtype, padding, conversion = np.dtype(array.dtype), None, None
    if dtype.kind not in "OT":
        element = fill_element(dtype, getattr(array, "fill_value", 0))
        if pad_value is not None:
            element[()] = pad_value
        padding = element.tobytes()
    if column.target is not None:
        options = {
            "dtype": column.target,
            "scale": column.scale,
            "offset": column.offset,
            "axis": column.channel,
            "clip": column.clip,
            "nan": column.nan.value if column.nan.kind == "fill" else None,
        }
        conversion = conversion_of(options, dtype, window, np.empty(0, column.dtype))[1]
    is_native = (
        type(array) is Array
        and options_of(array).cast_to is None
        and column.dtype.kind not in "OT"
        and not is_made_of_boxes(array)
    )
    return Source(array, padding, conversion, tuple(map(int, array.shape)), dtype, is_native)


class Frozen:
    """Sources whose arrays do not change; only remote stores are asked whether values do.

    Nothing is read. Arrays of one store share a frozen one, and with it their connections.
    """

    def __init__(self) -> None:
        # Each store with its frozen one; it is kept, so that its id stays its own.
        self._stores: dict[int, tuple[Store, Store]] = {}

    def source(self, source: Source) -> Source:
        """The source with an array in frozen stores."""
        array = source.array
        if isinstance(array, CSR):
            data, indices = map(self._array, array._members)
            return source._replace(array=array._with_members(data, indices))
        return source._replace(array=self._array(array))

    def _array(self, array: Any) -> Any:
        if type(array) is not Array or array.is_view:
            return array
        stores = (array.store, array.chunk_store)
        if not any(isinstance(store, RemoteStore) for store in stores):
            return array
        return with_stores(array, self._store)

    def _store(self, store: Store) -> Store:
        if not isinstance(store, RemoteStore):
            return store
        if id(store) not in self._stores:
            self._stores[id(store)] = store, store.as_frozen()
        return self._stores[id(store)][1]


def fetch(
    entries: Sequence[Entry],
    cancel: Cancel | None = None,
    tolerate: Callable[[Damage], None] | None = None,
    progress: Progress | None = None,
    threads: int = 0,
    planned: Callable[[list[int]], None] | None = None,
) -> None:
    """Fill the outs of all entries, by one call of the engine.

    ``tolerate`` is called with each window that a corrupt chunk touches, which then has the fill
    value; without it the error is raised. ``progress`` counts parts of entries; ``planned`` is told
    before how many of them each entry has. ``threads`` work on the call; 0 is as many as on every
    other one.
    """
    native: list[Any] = []
    numbers, sparse, counts = [], [], []
    # Those of staged arrays, by their place among the native ones.
    parts: dict[int, Part] = {}
    for number, entry in enumerate(entries):
        array, padding, convert, shape, dtype, is_native, staged = entry.source
        if is_native:
            current = current_snapshot(array)
            # The shape and dtype of a native entry, without a call for each.
            metadata = current.metadata
            if metadata.shape != shape or metadata.dtype != dtype:
                _check_changed(entry)
            padding = padding if entry.border == "pad" else None
            whole = (current.io, entry.starts, entry.out, entry.border, padding, convert, entry.way)
            if staged is None or metadata is not staged.metadata:
                native.append(whole)
                numbers.append(number)
            else:
                for part in parts_of(number, whole, staged, cancel, threads):
                    parts[len(native)] = part
                    native.append(part.native())
                    numbers.append(number)
        elif isinstance(array, CSR):
            sparse.append(number)
        else:
            _read_outside(entry, number, cancel, tolerate, threads)
        if planned is not None:
            counts.append(len(native))
    if sparse:
        _read_sparse(entries, sparse, cancel, tolerate, threads)
    if planned is not None:
        planned(counts)
    read = partial(_engine.read_many, cancel=cancel, progress=progress, threads=threads)
    # With ``progress`` batches are delivered meanwhile: what a stage cannot give is an error.
    is_checked = bool(parts) and progress is None
    read = partial(read_parts, parts, read) if is_checked else read
    for place, window, key, error in read(native, tolerate=tolerate is not None):
        if tolerate is not None:
            first = parts[place].first if place in parts else 0
            tolerate(Damage(numbers[place], first + window, key, error))


def _read_outside(
    entry: Entry,
    number: int,
    cancel: Cancel | None,
    tolerate: Callable[[Damage], None] | None,
    threads: int,
) -> None:
    """Fill the out of an entry whose array the engine does not read."""
    if (way := entry.way) is not None:
        values = np.empty((len(entry.starts), *entry.window), entry.out.dtype)
        _read_outside(entry._replace(out=values, way=None), number, cancel, tolerate, threads)
        _bring(values, entry.out, way)
    elif isinstance(entry.source.array, Files):
        _read_files(entry, number, tolerate, threads)
    else:
        _read_alone(entry, cancel)


def _bring(values: Any, out: Any, way: tuple[Any, Any]) -> None:
    """Bring windows to the out, as the engine does on the way."""
    turns, size = way
    if size is not None:
        _engine.resize_windows(values, out, turns, size)
        return
    axes = values.ndim - 1
    for window, target, codes in zip(values, out, turns, strict=True):
        # The axis of the window that each axis of the target is.
        order = np.argsort(codes // 2)
        mirrored = tuple(int(codes[axis]) // 2 for axis in range(axes) if codes[axis] % 2)
        target[...] = np.flip(window.transpose(tuple(order.tolist())), mirrored)


def _check_changed(entry: Entry) -> None:
    """Raise `ArrayReplacedError` if windows of a changed array are not what they were."""
    array, shape, dtype = entry.source.array, entry.source.shape, entry.source.dtype
    is_other = array.dtype != dtype or len(array.shape) != len(shape)
    is_smaller = any(now < then for now, then in zip(array.shape, shape, strict=False))
    # Beyond a border that has moved lies another value.
    if is_other or is_smaller or entry.border != "inside":
        raise ArrayReplacedError(
            f"{array!r} had the shape {shape} and the data type {dtype} when the dataset was made "
            "of it; make the dataset again"
        )


def _read_sparse(
    entries: Sequence[Entry],
    numbers: list[int],
    cancel: Cancel | None,
    tolerate: Callable[[Damage], None] | None,
    threads: int,
) -> None:
    """Fill the outs of entries of sparse matrices."""
    requests = []
    for number in numbers:
        entry = entries[number]
        out = entry.out
        if entry.column.target is not None:
            out = np.empty(out.shape, entry.column.source)
        out[...] = 0
        requests.append(RowRequest(entry.source.array, entry.starts[:, 0], out))

    def note(number: int, window: int, key: str | None, error: Exception) -> None:
        if tolerate is not None:
            tolerate(Damage(numbers[number], window, key, error))

    read_rows(requests, cancel, threads, None if tolerate is None else note)
    for number, request in zip(numbers, requests, strict=True):
        entry = entries[number]
        if entry.column.target is not None:
            _convert(request.out, entry.column, entry.out)


def _read_files(
    entry: Entry, number: int, tolerate: Callable[[Damage], None] | None, threads: int
) -> None:
    """Fill the out of an entry of files."""
    column, out = entry.column, entry.out
    raw = out if column.target is None else np.empty(out.shape, column.source)

    def note(row: int, path: str, error: Exception) -> None:
        if tolerate is not None:
            tolerate(Damage(number, row, path, error))

    numbers = entry.starts[:, 0]
    entry.source.array._read(numbers, raw, threads, None if tolerate is None else note)
    if raw is not out:
        _convert(raw, column, out)


def _read_alone(entry: Entry, cancel: Cancel | None) -> None:
    """Read what the engine does not fill in place: arrays in memory, views, and text."""
    array, border, column = entry.source.array, entry.border, entry.column
    out = entry.out
    if column.target is not None:
        out = np.empty(out.shape, column.source)
    if isinstance(array, Array):
        read_many([(array, entry.starts, entry.window, out)], border=border, cancel=cancel)
    else:
        _gather(entry, array, out)
    if column.target is not None:
        _convert(out, column, entry.out)


def _gather(entry: Entry, array: Any, out: Any) -> None:
    border, padding = entry.border, entry.source.padding
    shape = np.array(array.shape, np.int64)
    if ((entry.starts >= 0) & (entry.starts + entry.window <= shape)).all():
        _gather_inside(entry, array, out)
        return
    for start, target in zip(entry.starts, out, strict=True):
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
        target[...] = array[np.ix_(*index)] if index else array
        if border == "pad" and padding is not None:
            target[outside] = np.frombuffer(padding, array.dtype)[0]


def _gather_inside(entry: Entry, array: Any, out: Any) -> None:
    """Copy windows that lie in the array."""
    window = entry.window
    if window and window[0] == 1 and window[1:] == array.shape[1:]:
        # `mode`, because the default one copies twice to leave `out` alone on errors.
        np.take(array, entry.starts[:, 0], axis=0, out=out[:, 0], mode="clip")
    elif window:
        windows = np.lib.stride_tricks.sliding_window_view(array, window)
        out[...] = windows[tuple(entry.starts.T)]
    else:
        out[...] = array


def _folded(index: Ints, length: int, border: str) -> Ints:
    """Indices beyond an axis, as the border takes them from inside."""
    if border == "reflect" and length > 1:
        period = 2 * (length - 1)
        index = index % period
        return np.minimum(index, period - index)
    return np.clip(index, 0, length - 1)


def _convert(raw: Any, column: Column, out: Any) -> None:
    if column.dtype.kind in "iu" and raw.dtype.kind in "iub" and _keeps(column):
        limits = np.iinfo(column.dtype)
        # Integers of 64 bits stay exact; limits beyond the dtype itself are none.
        own = np.iinfo(raw.dtype) if raw.dtype.kind != "b" else np.iinfo("u1")
        low, high = max(limits.min, own.min), min(limits.max, own.max)
        out[...] = raw if raw.dtype.kind == "b" else np.clip(raw, low, high)
        return
    shape = [-1 if axis == column.channel else 1 for axis in range(raw.ndim - 1)]
    shape = shape if column.scale.ndim else []
    values = raw * column.scale.reshape(shape) + column.offset.reshape(shape)
    if column.clip is not None:
        values = np.clip(values, *column.clip)
    if column.nan.kind == "fill":
        values = np.where(np.isnan(values), column.nan.value, values)
    if column.target == "bfloat16":
        bits = values.astype(np.float32).view(np.uint32)
        out[...] = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    elif column.dtype.kind in "iu":
        _round(values, out)
    else:
        out[...] = values


def _keeps(column: Column) -> bool:
    """Whether a conversion changes no number that both types have."""
    is_plain = (column.scale == 1).all() and (column.offset == 0).all()
    return bool(is_plain) and column.clip is None


def _round(values: Any, out: Any) -> None:
    """Store the nearest integers that the dtype has."""
    limits = np.iinfo(out.dtype)
    rounded = np.rint(np.asarray(values, np.float64))
    # The float of the highest integer of 64 bits is one more than it.
    is_high, is_low = rounded >= float(limits.max), rounded <= float(limits.min)
    out[...] = np.where(is_high | is_low, 0, rounded).astype(out.dtype)
    out[is_high], out[is_low] = limits.max, limits.min
