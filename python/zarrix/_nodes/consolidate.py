"""Making the consolidated metadata of a hierarchy, and keeping it up to date.

Every change of metadata made through zarrix ends in `update_consolidated`, which brings the
consolidated documents of the groups above up to date under their locks. They are correct unless
another program changed something. `zarrix._nodes.consolidated_store` serves metadata from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zarrix._metadata.checks import members_of
from zarrix._metadata.consolidated import Documents, commit_of, encode, parse
from zarrix._nodes.pending import with_pending
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    CONSOLIDATED_DOCUMENT,
    DOCUMENTS_OF_A_NODE,
    ZARR_JSON,
    ZARRAY,
    key_of,
)
from zarrix._stores.labels import place

__all__ = ["consolidate", "documents_below", "update_consolidated"]


def _collect(store: Store, root: str, path: str, zarr_format: int, deep: bool) -> Documents:
    """The documents of the node at ``path`` and of all nodes below, by key relative to ``root``.

    Level by level, so that one request to a remote store covers a level.
    """
    found: Documents = {}
    start = len(root) + 1 if root else 0
    level = [path]
    while level:
        names = DOCUMENTS_OF_A_NODE[zarr_format]
        stored = store.getitems([key_of(one, name) for one in level for name in names], contexts={})
        groups = []
        for one in level:
            own = [key_of(one, name) for name in names if key_of(one, name) in stored]
            documents = {key: members_of(stored[key], place(store, key)) for key in own}
            found.update((key[start:], _without_members(own)) for key, own in documents.items())
            is_array = any(
                key.endswith(ZARRAY) or document.get("node_type") == "array"
                for key, document in documents.items()
            )
            if own and not is_array:
                groups.append(one)
        below = store.child_names_of(groups) if deep else []
        pairs = zip(groups, below, strict=deep)
        level = [key_of(group, name) for group, children in pairs for name in children]
    return found


def documents_below(store: Store, root: str, zarr_format: int) -> Documents:
    """The documents of the group ``root`` and of all nodes below it, by key relative to it."""
    with store.listed_once():
        return _collect(store, root, root, zarr_format, deep=True)


def _without_members(document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    return {k: v for k, v in document.items() if k != "consolidated_metadata"}


def consolidate(store: Store, path: str, zarr_format: int, key: str) -> None:
    """Write the consolidated metadata of the group at ``path``; in v2 under the name ``key``.

    The documents are read under the lock of the consolidated document, so that no change is lost in
    between.
    """
    target = key_of(path, key if zarr_format == 2 else ZARR_JSON)

    def write(old: bytes | None) -> bytes:
        documents = documents_below(store, path, zarr_format)
        stored = commit_of(old, zarr_format), parse(old, zarr_format, place(store, target)) or {}
        documents = with_pending(store, path, documents, stored, whole=True)
        return encode(old, documents, zarr_format, place(store, target))

    store.update_value(target, write)


def update_consolidated(
    store: Store, path: str, zarr_format: int, *, deep: bool = False, apart: str | None = None
) -> None:
    """Update consolidated metadata above ``path`` after a change of that node.

    Parameters
    ----------
    store : Store
    path : str
        Path of the node that was created, changed or removed.
    zarr_format : 2 or 3
    deep : bool
        Whether everything below it changed, too, as after a move.
    apart : str, optional
        The path of a group whose consolidated metadata is correct already.
    """
    names = path.split("/") if path else []
    roots = ["/".join(names[:depth]) for depth in range(len(names) + 1)]
    if zarr_format == 3:
        # The document of a group does not contain itself.
        roots.pop()
        if not roots:
            return
    roots = [root for root in roots if root != apart]
    name = CONSOLIDATED_DOCUMENT[zarr_format]
    documents = store.getitems([key_of(root, name) for root in roots], contexts={})
    for root in roots:
        target = key_of(root, name)
        document = documents.get(target)
        if document is None or (zarr_format == 3 and b'"consolidated_metadata"' not in document):
            continue
        try:
            store.update_value(target, _resynced(store, root, path, zarr_format, deep, target))
        except OSError as error:
            error.add_note(
                f"the change of {path or '/'!r} itself is stored; the consolidated metadata in "
                f"{target!r} does not say so: bring it up to date with consolidate_metadata()"
            )
            raise


def _resynced(
    store: Store, root: str, path: str, zarr_format: int, deep: bool, target: str
) -> Callable[[bytes | None], bytes | None]:
    def change(old: bytes | None) -> bytes | None:
        documents = parse(old, zarr_format, place(store, target))
        if documents is None:
            return old
        prefix = path[len(root) :].strip("/")
        fresh = _collect(store, root, path, zarr_format, deep)
        stored = commit_of(old, zarr_format), documents
        fresh = with_pending(store, root, fresh, stored)
        own = {key_of(prefix, name) for name in DOCUMENTS_OF_A_NODE[zarr_format]}

        def replaced(key: str) -> bool:
            below = prefix == "" or key.startswith(f"{prefix}/")
            return key in own or (below and (deep or not fresh))

        left = {key: one for key, one in documents.items() if not replaced(key)}
        return encode(old, {**left, **fresh}, zarr_format, place(store, target))

    return change
