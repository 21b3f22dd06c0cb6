"""The classes of numcodecs that code written for zarr 2.18 imports from ``zarr.codecs``.

numcodecs is imported when a name is first taken from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numcodecs import (  # type: ignore[import-untyped, unused-ignore]
        BZ2,
        CRC32,
        JSON,
        LZ4,
        LZMA,
        Adler32,
        AsType,
        Base64,
        BitRound,
        Blosc,
        Categorize,
        Delta,
        FixedScaleOffset,
        Fletcher32,
        GZip,
        PackBits,
        Pickle,
        Quantize,
        Shuffle,
        VLenArray,
        VLenBytes,
        VLenUTF8,
        Zlib,
        Zstd,
        blosc,
        get_codec,
        register_codec,
    )
    from numcodecs.checksum32 import JenkinsLookup3  # type: ignore[import-untyped, unused-ignore]
    from numcodecs.registry import codec_registry  # type: ignore[import-untyped, unused-ignore]

__all__ = [
    "Adler32",
    "AsType",
    "BZ2",
    "Base64",
    "BitRound",
    "Blosc",
    "CRC32",
    "Categorize",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JSON",
    "JenkinsLookup3",
    "LZ4",
    "LZMA",
    "PackBits",
    "Pickle",
    "Quantize",
    "Shuffle",
    "VLenArray",
    "VLenBytes",
    "VLenUTF8",
    "Zlib",
    "Zstd",
    "blosc",
    "codec_registry",
    "get_codec",
    "register_codec",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import numcodecs
    from numcodecs.registry import codec_registry

    if name == "codec_registry":
        return codec_registry
    if name == "JenkinsLookup3" and not hasattr(numcodecs, name):
        from numcodecs.checksum32 import JenkinsLookup3

        return JenkinsLookup3
    try:
        return getattr(numcodecs, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
