"""Names of ``zarr.core.metadata.v2``."""

from __future__ import annotations

from typing import Any, Literal

from zarrix._metadata.one_format import ArrayV2Metadata

__all__ = ["ArrayV2Metadata", "parse_zarr_format"]


def parse_zarr_format(data: Any) -> Literal[2]:
    """The format, which is 2.

    Raises
    ------
    ValueError
        It is something else.
    """
    if type(data) is int and data == 2:
        return 2
    raise ValueError(f"zarr_format is {data!r}; expected 2")
