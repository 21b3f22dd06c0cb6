"""Names of ``zarr.core.array`` that are coroutines there."""

from zarrix._array.config import ArrayConfig
from zarrix.api.asynchronous import create_array, from_array

__all__ = ["ArrayConfig", "create_array", "from_array"]
