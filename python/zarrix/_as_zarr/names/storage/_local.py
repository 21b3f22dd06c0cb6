"""Names of ``zarr.storage._local``."""

from zarrix._stores.local import LocalStore

__all__ = ["LocalStore"]
