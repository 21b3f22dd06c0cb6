"""Reading and writing by every kind of selection, each as methods and as an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._array.indexes import BlockIndex, OIndex, VIndex
from zarrix._array.transfer import Transfer
from zarrix._selection import windows
from zarrix._selection.basic import Fields
from zarrix._selection.fancy import (
    Indexer,
    Rule,
    resolve,
    resolve_mask,
    resolve_orthogonal,
    resolve_points,
)
from zarrix._selection.values import as_out, fill_element

if TYPE_CHECKING:
    from zarrix._array.lazy import LazyArray
    from zarrix._array.plan import ReadPlan

__all__ = ["BlockIndex", "OIndex", "Selecting", "VIndex"]

_UNSET: Any = object()


class Selecting(Transfer):
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
        # Imported when called, for import time: few programs compose views.
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
        return self._read(selection, out, fields, self.blocks._rule)

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
        self._write_selection(selection, value, fields, self.blocks._rule)

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
        # Imported when called, for import time: few programs plan their reads.
        from zarrix._array.plan import plan

        self._refresh()
        _, selection = self._fields_and_key(None, selection)
        return plan(self, rule(selection, self._metadata.shape))


def _either(selection: Any, mask: Any) -> Any:
    """The one that is given of two words for the same."""
    if (selection is None) == (mask is None):
        raise TypeError("give a mask, by position or as mask=")
    return mask if selection is None else selection


def _strict_points(key: Any, shape: tuple[int, ...]) -> Indexer:
    return resolve_points(key, shape, strict=True)
