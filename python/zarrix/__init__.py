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
from typing import Any

from zarrix._engine import __version__
from zarrix._errors import suggestion
from zarrix._runtime import former_modules
from zarrix._runtime.config import config

former_modules.install()
del former_modules


def _words(text: str) -> list[str]:
    return text.split()


# A name is imported when it is first used: a program pays for what it uses. `__init__.pyi` has the
# same names for checkers of types, and a test compares the two.
#
# What `dir` shows: one way for each act.
_LISTED = {
    "core": "Array",
    "hierarchy": "Group group open_group",
    "_hierarchy.asynchronous": "AsyncArray AsyncGroup",
    "_hierarchy.open": "open open_consolidated consolidate_metadata tree",
    "api.synchronous": "create_array create_group create_hierarchy from_array",
    "creation": "open_array array zeros ones empty full zeros_like ones_like empty_like full_like",
    "_hierarchy.save": "save save_array save_group load",
    "_hierarchy.copy": "copy copy_all",
    "_hierarchy.copy_store": "copy_store",
    "_array.many": "read_many WindowFailure",
    "_engine": "CancelToken",
    "commits": "commit recover replacing sweep",
    "versions": "snapshot Versions",
    "operate": "verify repair diff digests sync_store",
    "operate._migrate": "migrate",
    "convert": "import_ export",
    "ingest": "append",
    "measure": "advise compare suggest",
    "storage": "DirectoryStore MemoryStore ZipStore TempStore SQLiteStore DBMStore LMDBStore "
    "RedisStore MongoDBStore LRUStoreCache",
    "sync": "ProcessSynchronizer ThreadSynchronizer",
    "attrs": "Attributes",
}
_ROOMS = _words(
    "codecs convert dask dtype errors jobs measure ml operate storage testing viewer virtual xarray"
)
# What programs written for zarr-python name besides, what a few large hierarchies need, and what
# reports of bugs need; numcodecs' classes are there, too.
_UNLISTED = {
    "creation": "create open_like",
    "errors": "CopyError MetadataError",
    "storage": "ABSStore DictStore KVStore NestedDirectoryStore",
    "_hierarchy.indexed": "build_index open_indexed",
    "operate._migrate": "Migration",
    "_display.trace": "trace",
    "_runtime.debug": "print_debug_info set_format set_log_level",
    "_codecs.numcodecs_names": "Adler32 AsType BZ2 Base64 BitRound Blosc CRC32 Categorize Delta "
    "FixedScaleOffset Fletcher32 GZip JSON JenkinsLookup3 LZ4 LZMA PackBits Pickle Quantize "
    "Shuffle VLenArray VLenBytes VLenUTF8 Zlib Zstd blosc codec_registry get_codec register_codec",
    "codecs": "BloscCname BloscCodec BloscShuffle BytesCodec CastValue Crc32cCodec Endian "
    "GzipCodec ScaleOffset ShardingCodec ShardingCodecIndexLocation TransposeCodec VLenBytesCodec "
    "VLenUTF8Codec ZstdCodec",
}
_MODULES = _ROOMS + _words(
    "abc api attrs commits context convenience core creation hierarchy indexing ingest interop "
    "meta registry sync types util version versions"
)


def _homes(table: dict[str, str]) -> dict[str, str]:
    return {name: home for home, names in table.items() for name in _words(names)}


_SHOWN = [*_homes(_LISTED), "__version__", "config"]
_HOME_OF = {**_homes(_LISTED), **_homes(_UNLISTED)}
# Code with ``from zarr import *`` finds what zarr-python 2 has there.
__all__ = ["__version__", "config", *_HOME_OF]


def __getattr__(name: str) -> Any:
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
    return suggestion(name, [*__all__, *_MODULES])


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_SHOWN, *_ROOMS})
