"""Public names of ``zarr.hierarchy``."""

from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import group, open_group

__all__ = ["Group", "group", "open_group"]

group.__module__ = open_group.__module__ = __name__
