"""Names of ``zarr.core.common``: types for annotations, and checks of metadata."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA

__all__ = [
    "DimensionNames",
    "NodeType",
    "ShapeLike",
    "ceildiv",
    "compress_rle",
    "expand_rle",
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


def expand_rle(data: Iterable[Any], *, axis: int | None = None) -> list[int]:
    """The lengths of chunks along an axis from the form that documents have.

    Parameters
    ----------
    data : iterable of int or [int, int]
        Lengths, or a length and how often it is repeated.
    axis : int, optional
        For the messages of errors.

    Raises
    ------
    TypeError
        A number is not an int.
    ValueError
        A number is less than 1, or there are more than two.
    """
    where = "" if axis is None else f"Dimension {axis}: "
    edge = "Chunk edge length" if axis is None else "chunk edge length"
    lengths: list[int] = []
    for one in data:
        pair = [*one] if isinstance(one, list | tuple) else [one, 1]
        if len(pair) != 2:
            raise ValueError(f"{where}RLE entries must be an integer or [size, count], got {one!r}")
        for what, number in zip((edge, "RLE repeat count"), pair, strict=True):
            if not isinstance(number, int):
                raise TypeError(f"{where}{what} must be an int, got {number!r}")
            if number < 1:
                raise ValueError(f"{where}{what} must be >= 1, got {number}")
        lengths += [int(pair[0])] * pair[1]
    return lengths


def compress_rle(sizes: Iterable[int]) -> list[int | list[int]]:
    """The form that documents have of the lengths of chunks along an axis."""
    found: list[int | list[int]] = []
    for length, same in itertools.groupby(sizes):
        count = sum(1 for _ in same)
        found.append(length if count == 1 else [length, count])
    return found
