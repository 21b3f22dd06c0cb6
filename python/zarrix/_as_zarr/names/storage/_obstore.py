"""Names of ``zarr.storage._obstore``."""

from zarrix._stores.obstore import ObjectStore

__all__ = ["ObjectStore"]
