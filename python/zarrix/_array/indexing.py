"""Reading and writing by every kind of selection, and the objects behind ``z.oindex[...]``.

`Selecting` is what an array does with a key once that is more than integers and slices, or comes
with fields, ``out=`` or a cast: the key is resolved to an `Indexer`, and the engine is called once.
Fields of structured dtypes are taken from and put into whole elements, since those are what is
stored. A value that is not in memory is written in parts, whatever the kind of selection.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix import _engine
from zarrix._array.state import ArrayState
from zarrix._selection import windows
from zarrix._selection.basic import split_fields
from zarrix._selection.fancy import (
    Indexer,
    resolve,
    resolve_blocks,
    resolve_mask,
    resolve_orthogonal,
    resolve_points,
)
from zarrix._selection.regions import chunk_aligned_parts
from zarrix._selection.values import (
    IN_MEMORY,
    as_out,
    as_value,
    fill_element,
    moves_in_parts,
    with_new_axes,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrix._array.lazy import LazyArray
    from zarrix._array.plan import ReadPlan

__all__ = ["BlockIndex", "OIndex", "Selecting", "VIndex"]

Fields = str | list[str] | None
_UNSET: Any = object()
Rule = Callable[[Any, tuple[int, ...]], Indexer]


class Selecting(ArrayState):
    """An array as seen through selections; users meet `Array`."""

    __slots__ = ()

    # Public: by rule

    @property
    def oindex(self) -> OIndex:
        """Orthogonal selections: ``z.oindex[[4, 1], :, mask]`` takes each axis on its own."""
        return OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """Selections of points: ``z.vindex[[4, 1], [0, 2]]`` is two elements."""
        return VIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Selections of whole chunks: ``z.blocks[0, 1:3]``; of shards, where there are shards."""
        return BlockIndex(self)

    @property
    def lazy(self) -> LazyArray:
        """The array as a lazy view: ``z.lazy[10:20].T[::2]`` composes, and ``[...]`` reads."""
        from zarrix._array.lazy import LazyArray

        return LazyArray.of(self)

    def get_orthogonal_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        """Read a selection that is made along each axis on its own.

        Parameters
        ----------
        selection : int, slice, integer or boolean array, Ellipsis, or a tuple of these
            Arrays have one axis; integers may be in any order, repeated and negative.
        out : ndarray or writable buffer, optional
            Of the shape of the selection; filled and returned.
        fields : str or list of str, optional
            Of a structured dtype, the fields to read.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray or NumPy scalar

        Raises
        ------
        BoundsCheckError
            An index lies outside its axis (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> z.get_orthogonal_selection(([2, 0], [1, 1, 3]))
        array([[ 9,  9, 11],
               [ 1,  1,  3]])
        """
        return self._read(selection, out, fields, resolve_orthogonal)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None
    ) -> None:
        """Write a selection that is made along each axis on its own.

        Where an index is repeated, the last of its values stays.

        Parameters
        ----------
        selection : int, slice, integer or boolean array, Ellipsis, or a tuple of these
            Arrays have one axis; integers may be in any order, repeated and negative.
        value : array-like
            Broadcasts to the selection.
        fields : str, optional
            The field to write; the others of these elements keep their values.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        BoundsCheckError
            An index lies outside its axis (also an ``IndexError``).
        ValueError
            ``value`` does not broadcast to the selection; nothing was written.
        ReadOnlyError
            The array was opened for reading.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros((3, 4), dtype="i4")
        >>> z.set_orthogonal_selection(([0, 2], [1, 3]), [[1, 2], [3, 4]])
        >>> z[:]
        array([[0, 1, 0, 2],
               [0, 0, 0, 0],
               [0, 3, 0, 4]], dtype=int32)
        """
        self._write_selection(selection, value, fields, resolve_orthogonal)

    def get_coordinate_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        """Read elements by their coordinates.

        A million points in any order cost one call: they are sorted by chunk first, and each chunk
        is fetched and decoded once.

        Parameters
        ----------
        selection : tuple of int and integer arrays, one per axis
            They broadcast together; the result has the shape that they broadcast to.
        out : ndarray or writable buffer, optional
            Of the shape of the selection; filled and returned.
        fields : str or list of str, optional
            Of a structured dtype, the fields to read.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray

        Raises
        ------
        BoundsCheckError
            A coordinate lies outside its axis (also an ``IndexError``).
        VindexInvalidSelectionError
            There is not one array of integers per axis (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> z.get_coordinate_selection(([2, 0], [1, 3]))
        array([9, 3])
        """
        return self._read(selection, out, fields, _strict_points)

    def set_coordinate_selection(
        self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None
    ) -> None:
        """Write elements by their coordinates; where two are one element, the last value stays.

        Parameters
        ----------
        selection : tuple of int and integer arrays, one per axis
            They broadcast together.
        value : array-like
            Broadcasts to the shape of the coordinates.
        fields : str, optional
            The field to write; the others of these elements keep their values.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        BoundsCheckError
            A coordinate lies outside its axis (also an ``IndexError``).
        VindexInvalidSelectionError
            There is not one array of integers per axis (also an ``IndexError``).
        ReadOnlyError
            The array was opened for reading.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros((2, 3), dtype="i4")
        >>> z.set_coordinate_selection(([0, 1, 1], [0, 1, 2]), [7, 8, 9])
        >>> z[:]
        array([[7, 0, 0],
               [0, 8, 9]], dtype=int32)
        """
        self._write_selection(selection, value, fields, _strict_points)

    def get_mask_selection(
        self,
        selection: Any = None,
        out: Any = None,
        fields: Fields = None,
        *,
        mask: Any = None,
        prototype: Any = None,
    ) -> Any:
        """Read the elements where a boolean array of the array's shape is true, in C order.

        Parameters
        ----------
        selection : array of bool, shape of the array
        out : ndarray or writable buffer, optional
            With one element for each true one; filled and returned.
        fields : str or list of str, optional
            Of a structured dtype, the fields to read.
        mask : array of bool, shape of the array
            The name of ``selection`` in zarr-python 3.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray with one axis

        Raises
        ------
        VindexInvalidSelectionError
            The mask is not boolean, or has another shape (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(6).reshape(2, 3))
        >>> z.get_mask_selection(z[:] % 2 == 0)
        array([0, 2, 4])
        """
        return self._read(_either(selection, mask), out, fields, resolve_mask)

    def set_mask_selection(
        self,
        selection: Any = None,
        value: Any = _UNSET,
        fields: Fields = None,
        *,
        mask: Any = None,
        prototype: Any = None,
    ) -> None:
        """Write the elements where a boolean array of the array's shape is true.

        Parameters
        ----------
        selection : array of bool, shape of the array
        value : array-like
            A scalar, or one value for each true element, in C order.
        fields : str, optional
            The field to write; the others of these elements keep their values.
        mask : array of bool, shape of the array
            The name of ``selection`` in zarr-python 3.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        VindexInvalidSelectionError
            The mask is not boolean, or has another shape (also an ``IndexError``).
        ReadOnlyError
            The array was opened for reading.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, -2, 3, -4])
        >>> z.set_mask_selection(z[:] < 0, 0)
        >>> z[:]
        array([1, 0, 3, 0])
        """
        if value is _UNSET:
            raise TypeError("set_mask_selection() needs a value")
        self._write_selection(_either(selection, mask), value, fields, resolve_mask)

    def get_block_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        """Read whole chunks by their position in the grid; of sharded arrays, whole shards.

        Parameters
        ----------
        selection : int, slice with a step of 1, Ellipsis, or a tuple of these
            An integer keeps its axis: what it selects is as long as a chunk.
        out : ndarray or writable buffer, optional
            Of the shape of the selection; filled and returned.
        fields : str or list of str, optional
            Of a structured dtype, the fields to read.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray

        Raises
        ------
        BoundsCheckError
            A block lies outside the grid (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(10), chunks=4)
        >>> z.get_block_selection(-1)
        array([8, 9])
        """
        return self._read(selection, out, fields, self._resolve_blocks)

    def set_block_selection(
        self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None
    ) -> None:
        """Write whole chunks by their position in the grid; of sharded arrays, whole shards.

        Parameters
        ----------
        selection : int, slice with a step of 1, Ellipsis, or a tuple of these
            An integer keeps its axis: what it selects is as long as a chunk.
        value : array-like
            Broadcasts to the selection.
        fields : str, optional
            The field to write; the others of these elements keep their values.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        BoundsCheckError
            A block lies outside the grid (also an ``IndexError``).
        ReadOnlyError
            The array was opened for reading.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(10, chunks=4, dtype="i4")
        >>> z.set_block_selection(1, [1, 2, 3, 4])
        >>> z[:]
        array([0, 0, 0, 0, 1, 2, 3, 4, 0, 0], dtype=int32)
        """
        self._write_selection(selection, value, fields, self._resolve_blocks)

    def read_windows(
        self,
        starts: Any,
        shape: int | tuple[int, ...],
        out: Any = None,
        *,
        outside: str = "error",
        pad_value: Any = None,
    ) -> Any:
        """Read N windows (crops) of one shape in one call; each chunk is decoded once.

        However many windows touch a chunk, it is fetched and decoded once a call. Beyond the
        result, memory is that of a few chunks per thread.

        Parameters
        ----------
        starts : array of int, shape (N, ndim)
            The lowest corner of each window; for an array with one axis, shape (N,) will do.
        shape : int or tuple of int
            Of a window; an int stands for all axes.
        out : ndarray or writable buffer, shape (N, n0, n1, ...), optional
            Filled in place; strides are free. A new array when omitted.
        outside : {"error", "pad"}
            What to do with windows that leave the array: refuse all, or put ``pad_value`` there.
        pad_value : scalar, optional
            The array's fill value when omitted.

        Returns
        -------
        ndarray, shape (N, n0, n1, ...), dtype ``self.dtype``

        Raises
        ------
        BoundsCheckError
            A window leaves the array (also an ``IndexError``); nothing was read.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> z.read_windows([[0, 0], [1, 2]], (2, 2))[1]
        array([[ 6,  7],
               [10, 11]])
        >>> z.read_windows([[2, 3]], 2, outside="pad", pad_value=-1)[0]
        array([[11, -1],
               [-1, -1]])
        """
        self._refresh()
        metadata = self._metadata
        corners, size = windows.check(starts, shape, metadata.shape)
        leaving = windows.leaving(corners, size, metadata.shape, outside)
        wanted = (len(corners), *size)
        padding = self._padding(pad_value, outside)
        result: Any = None
        if out is not None:
            given = as_out(out, self.dtype, wanted)
            result = given if self._cast_to is None else None
        if result is None:
            result = np.empty(wanted, metadata.dtype)
        if leaving is not None:
            result[leaving] = padding
        buffer: Any = corners
        self._io.read_windows(buffer, result, leaving is not None)
        if self._cast_to is not None:
            result = result.astype(self._cast_to)
            if out is not None:
                given[...] = result
        return result if out is None else out

    def _padding(self, pad_value: Any, outside: str) -> Any:
        metadata = self._metadata
        if pad_value is None:
            return fill_element(metadata.dtype, metadata.fill_value)
        if outside != "pad":
            raise ValueError("pad_value= is for windows that leave the array: add outside='pad'")
        padding = np.empty((), metadata.dtype)
        padding[()] = pad_value
        return padding

    def plan(self, selection: Any = ...) -> ReadPlan:
        """What ``z[selection]`` would touch and fetch, without reading it.

        The store is asked for the lengths of the chunks, and for the index of shards.

        Parameters
        ----------
        selection : as for ``z[selection]``
            A selection of ``z.oindex`` and its like is planned by ``z.oindex.plan(selection)``.

        Returns
        -------
        ReadPlan
            With counts of chunks, shards, requests and bytes; `print` shows it as a sentence.

        Raises
        ------
        BoundsCheckError
            An index lies outside ``self.shape`` (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.zeros((100, 100), "f4"), chunks=(10, 100), compressor=None)
        >>> print(z.plan((slice(None), 0)))
        Touches 10 chunks; fetches 39.1 KiB in 10 requests and uses 400 bytes of 39.1 KiB of chunks
        (amplification 100).
        """
        return self._plan(selection, resolve)

    def _plan(self, selection: Any, rule: Rule) -> ReadPlan:
        # Imported here: few programs plan their reads.
        from zarrix._array.plan import plan

        self._refresh()
        _, selection = self._fields_and_key(None, selection)
        return plan(self, rule(selection, self._metadata.shape))

    def _resolve_blocks(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return resolve_blocks(key, shape, self._metadata.grid)

    # Reading with all that the short path of ``z[key]`` leaves out

    def _read(
        self, selection: Any, out: Any = None, fields: Fields = None, rule: Rule = resolve
    ) -> Any:
        self._refresh()
        fields, selection = self._fields_and_key(fields, selection)
        metadata = self._metadata
        indexer = rule(selection, metadata.shape)
        if out is not None and fields is None and self._cast_to is None:
            wanted = as_out(out, metadata.dtype, indexer.shape, indexer.new_axes)
            _read(self._io, indexer, wanted)
            return out
        result: Any = np.empty(indexer.shape, metadata.dtype)
        _read(self._io, indexer, result)
        if fields is not None:
            result = _fields_of(result, fields)
        if self._cast_to is not None:
            result = result.astype(self._cast_to)
        if out is None:
            return self._shaped(result, indexer.new_axes, selection)
        as_out(out, result.dtype, result.shape, indexer.new_axes)[...] = result
        return out

    def _read_into(self, indexer: Indexer, out: npt.NDArray[Any]) -> None:
        """Fill ``out``, of the selection's shape and this array's dtype."""
        self._refresh()
        if self._cast_to is None:
            _read(self._io, indexer, out)
        else:
            elements: Any = np.empty(indexer.shape, self._metadata.dtype)
            _read(self._io, indexer, elements)
            out[...] = elements

    def _shaped(self, out: Any, new_axes: tuple[int, ...], selection: Any) -> Any:
        """The result as NumPy shapes it: axes of length one put in, scalars taken out."""
        if new_axes:
            return np.expand_dims(out, new_axes)
        if out.shape:
            return out
        keys = selection if isinstance(selection, tuple) else (selection,)
        if not self._metadata.shape and any(key is Ellipsis for key in keys):
            return out
        return out[()]

    # Writing with all that the short path of ``z[key] = value`` leaves out

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
        """Write ``value``; one that is not in memory moves in parts, not all through memory.

        The caller holds `_writing`. ``io`` is another engine array than that of `_metadata`.
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
            # What is written first would change what is read next.
            self._assign_part(io, indexer, np.asarray(value), fields)
            return
        for part, region in chunk_aligned_parts(indexer, metadata.grid, metadata.dtype.itemsize):
            self._assign_part(io, part, value[region], fields)

    def _assign_part(
        self, io: _engine.ArrayIO, indexer: Indexer, value: Any, fields: Fields
    ) -> None:
        """Write ``value`` or, of elements that are read first, some of their fields."""
        dtype = self._metadata.dtype
        shape, new_axes = indexer.shape, indexer.new_axes
        if not fields:
            elements = as_value(value, dtype, shape, new_axes)
        else:
            elements = np.empty(shape, dtype)
            target = elements[fields]
            new = as_value(value, target.dtype, target.shape, new_axes)
            _read(io, indexer, elements)
            elements[fields] = new
        _write(io, indexer, elements, self._fsync)

    def _is_stored_here(self, value: Any) -> bool:
        """Whether ``value`` is this array, opened again perhaps, or a view of it."""
        source = getattr(value, "_array", value)
        return (
            isinstance(source, ArrayState)
            and source._path == self._path
            and source.chunk_store == self.chunk_store
        )

    def _fields_and_key(self, fields: Fields, selection: Any) -> tuple[Fields, Any]:
        """``fields``, or those that the key names; and what remains of the key."""
        names = self._metadata.dtype.names or ()
        if fields is None and names:
            fields, selection = split_fields(selection)
        for field in [fields] if isinstance(fields, str) else fields or ():
            if field not in names:
                known = f"its fields are {', '.join(names)}" if names else "its dtype has no fields"
                raise IndexError(f"{self._title()} has no field {field!r}; {known}")
        return fields, selection


def _read(io: _engine.ArrayIO, indexer: Indexer, out: Any) -> None:
    """Fill ``out``, of the selection's shape, in one call of the engine."""
    axes: Any = indexer.axes
    coords: Any = indexer.coords
    if not coords:
        io.read(axes, out)
    elif len(coords) == len(axes):
        io.read_points(coords, out)
    else:
        io.read_boxes(axes, coords, _points_first(indexer, out))


def _write(io: _engine.ArrayIO, indexer: Indexer, value: Any, fsync: bool) -> None:
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


def _either(selection: Any, mask: Any) -> Any:
    """The one that is given of two words for the same."""
    if (selection is None) == (mask is None):
        raise TypeError("give a mask, by position or as mask=")
    return mask if selection is None else selection


def _strict_points(key: Any, shape: tuple[int, ...]) -> Indexer:
    return resolve_points(key, shape, strict=True)


def _fields_of(elements: npt.NDArray[Any], fields: str | list[str]) -> Any:
    """One field as an array of its own dtype; several as a packed structure of these."""
    if isinstance(fields, str):
        return elements[fields]
    dtype = elements.dtype
    packed = np.empty(elements.shape, [(name, dtype[name]) for name in fields])
    for name in fields:
        packed[name] = elements[name]
    return packed


class _Index(ABC):
    """What ``z.oindex``, ``z.vindex`` and ``z.blocks`` are: an array with another rule of keys."""

    __slots__ = ("array",)

    def __init__(self, array: Selecting) -> None:
        self.array = array

    @abstractmethod
    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        """What ``key`` selects by this rule."""

    def __getitem__(self, selection: Any) -> Any:
        return self.array._read(selection, None, None, self._rule)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self.array._write_selection(selection, value, None, self._rule)

    def plan(self, selection: Any) -> ReadPlan:
        """What reading the selection would touch and fetch, as from `Array.plan`.

        Parameters
        ----------
        selection : as for ``z.oindex[selection]``, or that of the index that this is
            Nothing is read but the lengths of chunks and the indices of shards.

        Returns
        -------
        ReadPlan

        Raises
        ------
        BoundsCheckError
            An index lies outside its axis (also an ``IndexError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10)
        >>> z.oindex.plan([3, 17, 18]).chunks
        2
        """
        return self.array._plan(selection, self._rule)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.array!r}>"


class OIndex(_Index):
    """Orthogonal selections, as ``z.oindex[key]``: each axis is taken on its own.

    Parameters
    ----------
    array : Array

    Raises
    ------
    BoundsCheckError
        On use, if an index lies outside its axis (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(12).reshape(3, 4))
    >>> z.oindex[[2, 0], [True, False, False, True]]
    array([[ 8, 11],
           [ 0,  3]])
    >>> z.oindex[:, [1]] = -1
    >>> z[:, 1]
    array([-1, -1, -1])
    """

    __module__ = "zarrix.indexing"
    __slots__ = ()

    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return resolve_orthogonal(key, shape)


class VIndex(_Index):
    """Selections of points or by a mask, as ``z.vindex[key]``; index arrays broadcast together.

    Parameters
    ----------
    array : Array

    Raises
    ------
    BoundsCheckError
        On use, if an index lies outside its axis (also an ``IndexError``).
    VindexInvalidSelectionError
        On use, if the key has no index arrays or no mask (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(12).reshape(3, 4))
    >>> z.vindex[[2, 0], [0, 3]]
    array([8, 3])
    >>> z.vindex[z[:] > 9] = 0
    >>> z[2]
    array([8, 9, 0, 0])
    """

    __module__ = "zarrix.indexing"
    __slots__ = ()

    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return resolve_points(key, shape)


class BlockIndex(_Index):
    """Selections of whole chunks, as ``z.blocks[key]``; of sharded arrays, of whole shards.

    Parameters
    ----------
    array : Array

    Raises
    ------
    BoundsCheckError
        On use, if a block lies outside the grid (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(10), chunks=4)
    >>> z.blocks[1], z.blocks[1:]
    (array([4, 5, 6, 7]), array([4, 5, 6, 7, 8, 9]))
    """

    __module__ = "zarrix.indexing"
    __slots__ = ()

    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return self.array._resolve_blocks(key, shape)
