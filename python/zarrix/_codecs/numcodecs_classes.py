"""The codecs that v3 calls ``numcodecs.<id>`` as objects: a name with a configuration.

Most of them are native in the engine, and the rest is called in numcodecs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from zarrix._codecs.codec import OtherCodec
from zarrix._codecs.kinds import KINDS
from zarrix._codecs.table import CODECS

__all__ = [
    "NumcodecsCodec",
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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**data.get("configuration", {}))

    @property
    def codec_config(self) -> dict[str, Any]:
        """The configuration as numcodecs has it, with the id."""
        return {"id": self.codec_id, **self.configuration}


# Pickles name a class by its module: a public one, which does not move.
NumcodecsCodec.__module__ = "zarrix.codecs.numcodecs"

_IDS = {row.numcodecs_cls: row.codec_id for row in CODECS if row.numcodecs_cls}
_KINDS = {row.numcodecs_cls: KINDS[row.kind] for row in CODECS if row.numcodecs_cls}


_TEXT = """The codec ``numcodecs.{codec_id}``.

Parameters
----------
**configuration
    The keywords of numcodecs' class ``{name}``, which has their defaults.

Raises
------
MetadataError
    When an array is created, if the codec cannot have this configuration.

Examples
--------
>>> from zarrix.codecs import numcodecs
>>> numcodecs.{name}().name
'numcodecs.{codec_id}'
"""


def _make(name: str) -> type[NumcodecsCodec]:
    codec_id = _IDS[name]
    text = _TEXT.format(name=name, codec_id=codec_id)
    members = {"codec_id": codec_id, "__module__": "zarrix.codecs.numcodecs", "__doc__": text}
    return type(name, (NumcodecsCodec, _KINDS[name]), members)


Adler32 = _make("Adler32")
AsType = _make("AsType")
BZ2 = _make("BZ2")
BitRound = _make("BitRound")
Blosc = _make("Blosc")
CRC32 = _make("CRC32")
CRC32C = _make("CRC32C")
Delta = _make("Delta")
FixedScaleOffset = _make("FixedScaleOffset")
Fletcher32 = _make("Fletcher32")
GZip = _make("GZip")
JenkinsLookup3 = _make("JenkinsLookup3")
LZ4 = _make("LZ4")
LZMA = _make("LZMA")
PCodec = _make("PCodec")
PackBits = _make("PackBits")
Quantize = _make("Quantize")
Shuffle = _make("Shuffle")
ZFPY = _make("ZFPY")
Zlib = _make("Zlib")
Zstd = _make("Zstd")

BY_NAME: dict[str, type[NumcodecsCodec]] = {
    f"numcodecs.{codec_id}": globals()[name] for name, codec_id in _IDS.items()
}
"""The classes by the name of a document."""
