"""Names of ``zarr.core.indexing`` that zarrix has; selections are resolved in the engine."""

from zarrix._errors import ArrayIndexError, BoundsCheckError
from zarrix._hierarchy.asynchronous import AsyncOIndex, AsyncVIndex

__all__ = ["ArrayIndexError", "AsyncOIndex", "AsyncVIndex", "BoundsCheckError"]
