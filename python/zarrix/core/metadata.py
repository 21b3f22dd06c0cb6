"""Public names of ``zarr.core.metadata``: one class describes arrays of both formats."""

from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid as AxisGrid
from zarrix._metadata.chunk_parts import ChunkGrid as ChunkGrid
from zarrix._metadata.chunk_parts import ChunkKeyEncoding as ChunkKeyEncoding
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.one_format import ArrayV2Metadata, ArrayV3Metadata

__all__ = ["ArrayMetadata", "ArrayV2Metadata", "ArrayV3Metadata", "GroupMetadata"]
