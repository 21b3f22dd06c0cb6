"""Names of ``zarr.dtype`` that zarrix has elsewhere: data types by their names."""

from __future__ import annotations

from typing import Any, Literal

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


def parse_data_type(dtype_spec: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
    """The data type of a NumPy dtype, a name or a document: `zarrix.dtype.parse_dtype`."""
    return parse_dtype(dtype_spec, zarr_format=zarr_format)


def get_data_type_from_native_dtype(dtype: Any) -> ZDType:
    """The data type of a NumPy dtype."""
    return parse_dtype(dtype)


_BY_NAME: dict[str, type[ZDType]] = {
    **{one().to_json(): one for one in _PLAIN},
    "fixed_length_utf32": FixedLengthUTF32,
    "null_terminated_bytes": NullTerminatedBytes,
    "numpy.datetime64": DateTime64,
    "numpy.timedelta64": TimeDelta64,
    "raw_bytes": RawBytes,
    "struct": Struct,
}


class DataTypeRegistry:
    """The data types of v3 by name; they are fixed."""

    @property
    def contents(self) -> dict[str, type[ZDType]]:
        """The classes of data types by the names that they have in v3."""
        return dict(_BY_NAME)

    def match_dtype(self, dtype: Any) -> ZDType:
        """The data type of a NumPy dtype."""
        return parse_dtype(dtype)

    def match_json(self, data: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
        """The data type that a document names."""
        return parse_dtype(data, zarr_format=zarr_format)


data_type_registry = DataTypeRegistry()
