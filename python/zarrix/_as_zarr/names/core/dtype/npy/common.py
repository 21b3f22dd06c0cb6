"""Names of ``zarr.core.dtype.npy.common``."""

__all__ = ["DATETIME_UNIT"]

DATETIME_UNIT = (
    *("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"),
)
