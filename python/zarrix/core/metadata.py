"""Public names of ``zarr.core.metadata``: one class describes arrays of both formats."""

from zarrix._metadata.array import ArrayMetadata, ChunkGrid, ChunkKeyEncoding
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._metadata.group import GroupMetadata

__all__ = ["ArrayMetadata", "ArrayV2Metadata", "ArrayV3Metadata", "GroupMetadata"]

ArrayV2Metadata = ArrayMetadata
ArrayV3Metadata = ArrayMetadata

# Parts of an array's metadata, which pickles of it name.
_PARTS = (AxisGrid, ChunkGrid, ChunkKeyEncoding)
