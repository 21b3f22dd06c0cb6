"""The codecs of an array in words, such as ``blosc zstd 5 bitshuffle``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["codec_words"]

_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle", -1: "autoshuffle"}
# What tells little: it follows from the dtype, or is a default.
_SILENT = frozenset({"blocksize", "typesize", "endian", "chunk_shape", "codecs", "index_codecs",
                     "index_location"})  # fmt: skip
_MOST_CODECS = 32


def codec_words(metadata: Any) -> list[str]:
    """The codecs of chunks in encoding order, without the one that only orders bytes."""
    shard = metadata.shard_codec
    outside = [codec for codec in metadata.codecs if codec["name"] != "sharding_indexed"]
    chain = outside if shard is None else [*outside, *shard["codecs"]]
    chain = [codec for codec in chain if codec["name"] != "bytes"]
    return [_words(codec) for codec in chain[:_MOST_CODECS]]


def _words(codec: Mapping[str, Any]) -> str:
    name = codec["name"].removeprefix("numcodecs.")[:60]
    words = [name]
    options = sorted((codec.get("configuration") or {}).items(), key=_order)
    for option, value in options[:_MOST_CODECS]:
        if option in _SILENT or value is None or value is False:
            continue
        if option == "shuffle":
            words.append(_SHUFFLES.get(value) or str(value)[:60])
        elif option in ("cname", "clevel", "level"):
            words.append(str(value)[:60])
        else:
            words.append(option if value is True else f"{option}={value}"[:60])
    return " ".join(words)


def _order(item: tuple[str, Any]) -> tuple[int, str]:
    first = ("cname", "clevel", "level", "shuffle")
    return (first.index(item[0]) if item[0] in first else len(first), item[0])
