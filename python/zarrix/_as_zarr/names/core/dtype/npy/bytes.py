"""Names of ``zarr.core.dtype.npy.bytes``."""

from zarrix._dtypes.zdtype import NullTerminatedBytes, RawBytes, VariableLengthBytes

__all__ = ["NullTerminatedBytes", "RawBytes", "VariableLengthBytes"]
