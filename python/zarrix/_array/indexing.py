"""Reading and writing by every kind of selection, each as methods and as an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._array.facts import ArrayFacts
from zarrix._array.indexes import BlockIndex, OIndex, VIndex
from zarrix._array.transfer import read_selection, write_selection
from zarrix._errors import ArrayNotFoundError
from zarrix._metadata.array import ArrayMetadata
from zarrix._selection import windows
from zarrix._selection.basic import Fields
from zarrix._selection.fancy import (
    Indexer,
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


class Selecting(ArrayFacts):
    """The selections of an array; users see `Array`."""

    __slots__ = ()

    # Public: by rule

    @property
    def oindex(self) -> OIndex:
        """Orthogonal selections, one axis at a time: ``z.oindex[[4, 1], :, mask]``."""
        return OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """Selections of points: ``z.vindex[[4, 1], [0, 2]]`` is two elements."""
        return VIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Selections of complete chunks (or shards): ``z.blocks[0, 1:3]``."""
        return BlockIndex(self)

    @property
    def lazy(self) -> LazyArray:
        """The array as a lazy view: ``z.lazy[10:20].T[::2]`` composes, and ``[...]`` reads."""
        # Imported when called, for import time: few programs compose views.
        from zarrix._array.lazy import LazyArray

        return LazyArray.of(self)

    def sel(
        self,
        indexers: Mapping[str, Any] | None = None,
        /,
        *,
        method: str | None = None,
        tolerance: Any = None,
        wrap: Any = None,
        **labels: Any,
    ) -> LazyArray:
        """A lazy view by labels: dates, degrees, names; only coordinates are read.

        The labels of a dimension are the elements of the array of its name in the same group,
        decoded by the CF conventions. The rules are those of `Group.sel`.

        Parameters
        ----------
        indexers : mapping of str to label, optional
            The labels of dimensions whose names cannot be keywords.
        method : {'nearest', 'pad', 'backfill'}, optional
            Which other label may stand for one that is not there.
        tolerance : number or timedelta, optional
            The greatest distance of that label.
        wrap : number, or mapping of str to number, optional
            The period of a dimension, such as 360 degrees.
        **labels : label, slice, sequence of labels, or boolean array
            One for each dimension that is selected along.

        Returns
        -------
        LazyArray

        Raises
        ------
        LabelError
            A label is not there, a slice meets none, or a dimension has no coordinate (also a
            ``KeyError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> lat = root.create_array("lat", data=[60, 45, 30], dimension_names=["lat"])
        >>> z = root.create_array("z", data=[1, 2, 3], dimension_names=["lat"])
        >>> z.sel(lat=slice(60, 40))[...], z.sel(lat=30)[...]
        (array([1, 2]), np.int64(3))
        """
        # Imported when called: few programs select by labels.
        from zarrix._array.by_label import lazy_by_label, merged
        from zarrix._labels._key import manner_of

        asked = merged(indexers, labels)
        return lazy_by_label(self, asked, manner_of(method, tolerance, wrap))

    def isel(self, indexers: Mapping[str, Any] | None = None, /, **indices: Any) -> LazyArray:
        """A lazy view by indices along dimensions, which are given by name.

        Parameters
        ----------
        indexers : mapping of str to index, optional
            The indices along dimensions whose names cannot be keywords.
        **indices : int, slice, integer or boolean array
            One for each dimension that is selected along.

        Returns
        -------
        LazyArray

        Raises
        ------
        LabelError
            The array has no such dimension (also a ``KeyError``).
        BoundsCheckError
            An index is out of range (also an ``IndexError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.create_array({}, data=[[1, 2], [3, 4]], dimension_names=["y", "x"])
        >>> z.isel(x=-1)[...]
        array([2, 4])
        """
        # Imported when called: few programs select by names of dimensions.
        from zarrix._array.by_label import lazy_by_index, merged

        return lazy_by_index(self, merged(indexers, indices))

    def get_orthogonal_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        """Read a selection that is made along each axis independently.

        Parameters
        ----------
        selection : int, slice, integer or boolean array, Ellipsis, or a tuple of these
            Arrays have one axis; integers may be in any order, repeated and negative.
        out : ndarray or writable buffer, optional
            Has the shape of the selection; filled and returned.
        fields : str or list of str, optional
            The fields of a structured dtype to read.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray or NumPy scalar

        Raises
        ------
        BoundsCheckError
            An index is out of range for its axis (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> z.get_orthogonal_selection(([2, 0], [1, 1, 3]))
        array([[ 9,  9, 11],
               [ 1,  1,  3]])
        """
        return read_selection(self, selection, out, fields, resolve_orthogonal)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None
    ) -> None:
        """Write a selection that is made along each axis independently.

        If an index is repeated, the last value is stored.

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
            An index is out of range for its axis (also an ``IndexError``).
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
        write_selection(self, selection, value, fields, resolve_orthogonal)

    def get_coordinate_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        """Read elements by their coordinates.

        A million points in any order cost one call: they are sorted by chunk first, and each chunk
        is fetched and decoded once.

        Parameters
        ----------
        selection : tuple of int and integer arrays, one per axis
            They are broadcast; the result has their shape.
        out : ndarray or writable buffer, optional
            Has the shape of the selection; filled and returned.
        fields : str or list of str, optional
            The fields of a structured dtype to read.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray

        Raises
        ------
        BoundsCheckError
            A coordinate is out of range for its axis (also an ``IndexError``).
        VindexInvalidSelectionError
            There is not one array of integers per axis (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> z.get_coordinate_selection(([2, 0], [1, 3]))
        array([9, 3])
        """
        return read_selection(self, selection, out, fields, _strict_points)

    def set_coordinate_selection(
        self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None
    ) -> None:
        """Write elements by their coordinates; if one is repeated, the last value is stored.

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
            A coordinate is out of range for its axis (also an ``IndexError``).
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
        write_selection(self, selection, value, fields, _strict_points)

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
            The fields of a structured dtype to read.
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
        return read_selection(self, _either(selection, mask), out, fields, resolve_mask)

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
        write_selection(self, _either(selection, mask), value, fields, resolve_mask)

    def get_block_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        """Read complete chunks (or shards) by their position in the grid.

        Parameters
        ----------
        selection : int, slice with a step of 1, Ellipsis, or a tuple of these
            An integer keeps its axis, and selects the length of a chunk.
        out : ndarray or writable buffer, optional
            Has the shape of the selection; filled and returned.
        fields : str or list of str, optional
            The fields of a structured dtype to read.
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays, or ``out``.

        Returns
        -------
        ndarray

        Raises
        ------
        BoundsCheckError
            A block is outside the grid (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(10), chunks=4)
        >>> z.get_block_selection(-1)
        array([8, 9])
        """
        return read_selection(self, selection, out, fields, self.blocks._rule)

    def set_block_selection(
        self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None
    ) -> None:
        """Write complete chunks (or shards) by their position in the grid.

        Parameters
        ----------
        selection : int, slice with a step of 1, Ellipsis, or a tuple of these
            An integer keeps its axis, and selects the length of a chunk.
        value : array-like
            Broadcasts to the selection.
        fields : str, optional
            The field to write; the others of these elements keep their values.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        BoundsCheckError
            A block is outside the grid (also an ``IndexError``).
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
        write_selection(self, selection, value, fields, self.blocks._rule)

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

        A chunk is fetched and decoded once per call, even if several windows touch it. Apart from
        the result, a call uses the memory of a few chunks per thread.

        Parameters
        ----------
        starts : array of int, shape (N, ndim)
            The lowest corner of each window; for an array with one axis, shape (N,) is accepted.
        shape : int or tuple of int
            Shape of a window; an int applies to all axes.
        out : ndarray or writable buffer, shape (N, n0, n1, ...), optional
            Filled in place, with any strides. A new array when omitted.
        outside : {"error", "pad"}
            What to do if a window extends beyond the array: raise an error, or fill with
            ``pad_value``.
        pad_value : scalar, optional
            The array's fill value when omitted.

        Returns
        -------
        ndarray, shape (N, n0, n1, ...), dtype ``self.dtype``

        Raises
        ------
        BoundsCheckError
            A window extends beyond the array (also an ``IndexError``); nothing was read.

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
        snapshot, cast_to = self._current(), self._options.cast_to
        metadata = snapshot.metadata
        corners, size = windows.check(starts, shape, metadata.shape)
        leaving = windows.leaving(corners, size, metadata.shape, outside)
        wanted = (len(corners), *size)
        padding = _padding(metadata, pad_value, outside)
        result: Any = None
        if out is not None:
            given = as_out(out, metadata.dtype if cast_to is None else cast_to, wanted)
            result = given if cast_to is None else None
        if result is None:
            result = np.empty(wanted, metadata.dtype)
        if leaving is not None:
            result[leaving] = padding
        buffer: Any = corners
        try:
            snapshot.io.read_windows(buffer, result, leaving is not None)
        except ArrayNotFoundError as error:
            followed = self._followed(snapshot, error)
            if followed is None:
                raise
            followed.io.read_windows(buffer, result, leaving is not None)
        if cast_to is not None:
            result = result.astype(cast_to)
            if out is not None:
                given[...] = result
        return result if out is None else out

    def plan(self, selection: Any = ...) -> ReadPlan:
        """The chunks that ``z[selection]`` would touch and fetch, without reading them.

        Asks the store for the lengths of chunks, and for shard indexes.

        Parameters
        ----------
        selection : as for ``z[selection]``
            For other kinds of selection, use for example ``z.oindex.plan(selection)``.

        Returns
        -------
        ReadPlan
            Counts of chunks, shards, requests and bytes, and how the read is done; `print` shows
            it as a sentence.

        Raises
        ------
        BoundsCheckError
            An index lies outside ``self.shape`` (also an ``IndexError``).

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.zeros((100, 100), "f4"), chunks=(10, 100), compressor=None)
        >>> print(z.plan((slice(None), 0)))
        Touches 10 chunks; fetches 39.1 KiB in 10 requests (whole chunks) and uses 400 B of
        39.1 KiB of chunks (amplification 100).
        """
        # Imported when called, for import time: few programs plan their reads.
        from zarrix._array.plan import plan_of

        return plan_of(self, selection, resolve)


def _padding(metadata: ArrayMetadata, pad_value: Any, outside: str) -> Any:
    if pad_value is None:
        return fill_element(metadata.dtype, metadata.fill_value)
    if outside != "pad":
        raise ValueError("pad_value= is for windows that leave the array: add outside='pad'")
    padding = np.empty((), metadata.dtype)
    padding[()] = pad_value
    return padding


def _either(selection: Any, mask: Any) -> Any:
    """The value of an argument with two names."""
    if (selection is None) == (mask is None):
        raise TypeError("give a mask, by position or as mask=")
    return mask if selection is None else selection


def _strict_points(key: Any, shape: tuple[int, ...]) -> Indexer:
    return resolve_points(key, shape, strict=True)
