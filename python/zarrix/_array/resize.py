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

from dataclasses import replace
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._array.handle import ArrayHandle
from zarrix._array.length_lock import LengthLock
from zarrix._array.snapshot import ArraySnapshot, engine_array_of
from zarrix._array.transfer import assign_in, is_stored_in
from zarrix._codecs.images import lossy_codec
from zarrix._errors import ArrayNotFoundError, LossyWriteError
from zarrix._metadata.arguments import normalize_resize_args
from zarrix._metadata.array import ArrayMetadata
from zarrix._runtime.config import config
from zarrix._selection.basic import AxisSelection
from zarrix._selection.fancy import Indexer
from zarrix._selection.values import as_value, fill_element

__all__ = ["append", "erase_beyond", "io_to_chunk_end", "reserve", "resize"]


class _ShapeChangedError(Exception):
    """Another process changed the shape between the read and the lock."""


def resize(array: ArrayHandle, args: tuple[Any, ...]) -> None:
    """Resize ``array`` to the shape in ``Array.resize(*args)``."""
    array._forbid_on_view()
    with LengthLock(array, alone=False):
        _resize(array, args)


def _resize(array: ArrayHandle, args: tuple[Any, ...]) -> None:
    while True:
        snapshot = array._load()
        old = snapshot.metadata.shape
        new = normalize_resize_args(old, *args)
        if _is_smaller(old, new):
            if array._location.store._before_write(array._location.path, None):
                continue
            _check_storable(array)
            _clear_outside(array, snapshot, snapshot.metadata, new)

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


def _check_storable(array: ArrayHandle) -> None:
    """Store the unchanged metadata, to raise an error if the store could not store a new shape."""

    def same(document: bytes | None) -> bytes | None:
        if document is not None:
            # A truncated write was not stored.
            array._parse(document, array._document_key())
        return document

    array._location.store.update_value(array._document_key(), same)


def append(array: ArrayHandle, data: Any, axis: int) -> tuple[int, ...]:
    """Grow ``array`` along ``axis`` by ``data``; returns the new shape."""
    array._forbid_on_view()
    metadata = array._load().metadata
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
    elif is_stored_in(array, data):
        # An array appended to itself would grow while it is read.
        data = np.asarray(data)
    _check_fits(metadata.shape, tuple(data.shape), axis)
    with LengthLock(array, alone=False):
        return _append(array, data, axis)


def _append(array: ArrayHandle, data: Any, axis: int) -> tuple[int, ...]:
    grown_from = 0
    added = tuple(data.shape)

    def change(metadata: ArrayMetadata) -> ArrayMetadata:
        nonlocal grown_from
        shape = list(metadata.shape)
        _check_fits(metadata.shape, added, axis)
        grown_from = shape[axis]
        shape[axis] += added[axis]
        return metadata.with_shape(tuple(shape))

    snapshot = array._rewrite(change)
    metadata = snapshot.metadata
    ranges: list[AxisSelection] = [(0, 1, size) for size in metadata.shape]
    ranges[axis] = (grown_from, 1, added[axis])
    rows = Indexer(tuple(ranges), added)
    try:
        _assign_rows(array, snapshot, rows, data, axis)
    except ArrayNotFoundError as error:
        followed = array._followed(snapshot, error)
        if followed is None:
            raise
        _assign_rows(array, followed, rows, data, axis)
    return metadata.shape


def _assign_rows(
    array: ArrayHandle, snapshot: ArraySnapshot, rows: Indexer, data: Any, axis: int
) -> None:
    longer = replace(snapshot, io=io_to_chunk_end(array, snapshot, axis))
    array._location.store._before_write(array._location.path, rows.axes)
    assign_in(array, longer, rows, data)


def reserve(array: ArrayHandle, count: int, axis: int, *, aligned: bool) -> tuple[slice, ...]:
    """Grow ``array`` along ``axis``, and return the region of the new rows.

    With ``aligned``, they begin where a chunk (or shard) begins, after the end of the array.
    """
    array._forbid_on_view()
    ndim = len(array._load().metadata.shape)
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
        shape = array._rewrite(change).metadata.shape
    region = [slice(0, size) for size in shape]
    region[axis] = slice(begin, begin + int(count))
    return tuple(region)


def io_to_chunk_end(array: ArrayHandle, snapshot: ArraySnapshot, axis: int) -> _engine.ArrayIO:
    """An engine array whose shape contains the complete last chunk along ``axis``.

    The engine replaces a chunk without reading it if a write covers the part inside the shape.
    Other processes may have appended to the same chunk meanwhile: the rows after ours are theirs.
    """
    metadata = snapshot.metadata
    shape = list(metadata.shape)
    shape[axis] = metadata.grid[axis].chunk_end(shape[axis])
    longer = metadata.with_shape(tuple(shape))
    document, key = snapshot.document, array._document_key()
    return engine_array_of(array._location, array._options, longer, document, key)


def erase_beyond(array: ArrayHandle, snapshot: ArraySnapshot, *axes: int) -> None:
    """Delete what lies beyond the end of some axes, which a killed writer or commit left."""
    metadata = snapshot.metadata
    shape = [2**62 if axis in axes else n for axis, n in enumerate(metadata.shape)]
    endless = metadata.with_shape(tuple(shape), metadata.chunk_units)
    _clear_outside(array, snapshot, endless, metadata.shape)


def _check_fits(shape: tuple[int, ...], added: tuple[int, ...], axis: int) -> None:
    expected = tuple(n for i, n in enumerate(shape) if i != axis)
    if len(added) != len(shape) or tuple(n for i, n in enumerate(added) if i != axis) != expected:
        raise ValueError(
            f"data of shape {added} cannot be appended along axis {axis} to an array of shape "
            f"{shape}; all other axes must be as long as the array's"
        )


def _refuse_cuts(metadata: ArrayMetadata, remaining: tuple[int, ...]) -> None:
    """Refuse to clear a part of a lossy chunk, before anything is deleted."""
    lossy = lossy_codec(metadata.codecs)
    if lossy is None or config.lossy_writes == "reencode":
        return
    for axis, (new, old) in enumerate(zip(remaining, metadata.shape, strict=True)):
        if new < old and metadata.inner_grid[axis].chunk_end(new) != new:
            raise LossyWriteError(
                f"{metadata.where}: length {new} of axis {axis} lies within a chunk of the codec "
                f"{lossy!r}, and to clear the rest of the chunk would change its other elements; "
                'resize to a whole number of chunks, or set config.lossy_writes = "reencode"'
            )


def _clear_outside(
    array: ArrayHandle, snapshot: ArraySnapshot, metadata: ArrayMetadata, new: tuple[int, ...]
) -> None:
    """Delete the chunks outside ``new`` and clear the outside part of chunks at its boundary.

    ``metadata`` is that of the snapshot, or the same with another shape.
    """
    remaining = tuple(min(a, b) for a, b in zip(metadata.shape, new, strict=True))
    if remaining == metadata.shape:
        return
    _refuse_cuts(metadata, remaining)
    # Chunks that become empty are removed, and missing chunks stay missing, regardless of the
    # array's setting, because clearing must not store chunks of fill values.
    options = array._options._replace(write_empty_chunks=False)
    key = array._document_key()
    io = engine_array_of(array._location, options, metadata, snapshot.document, key)
    fill: Any = fill_element(metadata.dtype, metadata.fill_value)
    io.clear_outside(remaining, fill, array._fsync)
