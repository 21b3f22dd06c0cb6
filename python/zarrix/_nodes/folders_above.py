"""Arrays in the folders above a store, which no path in the store names.

``open("data.zarr/a/b", mode="w")`` opens a store at that folder. If ``data.zarr/a`` is an array,
the new node would lie among its chunks.
"""

from __future__ import annotations

import os

from zarrix._errors import MetadataError
from zarrix._metadata import v3
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZGROUP

__all__ = ["array_above", "array_around"]


def array_above(store: Store) -> str | None:
    """The folder of an array that a store of local files lies in; None if there is none."""
    if store.is_remote or store.read_only:
        return None
    folder = store._folder()
    return None if folder is None else array_around(folder)


def array_around(path: str) -> str | None:
    """The folder of an array that a file or folder lies in, of which the real path is given."""
    folder, below = os.path.dirname(path), path
    while folder != below:
        if os.path.exists(os.path.join(folder, ZARRAY)):
            return folder
        file = os.path.join(folder, ZARR_JSON)
        kind = _kind_in_3(file) if os.path.exists(file) else None
        if kind == "array":
            return folder
        if kind == "group" or os.path.exists(os.path.join(folder, ZGROUP)):
            return None
        folder, below = os.path.dirname(folder), folder
    return None


def _kind_in_3(file: str) -> str | None:
    try:
        with open(file, "rb") as document:
            return v3.node_type(document.read(), file)
    except (OSError, MetadataError):
        return None
