"""The places of a job: stores and paths, in a form that another process or a file can hold.

A job that other processes carry out sends its stores pickled, without credentials, as every store
is pickled. A saved job has only addresses: paths, and URLs with their public options.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from zarrix._errors import JobError
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_dumps
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.local import DirectoryStore
from zarrix._stores.mapping import KVStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import StorePath
from zarrix._stores.remote.store import RemoteStore
from zarrix._stores.zip import ZipStore
from zarrix.operate import _place
from zarrix.operate._place import Place

__all__ = [
    "Place",
    "address",
    "digest_of",
    "in_its_hierarchy",
    "in_this_process",
    "place_at",
    "place_of",
]


def place_of(target: Any, storage_options: Mapping[str, Any] | None = None) -> Place:
    """The place of an array, a group, a path in a store, or anything accepted as a store."""
    if isinstance(target, StorePath):
        return _place.place_of(target.store, target.path)
    return _place.place_of(target, None, storage_options)


def in_its_hierarchy(place: Place) -> Place:
    """The same node as a path below a group, if its store begins with the node itself.

    A path to an array is then the same as the path to its group and the name of the array.
    """
    if place.path or place.chunk_store is not None:
        return place
    if isinstance(place.store, DirectoryStore) and isinstance(place.store.path, str):
        found = _place.locate(place.store.path)
        return Place(found.store, found.path)
    if isinstance(place.store, RemoteStore):
        above, slash, name = place.store.url.rstrip("/").rpartition("/")
        if slash and not above.endswith("/"):
            group = place.store._at_url(above)
            if nodes.find(group, "") is not None:
                return Place(group, name)
    return place


def address(place: Place) -> dict[str, Any]:
    """The place as JSON values; `place_at` opens it again.

    A place in the memory of this process has an address that no other process can open.
    """
    store, path, chunk_store = place
    found = _address(store)
    if path:
        found["path"] = path
    if chunk_store is not None:
        found["chunk_store"] = _address(chunk_store)
    return found


def _address(store: Store) -> dict[str, Any]:
    if isinstance(store, RemoteStore):
        # A document names no function of a program, because opening it would run that.
        options = {name: value for name, value in store._options.items() if not callable(value)}
        return {"url": store.url, **({"options": options} if options else {})}
    if isinstance(store, DirectoryStore | ZipStore) and isinstance(store.path, str):
        return {"url": store.path}
    return {"here": f"{type(store).__name__} {store._engine.id}"}


def place_at(address: Mapping[str, Any]) -> Place:
    """The place of an `address`.

    Raises
    ------
    JobError
        It was in the memory of another process.
    """
    chunk_store = address.get("chunk_store")
    return Place(
        _opened(address),
        str(address.get("path", "")),
        None if chunk_store is None else _opened(chunk_store),
    )


def _opened(address: Mapping[str, Any]) -> Store:
    if "url" not in address:
        raise JobError(
            f"the job uses {address.get('here')!r}, which has no path and no URL, so that a saved "
            "job cannot name it; pass a path or a URL"
        )
    return as_store(address["url"], address.get("options"))


def in_this_process(store: Store) -> bool:
    """Whether no other process can reach the values of a store."""
    inner = store._mutable_mapping if isinstance(store, KVStore) else store
    if inner is not store and isinstance(inner, Store):
        return in_this_process(inner)
    return isinstance(inner, dict | MemoryStore)


def digest_of(metadata: ArrayMetadata, *, names: bool = True) -> str:
    """A digest of everything about an array except its attributes and its elements, and with
    ``names=False`` its dimension names.
    """
    left = ("attributes",) if names else ("attributes", "dimension_names")
    members = {k: v for k, v in metadata._document().items() if k not in left}
    return hashlib.sha256(json_dumps(members)).hexdigest()[:32]
