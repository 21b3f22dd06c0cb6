"""Reads and writes of a selection, with the features that the fast path of ``z[key]`` leaves out.

The key is resolved to an `Indexer`, and the engine is called once. Fields of structured dtypes are
extracted from and inserted into complete elements, because complete elements are stored. A value
that is not in memory is written in parts, for every kind of selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix import _engine
from zarrix._array.device_out import is_on_device, read_to_device
from zarrix._array.handle import ArrayHandle
from zarrix._array.snapshot import ArraySnapshot
from zarrix._errors import ArrayNotFoundError
from zarrix._metadata.array import ArrayMetadata
from zarrix._runtime.dialect import DIALECT
from zarrix._selection.basic import Fields, split_fields, try_basic
from zarrix._selection.fancy import Indexer, Rule, resolve
from zarrix._selection.values import IN_MEMORY, as_out, as_value, moves_in_parts, with_new_axes

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "assign",
    "assign_in",
    "fields_and_key",
    "fill_selection",
    "is_stored_in",
    "read_indexer",
    "read_into",
    "read_selection",
    "shaped",
    "write_indexer",
    "write_selection",
]


# Reading


def read_selection(
    array: ArrayHandle, selection: Any, out: Any = None, fields: Fields = None, rule: Rule = resolve
) -> Any:
    """The elements of a selection: a new array, a scalar, or ``out``, which is filled."""
    if isinstance(out, ArrayHandle):
        return _read_to_stored(array, selection, out, fields, rule)
    if is_on_device(out):
        return read_to_device(
            out, lambda memory: read_selection(array, selection, memory, fields, rule)
        )
    snapshot = array._current()
    try:
        return _read(array, snapshot, selection, out, fields, rule)
    except ArrayNotFoundError as error:
        followed = array._followed(snapshot, error)
        if followed is None:
            raise
        return _read(array, followed, selection, out, fields, rule)


def fill_selection(array: ArrayHandle, selection: Any, out: Any) -> Any:
    """Fill ``out`` with the elements of a selection, with less work where both are plain."""
    snapshot = array._snapshot
    # `is_on_device`, without a frame.
    if not snapshot.is_plain_read or isinstance(out, ArrayHandle) or hasattr(out, "is_cuda"):
        return read_selection(array, selection, out)
    metadata = snapshot.metadata
    basic = try_basic(selection, metadata.shape)
    if basic is None:
        return read_selection(array, selection, out)
    axes, shape, new_axes = basic
    try:
        snapshot.io.read(axes, as_out(out, metadata.dtype, shape, new_axes))
    except ArrayNotFoundError:
        return read_selection(array, selection, out)
    return out


def _read(
    array: ArrayHandle,
    snapshot: ArraySnapshot,
    selection: Any,
    out: Any,
    fields: Fields,
    rule: Rule,
) -> Any:
    cast_to = array._options.cast_to
    metadata = snapshot.metadata
    fields, key = fields_and_key(array, metadata, fields, selection)
    indexer = rule(key, metadata.shape)
    if out is not None and fields is None and cast_to is None:
        wanted = as_out(out, metadata.dtype, indexer.shape, indexer.new_axes)
        read_indexer(snapshot.io, indexer, wanted)
        return out
    # Points have no order of axes: zarr-python gives them in that of the coordinates.
    order = "C" if indexer.coords else snapshot.order
    result: Any = _engine.empty(indexer.shape, metadata.dtype, order)
    read_indexer(snapshot.io, indexer, result)
    if fields is not None:
        result = _fields_of(result, fields)
    if cast_to is not None:
        result = result.astype(cast_to)
    if out is None:
        return shaped(result, indexer.new_axes, key, metadata.shape)
    wanted = out.dtype if fields and _same_fields(out, result.dtype) else result.dtype
    as_out(out, wanted, result.shape, indexer.new_axes)[...] = result
    return out


def read_into(array: ArrayHandle, indexer: Indexer, out: npt.NDArray[Any]) -> None:
    """Fill ``out``, of the selection's shape and the array's dtype."""
    snapshot = array._current()
    elements: Any = out
    if array._options.cast_to is not None:
        elements = np.empty(indexer.shape, snapshot.metadata.dtype)
    try:
        read_indexer(snapshot.io, indexer, elements)
    except ArrayNotFoundError as error:
        followed = array._followed(snapshot, error)
        if followed is None:
            raise
        read_indexer(followed.io, indexer, elements)
    if elements is not out:
        out[...] = elements


def shaped(out: Any, new_axes: tuple[int, ...], key: Any, shape: tuple[int, ...]) -> Any:
    """The result in NumPy's shape: new axes inserted, zero-dimensional results as scalars.

    Parameters
    ----------
    out : ndarray
    new_axes : tuple of int
    key : as for ``z[key]``
    shape : tuple of int
        Of the array.
    """
    if new_axes:
        return np.expand_dims(out, new_axes)
    if out.shape:
        return out
    keys = key if isinstance(key, tuple) else (key,)
    if DIALECT.is_zarr3:
        # zarr-python 3 takes integers of Python for an orthogonal selection, which has an array.
        is_array = bool(shape) and all(type(one) is int for one in keys)
    else:
        is_array = not shape and any(one is Ellipsis for one in keys)
    return out if is_array else out[()]


# Writing


def write_selection(
    array: ArrayHandle, selection: Any, value: Any, fields: Fields = None, rule: Rule = resolve
) -> None:
    """Store ``value``, which broadcasts to the selection."""
    with array._writing():
        snapshot = array._current()
        fields, key = fields_and_key(array, snapshot.metadata, fields, selection)
        assign(array, snapshot, rule(key, snapshot.metadata.shape), value, fields)


def assign(
    array: ArrayHandle,
    snapshot: ArraySnapshot,
    indexer: Indexer,
    value: Any,
    fields: Fields = None,
) -> None:
    """Write ``value``; a value that is not in memory is written in parts.

    The caller is inside `ArrayHandle._writing`.
    """
    if array._location.store._before_write(array._location.path, indexer.axes, indexer.coords):
        snapshot = array._current()
    try:
        assign_in(array, snapshot, indexer, value, fields)
    except ArrayNotFoundError as error:
        followed = array._followed(snapshot, error)
        if followed is None:
            raise
        assign_in(array, followed, indexer, value, fields)


def assign_in(
    array: ArrayHandle,
    snapshot: ArraySnapshot,
    indexer: Indexer,
    value: Any,
    fields: Fields = None,
) -> None:
    """`assign` in the chunks that the snapshot names, also if a commit has moved them."""
    metadata, fsync = snapshot.metadata, array._fsync
    if type(value) in IN_MEMORY or not moves_in_parts(value, metadata.dtype):
        _assign_part(snapshot, indexer, value, fields, fsync)
        return
    if tuple(value.shape) != with_new_axes(indexer.shape, indexer.new_axes):
        _assign_part(snapshot, indexer, value, fields, fsync)
        return
    if is_stored_in(array, value):
        # Writing the first part would change what is read next.
        _assign_part(snapshot, indexer, np.asarray(value), fields, fsync)
        return
    # Imported when called, for import time: most values are in memory.
    from zarrix._selection.regions import chunk_aligned_parts

    for part, region in chunk_aligned_parts(indexer, metadata.grid, metadata.dtype.itemsize):
        _assign_part(snapshot, part, value[region], fields, fsync)


def _assign_part(
    snapshot: ArraySnapshot, indexer: Indexer, value: Any, fields: Fields, fsync: bool
) -> None:
    """Write ``value``; with fields, read the elements first and write these fields."""
    dtype = snapshot.metadata.dtype
    shape, new_axes = indexer.shape, indexer.new_axes
    if not fields:
        elements = as_value(value, dtype, shape, new_axes)
    else:
        elements = np.empty(shape, dtype)
        target = elements[fields]
        new = as_value(value, target.dtype, target.shape, new_axes)
        read_indexer(snapshot.io, indexer, elements)
        elements[fields] = new
    write_indexer(snapshot.io, indexer, elements, fsync)


def is_stored_in(array: ArrayHandle, value: Any) -> bool:
    """Whether ``value`` is this array, possibly through another handle, or a view of it."""
    source = getattr(value, "_array", value)
    return (
        isinstance(source, ArrayHandle)
        and source.path == array.path
        and source.chunk_store == array.chunk_store
    )


def fields_and_key(
    array: ArrayHandle, metadata: ArrayMetadata, fields: Fields, selection: Any
) -> tuple[Fields, Any]:
    """``fields``, or those in the key; and the rest of the key."""
    names = metadata.dtype.names or ()
    if fields is None and names:
        fields, selection = split_fields(selection)
    for field in [fields] if isinstance(fields, str) else fields or ():
        if field not in names:
            known = f"its fields are {', '.join(names)}" if names else "its dtype has no fields"
            raise IndexError(f"{array._title()} has no field {field!r}; {known}")
    return fields, selection


# The engine


def read_indexer(io: _engine.ArrayIO, indexer: Indexer, out: Any) -> None:
    """Fill ``out``, of the selection's shape, in one call of the engine."""
    axes: Any = indexer.axes
    coords: Any = indexer.coords
    if not coords:
        io.read(axes, out)
    elif len(coords) == len(axes):
        io.read_points(coords, out)
    else:
        io.read_boxes(axes, coords, _points_first(indexer, out))


def write_indexer(io: _engine.ArrayIO, indexer: Indexer, value: Any, fsync: bool) -> None:
    """Store ``value``, of the selection's shape, in one call of the engine."""
    axes: Any = indexer.axes
    coords: Any = indexer.coords
    if not coords:
        io.write(axes, value, fsync)
    elif len(coords) == len(axes):
        io.write_points(coords, value, fsync)
    else:
        io.write_boxes(axes, coords, _points_first(indexer, value), fsync)


def _points_first(indexer: Indexer, buffer: Any) -> Any:
    first, count = indexer.points
    return np.moveaxis(buffer, range(first, first + count), range(count)) if first else buffer


def _read_to_stored(
    source: ArrayHandle, selection: Any, out: Any, fields: Fields, rule: Rule
) -> Any:
    """Read a selection of ``source`` into the array ``out``, as zarr 2.18 can."""
    values = np.asanyarray(read_selection(source, selection, None, fields, rule))
    if values.shape != out.shape:
        raise ValueError(f"out has shape {out.shape}, and the selection has shape {values.shape}")
    if values.dtype != out.dtype:
        raise ValueError(f"out has dtype {out.dtype}, and the array has dtype {values.dtype}")
    out[...] = values
    return out


def _same_fields(out: Any, dtype: np.dtype[Any]) -> bool:
    """Whether ``out`` has these fields, wherever they lie in its elements."""
    given = getattr(out, "dtype", None)
    if not isinstance(given, np.dtype) or dtype.names is None or given.names != dtype.names:
        return False
    return all(given[name] == dtype[name] for name in dtype.names)


def _fields_of(elements: npt.NDArray[Any], fields: str | list[str]) -> Any:
    """One field as an array of its dtype; several fields as a packed structure."""
    if isinstance(fields, str):
        return elements[fields]
    dtype = elements.dtype
    packed = np.empty_like(elements, [(name, dtype[name]) for name in fields])
    for name in fields:
        packed[name] = elements[name]
    return packed
