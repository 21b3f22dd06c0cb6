"""The target of a function: anything that `zarrix.open` takes, or an open array or group."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from zarrix._array.array import Array
from zarrix._display.printable import counted
from zarrix._errors import PathNotFoundError
from zarrix._hierarchy.group import Group
from zarrix._nodes import nodes
from zarrix._nodes.consolidated_store import ConsolidatedStore
from zarrix._nodes.location import Location
from zarrix._nodes.member import location_of
from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENTS
from zarrix._stores.local import DirectoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path

__all__ = ["Place", "locate", "nothing_at", "place_of"]


class Place(NamedTuple):
    """A path in a store, and the store of the chunks of its arrays, if it is another one."""

    store: Store
    path: str
    chunk_store: Store | None = None

    @property
    def chunks(self) -> Store:
        """The store of the chunks."""
        return self.store if self.chunk_store is None else self.chunk_store


def place_of(
    target: Any, path: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> Place:
    """The location of an array, a group, or anything that is accepted as a store."""
    inside = normalize_storage_path(path)
    if isinstance(target, Place):
        return target
    if isinstance(target, (Array, Group)):
        where = "/".join(part for part in (target.path, inside) if part)
        return Place(_stored(target.store), where, location_of(target).chunk_store)
    return Place(_stored(as_store(target, storage_options)), inside)


def _stored(store: Store) -> Store:
    """The stored documents, not those in consolidated metadata."""
    return store._store if isinstance(store, ConsolidatedStore) else store


def locate(
    dest: Any, path: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> Location:
    """The store and the path of a destination.

    A directory inside a hierarchy is a path in the store of that hierarchy, so that its format and
    its consolidated metadata are those of the hierarchy.
    """
    location = Location.of(dest, path, storage_options=storage_options)
    store = location.store
    if not isinstance(store, DirectoryStore):
        return location
    folder = os.path.abspath(store.path)
    inside = [location.path] if location.path else []
    top, below = folder, list(inside)
    while True:
        folder, name = os.path.split(folder)
        inside.insert(0, name)
        if any(os.path.isfile(os.path.join(folder, one)) for one in DOCUMENTS):
            top, below = folder, list(inside)
        elif not name or os.path.exists(folder):
            break
    if top == os.path.abspath(store.path):
        return location
    return Location(DirectoryStore(top), "/".join(below))


def nothing_at(store: Store, path: str, chunks: Sequence[str] = ()) -> PathNotFoundError:
    """The error for a missing node; ``chunks`` are keys that look like chunks of one."""
    said = f"neither an array nor a group at {nodes.describe(store, path)}"
    folder = getattr(store, "path", None)
    if isinstance(folder, str) and not os.path.exists(folder):
        said += ", which does not exist"
    if chunks:
        said += (
            f"; {counted(len(chunks), 'key')} there, {chunks[0]!r} the first, may be chunks of an "
            "array whose metadata, '.zarray' or 'zarr.json', is lost"
        )
    return PathNotFoundError(said)
