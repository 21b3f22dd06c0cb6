"""The base class of stores and requests for parts of values, under zarr-python 3's module name."""

from zarrix._stores.base import Store
from zarrix._stores.buffers import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    SuffixByteRequest,
)

__all__ = ["ByteRequest", "OffsetByteRequest", "RangeByteRequest", "Store", "SuffixByteRequest"]
