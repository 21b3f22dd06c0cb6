"""The elements of a stored array, as xarray's lazy variables read them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.coding.strings import create_vlen_dtype
from xarray.core import indexing

from zarrix._array.access import metadata_of
from zarrix._array.array import Array

__all__ = ["StoredVariable", "sizes"]

_VLEN_UTF8 = "vlen-utf8"


class StoredVariable(BackendArray):
    """An array that xarray indexes lazily, in memory or in a coroutine.

    Selections go to the engine as they are: it has basic, orthogonal and pointwise selections, with
    steps of any sign. xarray's adapter would divide them first.
    """

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = _shown_dtype(array)

    def get_array(self) -> Array:
        """The array itself."""
        return self._array

    def _reader(self, key: indexing.ExplicitIndexer) -> Callable[[Any], Any]:
        if isinstance(key, indexing.VectorizedIndexer):
            return self._array.vindex.__getitem__
        if isinstance(key, indexing.OuterIndexer):
            return self._array.oindex.__getitem__
        return self._array.__getitem__

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return self._shown(self._reader(key)(key.tuple))

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """The same, in a thread, so that the event loop goes on meanwhile."""
        return self._shown(await asyncio.to_thread(self._reader(key), key.tuple))

    def _shown(self, value: Any) -> Any:
        # A str of a text array has no dtype, and v2 has text as objects.
        if self.dtype.kind == "T":
            return np.asarray(value, dtype=self.dtype)
        return value


def _shown_dtype(array: Array) -> np.dtype[Any]:
    """The dtype that xarray's own backend gives to this array."""
    dtype = array.dtype
    if dtype.kind == "O" and _is_text(array):
        string = getattr(np.dtypes, "StringDType", None)
        dtype = create_vlen_dtype(str) if string is None else string()
    return dtype


def _is_text(array: Array) -> bool:
    return any(codec["name"].endswith(_VLEN_UTF8) for codec in metadata_of(array).codecs)


def sizes(array: Array) -> tuple[tuple[Any, ...], Any]:
    """Lengths of the chunks (or inner chunks), and of the shards, along each axis.

    An axis of equal chunks has one length, and another axis the tuple of all.
    """
    metadata = metadata_of(array)
    if metadata.rectilinear is None:
        shards = None if metadata.shard_codec is None else metadata.chunk_shape
        return metadata.inner_chunk_shape, shards
    chunks = tuple(map(_compact, array.read_chunk_sizes))
    if metadata.shard_codec is None:
        return chunks, None
    return chunks, tuple(map(_compact, array.write_chunk_sizes))


def _compact(lengths: tuple[int, ...]) -> int | tuple[int, ...]:
    if not lengths:
        # dask refuses an axis without chunks.
        return (0,)
    is_regular = len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]
    return lengths[0] if is_regular else lengths
