"""The metadata documents of a hierarchy as they are stored, and the key spaces that they name."""

from __future__ import annotations

import os
from typing import Any

from zarrix._errors import ZarrixError
from zarrix._metadata.chunk_keys import parse_key_encoding
from zarrix._metadata.json import json_loads
from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENTS, ZARR_JSON, ZARRAY, key_of

__all__ = ["KeySpace", "is_array", "node_of", "read_documents", "spaces_of"]

KeySpace = tuple[str, int, str]
"""The path of an array, its number of axes, and the name of its key space."""

UNKNOWN = "other"
"""The key space of an array whose keys have another form: all that is below it are its chunks."""


def read_documents(store: Store) -> dict[str, bytes]:
    """The documents of all nodes by key; level by level."""
    names = sorted(DOCUMENTS)
    found: dict[str, bytes] = {}
    level = [""]
    while level:
        keys = [key_of(path, name) for path in level for name in names]
        stored = {key: bytes(one) for key, one in store.getitems(keys, contexts={}).items()}
        found.update(stored)
        groups = [
            path
            for path in level
            if any(key_of(path, name) in stored for name in names) and not is_array(path, stored)
        ]
        below = store.child_names_of(groups)
        paths = [
            key_of(group, name)
            for group, children in zip(groups, below, strict=True)
            for name in children
        ]
        level = [path for path in paths if not _is_loop(store, path)]
    return found


def _is_loop(store: Store, path: str) -> bool:
    """Whether a directory is a link to one that it lies in."""
    folder = store._folder_at(path)
    if folder is None or not os.path.islink(folder):
        return False
    target, above = os.path.realpath(folder), os.path.realpath(os.path.dirname(folder))
    return os.path.commonpath((target, above)) == target


def is_array(path: str, documents: dict[str, bytes]) -> bool:
    """Whether the documents of a node are those of an array."""
    if key_of(path, ZARRAY) in documents:
        return True
    document = documents.get(key_of(path, ZARR_JSON))
    return document is not None and _members(document).get("node_type") == "array"


def _members(document: bytes) -> dict[str, Any]:
    try:
        found = json_loads(document, "")
    except (ZarrixError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def node_of(key: str) -> str:
    """The path of the node of a document."""
    return key.rpartition("/")[0]


def spaces_of(documents: dict[str, bytes]) -> list[KeySpace]:
    """The key spaces that the documents of arrays name; where both are, v2 counts."""
    spaces: dict[str, KeySpace] = {}
    for key in sorted(documents, reverse=True):
        path, name = node_of(key), key.rpartition("/")[2]
        if name in (ZARR_JSON, ZARRAY):
            space = _space(name, _members(documents[key]))
            if space is not None:
                spaces[path] = (path, *space)
    return [spaces[path] for path in sorted(spaces)]


def _space(name: str, document: dict[str, Any]) -> tuple[int, str] | None:
    """The number of axes, and the key space; None for a group.

    What cannot be parsed is kept as it is: a version of a broken array is as broken as the array.
    """
    shape = document.get("shape")
    if name == ZARRAY:
        separator = document.get("dimension_separator") or "."
        is_known = isinstance(shape, list) and separator in (".", "/")
        return (len(shape), f"v2{separator}") if is_known and shape is not None else (0, UNKNOWN)
    if document.get("node_type") == "group":
        return None
    try:
        encoding = parse_key_encoding(document.get("chunk_key_encoding"), "")
    except ZarrixError:
        return 0, UNKNOWN
    if encoding.suffix or not isinstance(shape, list):
        return 0, UNKNOWN
    return len(shape), f"{encoding.name}{encoding.separator}"
