"""What the engine needs to read and write one array of zarr-python 3.

It is made once for a metadata object, cached in the ``AsyncArray``, and checked by identity before
each use: a resize replaces the metadata object. An array that is not served has an entry, too, so
that this is found out once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from zarrix import _engine
from zarrix._array.access import (
    ArrayOptions,
    io_of,
    metadata_of,
    opened_at,
    show_as,
    syncs_of,
)
from zarrix._array.array import Array
from zarrix._metadata.json import json_dumps
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node
from zarrix._stores.base import Store
from zarrix._stores.path import normalize_storage_path
from zarrix.interop._stores import store_of

__all__ = ["Bound", "attached", "bind", "bound_to", "where"]

_NAME = "_zarrix_bound"
_STORE = "_zarrix_store"
# The attributes of zarr-python's stores that say where the values are: `LocalStore.move` changes
# one of them.
_ADDRESS = ("root", "path", "fs", "store", "_store_dict")
_PIPELINES = frozenset({"BatchedCodecPipeline", "FusedCodecPipeline"})


class Bound:
    """An array of zarr-python as the engine reads it, or the fact that it does not.

    Attributes
    ----------
    io : ArrayIO or None
        None if the array is left to zarr-python.
    shape : tuple of int
    dtype : dtype
        Of results.
    stored : dtype
        Of the engine's buffers: it differs from ``dtype`` in byte order at most.
    order : {"C", "F"}
        Memory order of results.
    is_written : bool
        Whether the engine writes the array, too.
    """

    __slots__ = (
        *("array", "attributes", "config", "dtype", "io", "is_written", "metadata", "order"),
        *("own", "pipeline", "shape", "store", "stored", "where"),
    )

    def __init__(self, metadata: Any, config: Any, pipeline: Any, store: Any) -> None:
        self.metadata = metadata
        self.config = config
        self.pipeline = pipeline
        self.store = store
        # The store's own attributes, and their number: more, if a method is replaced in the store.
        self.own: dict[str, Any] = getattr(store, "__dict__", {})
        self.attributes = len(self.own)
        self.where = where(self.own)
        self.io: _engine.ArrayIO | None = None
        self.is_written = True
        self.array: Array | None = None
        self.shape: tuple[int, ...] = metadata.shape
        self.dtype = self.stored = np.dtype("V1")
        self.order: Literal["C", "F"] = "C"

    def __reduce__(self) -> Any:
        # Pickles and copies of an array of zarr-python have none.
        return type(None), ()

    @property
    def fsync(self) -> bool:
        """Whether a write ends when it is durable."""
        assert self.array is not None
        return syncs_of(self.array)


def where(own: dict[str, Any]) -> tuple[Any, ...]:
    """Where the values of a store of zarr-python are, by its own attributes."""
    return tuple(map(own.get, _ADDRESS))


def bound_to(array: Any) -> Bound | None:
    """The cached `Bound` of an ``AsyncArray``; None if zarr-python has to answer."""
    found: Bound | None = array.__dict__.get(_NAME)
    if (
        found is None
        or found.metadata is not array.metadata
        or found.pipeline is not array.codec_pipeline
        or found.config is not array.config
        or found.attributes != len(found.own)
        or found.where != where(found.own)
    ):
        found = attached(array)
    return found if found.io is not None else None


def attached(array: Any) -> Bound:
    """A new `Bound` of an ``AsyncArray``, cached in it."""
    path = array.store_path
    if type(array).__module__ == "zarr.core.array":
        new = bind(path.store, path.path, array.metadata, array.config, array.codec_pipeline)
    else:
        # A subclass, whose methods may do anything.
        new = Bound(array.metadata, array.config, array.codec_pipeline, path.store)
    new.attributes = len(new.own)
    object.__setattr__(array, _NAME, new)
    return new


def bind(store: Any, path: str, metadata: Any, config: Any, pipeline: Any = None) -> Bound:
    """The `Bound` of an array at ``path`` of a store of zarr-python."""
    new = Bound(metadata, config, pipeline, store)
    if not _is_plain(metadata, pipeline):
        return new
    try:
        ours = _cached_store(store)
        if ours is None:
            return new
        dtype = metadata.dtype.to_native_dtype()
        array = _open(ours, path, metadata, config)
    except Exception:
        # An array that cannot be opened here is one that zarr-python reads by itself: it raises
        # the error, if there is one.
        return new
    stored = metadata_of(array).dtype
    if dtype != stored and (
        dtype.kind in "OTV" or dtype.newbyteorder("=") != stored.newbyteorder("=")
    ):
        return new
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        return new
    # One object where they are equal, which a read compares by identity.
    new.dtype, new.stored, new.array = dtype, dtype if dtype == stored else stored, array
    new.order = metadata.order if metadata.zarr_format == 2 else config.order
    new.io = io_of(array)
    new.is_written = metadata.zarr_format == 2 or not _have_order(metadata.codecs)
    return new


def _is_plain(metadata: Any, pipeline: Any) -> bool:
    """Whether all parts of an array are zarr-python's own, not classes of a user."""
    if pipeline is not None and not _is_known_pipeline(type(pipeline)):
        return False
    if not type(metadata.dtype).__module__.startswith("zarr."):
        return False
    if metadata.zarr_format == 2:
        codecs = [metadata.compressor, *(metadata.filters or ())]
        return all(
            codec is None or (_is_of(codec, "numcodecs") and codec.codec_id != "pickle")
            for codec in codecs
        )
    return (
        _is_of(metadata.chunk_grid, "zarr")
        and _is_of(metadata.chunk_key_encoding, "zarr")
        and not metadata.storage_transformers
        and _are_plain(metadata.codecs)
    )


def _is_known_pipeline(kind: type) -> bool:
    if kind.__module__ == "zarr.core.codec_pipeline":
        return kind.__name__ in _PIPELINES
    return kind.__module__ == "zarrix.interop"


def _are_plain(codecs: Iterable[Any]) -> bool:
    return all(
        _is_of(codec, "zarr")
        and _are_plain(getattr(codec, "codecs", ()))
        and _are_plain(getattr(codec, "index_codecs", ()))
        for codec in codecs
    )


def _have_order(codecs: Iterable[Any]) -> bool:
    """Whether a user has chosen another order of inner chunks in a shard than the default.

    The engine writes them in C order. A document does not have this option of zarr-python.
    """
    return any(
        getattr(codec, "subchunk_write_order", None) == "colexicographic"
        or _have_order(getattr(codec, "codecs", ()))
        for codec in codecs
    )


def _is_of(value: Any, package: str) -> bool:
    return type(value).__module__.partition(".")[0] == package


def _cached_store(store: Any) -> Store | None:
    """Our store for a store of zarr-python, made once: the store's arrays share its caches."""
    if not hasattr(store, "__dict__"):
        return None
    found: _Kept | None = store.__dict__.get(_STORE)
    if (
        found is None
        or found.made_for is not store
        or found.read_only != store.read_only
        or found.attributes != len(store.__dict__)
        or found.where != where(store.__dict__)
    ):
        found = _Kept(store)
        store.__dict__[_STORE] = found
        found.attributes = len(store.__dict__)
    return found.ours


class _Kept:
    """A store of ours in the store of zarr-python that it stands for."""

    __slots__ = ("attributes", "made_for", "ours", "read_only", "where")

    def __init__(self, store: Any) -> None:
        self.made_for = store
        self.read_only = store.read_only
        self.where = where(store.__dict__)
        self.ours = store_of(store)
        self.attributes = 0

    def __reduce__(self) -> Any:
        return type(None), ()


def _open(store: Store, path: str, metadata: Any, config: Any) -> Array:
    """Our array with the metadata of zarr-python's. Its stored document is not asked for: in
    zarr-python, an array whose document is gone still has its chunks.
    """
    zarr_format = metadata.zarr_format
    found = metadata.to_dict()
    found.pop("attributes", None)
    if zarr_format == 2 and metadata.fill_value is None:
        # zarr-python reads a missing chunk of such an array as the default of its data type.
        default = metadata.dtype.default_scalar()
        found["fill_value"] = metadata.dtype.to_json_scalar(default, zarr_format=2)
    document = json_dumps(found)
    options = ArrayOptions(
        is_detached=True,
        write_empty_chunks=config.write_empty_chunks,
        # An option since zarr-python 3.3.
        read_missing_chunks=getattr(config, "read_missing_chunks", True),
    )
    location = Location.of(store, normalize_storage_path(path), zarr_format)
    array = opened_at(location, Node(zarr_format, "array", document), options)
    dtype = metadata.dtype.to_native_dtype()
    if dtype.kind == "T" and metadata_of(array).dtype.kind == "O":
        # Text of v2, which zarr 2.18 and we read as objects, and zarr-python 3 as NumPy strings.
        show_as(array, dataclasses.replace(metadata_of(array), dtype=dtype))
    return array
