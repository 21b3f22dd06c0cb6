"""Private attributes of zarr-python's arrays that programs read; ours have them under the alias."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from zarrix._array.array import Array
from zarrix._as_zarr.names.core.chunk_grids import ChunkGrid
from zarrix._as_zarr.names.core.indexing import iter_grid
from zarrix._hierarchy.asynchronous import AsyncArray

__all__ = ["add_attributes", "remove_attributes"]

_SIDES = (Array, AsyncArray)


def data_type(array: Any) -> Any:
    """The object of the data type."""
    return array.metadata.data_type


def chunk_grid(array: Any) -> ChunkGrid:
    """All chunks, or shards."""
    return ChunkGrid.from_metadata(array.metadata)


def chunk_grid_shape(array: Any) -> tuple[int, ...]:
    """Chunks, or inner chunks of shards, along each axis."""
    pairs = zip(array.metadata.inner_grid, array.shape, strict=True)
    return tuple(axis.count(length) for axis, length in pairs)


def shard_grid_shape(array: Any) -> tuple[int, ...]:
    """Stored chunks along each axis: shards, if there are shards."""
    found: tuple[int, ...] = array.metadata.chunk_grid_shape
    return found


def count_shards(array: Any) -> int:
    """Stored chunks of an array that is all written."""
    return math.prod(shard_grid_shape(array))


def iter_shard_coords(
    array: Any, *, origin: Any = None, selection_shape: Any = None
) -> Iterator[tuple[int, ...]]:
    """The coordinates of a box of stored chunks, all when omitted, in C order."""
    return iter_grid(shard_grid_shape(array), origin=origin, selection_shape=selection_shape)


def iter_chunk_coords(
    array: Any, *, origin: Any = None, selection_shape: Any = None
) -> Iterator[tuple[int, ...]]:
    """The same of chunks, also of those in shards."""
    return iter_grid(chunk_grid_shape(array), origin=origin, selection_shape=selection_shape)


def iter_shard_keys(
    array: Any, *, origin: Any = None, selection_shape: Any = None
) -> Iterator[str]:
    """The keys of a box of stored chunks, below the array."""
    for coords in iter_shard_coords(array, origin=origin, selection_shape=selection_shape):
        yield array.metadata.encode_chunk_key(coords)


def iter_shard_regions(
    array: Any, *, origin: Any = None, selection_shape: Any = None
) -> Iterator[tuple[slice, ...]]:
    """The regions of a box of stored chunks."""
    box = iter_shard_coords(array, origin=origin, selection_shape=selection_shape)
    return _regions(array.metadata.grid, array.shape, box)


def iter_chunk_regions(
    array: Any, *, origin: Any = None, selection_shape: Any = None
) -> Iterator[tuple[slice, ...]]:
    """The regions of a box of chunks, also of those in shards."""
    box = iter_chunk_coords(array, origin=origin, selection_shape=selection_shape)
    return _regions(array.metadata.inner_grid, array.shape, box)


def _regions(
    axes: tuple[Any, ...], shape: tuple[int, ...], box: Iterator[tuple[int, ...]]
) -> Iterator[tuple[slice, ...]]:
    for coords in box:
        found = [axis.chunk(number) for axis, number in zip(axes, coords, strict=True)]
        yield tuple(
            slice(chunk.begin, min(chunk.end, length), 1)
            for chunk, length in zip(found, shape, strict=True)
        )


_READ = {
    "_zdtype": data_type,
    "_chunk_grid": chunk_grid,
    "_chunk_grid_shape": chunk_grid_shape,
    "_shard_grid_shape": shard_grid_shape,
    "_nshards": count_shards,
}
_CALLED: dict[str, Callable[..., Any]] = {
    "_iter_chunk_coords": iter_chunk_coords,
    "_iter_shard_coords": iter_shard_coords,
    "_iter_shard_keys": iter_shard_keys,
    "_iter_chunk_regions": iter_chunk_regions,
    "_iter_shard_regions": iter_shard_regions,
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
