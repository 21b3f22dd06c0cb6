"""Where the commits of a hierarchy are made: in its topmost group.

All commits below it exclude each other by one lock there, and a crash leaves one intent there.
"""

from __future__ import annotations

import copy
import os
from typing import Any, NamedTuple

from zarrix import _engine
from zarrix._errors import NotAtomicError, PathNotFoundError, ReadOnlyError
from zarrix._metadata.consolidated import parse
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.consolidated_store import ConsolidatedStore
from zarrix._nodes.location import Location
from zarrix._nodes.member import Member, location_of
from zarrix._nodes.pending import folders_of
from zarrix._stores.base import Store
from zarrix._stores.keys import CONSOLIDATED_DOCUMENT, key_of
from zarrix._stores.labels import describe, place
from zarrix._stores.local import LocalStore

__all__ = ["CommitPlace", "place_of", "store_at"]


class CommitPlace(NamedTuple):
    """Where a commit is made.

    Attributes
    ----------
    store : Store
        Of the topmost group: a folder, or a server.
    path : str
        Of the node that the caller has named, in that store.
    root : str
        Of the node whose document makes a commit visible: the topmost group with consolidated
        metadata at or above ``path``, or else the node itself.
    zarr_format : {2, 3}
    """

    store: Any
    path: str
    root: str
    zarr_format: Format


def place_of(node: Any, storage_options: Any = None, durability: str | None = None) -> CommitPlace:
    """The place for what a user passes: a node, a store, a path or a URL.

    Raises
    ------
    NotAtomicError
        The store has no commits.
    ReadOnlyError
        It is read-only.
    PathNotFoundError
        There is no node.
    TypeError
        The store makes its own commits.
    """
    if isinstance(node, Member):
        location = location_of(node)
        _require_writable(node)
    else:
        location = Location.of(node, storage_options=storage_options, durability=durability)
    store = location.store
    while isinstance(store, ConsolidatedStore):
        store = store._store
    if store._is_staged:
        raise NotAtomicError("a commit inside of a commit: make both changes in one block")
    if store._own_commits:
        raise TypeError(
            f"{location.describe()} is in a store that makes its own commits: change it without "
            f"zarrix.commit, and call {store._own_commits}"
        )
    is_server = isinstance(store._engine, _engine.ObjectStore)
    is_known = is_server or isinstance(store, LocalStore)
    if not is_known or location.chunk_store not in (None, store):
        raise NotAtomicError(
            f"{location.describe()} is in a store that has no commits; directories of a local "
            "disk have them, and buckets of S3, Google and Azure: copy it there "
            "(zarrix.copy_store), or make the changes one by one"
        )
    store._forbid_changes()
    found = location.at(location.path, location.zarr_format)._replace(store=store).find()
    if found is None:
        raise PathNotFoundError(f"neither an array nor a group exists at {location.describe()}")
    if not isinstance(store, LocalStore):
        return _on_server(store, location.path, found.zarr_format)
    folders = folders_of(store, location.path)
    inside = location.path.split("/") if location.path else []
    depth = _topmost(store, location.path, folders)
    top = store if depth == len(inside) else store_at(store, folders[depth])
    path = location.path
    if depth != len(inside):
        path = os.path.relpath(os.path.realpath(folders[0]), os.path.realpath(folders[depth]))
        path = "" if path == "." else path.replace(os.sep, "/")
    zarr_format = found.zarr_format
    return CommitPlace(top, path, _root(top, path, zarr_format), zarr_format)


def _on_server(store: Store, path: str, zarr_format: Format) -> CommitPlace:
    names = path.split("/") if path else []
    for depth in range(len(names) + 1):
        root = "/".join(names[:depth])
        if nodes.has_group(store, root):
            return CommitPlace(store, path, root, zarr_format)
    raise NotAtomicError(
        f"{describe(store, path)} is an array without a group: on a server, the claim of a commit "
        "is in the consolidated metadata of a group; commit an array of a group"
    )


def _require_writable(node: Any) -> None:
    if node.read_only:
        raise ReadOnlyError(f"{node!r} is read-only; open it with mode='r+' to commit changes")


def _topmost(store: Store, path: str, folders: list[str]) -> int:
    """The number of the folder of the topmost group, in those from the node up."""
    names = path.split("/") if path else []
    # All folders above the store have a group.
    if len(folders) > len(names) + 1:
        return len(folders) - 1
    for depth in range(len(names) + 1):
        if nodes.has_group(store, "/".join(names[:depth])):
            return len(names) - depth
    return 0


def store_at(store: LocalStore, folder: str) -> LocalStore:
    """A store like another one, for another folder."""
    made = copy.copy(store)
    vars(made).pop("_engine", None)
    made._set_path(folder)
    return made


def _root(store: Store, path: str, zarr_format: Format) -> str:
    names = path.split("/") if path else []
    for depth in range(len(names) + 1):
        root = "/".join(names[:depth])
        key = key_of(root, CONSOLIDATED_DOCUMENT[zarr_format])
        if parse_if_group(store, key, zarr_format) is not None:
            return root
    return path


def parse_if_group(store: Store, key: str, zarr_format: Format) -> Any:
    """The consolidated documents under a key; None without any."""
    document = store._value(key)
    return None if document is None else parse(document, zarr_format, place(store, key))
