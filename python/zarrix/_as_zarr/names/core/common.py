"""Names of ``zarr.core.common``: types for annotations, and checks of metadata."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA

__all__ = [
    "DimensionNames",
    "NodeType",
    "ShapeLike",
    "ceildiv",
    "parse_bool",
    "parse_order",
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
ShapeLike = int | Iterable[int]
DimensionNames = DimensionNamesLike = Iterable[str | None] | None
NodeType = Literal["array", "group"]


def ceildiv(a: float, b: float) -> int:
    """The least whole number of parts of size ``b`` that hold ``a``; 0 if ``a`` is 0."""
    return 0 if a == 0 else math.ceil(a / b)


def parse_bool(data: Any) -> bool:
    """A bool.

    Raises
    ------
    ValueError
        It is something else.
    """
    if isinstance(data, bool):
        return data
    raise ValueError(f"Expected bool, got {data} instead.")


def parse_order(data: Any) -> Literal["C", "F"]:
    """The order of elements in memory.

    Raises
    ------
    ValueError
        It is neither "C" nor "F".
    """
    if data == "C":
        return "C"
    if data == "F":
        return "F"
    raise ValueError(f"Expected one of ('C', 'F'), got {data} instead.")


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
