"""Open what a user passes as a store.

The table of `zarrix._stores.registry` says which module opens what. Files, zip archives, memory and
servers are native. The engine calls all other stores, such as a dict, an fsspec mapping or a user's
subclass of `Store`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import Any

from zarrix._stores.awaited_methods import defines_awaited
from zarrix._stores.base import Store
from zarrix._stores.local import DirectoryStore
from zarrix._stores.mapping import KVStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.path import StorePath, is_url, normalize_storage_path
from zarrix._stores.registry import OPENERS, opener

__all__ = ["StoreLike", "as_store"]

StoreLike = Store | StorePath | MutableMapping[str, Any] | str | os.PathLike[str]
"""The type of arguments named ``store``."""


def as_store(
    store: Any,
    storage_options: Mapping[str, Any] | None = None,
    durability: str | None = None,
) -> Store:
    """The store of any argument named ``store``.

    Parameters
    ----------
    store : Store, MutableMapping, zarr.abc.store.Store, str, Path or None
        A path is a `DirectoryStore`, or a `ZipStore` if it ends in ``.zip`` or ``.ozx``, an
        `IcechunkStore` for the folder of an Icechunk repository, or a `ReferenceStore` for a file
        that ends in ``.json`` or a folder of references that ends in ``.parq``. A file of HDF5,
        NetCDF, TIFF, npy, npz or safetensors is a read-only store (`zarrix.convert.open_file`). A
        mapping is a `KVStore`, and None a new `MemoryStore`. A URL of S3, Google Cloud Storage,
        Azure or a web server is a `RemoteStore`, and so is an fsspec mapping of one of them if the
        engine supports its configuration. ``icechunk://`` and such a URL after ``icechunk+`` are
        repositories of Icechunk, ``file://`` is a directory, ``memory://name`` is the `MemoryStore`
        of that name in this process, and fsspec opens all other URLs. A path of universal_pathlib
        is opened as the mapping of its file system. Stores of zarr-python 3, Icechunk sessions and
        obstore stores are accepted as they are, and so is a `StorePath` of the root of any of
        these.
    storage_options : mapping, optional
        Only with a URL; fsspec's names of the options.
    durability : {"process", "fsync"}, optional
        What writes through the returned store survive; by default the value in ``config``.

    Raises
    ------
    ValueError
        It is none of these, or not supported.
    ImportError
        A URL needs fsspec, or one of its file systems, which is not installed.
    """
    if type(store) is str and durability is None:
        return (
            _of_url(store, storage_options) if is_url(store) else _of_path(store, storage_options)
        )
    if isinstance(store, Store) and durability is None and not storage_options:
        return _of_object(store) if defines_awaited(type(store)) else store
    if durability is not None:
        return as_store(store, storage_options).with_durability(durability)
    if isinstance(store, str) or hasattr(store, "__fspath__"):
        path = os.fsdecode(store)
        opened = _of_url if is_url(path) else _of_path
        return opened(path, storage_options)
    if isinstance(store, StorePath):
        if normalize_storage_path(store.path):
            raise ValueError(f"{store} is a path in a store, and a store is needed here")
        return as_store(store.store, storage_options)
    if storage_options:
        raise ValueError("storage_options need a URL, such as 's3://bucket/data.zarr'")
    return MemoryStore() if store is None else _of_object(store)


def _of_url(url: str, storage_options: Mapping[str, Any] | None) -> Store:
    scheme, found, _ = url.partition("://")
    for row in (f"{scheme}{found}", "://"):
        opens = opener(row)
        store = None if opens is None else opens(url, storage_options)
        if store is not None:
            return store
    raise AssertionError("the last row opens every URL, or raises the reason why it cannot")


def _of_path(path: str, storage_options: Mapping[str, Any] | None) -> Store:
    if storage_options:
        raise ValueError(
            f"storage_options need a URL, such as 's3://bucket/data.zarr'; got {path!r}"
        )
    row = f".{path.rpartition('.')[2]}"
    # Every Icechunk repository has this folder.
    if row not in OPENERS and os.path.isdir(os.path.join(path, "snapshots")):
        row = "/snapshots"
    if row in OPENERS:
        opens = opener(row)
        store = None if opens is None else opens(path, None)
        if store is not None:
            return store
    if path.endswith(".n5") and not os.path.isdir(path):
        raise ValueError(f"{path!r}: N5 is not supported yet in this version")
    return DirectoryStore(path)


def _of_object(store: Any) -> Store:
    kind = type(store)
    if kind is dict:
        return KVStore(store)
    if isinstance(store, Store) and not defines_awaited(type(store)):
        return KVStore(store)
    has_methods = "list_prefix()" if hasattr(kind, "list_prefix") else ""
    for row in (kind.__name__, has_methods, f"{kind.__module__.partition('.')[0]}.*"):
        opens = opener(row)
        found = None if opens is None else opens(store, None)
        if found is not None:
            return found
    methods = ("keys", "__getitem__", "__setitem__", "__delitem__", "__contains__")
    if isinstance(store, MutableMapping) or all(hasattr(store, name) for name in methods):
        return KVStore(store)
    if hasattr(store, "store") and hasattr(store, "path"):
        raise ValueError(
            f"{store!r} is an open array or group, not a store; use it as it is, or pass its "
            "store and path: store=x.store, path=x.path"
        )
    if hasattr(store, "_strip_protocol"):
        raise ValueError(f"{store!r} is a file system; pass FsspecStore(it, path=...) or a mapping")
    raise ValueError(
        f"{store!r} ({kind.__name__}) is not a store; pass a path, a URL, a store of zarrix or "
        "of zarr-python 3, or a mutable mapping of str to bytes"
    )
