"""The store of a version, for functions that open nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from zarrix._nodes.location import Location
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path
from zarrix.versions._catalogue import Version, find_version
from zarrix.versions._home import Home, ServerHome, home_at, inside_of
from zarrix.versions._objects import pinned

__all__ = ["at_version", "of_url", "store_of"]


def at_version(
    target: Any, path: str | None, version: str, storage_options: Mapping[str, Any] | None
) -> tuple[Store, str]:
    """The read-only store of a version, and the path in it."""
    store, above = inside_of(target, storage_options)
    inside = key_of(above, normalize_storage_path(path)) if above else normalize_storage_path(path)
    inside = inside.strip("/")
    own = store._at_version(version)
    if own is not None:
        return own, inside
    home = home_at(store)
    found = find_version(home.versions, version, home.folder)
    return store_of(home, found), inside


def store_of(home: Home | ServerHome, version: Version) -> Store:
    """The read-only store of a version."""
    if isinstance(home, ServerHome):
        return pinned(home, version.name, version.pages, version.spaces)
    return LocalStore(os.path.join(home.folder, version.name), read_only=True)


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> Store:
    """The store of ``version+s3://bucket/path@name``; a hierarchy whose own name it is wins."""
    address = url.removeprefix("version+")
    base, _, name = address.rpartition("@")
    if not base:
        raise ValueError(f"{url!r} names no version: version+s3://bucket/path@name")
    own = as_store(address, storage_options)
    if Location.of(own).find() is not None:
        return own
    return at_version(base, None, name, storage_options)[0]
