"""Names of ``zarr.core.dtype.npy.time``."""

from zarrix._dtypes.zdtype import DateTime64, TimeDelta64

__all__ = ["DateTime64", "TimeDelta64"]
