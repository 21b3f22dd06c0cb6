"""Names of ``zarr.core.array``: functions that are coroutines there, and codecs of arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from zarrix._array.arguments import arguments_of_v2
from zarrix._array.config import ArrayConfig
from zarrix._as_zarr.names.core.chunk_grids import ChunkGrid
from zarrix._as_zarr.names.core.chunk_key_encodings import parse_chunk_key_encoding
from zarrix._as_zarr.names.core.indexing import iter_grid
from zarrix._codecs.chain import split_chain
from zarrix._codecs.classes import codec_from_dict
from zarrix._codecs.normalize import chain_documents
from zarrix._codecs.numcodecs import shown_codec
from zarrix._metadata import v2
from zarrix.api.asynchronous import create_array, from_array

__all__ = [
    "ArrayConfig",
    "CompressorLike",
    "CompressorsLike",
    "FiltersLike",
    "SerializerLike",
    "ShardsLike",
    "create_array",
    "from_array",
]

CompressorLike = CompressorsLike = FiltersLike = SerializerLike = ShardsLike = Any


def _parse_chunk_encoding_v3(
    *, compressors: Any, filters: Any, serializer: Any, dtype: Any
) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """The filters, the serializer and the compressors of an array that is created with these.

    Raises
    ------
    BadCompressorError, UnknownCodecError
        One of them is not a codec of v3, or belongs to another parameter.
    """
    documents = chain_documents(filters, serializer, compressors, dtype.to_native_dtype())
    arrays, (packer,), binary = split_chain(documents)
    return (
        tuple(map(codec_from_dict, arrays)),
        codec_from_dict(packer),
        tuple(map(codec_from_dict, binary)),
    )


def _parse_chunk_encoding_v2(
    *, compressor: Any, filters: Any, dtype: Any
) -> tuple[tuple[Any, ...] | None, Any]:
    """The filters and the compressor of a v2 array that is created with these; None for none.

    Raises
    ------
    BadCompressorError, UnknownCodecError, TypeError
        One of them is not a codec of v2, or the data type needs another one.
    """
    given = {"shape": 1, "dtype": dtype.to_native_dtype()}
    words = arguments_of_v2(None, None, {**given, "compressors": compressor, "filters": filters})
    made = v2.new_array(**words)
    config, filter_configs = made.compressor_config, made.filter_configs
    shown = None if config is None else shown_codec(config, made.where)
    if filter_configs is None:
        return None, shown
    return tuple(shown_codec(one, made.where) for one in filter_configs), shown


def _parse_chunk_key_encoding(data: Any, zarr_format: int) -> Any:
    """The encoding of the keys of chunks, by default that of the format.

    Raises
    ------
    ValueError
        It is not an encoding, or not one of v2 where the format is v2.
    """
    default = {"name": "v2" if zarr_format == 2 else "default"}
    found = parse_chunk_key_encoding(default if data is None else data)
    if zarr_format == 2 and found.name != "v2":
        raise ValueError(f"chunk_key_encoding {found.name!r}: a v2 array has the encoding 'v2'")
    return found


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


_iter_chunk_coords, _iter_shard_coords = iter_chunk_coords, iter_shard_coords
_iter_chunk_regions, _iter_shard_regions = iter_chunk_regions, iter_shard_regions
_iter_shard_keys = iter_shard_keys
