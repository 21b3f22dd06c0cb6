"""v3 data types as objects, under the names of zarr-python 3.

    import zarrix as zarr

    zarr.create_array(shape=3, dtype=zarr.dtype.Int16())

An object has a NumPy dtype and its name in documents. NumPy dtypes are accepted everywhere; these
objects are for code that was written for zarr-python.
"""

from __future__ import annotations

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

__all__ = [
    "Bool",
    "Complex128",
    "Complex64",
    "DateTime64",
    "FixedLengthUTF32",
    "Float16",
    "Float32",
    "Float64",
    "Int16",
    "Int32",
    "Int64",
    "Int8",
    "NullTerminatedBytes",
    "RawBytes",
    "Struct",
    "Structured",
    "TimeDelta64",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt8",
    "VariableLengthBytes",
    "VariableLengthUTF8",
    "ZDType",
    "parse_dtype",
]
