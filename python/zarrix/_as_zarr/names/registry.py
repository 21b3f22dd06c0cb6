"""Names of ``zarr.registry`` that zarrix lacks: the classes that are in use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from zarrix._as_zarr.names.core.chunk_key_encodings import ENCODINGS
from zarrix._as_zarr.names.core.codec_pipeline import BatchedCodecPipeline
from zarrix._codecs import registry
from zarrix._errors import UnknownCodecError
from zarrix._runtime.buffers import Buffer, NDBuffer

__all__ = [
    "get_buffer_class",
    "get_chunk_key_encoding_class",
    "get_codec_class",
    "get_ndbuffer_class",
    "get_numcodec",
    "get_pipeline_class",
]


def get_buffer_class(reload_config: bool = False) -> type[Buffer]:
    """The class of the bytes that stores give."""
    return Buffer


def get_ndbuffer_class(reload_config: bool = False) -> type[NDBuffer]:
    """The class of the memory that codecs fill."""
    return NDBuffer


def get_pipeline_class(reload_config: bool = False) -> type[BatchedCodecPipeline]:
    """The class that describes a chain of codecs; the engine encodes and decodes."""
    return BatchedCodecPipeline


def get_codec_class(key: str, reload_config: bool = False) -> type[Any]:
    """The class of a codec of v3, by its name.

    Raises
    ------
    UnknownCodecError
        There is none of this name.
    """
    try:
        return registry.get_codec_class(key, reload_config=reload_config)
    except KeyError:
        raise UnknownCodecError(
            f"An implementation for codec {key!r} is not available: register a class by "
            "register_codec, or install the package that has it"
        ) from None


def get_numcodec(data: Any) -> Any:
    """The codec of a configuration of numcodecs, such as ``{"id": "zlib", "level": 1}``.

    Raises
    ------
    UnknownCodecError
        No package has registered the codec.
    """
    # Import time: numcodecs.
    known = importlib.import_module("numcodecs.registry")
    name = data.get("id") if isinstance(data, Mapping) else None
    if isinstance(name, str) and name not in known.codec_registry and name not in known.entries:
        raise UnknownCodecError(f"the codec {name!r} is not registered with numcodecs")
    return known.get_codec(data)


def get_chunk_key_encoding_class(key: str) -> Any:
    """The class of a way to name chunks.

    Raises
    ------
    KeyError
        There is none of this name.
    """
    if key not in ENCODINGS:
        raise KeyError(f"there is no chunk key encoding {key!r}; there are {sorted(ENCODINGS)}")
    return ENCODINGS[key]
