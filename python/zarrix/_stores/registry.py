"""The table of openers: one row for each scheme, suffix and kind of object.

Modules are imported when a row is used. The function of a row takes the argument and the storage
options. It returns a store, or None to leave the argument to the next row that fits.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarrix._stores.base import Store

__all__ = ["OPENERS", "SERVER_SCHEMES", "opener"]

Opener = Callable[[Any, Mapping[str, Any] | None], "Store | None"]

# Schemes that the engine serves; "zip::<scheme>" for archives there.
SERVER_SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "http", "https", "hdfs")

# Suffixes of local files that a converter opens.
FILE_SUFFIXES = ("h5", "hdf5", "he5", "nc", "nc4", "tif", "tiff", "npy", "npz", "safetensors")

OPENERS: dict[str, str] = {
    # URLs, by scheme; the last row has every other scheme, and chains.
    "memory://": "zarrix._stores.managed_memory:of_url",
    "file://": "zarrix._stores.local:of_url",
    "local://": "zarrix._stores.local:of_url",
    **{f"{scheme}://": "zarrix._stores.remote.store:of_url" for scheme in SERVER_SCHEMES},
    **{f"zip::{scheme}://": "zarrix._stores.remote.store:of_url" for scheme in SERVER_SCHEMES},
    "icechunk://": "zarrix._stores.icechunk:of_url",
    **{
        f"icechunk+{scheme}://": "zarrix._stores.icechunk:of_url"
        for scheme in ("file", "memory", *SERVER_SCHEMES)
    },
    # A version of a hierarchy in a bucket: ``version+s3://bucket/path@name``.
    **{f"version+{scheme}://": "zarrix.versions._open:of_url" for scheme in ("s3", "s3a")},
    "://": "zarrix._stores.fsspec:of_url",
    # Local paths by suffix; all others are directories.
    ".zip": "zarrix._stores.zip:of_path",
    ".ozx": "zarrix._stores.zip:of_path",
    ".json": "zarrix._stores.reference.store:of_json",
    # A document of references that begins so.
    "zarrix_virtual": "zarrix.virtual._open:of_path",
    ".parq": "zarrix._stores.reference.store:of_path",
    ".parquet": "zarrix._stores.reference.store:of_path",
    # A folder that has this one.
    "/snapshots": "zarrix._stores.icechunk:of_path",
    # Files of other formats, read-only; the converters show them as hierarchies.
    **{f".{suffix}": "zarrix.convert._file_store:of_path" for suffix in FILE_SUFFIXES},
    # Objects: the name of a class, or all classes of a package.
    "FSMap": "zarrix._stores.fsspec:of_map",
    "upath.*": "zarrix._stores.fsspec:of_upath",
    "icechunk.*": "zarrix._stores.zarr_python:of_zarr_python",
    "obstore.*": "zarrix._stores.obstore:of_obstore",
    # Objects of any class with this method, zarr-python 3's stores among them.
    "list_prefix()": "zarrix._stores.zarr_python:of_zarr_python",
}


def opener(row: str) -> Opener | None:
    """The opener of a row; None if the table has no such row."""
    return _imported(OPENERS[row]) if row in OPENERS else None


@cache
def _imported(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
