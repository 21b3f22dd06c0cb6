"""The codecs that v3 calls ``numcodecs.<id>``, under the names of zarr-python 3.

    from zarrix.codecs import numcodecs

    numcodecs.Delta(dtype="<i4").to_dict()

They are names with a configuration, like all v3 codecs; most of them are native in the
engine, and the rest is called in numcodecs.
"""

from zarrix._codecs.numcodecs_classes import (
    BZ2,
    CRC32,
    CRC32C,
    LZ4,
    LZMA,
    ZFPY,
    Adler32,
    AsType,
    BitRound,
    Blosc,
    Delta,
    FixedScaleOffset,
    Fletcher32,
    GZip,
    JenkinsLookup3,
    PackBits,
    PCodec,
    Quantize,
    Shuffle,
    Zlib,
    Zstd,
)
from zarrix._codecs.numcodecs_classes import NumcodecsCodec as NumcodecsCodec

__all__ = [
    "Adler32",
    "AsType",
    "BZ2",
    "BitRound",
    "Blosc",
    "CRC32",
    "CRC32C",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JenkinsLookup3",
    "LZ4",
    "LZMA",
    "PCodec",
    "PackBits",
    "Quantize",
    "Shuffle",
    "ZFPY",
    "Zlib",
    "Zstd",
]
