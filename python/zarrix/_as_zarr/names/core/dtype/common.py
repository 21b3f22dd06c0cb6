"""Names of ``zarr.core.dtype.common``: what data types have, and a warning."""

from abc import ABC
from collections.abc import Mapping
from typing import Any, Literal

from zarrix._as_zarr.names.dtype import (
    DTypeSpec_V2,
    check_dtype_spec_no_object_codec_v2,
    check_dtype_spec_v2,
    check_dtype_spec_v3,
    data_type_registry,
)
from zarrix._dtypes.zdtype import (
    DateTime64,
    FixedLengthUTF32,
    NullTerminatedBytes,
    RawBytes,
    TimeDelta64,
    VariableLengthBytes,
    VariableLengthUTF8,
)

__all__ = [
    "ENDIANNESS_STR",
    "OBJECT_CODEC_IDS",
    "SPECIAL_FLOAT_STRINGS",
    "DTypeJSON",
    "DTypeName_V2",
    "DTypeSpec_V2",
    "DTypeSpec_V3",
    "EndiannessStr",
    "HasEndianness",
    "HasItemSize",
    "HasLength",
    "HasObjectCodec",
    "JSONFloatV2",
    "JSONFloatV3",
    "ObjectCodecID",
    "SpecialFloatStrings",
    "UnstableSpecificationWarning",
    "check_dtype_spec_no_object_codec_v2",
    "check_dtype_spec_v2",
    "check_dtype_spec_v3",
    "unpack_dtype_json",
]

ENDIANNESS_STR = ("little", "big")
SPECIAL_FLOAT_STRINGS = ("NaN", "Infinity", "-Infinity")
OBJECT_CODEC_IDS = ("vlen-utf8", "vlen-bytes", "vlen-array", "pickle", "json2", "msgpack2")
EndiannessStr = Literal["little", "big"]
SpecialFloatStrings = Literal["NaN", "Infinity", "-Infinity"]
ObjectCodecID = Literal["vlen-utf8", "vlen-bytes", "vlen-array", "pickle", "json2", "msgpack2"]
JSONFloatV2 = float | SpecialFloatStrings
JSONFloatV3 = float | str
# Documents, for annotations.
DTypeJSON = DTypeName_V2 = DTypeSpec_V3 = Any


class HasItemSize(ABC):  # noqa: B024  # Classes are registered.
    """Data types whose elements have a number of bytes."""


class HasLength(ABC):  # noqa: B024
    """Data types whose elements have a number of bytes or characters that a user chooses."""


class HasEndianness(ABC):  # noqa: B024
    """Data types whose elements have a byte order."""


class HasObjectCodec(ABC):  # noqa: B024
    """Data types that v2 stores by an object codec."""


_VARIABLE = (VariableLengthBytes, VariableLengthUTF8)
for _kind in data_type_registry.contents.values():
    (HasObjectCodec if _kind in _VARIABLE else HasItemSize).register(_kind)
    if _kind in (FixedLengthUTF32, NullTerminatedBytes, RawBytes):
        HasLength.register(_kind)
    if _kind in (DateTime64, TimeDelta64, FixedLengthUTF32) or _kind.code[-1:] in ("2", "4", "8"):
        HasEndianness.register(_kind)


class UnstableSpecificationWarning(FutureWarning):
    """A data type has no specification in v3; zarrix does not warn of it."""


def unpack_dtype_json(data: Any) -> Any:
    """The JSON of a data type as documents have it: for v2 the name without the object codec."""
    has_codec = isinstance(data, Mapping) and set(data) == {"name", "object_codec_id"}
    return data["name"] if has_codec else data
