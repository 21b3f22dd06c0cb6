"""Names of ``zarr.core.dtype.npy.int``."""

from zarrix._dtypes.zdtype import Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64

__all__ = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
