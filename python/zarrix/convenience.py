"""Public names of ``zarr.convenience``."""

from zarrix._api import (
    LazyLoader,
    consolidate_metadata,
    load,
    open,  # noqa: A004
    open_consolidated,
    save,
    save_array,
    save_group,
    tree,
)
from zarrix._copy import copy, copy_all, copy_store

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
