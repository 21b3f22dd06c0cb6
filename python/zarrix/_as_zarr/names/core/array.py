"""Names of ``zarr.core.array``: functions that are coroutines there, types, and codecs of arguments."""

from __future__ import annotations

from typing import Any

from zarrix._array.config import ArrayConfig
from zarrix._as_zarr.attributes import (
    iter_chunk_coords,
    iter_chunk_regions,
    iter_shard_coords,
    iter_shard_keys,
    iter_shard_regions,
)
from zarrix._codecs.chain import split_chain
from zarrix._codecs.classes import codec_from_dict
from zarrix._codecs.normalize import chain_documents
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


_iter_chunk_coords, _iter_shard_coords = iter_chunk_coords, iter_shard_coords
_iter_chunk_regions, _iter_shard_regions = iter_chunk_regions, iter_shard_regions
_iter_shard_keys = iter_shard_keys


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
