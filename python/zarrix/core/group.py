"""Public names of ``zarr.core.group``."""

from zarrix._consolidate import ConsolidatedMetadata
from zarrix._group import Group
from zarrix._metadata import GroupMetadata

__all__ = ["ConsolidatedMetadata", "Group", "GroupMetadata"]
