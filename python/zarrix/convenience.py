"""Public names of ``zarr.convenience``."""

from zarrix._hierarchy.copy import copy, copy_all
from zarrix._hierarchy.copy_store import copy_store
from zarrix._hierarchy.open import consolidate_metadata, open, open_consolidated, tree  # noqa: A004
from zarrix._hierarchy.save import LazyLoader, load, save, save_array, save_group

__all__ = [
    "LazyLoader",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "load",
    "open",
    "open_consolidated",
    "save",
    "save_array",
    "save_group",
    "tree",
]
