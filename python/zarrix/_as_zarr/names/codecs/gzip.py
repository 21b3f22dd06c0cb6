"""Names of ``zarr.codecs.gzip``."""

from __future__ import annotations

from typing import Any

from zarrix._as_zarr.names.codecs._parsed import parsed
from zarrix._codecs.classes import GzipCodec

__all__ = ["GzipCodec", "parse_gzip_level"]


def parse_gzip_level(data: Any) -> int:
    """A level of compression.

    Raises
    ------
    TypeError, ValueError
        It is not a number from 0 to 9.
    """
    level = parsed(data, int, "level")
    if level not in range(10):
        raise ValueError(f"level is a number from 0 to 9, and not {level}")
    return level
