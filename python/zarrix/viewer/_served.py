"""The values that ``zarrix serve`` gives out: metadata documents and chunks of nodes, nothing else.

A key is served if it is a document of a node, or a chunk key of an array whose metadata says so.
All other files in the folder of a store are not. A value of a local store is opened without
following a link out of the folder of the served node (`zarrix.viewer._beneath`).
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from zarrix import _engine
from zarrix._array.stored import chunk_key
from zarrix._errors import InvalidKeyError, MetadataError, ZarrixError
from zarrix._metadata import v2
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.checks import lengths
from zarrix._metadata.chunk_keys import parse_key_encoding
from zarrix._metadata.grid_documents import parse_grid
from zarrix._metadata.json import json_loads
from zarrix._nodes import nodes
from zarrix._nodes.member import location_of
from zarrix._stores.keys import ZARR_JSON, is_document, key_of
from zarrix.viewer._answers import Refused
from zarrix.viewer._beneath import open_beneath
from zarrix.viewer._roots import is_array

__all__ = ["Served", "Value"]

_MOST_NAMES = 64
# Digits of a chunk number; axes have less than 2**63 elements.
_MOST_DIGITS = 19
_NUMBER = re.compile("[0-9]+")
# How long the metadata of a remote array is held, for requests of its chunks.
_HELD_S = 5.0
_MOST_HELD = 256
# Which keys an array has does not depend on how its elements are encoded: arrays with codecs and
# data types that only other viewers know are served, too.
_AS_BYTES = {"dtype": "|u1", "fill_value": 0, "compressor": None, "filters": None, "order": "C"}


class Value(Protocol):
    """A stored value that is read in parts, and then closed."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    @property
    def tag(self) -> str | None:
        """Another text for another version of the value; None if that is not known."""

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this machine."""

    def read(self, begin: int, end: int) -> bytes:
        """These bytes; fewer if the value has become shorter."""

    def close(self) -> None:
        """Give back what reading needs."""


class _File:
    """A value in a file, which stays the same one if it is replaced meanwhile."""

    is_local = True
    tag: str | None

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self._reading, self._is_over = threading.Lock(), False
        status = os.fstat(descriptor)
        self.size = status.st_size
        self.tag = f'"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"'

    def read(self, begin: int, end: int) -> bytes:
        with self._reading:
            if self._is_over:
                return b""
            self._file.seek(begin)
            found = self._file.read(end - begin)
        if self._is_over:
            self.close()
        return found

    def close(self) -> None:
        # A thread that is left alone may still read: then it closes the file.
        self._is_over = True
        if self._reading.acquire(blocking=False):
            try:
                self._file.close()
            finally:
                self._reading.release()


class _InStore:
    """A value of any other store."""

    is_local = False
    tag: str | None = None

    def __init__(self, store: _engine.Store, name: str, size: int) -> None:
        self._store, self._name, self.size = store, name, size

    def read(self, begin: int, end: int) -> bytes:
        return self._store.get_slice(self._name, begin, end) or b""

    def close(self) -> None:
        pass


class Served:
    """What is served of a node.

    Parameters
    ----------
    node : Array or Group
    """

    def __init__(self, node: Any) -> None:
        self._node, self._top = node, node.path
        self._folders: dict[int, str] = {}
        for store in (node.store, node.chunk_store):
            if isinstance(store._engine, _engine.LocalStore):
                folder = os.path.join(store._engine.root, store.engine_path(node.path))
                self._folders[id(store)] = os.path.realpath(folder)
        self._held: dict[str, tuple[float, ArrayMetadata | None]] = {}

    def find(self, key: str) -> Value:
        """The value of a key below the node.

        Raises
        ------
        Refused
            It is not stored, or it is not served.
        """
        try:
            found = self._find(key)
        except (InvalidKeyError, UnicodeError):
            found = None
        except (ZarrixError, OSError) as error:
            raise Refused(502, f"the store cannot be read: {type(error).__name__}") from error
        if found is None:
            raise Refused(404, "there is no such key")
        return found

    def _find(self, key: str) -> Value | None:
        names = key.split("/")
        if len(names) > _MOST_NAMES or any(one in ("", ".", "..") for one in names):
            return None
        if "\0" in key:
            return None
        if is_document(key):
            above = key.rpartition("/")[0]
            # The node itself was opened, by consolidated metadata if it has no document.
            is_known = not above or self._node_at(above) is not None
            return self._open(self._node.store, key) if is_known else None
        for depth in range(len(names)):
            array = self._array("/".join(names[:depth]))
            if array is not None and _is_chunk(array, "/".join(names[depth:])):
                return self._open(self._node.chunk_store, key)
        return None

    def _open(self, store: Any, key: str) -> Value | None:
        folder = self._folders.get(id(store))
        if folder is not None:
            descriptor = open_beneath(folder, store.engine_path(key))
            return None if descriptor is None else _File(descriptor)
        name = store.engine_path(key_of(self._top, key))
        size = store._engine.size(name)
        return None if size is None else _InStore(store._engine, name, size)

    def _node_at(self, path: str) -> nodes.Node | None:
        if path and is_array(self._node):
            return None
        try:
            return nodes.find(
                location_of(self._node).store, key_of(self._top, path) if path else self._top
            )
        except MetadataError:
            return None
        except OSError:
            # A folder that cannot be read has no node, and tells nothing about what is behind a
            # link; a server that cannot be asked is another matter.
            if self._folders:
                return None
            raise

    def _array(self, path: str) -> ArrayMetadata | None:
        """The array at a path, as it is stored now."""
        if not self._node.store.is_remote:
            return self._parsed(path)
        now = time.monotonic()
        end, found = self._held.get(path, (0.0, None))
        if end < now:
            if len(self._held) >= _MOST_HELD:
                self._held.clear()
            found = self._parsed(path)
            self._held[path] = now + _HELD_S, found
        return found

    def _parsed(self, path: str) -> ArrayMetadata | None:
        node = self._node_at(path)
        if node is None or node.kind != "array":
            return None
        try:
            return _grid_of(node, location_of(self._node).store._dimension_separator)
        except (ZarrixError, TypeError, KeyError):
            return None


def _grid_of(node: nodes.Node, separator: str | None) -> ArrayMetadata:
    """The chunks and keys of an array, as if its elements were bytes."""
    members = json_loads(node.document)
    if node.zarr_format == 2:
        return v2.parse_array({**members, **_AS_BYTES}, default_separator=separator)
    shape = lengths(members["shape"], "shape", 0, ZARR_JSON)
    chunk_shape, rectilinear = parse_grid(members["chunk_grid"], shape, ZARR_JSON)
    keys = parse_key_encoding(members["chunk_key_encoding"], ZARR_JSON)
    return ArrayMetadata(
        zarr_format=3,
        shape=shape,
        chunk_shape=chunk_shape,
        rectilinear=rectilinear,
        dtype=np.dtype("u1"),
        fill_value=0,
        codecs=(),
        key_encoding=keys[:2],
        key_suffix=keys.suffix,
    )


def _is_chunk(metadata: ArrayMetadata, name: str) -> bool:
    """Whether an array has a chunk (or shard) with this key."""
    numbers: Sequence[str] = _NUMBER.findall(name)[: len(metadata.shape)]
    if len(numbers) < len(metadata.shape) or any(len(one) > _MOST_DIGITS for one in numbers):
        return False
    coords = [int(one) for one in numbers]
    counts = metadata.chunk_grid_shape
    inside = all(at < count for at, count in zip(coords, counts, strict=True))
    return inside and chunk_key(metadata, coords) == name
