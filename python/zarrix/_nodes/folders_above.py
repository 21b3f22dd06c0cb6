"""Arrays in the folders above a store, which no path in the store names.

``open("data.zarr/a/b", mode="w")`` opens a store at that folder. If ``data.zarr/a`` is an array,
the new node would lie among its chunks. zarr-python 3 allows it, and so does the alias, for a
folder that cannot be one of chunks.
"""

from __future__ import annotations

import os

from zarrix._errors import MetadataError
from zarrix._metadata import v3
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZGROUP

__all__ = ["array_above", "array_around"]


def array_above(store: Store) -> str | None:
    """The folder of an array that a store of local files lies in; None if there is none."""
    if store.is_remote or store.read_only:
        return None
    folder = store._folder()
    if folder is None:
        return None
    found = array_around(folder)
    if found is not None and DIALECT.is_zarr3 and not _is_of_chunks(folder, found):
        return None
    return found


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


def _is_of_chunks(folder: str, array: str) -> bool:
    """Whether the folder of an array in which another lies may be one of its chunks."""
    first = os.path.relpath(folder, array).split(os.sep)[0]
    return first == "c" or first.replace(".", "").isdecimal()


def _kind_in_3(file: str) -> str | None:
    try:
        with open(file, "rb") as document:
            return v3.node_type(document.read(), file)
    except (OSError, MetadataError):
        return None
