"""Private attributes of zarr-python's arrays that programs read; ours have them under the alias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from zarrix._array.array import Array
from zarrix._as_zarr.names.core import array as walks
from zarrix._codecs.classes import ShardingCodec
from zarrix._hierarchy.asynchronous import AsyncArray
from zarrix._metadata.array import ArrayMetadata

__all__ = ["add_attributes", "remove_attributes"]

_SIDES = (Array, AsyncArray)
_make = ArrayMetadata.__init__
# An argument that was not given.
_KEPT = object()

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


def _made(
    self: ArrayMetadata,
    *values: Any,
    attributes: Any = _KEPT,
    dimension_names: Any = _KEPT,
    **members: Any,
) -> None:
    """Make metadata, also of what `dataclasses.replace` replaces and the class has no field for."""
    _make(self, *values, **members)
    if attributes is not _KEPT and self.zarr_format == 2:
        vars(self)["zattrs"] = attributes
    elif attributes is not _KEPT:
        vars(self)["extra"] = {**self.extra, "attributes": attributes}
    if dimension_names is not _KEPT:
        vars(self)["extra"] = _named(self, dimension_names)


def _named(metadata: ArrayMetadata, names: Sequence[str | None] | None) -> dict[str, Any]:
    """The document of v3 with names of the axes, or without."""
    if metadata.zarr_format == 2:
        raise TypeError("metadata of v2 has no dimension_names; store them as attributes")
    if names is not None and len(names) != metadata.ndim:
        raise ValueError(f"{len(names)} dimension_names for an array with {metadata.ndim} axes")
    found = {key: one for key, one in metadata.extra.items() if key != "dimension_names"}
    return found if names is None else {**found, "dimension_names": [*names]}


# VirtualiZarr asks metadata for them.
_OF_METADATA = {"chunks": _chunks, "shards": _shards, "inner_codecs": _inner_codecs}


def add_attributes() -> None:
    """Give arrays the attributes, and their metadata the members that programs replace."""
    ArrayMetadata.__init__ = _made  # type: ignore[method-assign]  # While it runs as zarr.
    for name, found in _OF_METADATA.items():
        setattr(ArrayMetadata, name, property(found))
    for kind in _SIDES:
        for name, read in _READ.items():
            setattr(kind, name, property(read))
        for name, called in _CALLED.items():
            setattr(kind, name, called)


def remove_attributes() -> None:
    """Take them away."""
    ArrayMetadata.__init__ = _make  # type: ignore[method-assign]  # As it was.
    for name in _OF_METADATA:
        delattr(ArrayMetadata, name)
    for kind in _SIDES:
        for name in (*_READ, *_CALLED):
            delattr(kind, name)
