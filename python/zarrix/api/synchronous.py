"""The functions of zarr-python 3 that do not need awaiting: all that there are here."""

from zarrix._array.create_array import create_array, from_array
from zarrix._hierarchy.open import create_group, create_hierarchy
from zarrix.convenience import (
    consolidate_metadata,
    copy,
    copy_all,
    copy_store,
    load,
    open,  # noqa: A004
    open_consolidated,
    save,
    save_array,
    save_group,
    tree,
)
from zarrix.creation import (
    array,
    create,
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    open_array,
    open_like,
    zeros,
    zeros_like,
)
from zarrix.hierarchy import group, open_group

__all__ = [
    "array",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]

for _function in (create_array, create_group, create_hierarchy, from_array):
    _function.__module__ = __name__
