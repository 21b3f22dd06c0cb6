"""dask arrays to stored arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from zarrix._array.access import writing
from zarrix._array.array import Array
from zarrix._array.create_array import create_array
from zarrix._array.keywords import V3RequireKeywords
from zarrix._nodes.location import Location
from zarrix._runtime.signatures import takes
from zarrix.dask._guard import require_shared
from zarrix.dask._sources import refuse_sources

if TYPE_CHECKING:
    import dask.array

__all__ = ["store", "to_zarr"]


def store(
    sources: dask.array.Array | Sequence[dask.array.Array],
    targets: Array | Sequence[Array],
    *,
    region: Any = None,
    compute: bool = True,
    return_stored: bool = False,
    scheduler: Any = None,
) -> Any:
    """Write dask arrays into stored arrays, block by block, without a lock and without rechunking.

    No element is lost if blocks share chunks or shards, whichever threads, processes and machines
    compute them. It is fastest if blocks are unions of stored chunks (or shards), because a chunk
    that blocks share is decoded and encoded for each of them.

    Parameters
    ----------
    sources : dask.array.Array, or sequence of these
    targets : Array, or sequence of these
        As many as ``sources``.
    region : tuple of slice, or list of these; optional
        Where to write in a target; the whole array when omitted.
    compute : bool
        False returns the task that writes.
    return_stored : bool
        True returns dask arrays that read what was stored.
    scheduler : str or callable, optional
        As for `dask.compute`.

    Returns
    -------
    None, or what `dask.array.store` returns

    Raises
    ------
    ReadOnlyError
        A target was opened for reading.
    ValueError
        A target is in the memory of this process, and other processes would write into copies; or
        the shapes of a source and its region differ.

    Examples
    --------
    >>> import dask.array, zarrix as zarr, zarrix.dask
    >>> z = zarr.open_array("data.zarr", mode="w", shape=10, chunks=4, dtype="i4")
    >>> zarrix.dask.store(dask.array.arange(6, chunks=3, dtype="i4"), z, region=(slice(2, 8),))
    >>> z[:]
    array([0, 0, 0, 1, 2, 3, 4, 5, 0, 0], dtype=int32)
    """
    # Optional package: dask.
    import dask.array

    blocks: list[Any] = [sources] if isinstance(targets, Array) else list(sources)
    arrays = [targets] if isinstance(targets, Array) else list(targets)
    regions = region if isinstance(region, list) else [region] * len(arrays)
    if not len(blocks) == len(arrays) == len(regions):
        raise ValueError(
            f"{len(blocks)} sources for {len(arrays)} targets and {len(regions)} regions"
        )
    slices = [_slices(array, where) for array, where in zip(arrays, regions, strict=True)]
    for source, array, where in zip(blocks, arrays, slices, strict=True):
        # Before any task begins: an error that is the same for all blocks.
        writing(array)
        _require_shape(source, array, where)
    require_shared(arrays, scheduler)
    return dask.array.store(
        blocks,
        arrays,
        lock=False,
        regions=slices,
        compute=compute,
        return_stored=return_stored,
        scheduler=scheduler,
    )


def _slices(array: Array, region: Any) -> tuple[slice, ...]:
    """The region of an array, with a slice for each axis."""
    given = (region,) if isinstance(region, slice) else () if region is None else tuple(region)
    if len(given) > array.ndim or not all(isinstance(one, slice) for one in given):
        raise ValueError(
            f"region is a tuple of at most {array.ndim} slices for {array!r}, not {region!r}"
        )
    whole = (slice(None),) * (array.ndim - len(given))
    ends = zip((*given, *whole), array.shape, strict=True)
    return tuple(slice(*one.indices(length)) for one, length in ends)


def _require_shape(source: Any, array: Array, region: tuple[slice, ...]) -> None:
    wanted = tuple(len(range(one.start, one.stop, one.step)) for one in region)
    if source.shape != wanted:
        raise ValueError(
            f"a dask array of shape {source.shape} does not fit a region of shape {wanted} of "
            f"{array!r}; broadcast it with dask.array.broadcast_to(), or resize the array"
        )


@takes(V3RequireKeywords, like=create_array)
def to_zarr(
    array: dask.array.Array,
    store: Any,
    *,
    name: str | None = None,
    region: Any = None,
    compute: bool = True,
    scheduler: Any = None,
    **options: Unpack[V3RequireKeywords],
) -> Any:
    """Write a dask array into an open array, or into a new one.

    Parameters
    ----------
    array : dask.array.Array
        With known chunk sizes.
    store : Array, Store, mapping, str or Path
        An open array is written; anywhere else, an array is created.
    name : str, optional
        Path of the new array in the store.
    region : tuple of slice, optional
        Where to write in an open array.
    compute : bool
        False returns the task that writes; a new array is created at once.
    scheduler : str or callable, optional
        As for `dask.compute`.
    **options
        As for `zarrix.create_array`: chunks, shards, compressors, overwrite, ... Chunks are as long
        as the longest blocks by default.

    Returns
    -------
    Array, or what `dask.array.store` returns
        The written array; with ``compute=False`` the task.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at the path, and ``overwrite`` is false.
    OverlapError
        The dask array is computed of what ``overwrite`` would remove.
    ValueError
        The dask array has unknown chunk sizes, or a region is passed for a new array.

    Examples
    --------
    >>> import dask.array, zarrix as zarr, zarrix.dask
    >>> x = dask.array.arange(10, chunks=(3, 4, 3))
    >>> zarrix.dask.to_zarr(x, "data.zarr", shards=8)
    <zarrix.core.Array (10,) int64>
    >>> zarr.open("data.zarr")[:]
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if isinstance(store, Array):
        if options or name is not None:
            given = ", ".join([*options, *(["name"] if name is not None else [])])
            raise TypeError(f"{given}: options of a new array, and {store!r} is open already")
        target = store
    else:
        if region is not None:
            raise ValueError("region is for an open array; a new one has the shape of the source")
        target = _created(array, store, name, options)
    task = _store(array, target, region=region, compute=compute, scheduler=scheduler)
    return task if task is not None else target


def _created(array: dask.array.Array, store: Any, name: str | None, options: Any) -> Array:
    """A new array like ``array``."""
    if any(length != length for length in array.shape):
        raise ValueError(
            f"the dask array has unknown chunk sizes, {array.chunks}; call its "
            "compute_chunk_sizes() first"
        )
    longest = tuple(max(1, *lengths) for lengths in array.chunks)
    arguments: dict[str, Any] = {
        "shape": array.shape,
        "dtype": array.dtype,
        "chunks": longest,
        **options,
    }
    if options.get("overwrite"):
        location = Location.of(store, name, storage_options=options.get("storage_options"))
        refuse_sources(location.store, location.path, [array])
    return create_array(store, name=name, **arguments)


# `to_zarr` has a parameter of that name.
_store = store
