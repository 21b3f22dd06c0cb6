"""Public names of ``zarr.hierarchy``."""

from zarrix._api import group, open_group
from zarrix._group import Group

__all__ = ["Group", "group", "open_group"]

group.__module__ = open_group.__module__ = __name__
