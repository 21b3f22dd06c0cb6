"""Names of ``zarr.core.dtype.common``: what data types have, and a warning."""

from abc import ABC

from zarrix._as_zarr.names.dtype import data_type_registry
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
    "SPECIAL_FLOAT_STRINGS",
    "HasEndianness",
    "HasItemSize",
    "HasLength",
    "HasObjectCodec",
    "UnstableSpecificationWarning",
]

ENDIANNESS_STR = ("little", "big")
SPECIAL_FLOAT_STRINGS = ("NaN", "Infinity", "-Infinity")


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
