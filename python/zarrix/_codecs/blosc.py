"""Blosc: its options, and the two ways in which documents spell them.

v3 names the shuffle; v2 and numcodecs number it, and -1 lets it follow the data type.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from zarrix._codecs.bound import Bound, Config, DType, integer, within
from zarrix._dtypes.variable import is_variable

__all__ = [
    "CNAMES",
    "LIMITS",
    "SHUFFLES",
    "BloscCname",
    "BloscShuffle",
    "bind_numcodecs",
    "complete",
    "shuffle_number",
    "to_numcodecs",
    "to_v3",
]


class BloscCname(Enum):
    """The compressors inside of Blosc."""

    lz4 = "lz4"
    lz4hc = "lz4hc"
    blosclz = "blosclz"
    snappy = "snappy"
    zlib = "zlib"
    zstd = "zstd"


class BloscShuffle(Enum):
    """The shuffles that Blosc applies before compression."""

    noshuffle = "noshuffle"
    shuffle = "shuffle"
    bitshuffle = "bitshuffle"


for _enum in (BloscCname, BloscShuffle):
    _enum.__module__ = "zarrix.codecs"

CNAMES = tuple(sorted(one.value for one in BloscCname))
SHUFFLES = tuple(one.value for one in BloscShuffle)
"""The index of a shuffle is its number in v2."""

LIMITS: dict[str, tuple[int, int] | None] = {
    "cname": None,
    "clevel": (0, 9),
    "shuffle": None,
    "typesize": (1, 2**31 - 1),
    "blocksize": (0, 2**31 - 1),
}


def shuffle_number(config: Config, dtype: DType) -> int:
    """The number of the shuffle; -1 is replaced by the shuffle for ``dtype``."""
    shuffle = integer(config, "shuffle", 1)
    return shuffle if shuffle != -1 else (2 if dtype.itemsize == 1 else 1)


def bind_numcodecs(config: Config, dtype: DType, size: int | None) -> Bound:
    """The codec of numcodecs as the engine reads it."""
    name = config.get("cname", "lz4")
    if name not in CNAMES:
        raise ValueError(f"has 'cname' = {name!r}; allowed are {', '.join(CNAMES)}")
    shuffle = shuffle_number(config, dtype)
    if not 0 <= shuffle < len(SHUFFLES):
        raise ValueError(f"has 'shuffle' = {shuffle}; allowed are -1, 0, 1 and 2")
    configuration = {
        "cname": name,
        "clevel": within(config, "clevel", 5, 0, 9),
        "shuffle": SHUFFLES[shuffle],
        "typesize": dtype.itemsize,
        "blocksize": within(config, "blocksize", 0, 0, 2**31 - 1),
    }
    return Bound(configuration)


def complete(given: Config, dtype: DType) -> dict[str, Any]:
    """A v3 configuration with its defaults; variable-length elements count as bytes."""
    item_bytes = 1 if is_variable(dtype) else dtype.itemsize
    shuffle = given.get("shuffle")
    if shuffle is None:
        shuffle = "bitshuffle" if item_bytes == 1 else "shuffle"
    return {
        "typesize": given.get("typesize") or item_bytes,
        "cname": given.get("cname", "zstd"),
        "clevel": given.get("clevel", 5),
        "shuffle": shuffle,
        "blocksize": given.get("blocksize", 0),
    }


def to_v3(config: Config) -> dict[str, Any]:
    """A configuration of numcodecs in v3, without the shuffle if it depends on the data type."""
    given = dict(config)
    shuffle = given.pop("shuffle")
    return given if shuffle == -1 else {**given, "shuffle": SHUFFLES[shuffle]}


def to_numcodecs(configuration: Config) -> dict[str, Any]:
    """A v3 configuration in numcodecs, which takes the item size from the elements."""
    given = {key: value for key, value in configuration.items() if key != "typesize"}
    shuffle = given.get("shuffle", "noshuffle")
    if shuffle in SHUFFLES:
        given["shuffle"] = SHUFFLES.index(shuffle)
    return given
