"""The Zarr array store for people who train, measure and simulate.

    import zarrix as zarr

    z = zarr.open("data.zarr", mode="w", shape=(10000, 10000), chunks=(1000, 1000), dtype="f4")
    z[:1000] = 1.0
    z[500, ::-2]

Most code written for zarr-python 2.18 and 3 runs unchanged; what differs or is absent is in
docs/migration.md. Functions that 2.18 has create v2, `create_array` and `create_group` create
v3. Codecs (``zarrix.Blosc``, ``zarrix.Zstd``, ...) are those of numcodecs, which is imported
when one of them is first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from zarrix._engine import __version__
from zarrix._errors import suggestion
from zarrix._runtime import former_modules
from zarrix._runtime.config import config

former_modules.install()
del former_modules

if TYPE_CHECKING:
    # As themselves: so checkers of types and editors take each for a public name.
    from zarrix import abc as abc
    from zarrix import api as api
    from zarrix import attrs as attrs
    from zarrix import codecs as codecs
    from zarrix import context as context
    from zarrix import convenience as convenience
    from zarrix import convert as convert
    from zarrix import core as core
    from zarrix import creation as creation
    from zarrix import dask as dask
    from zarrix import dtype as dtype
    from zarrix import errors as errors
    from zarrix import hierarchy as hierarchy
    from zarrix import indexing as indexing
    from zarrix import interop as interop
    from zarrix import jobs as jobs
    from zarrix import measure as measure
    from zarrix import meta as meta
    from zarrix import ml as ml
    from zarrix import operate as operate
    from zarrix import registry as registry
    from zarrix import storage as storage
    from zarrix import sync as sync
    from zarrix import testing as testing
    from zarrix import types as types
    from zarrix import util as util
    from zarrix import version as version
    from zarrix import viewer as viewer
    from zarrix import xarray as xarray
    from zarrix._array.many import WindowFailure as WindowFailure
    from zarrix._array.many import read_many as read_many
    from zarrix._codecs.numcodecs_names import BZ2 as BZ2
    from zarrix._codecs.numcodecs_names import CRC32 as CRC32
    from zarrix._codecs.numcodecs_names import JSON as JSON
    from zarrix._codecs.numcodecs_names import LZ4 as LZ4
    from zarrix._codecs.numcodecs_names import LZMA as LZMA
    from zarrix._codecs.numcodecs_names import Adler32 as Adler32
    from zarrix._codecs.numcodecs_names import AsType as AsType
    from zarrix._codecs.numcodecs_names import Base64 as Base64
    from zarrix._codecs.numcodecs_names import BitRound as BitRound
    from zarrix._codecs.numcodecs_names import Blosc as Blosc
    from zarrix._codecs.numcodecs_names import Categorize as Categorize
    from zarrix._codecs.numcodecs_names import Delta as Delta
    from zarrix._codecs.numcodecs_names import FixedScaleOffset as FixedScaleOffset
    from zarrix._codecs.numcodecs_names import Fletcher32 as Fletcher32
    from zarrix._codecs.numcodecs_names import GZip as GZip
    from zarrix._codecs.numcodecs_names import JenkinsLookup3 as JenkinsLookup3
    from zarrix._codecs.numcodecs_names import PackBits as PackBits
    from zarrix._codecs.numcodecs_names import Pickle as Pickle
    from zarrix._codecs.numcodecs_names import Quantize as Quantize
    from zarrix._codecs.numcodecs_names import Shuffle as Shuffle
    from zarrix._codecs.numcodecs_names import VLenArray as VLenArray
    from zarrix._codecs.numcodecs_names import VLenBytes as VLenBytes
    from zarrix._codecs.numcodecs_names import VLenUTF8 as VLenUTF8
    from zarrix._codecs.numcodecs_names import Zlib as Zlib
    from zarrix._codecs.numcodecs_names import Zstd as Zstd
    from zarrix._codecs.numcodecs_names import blosc as blosc
    from zarrix._codecs.numcodecs_names import codec_registry as codec_registry
    from zarrix._codecs.numcodecs_names import get_codec as get_codec
    from zarrix._codecs.numcodecs_names import register_codec as register_codec
    from zarrix._engine import CancelToken as CancelToken
    from zarrix._hierarchy.asynchronous import AsyncArray as AsyncArray
    from zarrix._hierarchy.asynchronous import AsyncGroup as AsyncGroup
    from zarrix._runtime.debug import print_debug_info as print_debug_info
    from zarrix._runtime.debug import set_format as set_format
    from zarrix._runtime.debug import set_log_level as set_log_level
    from zarrix.api.synchronous import create_array as create_array
    from zarrix.api.synchronous import create_group as create_group
    from zarrix.api.synchronous import create_hierarchy as create_hierarchy
    from zarrix.api.synchronous import from_array as from_array
    from zarrix.attrs import Attributes as Attributes
    from zarrix.codecs import BloscCname as BloscCname
    from zarrix.codecs import BloscCodec as BloscCodec
    from zarrix.codecs import BloscShuffle as BloscShuffle
    from zarrix.codecs import BytesCodec as BytesCodec
    from zarrix.codecs import CastValue as CastValue
    from zarrix.codecs import Crc32cCodec as Crc32cCodec
    from zarrix.codecs import Endian as Endian
    from zarrix.codecs import GzipCodec as GzipCodec
    from zarrix.codecs import ScaleOffset as ScaleOffset
    from zarrix.codecs import ShardingCodec as ShardingCodec
    from zarrix.codecs import ShardingCodecIndexLocation as ShardingCodecIndexLocation
    from zarrix.codecs import TransposeCodec as TransposeCodec
    from zarrix.codecs import VLenBytesCodec as VLenBytesCodec
    from zarrix.codecs import VLenUTF8Codec as VLenUTF8Codec
    from zarrix.codecs import ZstdCodec as ZstdCodec
    from zarrix.convenience import consolidate_metadata as consolidate_metadata
    from zarrix.convenience import copy as copy
    from zarrix.convenience import copy_all as copy_all
    from zarrix.convenience import copy_store as copy_store
    from zarrix.convenience import load as load
    from zarrix.convenience import open as open  # noqa: A004
    from zarrix.convenience import open_consolidated as open_consolidated
    from zarrix.convenience import save as save
    from zarrix.convenience import save_array as save_array
    from zarrix.convenience import save_group as save_group
    from zarrix.convenience import tree as tree
    from zarrix.convert import export as export
    from zarrix.convert import import_ as import_
    from zarrix.core import Array as Array
    from zarrix.creation import array as array
    from zarrix.creation import create as create
    from zarrix.creation import empty as empty
    from zarrix.creation import empty_like as empty_like
    from zarrix.creation import full as full
    from zarrix.creation import full_like as full_like
    from zarrix.creation import ones as ones
    from zarrix.creation import ones_like as ones_like
    from zarrix.creation import open_array as open_array
    from zarrix.creation import open_like as open_like
    from zarrix.creation import zeros as zeros
    from zarrix.creation import zeros_like as zeros_like
    from zarrix.errors import CopyError as CopyError
    from zarrix.errors import MetadataError as MetadataError
    from zarrix.hierarchy import Group as Group
    from zarrix.hierarchy import group as group
    from zarrix.hierarchy import open_group as open_group
    from zarrix.measure import advise as advise
    from zarrix.measure import compare as compare
    from zarrix.measure import suggest as suggest
    from zarrix.operate import diff as diff
    from zarrix.operate import digests as digests
    from zarrix.operate import repair as repair
    from zarrix.operate import verify as verify
    from zarrix.operate._migrate import Migration as Migration
    from zarrix.operate._migrate import migrate as migrate
    from zarrix.storage import ABSStore as ABSStore
    from zarrix.storage import DBMStore as DBMStore
    from zarrix.storage import DictStore as DictStore
    from zarrix.storage import DirectoryStore as DirectoryStore
    from zarrix.storage import KVStore as KVStore
    from zarrix.storage import LMDBStore as LMDBStore
    from zarrix.storage import LRUStoreCache as LRUStoreCache
    from zarrix.storage import MemoryStore as MemoryStore
    from zarrix.storage import MongoDBStore as MongoDBStore
    from zarrix.storage import NestedDirectoryStore as NestedDirectoryStore
    from zarrix.storage import RedisStore as RedisStore
    from zarrix.storage import SQLiteStore as SQLiteStore
    from zarrix.storage import TempStore as TempStore
    from zarrix.storage import ZipStore as ZipStore
    from zarrix.sync import ProcessSynchronizer as ProcessSynchronizer
    from zarrix.sync import ThreadSynchronizer as ThreadSynchronizer

__all__ = [
    "ABSStore",
    "Adler32",
    "Array",
    "AsType",
    "Attributes",
    "BZ2",
    "Base64",
    "BitRound",
    "Blosc",
    "CRC32",
    "Categorize",
    "CopyError",
    "DBMStore",
    "Delta",
    "DictStore",
    "DirectoryStore",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "Group",
    "JSON",
    "JenkinsLookup3",
    "KVStore",
    "LMDBStore",
    "LRUStoreCache",
    "LZ4",
    "LZMA",
    "MemoryStore",
    "MetadataError",
    "MongoDBStore",
    "NestedDirectoryStore",
    "PackBits",
    "Pickle",
    "ProcessSynchronizer",
    "Quantize",
    "RedisStore",
    "SQLiteStore",
    "Shuffle",
    "TempStore",
    "ThreadSynchronizer",
    "VLenArray",
    "VLenBytes",
    "VLenUTF8",
    "ZipStore",
    "Zlib",
    "Zstd",
    "__version__",
    "array",
    "blosc",
    "codec_registry",
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
    "get_codec",
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
    "register_codec",
    "save",
    "save_array",
    "save_group",
    "tree",
    "zeros",
    "zeros_like",
]


# Everything is imported when it is first named: a program pays for what it uses.
_HOMES = {
    "_hierarchy.asynchronous": "AsyncArray AsyncGroup",
    "_array.many": "WindowFailure read_many",
    "_engine": "CancelToken",
    "_runtime.debug": "print_debug_info set_format set_log_level",
    "operate._migrate": "Migration migrate",
    "api.synchronous": "create_array create_group create_hierarchy from_array",
    "attrs": "Attributes",
    "_hierarchy.copy": "copy copy_all",
    "_hierarchy.copy_store": "copy_store",
    "_hierarchy.open": "consolidate_metadata open open_consolidated tree",
    "_hierarchy.save": "load save save_array save_group",
    "convert": "export import_",
    "measure": "advise compare suggest",
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
    *(
        "abc",
        "api",
        "attrs",
        "codecs",
        "context",
        "convenience",
        "convert",
        "core",
        "creation",
        "dtype",
    ),
    *(
        "dtype",
        "errors",
        "hierarchy",
        "indexing",
        "interop",
        "jobs",
        "measure",
        "meta",
        "ml",
        "operate",
        "registry",
        "storage",
        "sync",
    ),
    *("testing", "types", "util", "version", "viewer", "dask", "xarray"),
)


if not TYPE_CHECKING:
    # Checkers of types would take every name for one that exists.
    def __getattr__(name):
        if name in _MODULES:
            return importlib.import_module(f"zarrix.{name}")
        if name in _HOME_OF:
            found = getattr(importlib.import_module(f"zarrix.{_HOME_OF[name]}"), name)
            globals()[name] = found
            return found
        if not name.startswith("_"):
            codecs = importlib.import_module("zarrix.codecs")
            if name in codecs.__all__ or name == "MsgPack":
                return getattr(codecs, name)
        hint = "" if name.startswith("_") else _hint(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def _hint(name: str) -> str:
    # Import time: only a mistake needs it.
    import numpy as np

    if hasattr(np, name):
        return f"; numpy.{name} exists, and zarrix.array() stores what it returns"
    return suggestion(name, __dir__())


def __dir__() -> list[str]:
    codecs = importlib.import_module("zarrix.codecs")
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *__all__, *_HOME_OF, *_MODULES, *codecs.__all__})
