"""Public names of ``zarr.core.array``."""

from zarrix._array import Array
from zarrix._async import AsyncArray
from zarrix._create_array import create_array, from_array

__all__ = ["Array", "AsyncArray", "create_array", "from_array"]
