"""Names of ``zarr.registry`` that zarrix lacks: the classes that are in use."""

from __future__ import annotations

from typing import Any

from zarrix._as_zarr.names.core.chunk_key_encodings import ENCODINGS
from zarrix._as_zarr.names.core.codec_pipeline import BatchedCodecPipeline
from zarrix._runtime.buffers import Buffer, NDBuffer

__all__ = [
    "get_buffer_class",
    "get_chunk_key_encoding_class",
    "get_ndbuffer_class",
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
