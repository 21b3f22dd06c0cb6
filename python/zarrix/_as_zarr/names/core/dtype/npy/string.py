"""Names of ``zarr.core.dtype.npy.string``."""

from zarrix._dtypes.zdtype import FixedLengthUTF32, VariableLengthUTF8

__all__ = ["FixedLengthUTF32", "VariableLengthUTF8"]
