"""Names of ``zarr.core.metadata.v2``."""

from zarrix._metadata.array import ArrayV2Metadata

__all__ = ["ArrayV2Metadata"]
