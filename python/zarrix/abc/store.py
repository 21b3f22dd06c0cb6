"""The base class of stores and requests for parts of values, under zarr-python 3's module name."""

from zarrix._runtime.buffers import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    SuffixByteRequest,
)
from zarrix._stores.base import Store

__all__ = ["ByteRequest", "OffsetByteRequest", "RangeByteRequest", "Store", "SuffixByteRequest"]
