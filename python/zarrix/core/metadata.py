"""Public names of ``zarr.core.metadata``: one class describes arrays of both formats."""

from zarrix._metadata.array import ArrayMetadata, GroupMetadata

__all__ = ["ArrayMetadata", "ArrayV2Metadata", "ArrayV3Metadata", "GroupMetadata"]

ArrayV2Metadata = ArrayMetadata
ArrayV3Metadata = ArrayMetadata
