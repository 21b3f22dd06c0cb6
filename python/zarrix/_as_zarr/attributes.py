"""Private attributes of zarr-python's arrays that programs read; ours have them under the alias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zarrix._array.array import Array
from zarrix._as_zarr.names.core import array as walks
from zarrix._hierarchy.asynchronous import AsyncArray

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


def add_attributes() -> None:
    """Give arrays the attributes."""
    for kind in _SIDES:
        for name, read in _READ.items():
            setattr(kind, name, property(read))
        for name, called in _CALLED.items():
            setattr(kind, name, called)


def remove_attributes() -> None:
    """Take them away."""
    for kind in _SIDES:
        for name in (*_READ, *_CALLED):
            delattr(kind, name)
