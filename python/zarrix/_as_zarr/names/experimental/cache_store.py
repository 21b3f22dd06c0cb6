"""Names of ``zarr.experimental.cache_store``."""

from zarrix._stores.cache_store import CacheStore

__all__ = ["CacheStore"]
