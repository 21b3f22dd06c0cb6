"""Names of ``zarr.core.dtype.npy.structured``."""

from zarrix._dtypes.zdtype import Struct, Structured

__all__ = ["Struct", "Structured"]
