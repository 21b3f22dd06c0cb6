"""Names of ``zarr.storage._fsspec``."""

from zarrix._stores.fsspec import FsspecStore

__all__ = ["FsspecStore"]
