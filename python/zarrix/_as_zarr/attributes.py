"""Private attributes of zarr-python's arrays that programs read; ours have them under the alias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zarrix._array.array import Array
from zarrix._as_zarr.names.core import array as walks
from zarrix._codecs.classes import ShardingCodec
from zarrix._hierarchy.asynchronous import AsyncArray
from zarrix._metadata.array import ArrayMetadata

__all__ = ["add_attributes", "remove_attributes"]

_SIDES = (Array, AsyncArray)

_READ = {
    "_zdtype": walks.data_type,
    "_chunk_grid": walks.chunk_grid,
    "_chunk_grid_shape": walks.chunk_grid_shape,
    "_shard_grid_shape": walks.shard_grid_shape,
    "_nshards": walks.count_shards,
}
_CALLED: dict[str, Callable[..., Any]] = {
    "_iter_chunk_coords": walks.iter_chunk_coords,
    "_iter_shard_coords": walks.iter_shard_coords,
    "_iter_shard_keys": walks.iter_shard_keys,
    "_iter_chunk_regions": walks.iter_chunk_regions,
    "_iter_shard_regions": walks.iter_shard_regions,
}


def _chunks(metadata: ArrayMetadata) -> tuple[int, ...]:
    """The shape of the chunks, or of the inner chunks of shards."""
    return _regular(metadata).inner_chunk_shape


def _shards(metadata: ArrayMetadata) -> tuple[int, ...] | None:
    """The shape of the shards."""
    return None if metadata.shard_codec is None else _regular(metadata).chunk_shape


def _regular(metadata: ArrayMetadata) -> ArrayMetadata:
    if metadata.rectilinear is not None:
        raise NotImplementedError("the array has a rectilinear grid: read chunk_grid of metadata")
    return metadata


def _inner_codecs(metadata: ArrayMetadata) -> tuple[Any, ...]:
    """The codecs of a chunk, or of an inner chunk of shards."""
    codecs: Any = metadata.codecs
    inner = next((one.codecs for one in codecs if isinstance(one, ShardingCodec)), codecs)
    return tuple(inner)


# VirtualiZarr asks metadata for them.
_OF_METADATA = {"chunks": _chunks, "shards": _shards, "inner_codecs": _inner_codecs}


def add_attributes() -> None:
    """Give arrays the attributes."""
    for name, found in _OF_METADATA.items():
        setattr(ArrayMetadata, name, property(found))
    for kind in _SIDES:
        for name, read in _READ.items():
            setattr(kind, name, property(read))
        for name, called in _CALLED.items():
            setattr(kind, name, called)


def remove_attributes() -> None:
    """Take them away."""
    for name in _OF_METADATA:
        delattr(ArrayMetadata, name)
    for kind in _SIDES:
        for name in (*_READ, *_CALLED):
            delattr(kind, name)
