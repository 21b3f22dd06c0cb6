"""The data that a new array is filled with, and the store that it is in by default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._stores.base import Store
from zarrix._stores.mapping import KVStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path

__all__ = ["in_memory", "safe_source"]


def in_memory(
    store: Any,
    storage_options: Mapping[str, Any] | None = None,
    durability: str | None = None,
) -> Store:
    """``store``, or a new one in memory where there is none."""
    opened = KVStore(MemoryStore()) if store is None else store
    return as_store(opened, storage_options, durability)


def safe_source(data: Any, store: Store, path: str | None) -> Any:
    """``data`` as an array; in memory, if clearing ``path`` in ``store`` would delete it."""
    if not isinstance(data, Array):
        return data if hasattr(data, "shape") else np.asanyarray(data)
    target = _identity(store, normalize_storage_path(path))
    if any(f"{_identity(s, data.path)}/".startswith(f"{target}/") for s in data._stores()):
        return data[...]
    return data


def _identity(store: Store, path: str) -> str:
    """The same string for the same place, whichever store object leads there."""
    root = getattr(store, "path", None)
    if isinstance(root, str):
        return os.path.realpath(os.path.join(root, path))
    inner = getattr(store, "_mutable_mapping", None)
    if isinstance(inner, Store):
        return _identity(inner, path)
    root = getattr(inner, "root", None)
    name = root if isinstance(root, str) else f"{id(store if inner is None else inner)}"
    return f"{name}/{path}".rstrip("/")
