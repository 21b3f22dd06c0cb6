"""Names of ``zarr.core.array``: functions that are coroutines there, types, and codecs of arguments."""

from __future__ import annotations

from typing import Any

from zarrix._array.config import ArrayConfig
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
