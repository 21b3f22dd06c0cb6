"""The initial data of a new array."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._nodes.location import Location
from zarrix._stores.base import Store

__all__ = ["safe_source"]


def safe_source(data: Any, location: Location) -> Any:
    """``data`` as an array; loaded into memory, if clearing the location would delete it."""
    if not isinstance(data, Array):
        return data if hasattr(data, "shape") else np.asanyarray(data)
    target = _identity(location.store, location.path)
    if any(f"{_identity(s, data.path)}/".startswith(f"{target}/") for s in data._stores()):
        return data[...]
    return data


def _identity(store: Store, path: str) -> str:
    """The same string for the same location, regardless of the store object."""
    root = getattr(store, "path", None)
    if isinstance(root, str):
        return os.path.realpath(os.path.join(root, path))
    inner = getattr(store, "_mutable_mapping", None)
    if isinstance(inner, Store):
        return _identity(inner, path)
    root = getattr(inner, "root", None)
    name = root if isinstance(root, str) else f"{id(store if inner is None else inner)}"
    return f"{name}/{path}".rstrip("/")
