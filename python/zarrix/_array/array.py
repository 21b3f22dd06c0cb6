"""An array in a store, read and written like a NumPy array.

``z[key]`` takes three steps: parse the key, allocate the result, call the engine once. Rarer
features (fields of structured dtypes, ``out=``, views, a synchronizer, metadata that is not cached)
branch off at one flag, which is set when the array is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from types import EllipsisType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from zarrix import _engine
from zarrix._array.h5py_names import ARRAY_ADVICE, DatasetTerms
from zarrix._array.indexing import Selecting
from zarrix._array.numpy_habits import is_of_numpy, numpy_advice, only_element
from zarrix._array.properties import ArrayProperties
from zarrix._array.scalars import rows_of, scalar_of
from zarrix._array.transfer import fill_selection, read_selection, shaped, write_selection
from zarrix._display.labels import type_name
from zarrix._errors import ArrayNotFoundError, Suggesting
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._selection.basic import try_basic
from zarrix._selection.values import IN_MEMORY, as_value, moves_in_parts

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrix._array.writer import Writer

__all__ = ["Array"]


class Array(Selecting, ArrayProperties, DatasetTerms):
    """An array that exists in a store.

    Any number of threads and processes may read and write it at once, and writers of different
    elements lose no update. Use `zarrix.open` or `zarrix.create` rather than this class.

    Parameters
    ----------
    store : Store, mapping, str, Path or AsyncArray
        An `AsyncArray` stands alone: it has its own path and options.
    path : str, optional
        Path of the array in the store; the root when omitted.
    read_only : bool
        Refuse changes.
    chunk_store : Store, mapping, str or Path, optional
        The store of the chunks, if it is not ``store``.
    synchronizer : mapping of key to lock, optional
        Its lock is held during writes, in addition to the engine's own.
    cache_metadata, cache_attrs : bool
        False reads the metadata (the attributes) again before every use.
    partial_decompress : bool, optional
        Accepted for zarr 2.18; the engine always decodes only what is needed.
    write_empty_chunks : bool
        False leaves chunks that hold only the fill value out of the store.
    zarr_version : {2, 3}, optional
        The format of the array; either format when omitted.
    meta_array : ndarray, optional
        Accepted for zarr 2.18; results are NumPy arrays.
    allow_pickle : bool
        Whether the object codec ``pickle`` may be used, which executes stored code.
    checksum : bool
        Add a checksum to new zstd frames of a v2 array.
    read_missing_chunks : bool
        False makes reading a missing chunk a `ChunkNotFoundError`; missing inner chunks of a stored
        shard still read as the fill value. When omitted, ``zarrix.config.read_missing_chunks``
        applies.
    order : {'C', 'F'}
        The order in memory of what is read from a v3 array. Reads of a v2 array have the order in
        its metadata.

    Raises
    ------
    ArrayNotFoundError
        The array does not exist.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros((4, 6), chunks=(2, 3), dtype="i4")
    >>> z[1, 2:4] = 7
    >>> z[:2, :4]
    array([[0, 0, 0, 0],
           [0, 0, 7, 7]], dtype=int32)
    """

    __module__ = "zarrix.core"
    __slots__ = ()

    # Reading

    @overload
    def __getitem__(self, selection: slice | EllipsisType) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, selection: Any) -> Any: ...
    def __getitem__(self, selection: Any) -> Any:
        """Read a region; see `read`. A selection of only integers returns a NumPy scalar."""
        snapshot = self._snapshot
        if not snapshot.is_plain_read:
            return read_selection(self, selection)
        metadata = snapshot.metadata
        basic = try_basic(selection, metadata.shape)
        if basic is None:
            return read_selection(self, selection)
        axes, shape, new_axes = basic
        # The engine makes small ones by NumPy, too, but that takes longer.
        empty = np.empty if prod(shape) < snapshot.large_result else _engine.empty
        out: Any = empty(shape, metadata.dtype, snapshot.order)
        try:
            snapshot.io.read(axes, out)
        except ArrayNotFoundError:
            return read_selection(self, selection)
        if shape and not new_axes:
            return out
        return shaped(out, new_axes, selection, metadata.shape)

    def read(self, selection: Any = ..., *, out: Any = None) -> Any:
        """Read a region into one array; missing chunks read as the fill value.

        Parameters
        ----------
        selection : int, slice, integer or boolean array, Ellipsis or newaxis, or a tuple of these
            One per axis; slices may have any step. A name, or a list of names, selects fields of a
            structured dtype. `oindex`, `vindex` and `blocks` have other rules.
        out : ndarray, writable buffer or Array, optional
            Filled in place, with any strides; it has the shape of the selection and this dtype. A
            new array when omitted. A torch tensor on a CUDA device is filled by a copy on the
            current stream, from page-locked memory.

        Returns
        -------
        ndarray, shape (n0, n1, ...), dtype ``self.dtype``
            ``out`` if it is passed; a NumPy scalar if all items are integers.

        Raises
        ------
        BoundsCheckError
            An index lies outside ``self.shape`` (also an ``IndexError``).
        CorruptChunkError
            A stored chunk does not decode to its declared size or checksum.
        ValueError
            The shape or dtype of ``out`` differs, or it is read-only.

        References
        ----------
        Zarr v2 specification, "Chunks" and "Missing chunks".

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> z.read((slice(None, None, -1), 1))
        array([9, 5, 1])
        >>> out = np.empty((3, 4), z.dtype)
        >>> z.read(out=out) is out
        True
        """
        return self[selection] if out is None else fill_selection(self, selection, out)

    def get_basic_selection(
        self,
        selection: Any = ...,
        out: Any = None,
        fields: str | list[str] | None = None,
        *,
        prototype: Any = None,
    ) -> Any:
        """Read a region like `read`, with the fields of a structured dtype as an argument.

        Parameters
        ----------
        selection : int, slice, Ellipsis or newaxis, or a tuple of these
        out : ndarray or writable buffer, optional
        fields : str or list of str, optional
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray or NumPy scalar

        Raises
        ------
        BoundsCheckError
            An index lies outside ``self.shape`` (also an ``IndexError``).
        IndexError
            The dtype has no such field.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(3, dtype=[("x", "f4"), ("n", "i2")])
        >>> z.get_basic_selection(slice(2), fields="n")
        array([0, 0], dtype=int16)
        """
        if fields:
            result = read_selection(self, selection, out, fields)
        else:
            result = self.read(selection, out=out)
        return scalar_of(result) if DIALECT.is_zarr3 else result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a stored array cannot become a NumPy array without a copy")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __bool__(self) -> bool:
        # With axes as a list: whether there are any rows.
        return len(self) > 0 if self.shape else bool(only_element(self))

    def __int__(self) -> int:
        return int(only_element(self))

    def __float__(self) -> float:
        return float(only_element(self))

    def __complex__(self) -> complex:
        return complex(only_element(self))

    def __iter__(self) -> Iterator[Any]:
        return self.islice()

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Iterate over the first axis from ``start`` to ``end``; each chunk is decoded once.

        Parameters
        ----------
        start, end : int, optional
            Not negative; the whole axis when omitted.

        Returns
        -------
        iterator of ndarray, shape ``self.shape[1:]``, or of NumPy scalars

        Raises
        ------
        ValueError
            ``start`` or ``end`` is negative, or not an integer.
        TypeError
            The array has no axes.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([[1, 2], [3, 4], [5, 6]], chunks=(2, 2))
        >>> [row.sum() for row in z.islice(1)]
        [np.int64(7), np.int64(11)]
        """
        shape = self.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        for name, value in (("start", start), ("end", end)):
            if value is not None and (not isinstance(value, int | np.integer) or value < 0):
                raise ValueError(f"{name} is an integer that is not negative, not {value!r}")
        stop = shape[0] if end is None else min(int(end), shape[0])
        return self._rows(0 if start is None else int(start), stop)

    def _rows(self, start: int, stop: int) -> Iterator[Any]:
        chunks = self._snapshot.metadata.inner_grid[0]
        while start < stop:
            chunk_end = min(stop, chunks.find(start).end)
            yield from rows_of(self[start:chunk_end])
            start = chunk_end

    # Writing

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write a region; ``value`` broadcasts to it and is cast to the dtype, as in NumPy.

        A value that does not broadcast is an error before anything is written. Writers of different
        elements, in any threads and processes, lose no update.
        """
        snapshot = self._snapshot
        metadata = snapshot.metadata
        if not snapshot.is_plain_write or (
            type(value) not in IN_MEMORY and moves_in_parts(value, metadata.dtype)
        ):
            write_selection(self, selection, value)
            return
        basic = try_basic(selection, metadata.shape)
        if basic is None:
            write_selection(self, selection, value)
            return
        axes, shape, new_axes = basic
        syncs = snapshot.syncs
        fsync = config.syncs if syncs is None else syncs
        try:
            snapshot.io.write(axes, as_value(value, metadata.dtype, shape, new_axes), fsync)
        except ArrayNotFoundError:
            write_selection(self, selection, value)

    def set_basic_selection(
        self,
        selection: Any,
        value: Any,
        fields: str | list[str] | None = None,
        *,
        prototype: Any = None,
    ) -> None:
        """Write a region like ``z[selection] = value``, or one field of its elements.

        Parameters
        ----------
        selection : int, slice, Ellipsis or newaxis, or a tuple of these
        value : array-like
            Broadcasts to the selection.
        fields : str, optional
            The field to write; the others of these elements keep their values.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        BoundsCheckError
            An index lies outside ``self.shape`` (also an ``IndexError``).
        ValueError
            ``value`` does not broadcast to the selection; nothing was written.
        ReadOnlyError
            The array was opened for reading.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(2, dtype=[("x", "f4"), ("n", "i2")])
        >>> z.set_basic_selection(slice(None), 7, fields="n")
        >>> z[:]
        array([(0., 7), (0., 7)], dtype=[('x', '<f4'), ('n', '<i2')])
        """
        if fields:
            write_selection(self, selection, value, fields)
        else:
            self[selection] = value

    def resize(self, *args: Any, new_shape: Any = None, axis: int | None = None) -> None:
        """Change the length of axes; elements that remain keep their values, new ones are fill.

        Other processes may resize and append at the same time. Elements that are cut off are
        deleted: if the array grows again, they read as the fill value.

        Parameters
        ----------
        *args : int or tuple of int
            The new shape; None keeps the length of an axis.
        new_shape : tuple of int
            The same, under the name of zarr-python 3.
        axis : int, optional
            The only axis that changes, as in h5py; then its new length is the only argument.

        Raises
        ------
        ValueError
            The number of lengths differs from that of axes, or one is negative.
        ReadOnlyError
            The array was opened for reading.
        WriterError
            A `Writer` has the array open.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2, 3, 4], chunks=2)
        >>> z.resize(2)
        >>> z.resize(3)
        >>> z[:]
        array([1, 2, 0])
        """
        if new_shape is not None:
            if args:
                raise TypeError("give the new shape by position or as new_shape=, not both")
            args = (new_shape,)
        # Import time: few programs resize.
        from zarrix._array import resize as _resize

        if axis is not None:
            args = _resize.along(args, axis, self.ndim)
        with self._writing():
            _resize.resize(self, args)

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Grow ``axis`` by ``data`` and write it there.

        Processes that append at the same time each get their own rows.

        Parameters
        ----------
        data : array-like
            As long as the array along all other axes.
        axis : int

        Returns
        -------
        tuple of int
            The new shape.

        Raises
        ------
        ValueError
            ``data`` is not as long as the array along another axis; nothing changed.
        ReadOnlyError
            The array was opened for reading.
        WriterError
            A `Writer` has the array open.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros((0, 2), chunks=(10, 2), dtype="i4")
        >>> z.append([[1, 2], [3, 4]])
        (2, 2)
        >>> z[-1]
        array([3, 4], dtype=int32)
        """
        # Import time: few programs append.
        from zarrix._array import resize as _resize

        with self._writing():
            return _resize.append(self, data, axis)

    def writer(self, axis: int = 0, *, buffer_bytes: int | None = None) -> Writer:
        """Append a stream of frames, collected to complete chunks and stored in the background.

        Readers see a block of frames when it is stored; a crash leaves complete blocks. While a
        writer is open, no other call can change the length of its axis.

        Parameters
        ----------
        axis : int
            The axis that grows.
        buffer_bytes : int, optional
            Approximate size of a block of frames; by default 8 MiB, and at least a chunk for every
            thread. It has at least one chunk (or shard) along the axis. The writer uses at most
            four times this memory.

        Returns
        -------
        Writer
            With ``append(frames)``, ``flush()`` and ``close()``; a context manager.

        Raises
        ------
        ValueError
            ``axis`` is out of range, or ``buffer_bytes`` is not positive.
        ReadOnlyError
            The array was opened for reading.
        WriterError
            Another `Writer` has the array open.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.zeros((0, 3), chunks=(2, 3), dtype="i4")
        >>> with z.writer() as stream:
        ...     stream.append([1, 2, 3])
        ...     stream.append(np.ones((4, 3)))
        >>> z.shape
        (5, 3)
        """
        # Imported when called, for import time: few programs append streams.
        from zarrix._array.writer import Writer

        with self._writing():
            return Writer(self, axis, buffer_bytes)

    # Views

    def view(
        self,
        shape: Any = None,
        chunks: Any = None,
        dtype: npt.DTypeLike | None = None,
        fill_value: Any = None,
        filters: list[Any] | None = None,
        read_only: bool | None = None,
        synchronizer: Any = None,
    ) -> Array:
        """A view of the same chunks with other metadata; nothing is stored.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Replaces the shape of the array; the next four arguments work alike. The bytes of a
            chunk must fit them.
        chunks : int or tuple of int, optional
        dtype : dtype, optional
        fill_value : scalar, optional
        filters : list of codecs, optional
            Only in v2.
        read_only : bool, optional
        synchronizer : mapping of key to lock, optional

        Returns
        -------
        Array
            With ``is_view`` true; it cannot be resized.

        Raises
        ------
        MetadataError, ValueError, TypeError
            The arguments do not describe an array.
        CorruptChunkError
            On reading, if a chunk does not decode to the bytes that the view expects.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2, 3], dtype="i4")
        >>> z.view(dtype="u1", shape=12, chunks=12)[:]
        array([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0], dtype=uint8)
        """
        if isinstance(shape, str | np.dtype | type):
            raise TypeError(f"view() takes a shape first; write view(dtype={shape!r})")
        # Imported when called, for import time: few programs make views.
        from zarrix._array.views import metadata_of_view

        seen = metadata_of_view(self._snapshot.metadata, shape, chunks, dtype, fill_value, filters)
        options = {"read_only": read_only, "synchronizer": synchronizer}
        new = self._clone()
        new._reopen(seen, **{name: one for name, one in options.items() if one is not None})
        return new

    def astype(self, dtype: npt.DTypeLike) -> Array:
        """A read-only view whose elements are converted to ``dtype`` as they are read.

        Parameters
        ----------
        dtype : dtype

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            NumPy does not know ``dtype``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2, 3], dtype="i4")
        >>> z.astype("f8")[1:], z.dtype
        (array([2., 3.]), dtype('int32'))
        """
        cast_to = np.dtype(dtype)
        new = self._clone()
        new._reopen(new._snapshot.metadata, cast_to=cast_to, read_only=True)
        return new

    def _clone(self) -> Array:
        new = Array.__new__(type(self))
        new.__setstate__(self.__getstate__())
        return new

    # Showing, comparing

    if not TYPE_CHECKING:
        # Hidden from type checkers, which would accept every name.
        def __getattr__(self, name):
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("_"):
                raise AttributeError(message)
            if name in ARRAY_ADVICE:
                raise AttributeError(f"{message}; {ARRAY_ADVICE[name]}")
            if is_of_numpy(name):
                error = AttributeError(message)
                # A note, so that the message is the one that programs and articles have.
                error.add_note(numpy_advice(name))
                raise error
            raise AttributeError(Suggesting(message, name, lambda: dir(Array)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Array)
            and self._location.store == other._location.store
            and self._options.read_only == other._options.read_only
            and self._location.path == other._location.path
            and not self._options.is_view
        )

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self._location.path else ""
        read_only = " read-only" if self._options.read_only else ""
        return f"<{type_name(self)}{name} {self.shape} {self.dtype}{read_only}>"


# Python's errors about missing arguments name the function so, and a private class says nothing.
Array.__init__.__qualname__ = "Array"
