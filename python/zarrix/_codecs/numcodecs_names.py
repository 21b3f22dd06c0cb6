"""The classes of numcodecs that code written for zarr 2.18 imports from ``zarr.codecs``.

numcodecs is imported when a name is first used. It has no types; the types of its classes are in
the stub next to this file.
"""

from __future__ import annotations

from typing import Any

# ruff: noqa: F822  `__getattr__` takes these names from numcodecs.
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
    # Import time: numcodecs takes longer than NumPy.
    import numcodecs
    from numcodecs.registry import codec_registry

    if name == "codec_registry":
        return codec_registry
    if name == "JenkinsLookup3" and not hasattr(numcodecs, name):
        # Newer versions of numcodecs only have it there.
        from numcodecs.checksum32 import JenkinsLookup3

        return JenkinsLookup3
    if name == "MsgPack" and not hasattr(numcodecs, name):
        # Not among the names above, because numcodecs has it only if the package msgpack is
        # installed.
        raise AttributeError(f"{__name__}.MsgPack needs msgpack: pip install numcodecs[msgpack]")
    try:
        return getattr(numcodecs, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
