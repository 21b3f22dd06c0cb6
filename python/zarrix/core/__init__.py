"""Public names of ``zarr.core``."""

from zarrix._array import Array

__all__ = ["Array"]
