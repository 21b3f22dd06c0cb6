"""Names of ``zarr.dtype`` that zarrix has elsewhere: data types by their names."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from zarrix._dtypes.zdtype import (
    Bool,
    Complex64,
    Complex128,
    DateTime64,
    FixedLengthUTF32,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    NullTerminatedBytes,
    RawBytes,
    Struct,
    Structured,
    TimeDelta64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    VariableLengthBytes,
    VariableLengthUTF8,
    ZDType,
    parse_dtype,
)
from zarrix.errors import DataTypeValidationError

__all__ = [
    "DTypeSpec_V2",
    "DateTime64JSON_V2",
    "DateTime64JSON_V3",
    "FixedLengthUTF32JSON_V2",
    "FixedLengthUTF32JSON_V3",
    "NullTerminatedBytesJSON_V3",
    "NullterminatedBytesJSON_V2",
    "RawBytesJSON_V2",
    "RawBytesJSON_V3",
    "StructJSON_V3",
    "StructuredJSON_V2",
    "StructuredJSON_V3",
    "TimeDelta64JSON_V2",
    "TimeDelta64JSON_V3",
    "VariableLengthBytesJSON_V2",
    "VariableLengthUTF8JSON_V2",
    "check_dtype_spec_no_object_codec_v2",
    "check_dtype_spec_v2",
    "check_dtype_spec_v3",
    "data_type_registry",
    "get_data_type_from_native_dtype",
    "parse_data_type",
]

# The documents of data types, for annotations.
DTypeSpec_V2 = DateTime64JSON_V2 = FixedLengthUTF32JSON_V2 = NullterminatedBytesJSON_V2 = Any
RawBytesJSON_V2 = StructuredJSON_V2 = TimeDelta64JSON_V2 = VariableLengthBytesJSON_V2 = Any
VariableLengthUTF8JSON_V2 = DateTime64JSON_V3 = FixedLengthUTF32JSON_V3 = Any
NullTerminatedBytesJSON_V3 = RawBytesJSON_V3 = StructJSON_V3 = StructuredJSON_V3 = Any
TimeDelta64JSON_V3 = Any

_PLAIN: tuple[Any, ...] = (
    *(Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64),
    *(Float16, Float32, Float64, Complex64, Complex128),
    *(VariableLengthBytes, VariableLengthUTF8),
)
_OF_PARAMETERS: tuple[Any, ...] = (
    *(FixedLengthUTF32, NullTerminatedBytes, RawBytes, Struct, DateTime64, TimeDelta64),
)


def parse_data_type(dtype_spec: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
    """The data type of a NumPy dtype, a name or a document: `zarrix.dtype.parse_dtype`."""
    return parse_dtype(dtype_spec, zarr_format=zarr_format)


def get_data_type_from_native_dtype(dtype: Any) -> ZDType:
    """The data type of a NumPy dtype."""
    return parse_dtype(dtype)


def get_data_type_from_json(dtype_spec: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
    """The data type that a document names."""
    return data_type_registry.match_json(dtype_spec, zarr_format=zarr_format)


def check_dtype_spec_v2(data: Any) -> bool:
    """Whether a value has the members of a data type of v2: its name and its object codec."""
    return (
        isinstance(data, Mapping)
        and set(data) == {"name", "object_codec_id"}
        and _is_name_v2(data["name"])
        and isinstance(data["object_codec_id"], str | None)
    )


def check_dtype_spec_no_object_codec_v2(data: Any) -> bool:
    """Whether a value has the members of a data type of v2, and no object codec."""
    return check_dtype_spec_v2(data) and data["object_codec_id"] is None


def check_dtype_spec_v3(data: Any) -> bool:
    """Whether a value is a name, or has the members of a data type of v3."""
    return isinstance(data, str) or (
        isinstance(data, Mapping)
        and set(data) == {"name", "configuration"}
        and isinstance(data["configuration"], Mapping)
        and all(isinstance(key, str) for key in data["configuration"])
    )


def _is_name_v2(data: Any) -> bool:
    if isinstance(data, str):
        return True
    return isinstance(data, list | tuple) and all(
        isinstance(field, list | tuple)
        and len(field) == 2
        and isinstance(field[0], str)
        and _is_name_v2(field[1])
        for field in data
    )


class DataTypeRegistry:
    """Classes of data types by their names in v3.

    The data types that arrays can have are fixed: a registry decides only what it matches itself.
    """

    def __init__(self) -> None:
        self.contents: dict[str, type[ZDType]] = {}

    def register(self, key: str, cls: type[ZDType]) -> None:
        """Add a class; one of the same name is replaced."""
        self.contents[key] = cls

    def unregister(self, key: str) -> None:
        """Remove the class of this name; a `KeyError` if there is none."""
        del self.contents[key]

    def get(self, key: str) -> type[ZDType]:
        """The class of this name; a `KeyError` if there is none."""
        return self.contents[key]

    def match_dtype(self, dtype: Any) -> ZDType:
        """The data type of a NumPy dtype.

        Raises
        ------
        ValueError
            None of the classes has the dtype, or more than one.
        """
        if dtype == np.dtype(object):
            raise ValueError("elements of dtype object have many data types; name one instead")
        found: list[ZDType] = []
        for kind in self.contents.values():
            with contextlib.suppress(DataTypeValidationError):
                found.append(kind.from_native_dtype(dtype))
        if len(found) != 1:
            names = ", ".join(type(one).__name__ for one in found) or "none"
            raise ValueError(f"one data type should have dtype {dtype!r}; these do: {names}")
        return found[0]

    def match_json(self, data: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
        """The data type that a document names.

        Raises
        ------
        DataTypeValidationError
            None of the classes has the name; the message has the place of a field that has none.
        """
        return self._match(data, zarr_format, "")

    def _match(self, data: Any, zarr_format: Literal[2, 3], pointer: str) -> ZDType:
        # The name as it is comes first, because a class may spell it with another byte order.
        for spelled in (data, _canonical(data)):
            for kind in self.contents.values():
                fields = _fields(data)
                if fields and issubclass(kind, Structured):
                    found = [
                        (name, self._match(field, zarr_format, pointer + below))
                        for name, field, below in fields
                    ]
                    return kind(fields=found)
                with contextlib.suppress(DataTypeValidationError):
                    return kind.from_json(spelled, zarr_format=zarr_format)
        where = f" at {pointer}" if pointer else ""
        raise DataTypeValidationError(f"no data type has the name {data!r}{where}")


def _canonical(data: Any) -> Any:
    """A name of v2 with the byte order "|" if its elements have none."""
    name = data.get("name") if isinstance(data, Mapping) else None
    if isinstance(name, str) and re.fullmatch(r"[<>](?:b1|[iu]1|V[0-9]+)", name, re.ASCII):
        return {**data, "name": f"|{name[1:]}"}
    return data


def _fields(data: Any) -> list[tuple[str, Any, str]]:
    """Name, JSON and place of the fields of a structure; an empty list for anything else."""
    if not isinstance(data, Mapping):
        return []
    name, configuration = data.get("name"), data.get("configuration")
    if isinstance(name, list) and check_dtype_spec_no_object_codec_v2(data):
        return [
            (field, {"name": inner, "object_codec_id": None}, f"/{at}/1")
            for at, (field, inner) in enumerate(name)
        ]
    if name not in ("struct", "structured") or not isinstance(configuration, Mapping):
        return []
    found = []
    for at, field in enumerate(configuration.get("fields", ())):
        below = f"/configuration/fields/{at}"
        if isinstance(field, Mapping) and {"name", "data_type"} <= set(field):
            found.append((field["name"], field["data_type"], f"{below}/data_type"))
        elif isinstance(field, list) and len(field) == 2:
            found.append((*field, f"{below}/1"))
        else:
            return []
    return found


data_type_registry = DataTypeRegistry()
for _kind in (*_PLAIN, *_OF_PARAMETERS):
    data_type_registry.register(_kind._zarr_v3_name, _kind)
