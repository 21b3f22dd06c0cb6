"""Names of ``zarr.core.common``: types for annotations, and checks of metadata."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal, NotRequired, TypedDict, TypeVar

import numpy as np

from zarrix._as_zarr.concurrent import concurrent_foreach, concurrent_iter, concurrent_map
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA

__all__ = [
    "ANY_ACCESS_MODE",
    "JSON",
    "ZARRAY_JSON",
    "ZARR_JSON",
    "ZATTRS_JSON",
    "ZGROUP_JSON",
    "ZMETADATA_V2_JSON",
    "AccessModeLiteral",
    "BytesLike",
    "ChunkCoords",
    "DimensionNames",
    "DimensionNamesLike",
    "MemoryOrder",
    "NamedConfig",
    "NamedRequiredConfig",
    "NodeType",
    "ShapeLike",
    "ZarrFormat",
    "ceildiv",
    "ceildiv_int",
    "compress_rle",
    "concurrent_foreach",
    "concurrent_iter",
    "concurrent_map",
    "enum_names",
    "expand_rle",
    "parse_bool",
    "parse_configuration",
    "parse_enum",
    "parse_fill_value",
    "parse_int",
    "parse_name",
    "parse_named_configuration",
    "parse_order",
    "parse_shapelike",
    "product",
]

E = TypeVar("E", bound=Enum)

ZARRAY_JSON = ZARRAY
ZGROUP_JSON = ZGROUP
ZATTRS_JSON = ZATTRS
ZMETADATA_V2_JSON = ZMETADATA
BytesLike = bytes | bytearray | memoryview
ChunkCoords = tuple[int, ...]
ShapeLike = int | Iterable[int]
DimensionNames = DimensionNamesLike = Iterable[str | None] | None
NodeType = Literal["array", "group"]
ZarrFormat = Literal[2, 3]
MemoryOrder = Literal["C", "F"]
AccessModeLiteral = Literal["r", "r+", "a", "w", "w-"]
ANY_ACCESS_MODE: Final = ("r", "r+", "a", "w", "w-")
JSON = str | int | float | bool | Mapping[str, Any] | list[Any] | None


class NamedConfig(TypedDict):
    """A member of a metadata document that has a name, and may have a configuration."""

    name: str
    configuration: NotRequired[Mapping[str, Any]]


class NamedRequiredConfig(TypedDict):
    """A member of a metadata document that has a name and a configuration."""

    name: str
    configuration: Mapping[str, Any]


def ceildiv(a: float, b: float) -> int:
    """The least whole number of parts of size ``b`` that hold ``a``; 0 if ``a`` is 0."""
    return 0 if a == 0 else math.ceil(a / b)


def ceildiv_int(a: int, b: int) -> int:
    """The quotient of two integers, rounded up, without an error of floating point."""
    return -(-int(a) // int(b))


def enum_names(enum: type[Enum]) -> Iterator[str]:
    """The names of the members of an enumeration."""
    return iter(enum.__members__)


def parse_enum(data: object, cls: type[E]) -> E:
    """A member of an enumeration, given as itself or by its name.

    Raises
    ------
    TypeError
        It is neither a member nor a str.
    ValueError
        No member has the name.
    """
    if isinstance(data, cls):
        return data
    if not isinstance(data, str):
        raise TypeError(f"Expected str, got {type(data)}")
    if data not in cls.__members__:
        raise ValueError(f"Value must be one of {list(cls.__members__)!r}. Got {data} instead.")
    return cls(data)


def parse_int(data: Any) -> int:
    """An int, which a bool is not.

    Raises
    ------
    ValueError
        It is something else.
    """
    if isinstance(data, int) and not isinstance(data, bool):
        return data
    raise ValueError(f"Expected int, got {data} instead.")


def parse_name(data: Any, expected: str | None = None) -> str:
    """A name, which may have to be a given one.

    Raises
    ------
    TypeError
        It is not a str.
    ValueError
        It is another name.
    """
    if not isinstance(data, str):
        raise TypeError(f"Expected a string, got an instance of {type(data)}.")
    if expected is None or data == expected:
        return data
    raise ValueError(f"Expected '{expected}'. Got {data} instead.")


def parse_configuration(data: Any) -> Any:
    """A configuration, which is a dict.

    Raises
    ------
    TypeError
        It is something else.
    """
    if not isinstance(data, dict):
        raise TypeError(f"Expected dict, got {type(data)}")
    return data


def parse_fill_value(data: Any) -> Any:
    """A fill value, which the data type checks."""
    return data


def parse_bool(data: Any) -> bool:
    """A bool.

    Raises
    ------
    ValueError
        It is something else.
    """
    if isinstance(data, bool):
        return data
    raise ValueError(f"Expected instance of bool, got {data!r}")


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
    raise ValueError(f"Failed to parse input for 'order': got {data!r}, expected 'C' or 'F'")


def product(tup: tuple[int, ...]) -> int:
    """The product of the lengths."""
    result = 1
    for length in tup:
        result *= length
    return result


def parse_shapelike(data: Any) -> tuple[int, ...]:
    """A shape as a tuple of int.

    Raises
    ------
    TypeError
        It is neither an integer nor made of integers.
    ValueError
        A length is negative.
    """
    if isinstance(data, int | np.integer):
        if data < 0:
            raise ValueError(f"Expected a non-negative integer. Got {data} instead")
        return (int(data),)
    try:
        lengths = tuple(data)
    except TypeError as error:
        raise TypeError(
            f"Expected an integer or an iterable of integers. Got {data} instead."
        ) from error
    if not all(isinstance(length, int | np.integer) for length in lengths):
        raise TypeError(f"Expected an iterable of integers. Got {data} instead.")
    if any(length < 0 for length in lengths):
        raise ValueError(f"Expected all values to be non-negative. Got {data} instead.")
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
