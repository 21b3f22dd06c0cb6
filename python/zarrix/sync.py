"""Locks by key, for code that passes ``synchronizer=``, under the module name of zarr 2.18."""

from zarrix._stores.synchronizer import FileLock as FileLock
from zarrix._stores.synchronizer import ProcessSynchronizer, Synchronizer, ThreadSynchronizer

__all__ = ["ProcessSynchronizer", "Synchronizer", "ThreadSynchronizer"]
