"""Names of ``zarr.core.dtype.npy.float``."""

from zarrix._dtypes.zdtype import Float16, Float32, Float64

__all__ = ["Float16", "Float32", "Float64"]
