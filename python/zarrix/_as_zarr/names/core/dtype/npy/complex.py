"""Names of ``zarr.core.dtype.npy.complex``."""

from zarrix._dtypes.zdtype import Complex64, Complex128

__all__ = ["Complex64", "Complex128"]
