"""Nodes of a hierarchy in a store: which keys make one, making one, and clearing the way for one.

Nothing is deleted before what replaces it is known to be valid, and nothing is deleted that is not
Zarr: a folder that holds anything else is refused with the name of the first such file. Metadata is
created under its lock, so of two processes that create the same node one gets it and one an error.
"""

import re
from typing import Any

from zarrix import _engine
from zarrix._config import config
from zarrix._errors import ContainsArrayError, ContainsGroupError, ZarrixError
from zarrix._metadata import ArrayMetadata, v2
from zarrix._stores import Store

__all__ = [
    "check_format",
    "clear",
    "create_array",
    "create_group",
    "describe",
    "has_array",
    "has_group",
    "key_of",
    "member_names",
    "place",
]

_DOCUMENTS = frozenset((".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json", ".DS_Store"))
_CHUNK_KEY = re.compile(r"(?:.*/)?(?:c/)?\d+(?:[./]\d+)*|(?:.*/)?c")
_LEFTOVER = ".partial"


def key_of(path: str, name: str) -> str:
    """Key of the document ``name`` of the node at ``path``."""
    return f"{path}/{name}" if path else name


def has_array(store: Store, path: str) -> bool:
    """Whether an array is stored at ``path``."""
    return key_of(path, ".zarray") in store


def has_group(store: Store, path: str) -> bool:
    """Whether a group is stored at ``path``."""
    return key_of(path, ".zgroup") in store


def member_names(store: Store, path: str) -> list[str]:
    """Names directly below ``path`` that may be nodes, sorted."""
    return sorted(store._engine.list_dir(store.engine_path(path))[1])


def describe(store: Store, path: str) -> str:
    """Where a node is, for messages: its path on disk, or its name and kind of store."""
    if isinstance(getattr(store, "path", None), str):
        return repr(place(store, path).rstrip("/"))
    return f"{'/' + path!r} of the {type(store).__name__}"


def place(store: Store, key: str) -> str:
    """Where the document ``key`` is, for messages: its file, or its key."""
    root = getattr(store, "path", None)
    return f"{root.rstrip('/')}/{key}" if isinstance(root, str) else key


def check_format(zarr_version: Any, zarr_format: Any = None) -> None:
    """Refuse what this version cannot store, by either of its names."""
    asked = zarr_version if zarr_format is None else zarr_format
    if asked is None:
        asked = config.default_zarr_format
    if asked not in (None, 2):
        what = "format 3 comes with a later" if asked == 3 else f"{asked!r} is no format of this"
        raise ValueError(f"zarr_format 2 is what this version of zarrix stores; {what} version")


def create_array(
    store: Store,
    path: str,
    chunk_store: Store | None,
    metadata: ArrayMetadata,
    overwrite: bool,
) -> None:
    """Store the metadata of a new array, which is valid already.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is there, or an array is in the place of a parent group.
    """
    document = v2.array_document(metadata)
    # The engine refuses what it cannot execute here, while everything is still in place.
    layout, foreign = metadata.layout()
    chunks = store if chunk_store is None else chunk_store
    _engine.ArrayIO(chunks._engine, chunks.engine_path(path), layout, foreign)
    _create(store, path, chunk_store, ".zarray", document, overwrite)


def create_group(store: Store, path: str, chunk_store: Store | None, overwrite: bool) -> None:
    """Store the metadata of a new group; raises as `create_array` does."""
    _create(store, path, chunk_store, ".zgroup", v2.group_document(), overwrite)


def _create(
    store: Store,
    path: str,
    chunk_store: Store | None,
    name: str,
    document: bytes,
    overwrite: bool,
) -> None:
    if overwrite:
        clear(store, path)
        if chunk_store is not None and chunk_store is not store:
            clear(chunk_store, path)
    else:
        _check_free(store, path)
    _require_parents(store, path, chunk_store, overwrite)
    key = key_of(path, name)
    if overwrite:
        store[key] = document
        return

    def create(old: bytes | None) -> bytes:
        if old is not None:
            raise _occupied(store, path, name)
        return document

    store.update_value(key, create)


def _check_free(store: Store, path: str) -> None:
    for name in (".zarray", ".zgroup"):
        if key_of(path, name) in store:
            raise _occupied(store, path, name)


def _occupied(store: Store, path: str, name: str) -> ZarrixError:
    advice = "pass overwrite=True (or mode='w') to replace it, or open it with mode='r+'"
    if name == ".zarray":
        return ContainsArrayError(f"{describe(store, path)} contains an array; {advice}")
    return ContainsGroupError(f"{describe(store, path)} contains a group; {advice}")


def _require_parents(store: Store, path: str, chunk_store: Store | None, overwrite: bool) -> None:
    """Make the groups above ``path``; an array among them is replaced only by ``overwrite``."""
    names = path.split("/") if path else []
    parents = ["/".join(names[:depth]) for depth in range(len(names))]
    blocked = [parent for parent in parents if has_array(store, parent)]
    if blocked and not overwrite:
        raise ContainsArrayError(
            f"{describe(store, blocked[0])} is an array, so nothing can be created below it"
        )
    for parent in parents:
        if parent in blocked:
            clear(store, parent)
            if chunk_store is not None and chunk_store is not store:
                clear(chunk_store, parent)
        if not has_group(store, parent):
            store.update_value(key_of(parent, ".zgroup"), lambda old: old or v2.group_document())


def clear(store: Store, path: str) -> None:
    """Delete everything below ``path``, if all of it is Zarr's.

    Raises
    ------
    ValueError
        Something else is there; nothing was deleted.
    """
    prefix = f"{path}/" if path else ""
    for key in store._engine.list_prefix(store.engine_path(path)):
        below = key[len(prefix) :]
        name = below.rsplit("/", 1)[-1].removesuffix(_LEFTOVER)
        if name not in _DOCUMENTS and not _CHUNK_KEY.fullmatch(below.removesuffix(_LEFTOVER)):
            raise ValueError(
                f"{describe(store, path)} holds {below!r}, which is not part of a Zarr hierarchy, "
                "so it is not overwritten; delete it yourself or choose another path"
            )
    store.rmdir(path)
