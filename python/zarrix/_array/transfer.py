"""Reads and writes of a selection, with the features that the fast path of ``z[key]`` leaves out.

The key is resolved to an `Indexer`, and the engine is called once. Fields of structured dtypes are
extracted from and inserted into complete elements, because complete elements are stored. A value
that is not in memory is written in parts, for every kind of selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix import _engine
from zarrix._array.state import ArrayState
from zarrix._selection.basic import Fields, split_fields
from zarrix._selection.fancy import Indexer, Rule, resolve
from zarrix._selection.values import IN_MEMORY, as_out, as_value, moves_in_parts, with_new_axes

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Transfer", "read_indexer", "write_indexer"]


class Transfer(ArrayState):
    """An array whose selections are read and written; users meet `Array`."""

    __slots__ = ()

    # Reading

    def _read(
        self, selection: Any, out: Any = None, fields: Fields = None, rule: Rule = resolve
    ) -> Any:
        self._refresh()
        if isinstance(out, ArrayState):
            return _read_to_stored(self, selection, out, fields, rule)
        fields, selection = self._fields_and_key(fields, selection)
        metadata = self._metadata
        indexer = rule(selection, metadata.shape)
        if out is not None and fields is None and self._cast_to is None:
            wanted = as_out(out, metadata.dtype, indexer.shape, indexer.new_axes)
            read_indexer(self._io, indexer, wanted)
            return out
        # Points have no order of axes: zarr-python gives them in that of the coordinates.
        order = "C" if indexer.coords else self._result_order
        result: Any = _engine.empty(indexer.shape, metadata.dtype, order)
        read_indexer(self._io, indexer, result)
        if fields is not None:
            result = _fields_of(result, fields)
        if self._cast_to is not None:
            result = result.astype(self._cast_to)
        if out is None:
            return self._shaped(result, indexer.new_axes, selection)
        wanted = out.dtype if fields and _same_fields(out, result.dtype) else result.dtype
        as_out(out, wanted, result.shape, indexer.new_axes)[...] = result
        return out

    def _read_into(self, indexer: Indexer, out: npt.NDArray[Any]) -> None:
        """Fill ``out``, of the selection's shape and this array's dtype."""
        self._refresh()
        if self._cast_to is None:
            read_indexer(self._io, indexer, out)
        else:
            elements: Any = np.empty(indexer.shape, self._metadata.dtype)
            read_indexer(self._io, indexer, elements)
            out[...] = elements

    def _shaped(self, out: Any, new_axes: tuple[int, ...], selection: Any) -> Any:
        """The result in NumPy's shape: new axes inserted, zero-dimensional results as scalars."""
        if new_axes:
            return np.expand_dims(out, new_axes)
        if out.shape:
            return out
        keys = selection if isinstance(selection, tuple) else (selection,)
        if not self._metadata.shape and any(key is Ellipsis for key in keys):
            return out
        return out[()]

    # Writing

    def _write_selection(
        self, selection: Any, value: Any, fields: Fields = None, rule: Rule = resolve
    ) -> None:
        with self._writing():
            self._refresh()
            fields, selection = self._fields_and_key(fields, selection)
            self._assign(rule(selection, self._metadata.shape), value, fields)

    def _assign(
        self,
        indexer: Indexer,
        value: Any,
        fields: Fields = None,
        io: _engine.ArrayIO | None = None,
    ) -> None:
        """Write ``value``; a value that is not in memory is written in parts.

        The caller is inside `_writing`. ``io`` is passed if it is not the engine array of
        `_metadata`.
        """
        io = self._io if io is None else io
        metadata = self._metadata
        if type(value) in IN_MEMORY or not moves_in_parts(value, metadata.dtype):
            self._assign_part(io, indexer, value, fields)
            return
        if tuple(value.shape) != with_new_axes(indexer.shape, indexer.new_axes):
            self._assign_part(io, indexer, value, fields)
            return
        if self._is_stored_here(value):
            # Writing the first part would change what is read next.
            self._assign_part(io, indexer, np.asarray(value), fields)
            return
        # Imported when called, for import time: most values are in memory.
        from zarrix._selection.regions import chunk_aligned_parts

        for part, region in chunk_aligned_parts(indexer, metadata.grid, metadata.dtype.itemsize):
            self._assign_part(io, part, value[region], fields)

    def _assign_part(
        self, io: _engine.ArrayIO, indexer: Indexer, value: Any, fields: Fields
    ) -> None:
        """Write ``value``; with fields, read the elements first and write these fields."""
        dtype = self._metadata.dtype
        shape, new_axes = indexer.shape, indexer.new_axes
        if not fields:
            elements = as_value(value, dtype, shape, new_axes)
        else:
            elements = np.empty(shape, dtype)
            target = elements[fields]
            new = as_value(value, target.dtype, target.shape, new_axes)
            read_indexer(io, indexer, elements)
            elements[fields] = new
        write_indexer(io, indexer, elements, self._fsync)

    def _is_stored_here(self, value: Any) -> bool:
        """Whether ``value`` is this array, possibly through another handle, or a view of it."""
        source = getattr(value, "_array", value)
        return (
            isinstance(source, ArrayState)
            and source._path == self._path
            and source.chunk_store == self.chunk_store
        )

    def _fields_and_key(self, fields: Fields, selection: Any) -> tuple[Fields, Any]:
        """``fields``, or those in the key; and the rest of the key."""
        names = self._metadata.dtype.names or ()
        if fields is None and names:
            fields, selection = split_fields(selection)
        for field in [fields] if isinstance(fields, str) else fields or ():
            if field not in names:
                known = f"its fields are {', '.join(names)}" if names else "its dtype has no fields"
                raise IndexError(f"{self._title()} has no field {field!r}; {known}")
        return fields, selection


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


def _read_to_stored(source: Transfer, selection: Any, out: Any, fields: Fields, rule: Rule) -> Any:
    """Read a selection of ``source`` into the array ``out``, as zarr 2.18 can."""
    values = np.asanyarray(source._read(selection, None, fields, rule))
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
