"""Names of ``zarr.core.dtype.registry``."""

from zarrix._as_zarr.names.dtype import DataTypeRegistry

__all__ = ["DataTypeRegistry"]
