"""Changing the shape of a stored array while other processes may do the same.

The new shape is computed from the stored one, under the lock of the metadata, so that two appends
each get their own rows. Shrinking first clears the elements that are cut off and then changes the
shape; it starts again if the shape has changed meanwhile. Therefore no chunk is deleted after the
change of shape, when it could already contain rows appended by another process. If the process is
killed in between, the array has its old shape, with fill values in the part to cut. In the other
order, the old elements would stay beyond the end, and come back when the array grows.

If the store is full, the call should fail before anything is deleted. Therefore the unchanged
metadata is stored first, then the chunks at the new boundary, and only then are complete chunks
deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix import _engine
from zarrix._array.length_lock import LengthLock
from zarrix._metadata.arguments import normalize_resize_args
from zarrix._metadata.array import ArrayMetadata
from zarrix._selection.basic import AxisSelection
from zarrix._selection.fancy import Indexer
from zarrix._selection.values import as_value, fill_element

if TYPE_CHECKING:
    from zarrix._array.protocols import SelectedArray, StoredArray

__all__ = ["append", "erase_beyond", "io_to_chunk_end", "reserve", "resize"]


class _ShapeChangedError(Exception):
    """Another process changed the shape between the read and the lock."""


def resize(array: StoredArray, args: tuple[Any, ...]) -> None:
    """Resize ``array`` to the shape in ``Array.resize(*args)``."""
    array._forbid_on_view()
    with LengthLock(array, alone=False):
        _resize(array, args)


def _resize(array: StoredArray, args: tuple[Any, ...]) -> None:
    while True:
        metadata = array._load()
        old = metadata.shape
        new = normalize_resize_args(old, *args)
        if _is_smaller(old, new):
            _check_storable(array)
            _clear_outside(array, metadata, new)

        def change(
            metadata: ArrayMetadata, old: tuple[int, ...] = old, new: tuple[int, ...] = new
        ) -> ArrayMetadata:
            if metadata.shape != old:
                raise _ShapeChangedError
            return metadata.with_shape(new)

        try:
            array._rewrite(change)
        except _ShapeChangedError:
            continue
        return


def along(args: tuple[Any, ...], axis: int, ndim: int) -> tuple[tuple[int | None, ...]]:
    """The arguments of a resize that changes ``axis`` alone, to the length in ``args``."""
    if len(args) != 1 or not isinstance(args[0], int | np.integer):
        raise TypeError(f"resize() with axis= takes one length, not {args}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of range for an array of {ndim} axes")
    lengths: list[int | None] = [None] * ndim
    lengths[axis] = int(args[0])
    return (tuple(lengths),)


def _is_smaller(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    return any(b < a for a, b in zip(old, new, strict=True))


def _check_storable(array: StoredArray) -> None:
    """Store the unchanged metadata, to raise an error if the store could not store a new shape."""

    def same(document: bytes | None) -> bytes | None:
        if document is not None:
            # A truncated write was not stored.
            array._parse(document)
        return document

    array.store.update_value(array._key(array._name), same)


def append(array: SelectedArray, data: Any, axis: int) -> tuple[int, ...]:
    """Grow ``array`` along ``axis`` by ``data``; returns the new shape."""
    array._forbid_on_view()
    metadata = array._load()
    ndim = len(metadata.shape)
    if not isinstance(axis, int | np.integer) or not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis!r} is out of range for an array of {ndim} axes")
    axis = int(axis) % ndim
    if not hasattr(data, "shape"):
        data = np.asanyarray(data)
    if isinstance(data, np.ndarray):
        # Cast before the array grows, because a value that cannot be stored must not leave empty
        # rows.
        data = as_value(data, metadata.dtype, data.shape)
    elif array._is_stored_here(data):
        # An array appended to itself would grow while it is read.
        data = np.asarray(data)
    _check_fits(metadata.shape, tuple(data.shape), axis)
    with LengthLock(array, alone=False):
        return _append(array, data, axis)


def _append(array: SelectedArray, data: Any, axis: int) -> tuple[int, ...]:
    grown_from = 0
    added = tuple(data.shape)

    def change(metadata: ArrayMetadata) -> ArrayMetadata:
        nonlocal grown_from
        shape = list(metadata.shape)
        _check_fits(metadata.shape, added, axis)
        grown_from = shape[axis]
        shape[axis] += added[axis]
        return metadata.with_shape(tuple(shape))

    metadata = array._rewrite(change)
    ranges: list[AxisSelection] = [(0, 1, size) for size in metadata.shape]
    ranges[axis] = (grown_from, 1, added[axis])
    io = io_to_chunk_end(array, metadata, axis)
    array._assign(Indexer(tuple(ranges), added), data, io=io)
    return metadata.shape


def reserve(array: StoredArray, count: int, axis: int, *, aligned: bool) -> tuple[slice, ...]:
    """Grow ``array`` along ``axis``, and return the region of the new rows.

    With ``aligned``, they begin where a chunk (or shard) begins, after the end of the array.
    """
    array._forbid_on_view()
    ndim = len(array._load().shape)
    if not isinstance(axis, int | np.integer) or not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis!r} is out of range for an array of {ndim} axes")
    if not isinstance(count, int | np.integer) or count < 0:
        raise ValueError(f"count={count!r}; expected a number of rows, 0 or more")
    axis, begin = int(axis) % ndim, 0

    def change(metadata: ArrayMetadata) -> ArrayMetadata:
        nonlocal begin
        shape = list(metadata.shape)
        begin = shape[axis]
        if aligned:
            begin = metadata.grid[axis].chunk_end(begin)
        shape[axis] = begin + int(count)
        return metadata.with_shape(tuple(shape))

    with array._writing(), LengthLock(array, alone=False):
        metadata = array._rewrite(change)
    region = [slice(0, size) for size in metadata.shape]
    region[axis] = slice(begin, begin + int(count))
    return tuple(region)


def io_to_chunk_end(array: StoredArray, metadata: ArrayMetadata, axis: int) -> _engine.ArrayIO:
    """An engine array whose shape contains the complete last chunk along ``axis``.

    The engine replaces a chunk without reading it if a write covers the part inside the shape.
    Other processes may have appended to the same chunk meanwhile: the rows after ours are theirs.
    """
    shape = list(metadata.shape)
    shape[axis] = metadata.grid[axis].chunk_end(shape[axis])
    longer = metadata.with_shape(tuple(shape))
    return array._engine_array(longer, array._document, array.write_empty_chunks)


def erase_beyond(array: StoredArray, metadata: ArrayMetadata, axis: int) -> None:
    """Delete chunks beyond the end of ``axis``, which a killed `Writer` left."""
    shape = list(metadata.shape)
    shape[axis] = 2**62
    endless = metadata.with_shape(tuple(shape), metadata.chunk_units)
    _clear_outside(array, endless, metadata.shape)


def _check_fits(shape: tuple[int, ...], added: tuple[int, ...], axis: int) -> None:
    expected = tuple(n for i, n in enumerate(shape) if i != axis)
    if len(added) != len(shape) or tuple(n for i, n in enumerate(added) if i != axis) != expected:
        raise ValueError(
            f"data of shape {added} cannot be appended along axis {axis} to an array of shape "
            f"{shape}; all other axes must be as long as the array's"
        )


def _clear_outside(array: StoredArray, metadata: ArrayMetadata, new: tuple[int, ...]) -> None:
    """Delete the chunks outside ``new`` and clear the outside part of chunks at its boundary."""
    remaining = tuple(min(a, b) for a, b in zip(metadata.shape, new, strict=True))
    if remaining == metadata.shape:
        return
    # Chunks that become empty are removed, and missing chunks stay missing, regardless of the
    # array's setting, because clearing must not store chunks of fill values.
    io = array._engine_array(metadata, array._document, write_empty_chunks=False)
    fill: Any = fill_element(metadata.dtype, metadata.fill_value)
    io.clear_outside(remaining, fill, array._fsync)
