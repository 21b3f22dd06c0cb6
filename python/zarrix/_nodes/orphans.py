"""Remains of a node whose metadata is gone, which must not become part of the next node at that
path.

Chunks and attributes without a node are left by a deletion that was killed (on a server or in a
database, where it is not atomic), by a write of attributes that raced with a deletion, or by a lost
file. Such attributes are removed when a node is created at the path. Chunks are not, because their
metadata may have been lost by mistake: creating an array there is an error unless the caller passes
``overwrite=True``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.keys import ZARRAY, ZATTRS, ZGROUP, is_document, key_of

__all__ = ["LISTED", "chunk_left", "forget_attributes", "has_no_folder", "lost_chunk", "nothing_at"]

_CHUNK = re.compile(r"c|(?:c\.)?\d+(?:\.\d+)*")
_CHUNK_IN_ARRAY = re.compile(r"(?:c[./])?\d+(?:[./]\d+)*|c")
_CHUNK_FOLDER = re.compile(r"c|\d+")
LISTED = (_engine.LocalStore, _engine.MemoryStore, _engine.ZipStore, _engine.ObjectStore)
"""Stores that list the names below a path without visiting all other keys."""


def chunk_left(store: Store, path: str) -> str | None:
    """The key of a chunk at ``path``, which has no node; None if there is none."""
    engine = store._engine
    if not isinstance(engine, LISTED):
        return None
    top = store.engine_path(path)
    files, folders = engine.list_dir(top)
    prefix = f"{top}/" if top else ""
    for name in files:
        if _CHUNK.fullmatch(name):
            return f"{prefix}{name}"
    for name in filter(_CHUNK_FOLDER.fullmatch, folders):
        keys = engine.list_prefix(f"{prefix}{name}")
        names = [key.rpartition("/")[2] for key in keys]
        # A group or an array may have such a name, too.
        if keys and not any(map(is_document, names)) and _CHUNK.fullmatch(names[0]):
            return keys[0]
    return None


def lost_chunk(keys: Iterable[str], is_array: Callable[[str], bool]) -> str | None:
    """The first of some keys that has the name of a chunk, and is in none of the arrays there."""
    for key in keys:
        names = key.split("/")
        starts = range(len(names))
        # The array that is the highest: below it, numbers are parts of chunk keys.
        inside = [i for i in starts if _CHUNK_IN_ARRAY.fullmatch("/".join(names[i:]))]
        if inside and not any(is_array("/".join(names[:i])) for i in inside):
            return key
    return None


def forget_attributes(store: Store, path: str) -> None:
    """Remove the attributes of a deleted v2 node, and not those of a node that is there by now."""
    key = key_of(path, ZATTRS)
    if store._value(key) is None:
        return

    def left(now: bytes | None) -> bytes | None:
        # A node stores its attributes after its document.
        is_node = any(key_of(path, mark) in store for mark in (ZGROUP, ZARRAY))
        return now if is_node else None

    store.update_value(key, left)


def has_no_folder(store: Store, path: str) -> bool:
    """Whether files are stored in folders, and there is none at ``path``, and so no document and no
    chunk: one look in place of one for each name. False if that is not known.
    """
    engine = store._engine
    # A view of a store may have documents that are not files.
    if type(engine) is not _engine.LocalStore or type(store)._value is not EngineStore._value:
        return False
    return not os.path.lexists(f"{engine.root}/{store.engine_path(path)}")


def nothing_at(store: Store, path: str) -> bool:
    """Whether nothing is stored at and below ``path``, by one request; False if not known."""
    engine = store._engine
    if not isinstance(engine, LISTED):
        return False
    files, folders = engine.list_dir(store.engine_path(path))
    return not files and not folders
