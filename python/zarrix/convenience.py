"""Public names of ``zarr.convenience``."""

from zarrix._api import (
    consolidate_metadata,
    open,  # noqa: A004
    open_consolidated,
    tree,
)
from zarrix._copy import copy, copy_all
from zarrix._copy_store import copy_store
from zarrix._save import LazyLoader, load, save, save_array, save_group

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

for _function in (
    *(consolidate_metadata, copy, copy_all, copy_store, load, open, open_consolidated),
    *(save, save_array, save_group, tree),
):
    _function.__module__ = __name__
