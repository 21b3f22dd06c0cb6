"""Names of ``zarr.codecs`` that zarrix has elsewhere."""

from zarrix._as_zarr.names.codecs.sharding import SubchunkWriteOrder

__all__ = ["SubchunkWriteOrder"]
