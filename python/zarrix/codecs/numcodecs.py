"""The codecs that v3 calls ``numcodecs.<id>``, under the names of zarr-python 3.

    from zarrix.codecs import numcodecs

    numcodecs.Delta(dtype="<i4").to_dict()

They are names with a configuration, like all v3 codecs; most of them are native in the
engine, and the rest is called in numcodecs.
"""

from __future__ import annotations

from typing import Any, ClassVar

from zarrix._codecs.classes import OtherCodec

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


class NumcodecsCodec(OtherCodec):
    """A codec of numcodecs in v3; the keywords are those of numcodecs' class."""

    codec_id: ClassVar[str]

    def __init__(self, **configuration: Any) -> None:
        super().__init__({"name": f"numcodecs.{self.codec_id}", "configuration": configuration})


def _make(name: str, codec_id: str) -> type[NumcodecsCodec]:
    text = f"``numcodecs.{codec_id}``; the keywords are those of numcodecs' class."
    members = {"codec_id": codec_id, "__module__": __name__, "__doc__": text}
    return type(name, (NumcodecsCodec,), members)


Adler32 = _make("Adler32", "adler32")
AsType = _make("AsType", "astype")
BZ2 = _make("BZ2", "bz2")
BitRound = _make("BitRound", "bitround")
Blosc = _make("Blosc", "blosc")
CRC32 = _make("CRC32", "crc32")
CRC32C = _make("CRC32C", "crc32c")
Delta = _make("Delta", "delta")
FixedScaleOffset = _make("FixedScaleOffset", "fixedscaleoffset")
Fletcher32 = _make("Fletcher32", "fletcher32")
GZip = _make("GZip", "gzip")
JenkinsLookup3 = _make("JenkinsLookup3", "jenkins_lookup3")
LZ4 = _make("LZ4", "lz4")
LZMA = _make("LZMA", "lzma")
PCodec = _make("PCodec", "pcodec")
PackBits = _make("PackBits", "packbits")
Quantize = _make("Quantize", "quantize")
Shuffle = _make("Shuffle", "shuffle")
ZFPY = _make("ZFPY", "zfpy")
Zlib = _make("Zlib", "zlib")
Zstd = _make("Zstd", "zstd")
