"""Codecs: those of v3 as classes, and those of numcodecs, which v2 names.

``BytesCodec``, ``ZstdCodec``, ``ShardingCodec``, ... have the names and arguments of zarr-python 3.
``Blosc``, ``Zstd``, ``Delta``, ... are the classes of numcodecs, as code for zarr 2.18 imports
them; numcodecs is imported when the first of them is taken from here. `zarrix.codecs.numcodecs` has
the codecs that v3 calls ``numcodecs.<id>``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarrix._codecs import numcodecs_names
from zarrix._codecs.blosc import BloscCname, BloscShuffle
from zarrix._codecs.classes import (
    BloscCodec,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    Endian,
    GzipCodec,
    JpegCodec,
    PngCodec,
    ScaleOffset,
    ShardingCodec,
    ShardingCodecIndexLocation,
    TransposeCodec,
    VLenBytesCodec,
    VLenUTF8Codec,
    WebpCodec,
    ZstdCodec,
)
from zarrix._codecs.codec import Codec as Codec
from zarrix._codecs.codec import OtherCodec as OtherCodec
from zarrix._codecs.document import CodecDocument as CodecDocument
from zarrix._codecs.numcodecs import NativeCodec as NativeCodec
from zarrix.codecs import numcodecs

if TYPE_CHECKING:
    from zarrix._codecs.numcodecs_names import *  # noqa: F403

__all__ = [
    *numcodecs_names.__all__,
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesCodec",
    "CastValue",
    "Crc32cCodec",
    "Endian",
    "GzipCodec",
    "JpegCodec",
    "PngCodec",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "WebpCodec",
    "ZstdCodec",
    "numcodecs",
]


def __getattr__(name: str) -> Any:
    if name in numcodecs_names.__all__ or name == "MsgPack":
        return getattr(numcodecs_names, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
