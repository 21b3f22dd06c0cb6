"""Names of ``zarr.core.common``: types for annotations, and checks of metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA

__all__ = [
    "ZARRAY_JSON",
    "ZATTRS_JSON",
    "ZGROUP_JSON",
    "ZARR_JSON",
    "ZMETADATA_V2_JSON",
    "BytesLike",
    "ChunkCoords",
    "product",
    "parse_named_configuration",
    "parse_shapelike",
]

ZARRAY_JSON = ZARRAY
ZGROUP_JSON = ZGROUP
ZATTRS_JSON = ZATTRS
ZMETADATA_V2_JSON = ZMETADATA
BytesLike = bytes | bytearray | memoryview
ChunkCoords = tuple[int, ...]


def product(tup: tuple[int, ...]) -> int:
    """The product of the lengths."""
    result = 1
    for length in tup:
        result *= length
    return result


def parse_shapelike(data: Any) -> tuple[int, ...]:
    """A shape as a tuple of int."""
    lengths = (data,) if isinstance(data, int) else tuple(data)
    if any(int(length) != length or length < 0 for length in lengths):
        raise ValueError(f"Expected all values to be non-negative integers. Got {data} instead.")
    return tuple(int(length) for length in lengths)


def parse_named_configuration(
    data: Any, expected_name: str | None = None, *, require_configuration: bool = True
) -> tuple[str, Any]:
    """Name and configuration of a member of a metadata document, such as a codec."""
    if isinstance(data, str):
        data = {"name": data}
    if not isinstance(data, Mapping):
        raise TypeError(f"Expected dict, got {type(data)}")
    if "name" not in data:
        raise ValueError(f"Named configuration does not have a 'name' key. Got {dict(data)}.")
    name = data["name"]
    if expected_name is not None and name != expected_name:
        raise ValueError(f"Expected '{expected_name}'. Got {name} instead.")
    if "configuration" in data:
        return name, data["configuration"]
    if require_configuration:
        raise ValueError("Named configuration does not have a 'configuration' key.")
    return name, None
