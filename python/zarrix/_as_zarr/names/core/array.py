"""Names of ``zarr.core.array``: functions that are coroutines there, and codecs of arguments."""

from __future__ import annotations

from typing import Any

from zarrix._array.arguments import arguments_of_v2
from zarrix._array.config import ArrayConfig
from zarrix._as_zarr.attributes import (
    iter_chunk_coords,
    iter_chunk_regions,
    iter_shard_coords,
    iter_shard_keys,
    iter_shard_regions,
)
from zarrix._as_zarr.names.core.chunk_key_encodings import parse_chunk_key_encoding
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
