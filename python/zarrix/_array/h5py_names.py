"""Methods of h5py's datasets that have an equivalent here.

They are methods of arrays. Every other name of h5py's datasets is an error that says what to write
instead. `zarrix._hierarchy.h5py_names` has the names of groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zarrix._array.facts import ArrayFacts
from zarrix._metadata.chunk_grid import AxisGrid, combinations
from zarrix._nodes.on_demand import on_demand
from zarrix._stores.base import Store

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group

__all__ = ["ARRAY_ADVICE", "COMMON_ADVICE", "DatasetTerms", "flush", "group_at"]


class DatasetTerms(ArrayFacts):
    """The methods of h5py's datasets; a base of every array."""

    __slots__ = ()

    @property
    def parent(self) -> Group | None:
        """The group that the array is in; None for an array at the root of its store."""
        path = self._location.path
        return group_at(self, path.rpartition("/")[0]) if path else None

    @property
    def file(self) -> Group:
        """The group at the root of the store."""
        return group_at(self, "")

    @property
    def maxshape(self) -> tuple[None, ...]:
        """None for each axis, because every array can be resized without a limit."""
        return (None,) * len(self._snapshot.metadata.shape)

    def len(self) -> int:
        """Length of the first axis.

        Returns
        -------
        int

        Raises
        ------
        TypeError
            The array has no axes.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros((4, 6)).len()
        4
        """
        return len(self)

    def flush(self) -> None:
        """Write buffered changes of the store; only a zip archive has any.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(3, store=zarr.ZipStore("data.zip", mode="w"))
        >>> z[:] = 1
        >>> z.flush()
        >>> zarr.open("data.zip", mode="r")[:]
        array([1., 1., 1.])
        """
        flush(self._stores())

    def iter_chunks(self, sel: Any = None) -> Iterator[tuple[slice, ...]]:
        """The regions of the chunks (or shards), in C order.

        Parameters
        ----------
        sel : slice, or tuple of slices with a step of one, optional
            The part to iterate over; chunks are cut at its borders. The whole array when omitted.

        Yields
        ------
        tuple of slice
            For ``array[region]``.

        Raises
        ------
        TypeError
            The array has no axes, or ``sel`` contains an item that is not a slice.
        ValueError
            A slice has a step other than one.

        Examples
        --------
        >>> import zarrix as zarr
        >>> list(zarr.zeros(5, chunks=2).iter_chunks())
        [(slice(0, 2, None),), (slice(2, 4, None),), (slice(4, 5, None),)]
        """
        shape = self.shape
        if not shape:
            raise TypeError("an array without axes has no chunks to iterate over")
        wanted = (sel,) if isinstance(sel, slice) else tuple(sel or ())
        wanted += (slice(None),) * (len(shape) - len(wanted))
        if len(wanted) > len(shape) or not all(isinstance(one, slice) for one in wanted):
            raise TypeError(f"sel is a slice for each of the {len(shape)} axes, not {sel!r}")
        ranges = [one.indices(size) for one, size in zip(wanted, shape, strict=True)]
        if any(step != 1 for _, _, step in ranges):
            raise ValueError(f"sel has slices with a step of one, not {sel!r}")
        grid = self._snapshot.metadata.grid
        axes = [_Pieces(axis, *ends[:2]) for axis, ends in zip(grid, ranges, strict=True)]
        yield from combinations(axes)


class _Pieces:
    """The parts of the chunks of an axis between ``begin`` and ``end``."""

    def __init__(self, axis: AxisGrid, begin: int, end: int) -> None:
        self._axis, self._begin, self._end = axis, begin, end

    def __iter__(self) -> Iterator[slice]:
        begin = self._begin
        while begin < self._end:
            stop = min(self._end, self._axis.find(begin).end)
            yield slice(begin, stop)
            begin = stop


def group_at(node: Any, path: str) -> Group:
    """The group at ``path`` in the store of ``node``, opened in the same way."""
    group: Group = on_demand("Group")(
        node._location.store,
        path=path,
        read_only=node.read_only,
        chunk_store=node._location.chunk_store,
        synchronizer=node.synchronizer,
        zarr_version=node.zarr_format,
    )
    return group


def flush(stores: list[Store]) -> None:
    """Write buffered changes of ``stores``."""
    for store in stores:
        method = getattr(store, "flush", None)
        if method is not None:
            method()


COMMON_ADVICE = {
    "id": "zarrix has no HDF5 handles",
    "ref": "references are not supported; store the path, array.path",
    "regionref": "references are not supported; store the path and the selection",
}
"""Names of h5py's datasets and groups that nodes here do not have, and what to write instead."""

ARRAY_ADVICE = {
    **COMMON_ADVICE,
    "asstr": "elements of dtype=str are str already",
    "fields": "index with the names of fields: array['a'] or array[['a', 'b']]",
    "read_direct": "use read(selection, out=array)",
    "write_direct": "assign: array[selection] = value",
    "fillvalue": "use fill_value",
    "compression": "use compressor (v2) or compressors",
    "compression_opts": "use compressor (v2) or compressors",
    "shuffle": "use compressor, filters",
    "fletcher32": "use filters; checksum=True on creation adds one",
    "scaleoffset": "use filters",
    "dims": "use metadata.dimension_names (v3), or the attribute _ARRAY_DIMENSIONS",
    "make_scale": "use dimension_names= on creation (v3)",
    "is_virtual": "virtual datasets are not supported",
    "virtual_sources": "virtual datasets are not supported",
    "external": "use chunk_store",
    "refresh": "stored elements are visible at once; cache_metadata=False also shows new shapes",
}
"""The same for h5py's datasets."""
