"""Names of ``zarr.storage._memory``."""

from zarrix._stores.managed_memory import ManagedMemoryStore
from zarrix._stores.memory import MemoryStore

__all__ = ["ManagedMemoryStore", "MemoryStore"]
