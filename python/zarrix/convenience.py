"""Public names of ``zarr.convenience``."""

from zarrix._api import (
    LazyLoader,
    load,
    open,  # noqa: A004
    save,
    save_array,
    save_group,
    tree,
)
from zarrix._copy import copy, copy_all, copy_store

__all__ = [
    "LazyLoader",
    "copy",
    "copy_all",
    "copy_store",
    "load",
    "open",
    "save",
    "save_array",
    "save_group",
    "tree",
]

for _function in (copy, copy_all, copy_store, load, open, save, save_array, save_group, tree):
    _function.__module__ = __name__
