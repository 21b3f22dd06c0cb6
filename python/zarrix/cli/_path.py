"""The node that a path on the command line names: of any store, or of a file of another format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import zarrix as zarr
from zarrix._errors import PathNotFoundError
from zarrix._stores.path import is_url

if TYPE_CHECKING:
    from zarrix._nodes.location import Location

__all__ = ["located", "new_location", "open_path", "split", "store_of"]

# Files that have something inside.
_ARCHIVES = (".zip", ".ozx")


def split(path: str) -> tuple[str, str, str | None]:
    """A path as a file or store, the path inside of it, and its format if it is another one."""
    if is_url(path) or os.path.isdir(path):
        return path, "", None
    # Import time: only paths inside of hierarchies, and files, need it.
    from zarrix.convert._inside import split as split_file

    return split_file(path)


def open_path(path: str, storage_options: Mapping[str, Any] | None = None) -> Any:
    """Open the array or group at a path, read-only.

    Raises
    ------
    PathNotFoundError
        Nothing is there.
    """
    file, inside, format = split(path)
    if format is not None:
        # Import time: only files of other formats need it.
        from zarrix.convert import open_file

        return open_file(file, inside or None, format=format)
    if not inside and not os.path.isdir(file) and os.path.isfile(file):
        known = file.endswith((*_ARCHIVES, ".json"))
        if not known:
            raise PathNotFoundError(f"{file} is a file of a format that zarrix does not know")
    return zarr.open(file, mode="r", path=inside or None, storage_options=storage_options)


def store_of(path: str, storage_options: Mapping[str, Any] | None) -> Any:
    """What the functions of `zarrix.jobs` take for a path: with options, its opened store."""
    if not storage_options:
        return path
    # Import time: only URLs with options need them.
    from zarrix._stores.open import as_store
    from zarrix._stores.path import StorePath

    return StorePath(as_store(path, storage_options))


def located(path: str, storage_options: Mapping[str, Any] | None = None) -> Location:
    """The store of a hierarchy, and the path of an existing node in it.

    Raises
    ------
    PathNotFoundError
        Nothing is there, or it is a file of another format.
    """
    file, inside, format = split(path)
    if format is not None:
        raise PathNotFoundError(f"{file} is not a Zarr hierarchy; 'zarrix import' makes one of it")
    # Import time: only verbs that change something need them.
    from zarrix.operate._place import locate, nothing_at

    found = locate(file, inside or None, storage_options)
    if found.find() is None:
        raise nothing_at(found.store, found.path)
    return found


def new_location(path: str, storage_options: Mapping[str, Any] | None = None) -> Location:
    """The store and path of a node that is going to be made; nothing is created."""
    # Import time: only verbs that change something need it.
    from zarrix.operate._place import locate

    file, inside, format = split(path)
    if format is not None and os.path.isfile(file):
        raise PathNotFoundError(f"{file} is a file of another format; 'zarrix export' writes those")
    return locate(file, inside or None, storage_options)
