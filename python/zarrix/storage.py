"""Stores, and the functions on stores of zarr 2.18's module.

The functions take any store or mutable mapping, and write v2 documents.
"""

from __future__ import annotations

import glob as _glob
import importlib
import os
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarrix._metadata import v2 as _v2
from zarrix._nodes.batch import forget_known as _forget_known
from zarrix._nodes.location import Location as _Location
from zarrix._nodes.new import group_metadata as _group_metadata
from zarrix._nodes.new import new_node as _new_node
from zarrix._stores.base import Store
from zarrix._stores.fsspec import FsspecStore, FSStore
from zarrix._stores.keys import ZARRAY, ZATTRS, ZGROUP, key_of
from zarrix._stores.local import DirectoryStore, LocalStore, NestedDirectoryStore, TempStore
from zarrix._stores.mapping import KVStore
from zarrix._stores.memory import DictStore, MemoryStore
from zarrix._stores.open import StoreLike, as_store
from zarrix._stores.path import StorePath, normalize_storage_path
from zarrix._stores.remote.store import NeedsFsspec, RemoteStore, RemoteZipStore
from zarrix._stores.zip import ZipStore

if TYPE_CHECKING:
    from zarrix._stores.cache_store import CacheStore as CacheStore
    from zarrix._stores.database.dbm import DBMStore as DBMStore
    from zarrix._stores.database.lmdb import LMDBStore as LMDBStore
    from zarrix._stores.database.mongodb import MongoDBStore as MongoDBStore
    from zarrix._stores.database.redis import RedisStore as RedisStore
    from zarrix._stores.database.sqlite import SQLiteStore as SQLiteStore
    from zarrix._stores.icechunk import IcechunkStore as IcechunkStore
    from zarrix._stores.lru_cache import LRUStoreCache as LRUStoreCache
    from zarrix._stores.managed_memory import ManagedMemoryStore as ManagedMemoryStore
    from zarrix._stores.obstore import ObjectStore as ObjectStore
    from zarrix._stores.reference.store import ReferenceStore as ReferenceStore
    from zarrix._stores.remote.abs import ABSStore as ABSStore
    from zarrix._stores.wrapper import LoggingStore as LoggingStore
    from zarrix._stores.wrapper import WrapperStore as WrapperStore
    from zarrix._stores.zarr_python import AsyncStore as AsyncStore

__all__ = [
    "ABSStore",
    "AsyncStore",
    "CacheStore",
    "DBMStore",
    "DictStore",
    "DirectoryStore",
    "FSStore",
    "FsspecStore",
    "IcechunkStore",
    "KVStore",
    "LMDBStore",
    "LRUStoreCache",
    "LocalStore",
    "LoggingStore",
    "ManagedMemoryStore",
    "MemoryStore",
    "MongoDBStore",
    "NeedsFsspec",
    "NestedDirectoryStore",
    "ObjectStore",
    "RedisStore",
    "ReferenceStore",
    "RemoteStore",
    "RemoteZipStore",
    "SQLiteStore",
    "Store",
    "StoreLike",
    "StorePath",
    "TempStore",
    "WrapperStore",
    "ZipStore",
    "array_meta_key",
    "atexit_rmglob",
    "atexit_rmtree",
    "attrs_key",
    "contains_array",
    "contains_group",
    "default_compressor",
    "getsize",
    "group_meta_key",
    "init_array",
    "init_group",
    "init_store",
    "listdir",
    "normalize_store_arg",
    "rename",
    "rmdir",
]

array_meta_key = ZARRAY
group_meta_key = ZGROUP
attrs_key = ZATTRS
# Assigning to it changes the meaning of ``compressor="default"``, as in 2.18.
default_compressor: Any


# Classes that few programs need; importing this module does not import their modules.
_ON_DEMAND = {
    "ABSStore": "zarrix._stores.remote.abs",
    "AsyncStore": "zarrix._stores.zarr_python",
    "CacheStore": "zarrix._stores.cache_store",
    "DBMStore": "zarrix._stores.database.dbm",
    "IcechunkStore": "zarrix._stores.icechunk",
    "LMDBStore": "zarrix._stores.database.lmdb",
    "LRUStoreCache": "zarrix._stores.lru_cache",
    "LoggingStore": "zarrix._stores.wrapper",
    "ManagedMemoryStore": "zarrix._stores.managed_memory",
    "MongoDBStore": "zarrix._stores.database.mongodb",
    "ObjectStore": "zarrix._stores.obstore",
    "RedisStore": "zarrix._stores.database.redis",
    "ReferenceStore": "zarrix._stores.reference.store",
    "SQLiteStore": "zarrix._stores.database.sqlite",
    "WrapperStore": "zarrix._stores.wrapper",
    # Names in pickles of stores.
    "_FileSystemPickle": "zarrix._stores.fsspec_pickle",
    "_function_named": "zarrix._stores.remote.provided",
    "_unpickled_secrets": "zarrix._stores.secrets",
}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(_ON_DEMAND[name]), name)
    # A numcodecs object: importing this module must not import numcodecs.
    if name == "default_compressor":
        # Import time: numcodecs.
        from zarrix._codecs.numcodecs import DEFAULT_COMPRESSOR, codec_object

        return codec_object(DEFAULT_COMPRESSOR)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def contains_array(store: Any, path: str | None = None) -> bool:
    """Whether an array is stored at ``path``.

    Parameters
    ----------
    store : Store or mutable mapping
    path : str, optional
        The root of the store when omitted.

    Returns
    -------
    bool

    Raises
    ------
    InvalidKeyError
        ``path`` leads out of the store.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.storage import contains_array
    >>> store = zarr.MemoryStore()
    >>> z = zarr.zeros(3, store=store, path="a")
    >>> contains_array(store, "a"), contains_array(store)
    (True, False)
    """
    return key_of(normalize_storage_path(path), array_meta_key) in as_store(store)


def contains_group(store: Any, path: str | None = None, explicit_only: bool = True) -> bool:
    """Whether a v2 group is stored at ``path``.

    Parameters
    ----------
    store : Store or mutable mapping
    path : str, optional
        The root of the store when omitted.
    explicit_only : bool
        Accepted for zarr 2.18; it has no effect in v2.

    Returns
    -------
    bool

    Raises
    ------
    InvalidKeyError
        ``path`` leads out of the store.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.storage import contains_group
    >>> store = zarr.MemoryStore()
    >>> z = zarr.zeros(3, store=store, path="a/b")
    >>> contains_group(store, "a"), contains_group(store, "a/b")
    (True, False)
    """
    return key_of(normalize_storage_path(path), group_meta_key) in as_store(store)


def init_array(
    store: Any,
    shape: Any,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = None,
    order: str = "C",
    overwrite: bool = False,
    path: str | None = None,
    chunk_store: Any = None,
    filters: Any = None,
    object_codec: Any = None,
    dimension_separator: str | None = None,
    storage_transformers: Any = (),
) -> None:
    """Store the metadata of a new array, and of the groups above it.

    Nothing in the store changes before the arguments have been checked.

    Parameters
    ----------
    store : Store or MutableMapping
    shape : int or tuple of int
    chunks : int, tuple of int, bool or str
        As in `zarrix.create`, and so are the arguments below that have no description.
    dtype : dtype-like, optional
    compressor : codec, dict or None
    fill_value : object
    order : {"C", "F"}
    overwrite : bool
        Delete an existing node at ``path`` first.
    path : str, optional
        Path in the store; the root when omitted.
    chunk_store : Store or MutableMapping, optional
        The store of the chunks, if it is another one; ``overwrite`` clears ``path`` there, too.
    filters : sequence of codecs, optional
    object_codec : codec, optional
        Encodes the elements of an object dtype.
    dimension_separator : {".", "/"}, optional
    storage_transformers : sequence
        Accepted for zarr 2.18; must be empty.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, or an array above it, and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> from zarrix.storage import init_array
    >>> store = {}
    >>> init_array(store, shape=1000, chunks=100, dtype="i1", path="foo")
    >>> sorted(store)
    ['.zgroup', 'foo/.zarray']
    """
    if storage_transformers:
        raise ValueError("storage_transformers: this version supports none; leave it out")
    target = as_store(store)
    name = normalize_storage_path(path)
    metadata = _v2.new_array(
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        compressor=compressor,
        fill_value=fill_value,
        order=order,
        filters=filters,
        object_codec=object_codec,
        dimension_separator=dimension_separator or target._dimension_separator,
        label=key_of(name, array_meta_key),
    )
    chunks_in = None if chunk_store is None else as_store(chunk_store)
    with _new_node(_Location(target, name, 2, chunks_in), metadata, overwrite=overwrite):
        pass


init_store = init_array


def init_group(
    store: Any, overwrite: bool = False, path: str | None = None, chunk_store: Any = None
) -> None:
    """Store the metadata of a new group, and of the groups above it.

    Parameters
    ----------
    store : Store or MutableMapping
    overwrite : bool
        Delete an existing node at ``path`` first.
    path : str, optional
        Path in the store; the root when omitted.
    chunk_store : Store or MutableMapping, optional
        The store of the chunks, if it is another one; ``overwrite`` clears ``path`` there, too.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, or an array above it, and ``overwrite`` is false.

    Examples
    --------
    >>> from zarrix.storage import init_group
    >>> store = {}
    >>> init_group(store, path="a/b")
    >>> sorted(store)
    ['.zgroup', 'a/.zgroup', 'a/b/.zgroup']
    """
    chunks_in = None if chunk_store is None else as_store(chunk_store)
    location = _Location(as_store(store), normalize_storage_path(path), 2, chunks_in)
    with _new_node(location, _group_metadata(2), overwrite=overwrite):
        pass


def listdir(store: Any, path: str | None = None) -> list[str]:
    """The names directly below ``path``, sorted.

    Parameters
    ----------
    store : Store or mutable mapping
    path : str, optional
        The root of the store when omitted.

    Returns
    -------
    list of str

    Raises
    ------
    InvalidKeyError
        ``path`` leads out of the store.

    Examples
    --------
    >>> from zarrix.storage import listdir
    >>> listdir({"a/b": b"1", "a/c/d": b"2"}, "a")
    ['b', 'c']
    """
    return as_store(store).listdir(normalize_storage_path(path))


def rmdir(store: Any, path: str | None = None) -> None:
    """Delete every key below ``path``.

    Parameters
    ----------
    store : Store or mutable mapping
    path : str, optional
        The root of the store when omitted.

    Raises
    ------
    ReadOnlyError
        The store is read-only.
    InvalidKeyError
        ``path`` leads out of the store.

    Examples
    --------
    >>> from zarrix.storage import rmdir
    >>> store = {"a/b": b"1", "a/c/d": b"2", "e": b"3"}
    >>> rmdir(store, "a")
    >>> store
    {'e': b'3'}
    """
    target, below = as_store(store), normalize_storage_path(path)
    target.rmdir(below)
    _forget_known(target, below)


def rename(store: Any, src_path: str, dst_path: str) -> None:
    """Move everything at and below ``src_path`` to ``dst_path``.

    Parameters
    ----------
    store : Store or mutable mapping
    src_path, dst_path : str
        Nothing may be stored at ``dst_path``.

    Raises
    ------
    FileNotFoundError
        Nothing is stored at ``src_path``.
    FileExistsError
        Something is stored at ``dst_path``.
    ReadOnlyError
        The store is read-only.

    Examples
    --------
    >>> from zarrix.storage import rename
    >>> store = {"a/b": b"1", "c": b"2"}
    >>> rename(store, "a", "d/a")
    >>> sorted(store)
    ['c', 'd/a/b']
    """
    target = as_store(store)
    target.rename(src_path, dst_path)
    _forget_known(target, *map(normalize_storage_path, (src_path, dst_path)))


def getsize(store: Any, path: str | None = None) -> int:
    """Bytes of the value at ``path``, or of the values directly below it.

    Parameters
    ----------
    store : Store or mutable mapping
    path : str, optional
        A key, or a prefix of keys; the root when omitted.

    Returns
    -------
    int
        Stored bytes; 0 if nothing is stored.

    Raises
    ------
    InvalidKeyError
        ``path`` leads out of the store.

    Examples
    --------
    >>> from zarrix.storage import getsize
    >>> getsize({"a/b": b"12345", "a/c": b"1"}, "a")
    6
    """
    return as_store(store).getsize(normalize_storage_path(path))


def normalize_store_arg(
    store: Any, storage_options: Mapping[str, Any] | None = None, mode: str = "r"
) -> Store:
    """The store of an argument: a path, a URL, a mapping, a store or None.

    Parameters
    ----------
    store : Store, mapping, URL, str, Path or None
        None makes a new `MemoryStore`.
    storage_options : mapping, optional
        Only with a URL; fsspec's names of the options.
    mode : str
        Accepted for zarr 2.18; arrays and groups have their own mode.

    Returns
    -------
    Store

    Raises
    ------
    ValueError
        ``store`` is not a store.

    Examples
    --------
    >>> from zarrix.storage import normalize_store_arg
    >>> type(normalize_store_arg("data.zip")).__name__, type(normalize_store_arg({})).__name__
    ('ZipStore', 'KVStore')
    """
    return as_store(store, storage_options)


def atexit_rmtree(path: str) -> None:
    """Remove a directory if it exists; for ``atexit.register``.

    Parameters
    ----------
    path : str

    Raises
    ------
    OSError
        The directory cannot be removed.

    Examples
    --------
    >>> import os
    >>> from zarrix.storage import atexit_rmtree
    >>> os.mkdir("temporary")
    >>> atexit_rmtree("temporary")
    >>> os.path.exists("temporary")
    False
    """
    if os.path.isdir(path):
        shutil.rmtree(path)


def atexit_rmglob(path: str) -> None:
    """Remove every file and directory that matches a pattern; for ``atexit.register``.

    Parameters
    ----------
    path : str
        A pattern of ``glob``.

    Raises
    ------
    OSError
        A match cannot be removed.

    Examples
    --------
    >>> import os
    >>> from zarrix.storage import atexit_rmglob
    >>> for name in ("a.tmp", "b.tmp", "c"):
    ...     os.mkdir(name)
    >>> atexit_rmglob("*.tmp")
    >>> os.listdir()
    ['c']
    """
    for match in _glob.glob(path):
        if os.path.isfile(match):
            os.remove(match)
        else:
            atexit_rmtree(match)
