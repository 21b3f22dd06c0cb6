"""A stored array as a dask array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.open_array import open_array

if TYPE_CHECKING:
    import dask.array

__all__ = ["from_array"]


def from_array(
    array: Any,
    chunks: Any = "auto",
    *,
    name: str | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> dask.array.Array:
    """A stored array as a dask array, whose blocks are read when they are computed.

    Equal arrays get equal names in all processes, at the cost of no request. A name tells one array
    from another, and not from what it contained before: call `dask.array.Array.persist` again after
    elements have changed.

    Parameters
    ----------
    array : Array, Store, mapping, str or Path
        Anything but an array is opened by `zarrix.open_array`.
    chunks : "auto", tuple, int or str, optional
        Lengths of the blocks, as in `dask.array.from_array`. By default, blocks are unions of
        stored chunks (or shards) of about ``array.chunk-size`` bytes of dask's configuration, so
        that each is decoded once.
    name : str, optional
        The key of the array in the graph; made of the identity of the array when omitted.
    path : str, optional
        Path of the array in the store, if a store is passed.
    storage_options : mapping, optional
        For a store named by a URL.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    ArrayNotFoundError
        The array does not exist.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr, zarrix.dask
    >>> z = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
    >>> zarrix.dask.from_array(z, chunks=(2, 4)).sum(axis=1).compute()
    array([ 6, 22, 38])
    """
    # Optional package: dask.
    import dask.array

    # Optional package: dask.
    from dask.base import tokenize

    if not isinstance(array, Array):
        array = open_array(array, "r", path=path, storage_options=storage_options)
    elif path is not None or storage_options is not None:
        raise TypeError("path and storage_options are for stores, and not for an open array")
    blocks = _blocks(array, chunks)
    found: dask.array.Array = dask.array.from_array(
        array if metadata_of(array).rectilinear is None else _Rectilinear(array),
        chunks=blocks,
        name=name or f"zarrix-{tokenize(array, blocks)}",
        lock=False,
        # Results are NumPy arrays already, and the array itself is small in every task.
        asarray=False,
        inline_array=True,
        meta=np.empty((0,) * array.ndim, array.dtype),
    )
    return found


class _Rectilinear:
    """An array without ``chunks`` and ``shards``, in which dask expects a length for each axis."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]


def _blocks(array: Array, chunks: Any) -> Any:
    # Optional package: dask.
    from dask.array.core import normalize_chunks

    metadata = metadata_of(array)
    if isinstance(chunks, str) and chunks == "auto" and metadata.rectilinear is not None:
        chunks = tuple(lengths or (0,) for lengths in array.write_chunk_sizes)
    return normalize_chunks(
        chunks, array.shape, dtype=array.dtype, previous_chunks=metadata.chunk_shape
    )
