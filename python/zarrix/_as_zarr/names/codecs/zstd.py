"""Names of ``zarr.codecs.zstd``."""

from __future__ import annotations

from typing import Any

from zarrix._as_zarr.names.codecs._parsed import parsed
from zarrix._codecs.classes import ZstdCodec

__all__ = ["ZstdCodec", "parse_checksum", "parse_zstd_level"]


def parse_zstd_level(data: Any) -> int:
    """A level of compression.

    Raises
    ------
    TypeError, ValueError
        It is not a number of at most 22.
    """
    level = parsed(data, int, "level")
    if level > 22:
        raise ValueError(f"level is at most 22, and not {level}")
    return level


def parse_checksum(data: Any) -> bool:
    """Whether a checksum is stored.

    Raises
    ------
    TypeError
        It is not a bool.
    """
    return parsed(data, bool, "checksum")
