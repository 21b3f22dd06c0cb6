"""Public names of ``zarr.core.group``."""

from zarrix._hierarchy.group import Group
from zarrix._metadata.consolidated import ConsolidatedMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._nodes.consolidated_store import ConsolidatedStore as ConsolidatedStore

__all__ = ["ConsolidatedMetadata", "Group", "GroupMetadata"]
