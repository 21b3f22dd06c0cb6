"""Public names of ``zarr.core.array``."""

from zarrix._array.array import Array
from zarrix._array.config import ArrayConfig as ArrayConfig
from zarrix._array.create_array import create_array, from_array
from zarrix._hierarchy.asynchronous import AsyncArray

__all__ = ["Array", "AsyncArray", "create_array", "from_array"]
