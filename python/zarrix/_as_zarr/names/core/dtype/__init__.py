"""Names of ``zarr.core.dtype``, which are those of ``zarr.dtype`` and the types by kind."""

import functools
import operator
from typing import Any

from zarrix._as_zarr.names.dtype import *  # noqa: F403
from zarrix._as_zarr.names.dtype import DataTypeRegistry, get_data_type_from_json
from zarrix._as_zarr.names.dtype import __all__ as _documents
from zarrix._dtypes.zdtype import *  # noqa: F403
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
)
from zarrix._dtypes.zdtype import __all__ as _types

__all__ = [
    *("ANY_DTYPE", "AnyDType", "BYTES_DTYPE", "COMPLEX_FLOAT_DTYPE"),
    *("FLOAT_DTYPE", "INTEGER_DTYPE", "STRING_DTYPE", "TIME_DTYPE", "VLEN_UTF8_ALIAS"),
    "DataTypeRegistry",
    "get_data_type_from_json",
    *_documents,
    *_types,
]

INTEGER_DTYPE = (Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64)
FLOAT_DTYPE = (Float16, Float32, Float64)
COMPLEX_FLOAT_DTYPE = (Complex64, Complex128)
STRING_DTYPE = (FixedLengthUTF32, VariableLengthUTF8)
TIME_DTYPE = (DateTime64, TimeDelta64)
BYTES_DTYPE = (RawBytes, NullTerminatedBytes, VariableLengthBytes)
ANY_DTYPE = (
    *(Bool, *INTEGER_DTYPE, *FLOAT_DTYPE, *COMPLEX_FLOAT_DTYPE, *STRING_DTYPE, *BYTES_DTYPE),
    *(Struct, *TIME_DTYPE),
)
AnyDType: Any = functools.reduce(operator.or_, ANY_DTYPE)
VLEN_UTF8_ALIAS = ("str", str, "string")
