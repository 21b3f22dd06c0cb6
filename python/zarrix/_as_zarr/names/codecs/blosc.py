"""Names of ``zarr.codecs.blosc``."""

from __future__ import annotations

from typing import Any

from zarrix._as_zarr.names.codecs._parsed import parsed
from zarrix._codecs.blosc import CNAMES, SHUFFLES, BloscCname, BloscShuffle
from zarrix._codecs.classes import BloscCodec

__all__ = [
    "BLOSC_CNAME",
    "BLOSC_SHUFFLE",
    "BloscCname",
    "BloscCodec",
    "BloscConfigV2",
    "BloscConfigV3",
    "BloscJSON_V3",
    "BloscShuffle",
    "parse_blocksize",
    "parse_clevel",
    "parse_typesize",
]

BLOSC_CNAME, BLOSC_SHUFFLE = tuple(CNAMES), tuple(SHUFFLES)
BloscConfigV2 = BloscConfigV3 = BloscJSON_V3 = dict[str, Any]


def parse_typesize(data: Any) -> int:
    """The number of bytes of an element.

    Raises
    ------
    TypeError, ValueError
        It is not a number above 0.
    """
    size = parsed(data, int, "typesize")
    if size < 1:
        raise ValueError(f"typesize is above 0, and not {size}")
    return size


def parse_clevel(data: Any) -> int:
    """A level of compression.

    Raises
    ------
    TypeError
        It is not an int.
    """
    return parsed(data, int, "clevel")


def parse_blocksize(data: Any) -> int:
    """The number of bytes of a block; 0 for the one that Blosc chooses.

    Raises
    ------
    TypeError
        It is not an int.
    """
    return parsed(data, int, "blocksize")
