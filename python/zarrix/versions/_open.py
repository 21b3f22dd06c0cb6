"""The store of a version, for functions that open nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.path import normalize_storage_path
from zarrix.versions._catalogue import find_version
from zarrix.versions._home import home_of, inside_of

__all__ = ["at_version"]


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
    home = home_of(store)
    found = find_version(home.versions, version, home.folder)
    return LocalStore(os.path.join(home.folder, found.name), read_only=True), inside
