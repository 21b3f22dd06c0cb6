"""The Zarr array store for people who train, measure and simulate.

    import zarrix as zarr

    z = zarr.open("data.zarr", mode="w", shape=(10000, 10000), chunks=(1000, 1000), dtype="f4")
    z[:1000] = 1.0
    z[500, ::-2]

Code written for zarr-python 2.18 runs unchanged, and so does code for zarr-python 3: functions that
2.18 has create format 2, `create_array` and `create_group` create format 3. Codecs
(``zarrix.Blosc``, ``zarrix.Zstd``, ...) are those of numcodecs, which is imported when one of them
is first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from zarrix._config import config
from zarrix._engine import __version__

if TYPE_CHECKING:
    from zarrix._abs_store import ABSStore as ABSStore
    from zarrix._async import AsyncArray as AsyncArray
    from zarrix._async import AsyncGroup as AsyncGroup
    from zarrix._cached_store import LRUStoreCache as LRUStoreCache
    from zarrix._dbm_store import DBMStore as DBMStore
    from zarrix._debug import print_debug_info as print_debug_info
    from zarrix._debug import set_format as set_format
    from zarrix._debug import set_log_level as set_log_level
    from zarrix._lmdb_store import LMDBStore as LMDBStore
    from zarrix._migrate import Migration as Migration
    from zarrix._migrate import migrate
    from zarrix._mongodb_store import MongoDBStore as MongoDBStore
    from zarrix._redis_store import RedisStore as RedisStore
    from zarrix._sqlite_store import SQLiteStore as SQLiteStore
    from zarrix.api.synchronous import *
    from zarrix.attrs import Attributes
    from zarrix.codecs import *
    from zarrix.core import Array
    from zarrix.errors import CopyError, MetadataError
    from zarrix.hierarchy import Group
    from zarrix.operate import diff as diff
    from zarrix.operate import digests as digests
    from zarrix.operate import repair as repair
    from zarrix.operate import verify as verify
    from zarrix.storage import (
        DictStore,
        DirectoryStore,
        KVStore,
        MemoryStore,
        NestedDirectoryStore,
        TempStore,
        ZipStore,
    )
    from zarrix.sync import ProcessSynchronizer, ThreadSynchronizer

__all__ = [
    "Array",
    "Attributes",
    "CopyError",
    "DictStore",
    "DirectoryStore",
    "Group",
    "KVStore",
    "MemoryStore",
    "MetadataError",
    "NestedDirectoryStore",
    "ProcessSynchronizer",
    "TempStore",
    "ThreadSynchronizer",
    "ZipStore",
    "__version__",
    "array",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "migrate",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]


# Everything is imported when it is first named: a program pays for what it uses.
_HOMES = {
    "_async": "AsyncArray AsyncGroup",
    "_debug": "print_debug_info set_format set_log_level",
    "_migrate": "Migration migrate",
    "api.synchronous": "create_array create_group create_hierarchy from_array",
    "attrs": "Attributes",
    "convenience": "consolidate_metadata copy copy_all copy_store load open open_consolidated save "
    "save_array save_group tree",
    "core": "Array",
    "creation": "array create empty empty_like full full_like ones ones_like open_array open_like "
    "zeros zeros_like",
    "errors": "CopyError MetadataError",
    "hierarchy": "Group group open_group",
    "operate": "diff digests repair verify",
    "storage": "ABSStore DBMStore DictStore DirectoryStore KVStore LMDBStore LRUStoreCache "
    "MemoryStore MongoDBStore NestedDirectoryStore RedisStore SQLiteStore TempStore ZipStore",
    "sync": "ProcessSynchronizer ThreadSynchronizer",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = (
    *("abc", "api", "attrs", "codecs", "convenience", "core", "creation", "dtype", "errors"),
    *("hierarchy", "indexing", "meta", "operate", "registry", "storage", "sync", "types", "util"),
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"zarrix.{name}")
    if name in _HOME_OF:
        found = getattr(importlib.import_module(f"zarrix.{_HOME_OF[name]}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_"):
        codecs = importlib.import_module("zarrix.codecs")
        if name in codecs.__all__:
            return getattr(codecs, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    codecs = importlib.import_module("zarrix.codecs")
    return sorted({*globals(), *_HOME_OF, *_MODULES, *codecs.__all__})
