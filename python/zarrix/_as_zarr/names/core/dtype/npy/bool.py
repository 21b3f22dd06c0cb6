"""Names of ``zarr.core.dtype.npy.bool``."""

from zarrix._dtypes.zdtype import Bool

__all__ = ["Bool"]
