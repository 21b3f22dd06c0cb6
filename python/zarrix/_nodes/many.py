"""Storing many new nodes at once: one request for each, all of a level at a time.

What is free is found by listings of the groups above, and not by asking for each node. A node is
stored only if nothing is at its key, so that of two processes that create the same node one
succeeds.
"""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.attributes import Attributes, require_json
from zarrix._nodes.consolidate import update_consolidated, updated_once
from zarrix._nodes.new import group_metadata
from zarrix._nodes.orphans import forget_attributes
from zarrix._nodes.undo import or_nothing
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import ZATTRS, key_of

__all__ = ["create_many"]

# A group of which more members are created is listed; of fewer, each is asked for.
_ASKED = 16

Metadata = ArrayMetadata | GroupMetadata


def create_many(
    store: Store, metadata_of: Mapping[str, Metadata], zarr_format: Format
) -> dict[str, nodes.Node]:
    """Store new nodes of one format, and the groups above that do not exist; by path, the nodes.

    Parameters
    ----------
    store : Store
    metadata_of : dict of str to ArrayMetadata or GroupMetadata
        By path. None is below an array.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at one of the paths, or a parent path is an array. Nothing was stored, unless
        another process has created it in the meantime.
    """
    new: dict[str, Metadata] = dict(metadata_of)
    documents = {}
    for path, metadata in metadata_of.items():
        require_json(metadata.attributes)
        documents[path] = nodes.checked_document(store, path, None, metadata)
        nodes.check_name(path)
    asked, missing = _require_free(store, metadata_of, zarr_format)
    for path in missing:
        new[path] = group_metadata(zarr_format)
        documents[path] = nodes.group_document(GroupMetadata(zarr_format=zarr_format))
        nodes.check_name(path)
    put = _put_of(store, next(iter(new), ""))

    def create(path: str) -> None:
        metadata = new[path]
        key = key_of(path, metadata.document_name)
        if zarr_format == 2 and path in asked:
            forget_attributes(store, key_of(path, ZATTRS))
        if not put(key, documents[path]) and path not in missing:
            nodes.require_free(store, path)
        update_consolidated(store, path, zarr_format, documents={key: documents[path]})
        if zarr_format == 2 and metadata.attributes:
            with or_nothing(store, path, None, metadata, replaces=False):
                Attributes._of_node(store, path, 2).put(metadata.attributes)

    with updated_once(store, "", zarr_format), _each(store) as each:
        for level in _levels(new):
            each(create, level)
    return {path: _node(metadata, documents[path]) for path, metadata in metadata_of.items()}


def _require_free(
    store: Store, metadata_of: Mapping[str, Metadata], zarr_format: Format
) -> tuple[set[str], list[str]]:
    """The paths at which something may be stored, and the groups above that do not exist."""
    members: dict[str, set[str]] = {}
    for path in metadata_of:
        while path:
            above = path.rpartition("/")[0]
            members.setdefault(above, set()).add(path)
            path = above
    asked: set[str] = set()
    missing = {path for path in members if path not in metadata_of}
    level = [""]
    with store.listed_once():
        while level:
            asked.update(level)
            for path, node in nodes.find_all(store, level).items():
                if path in metadata_of:
                    _require_nothing(store, path, node, metadata_of[path])
                elif node is not None:
                    # It raises if this is an array, or a group of the other format.
                    nodes.missing_parents(store, min(members.get(path, [path])), zarr_format)
                    missing.discard(path)
            level = [path for above in level for path in _there(store, members.get(above, set()))]
    return asked, sorted(missing)


def _there(store: Store, paths: Collection[str]) -> list[str]:
    """Those members of one group at which something may be stored."""
    if len(paths) <= _ASKED:
        return sorted(paths)
    above = min(paths).rpartition("/")[0]
    return [path for name in store.child_names(above) if (path := key_of(above, name)) in paths]


def _require_nothing(store: Store, path: str, node: nodes.Node | None, new: Metadata) -> None:
    if node is not None:
        nodes.require_free(store, path)
    if isinstance(new, ArrayMetadata) and not store._is_staged:
        nodes.require_no_chunks(store, path)


def _put_of(store: Store, path: str) -> Callable[[str, bytes], bool]:
    """A function that stores a document if there is none at its key; whether it did."""

    def locked(key: str, document: bytes) -> bool:
        stored = store.update_value(key, lambda old: document if old is None else old)
        return stored == document

    def conditional(key: str, document: bytes) -> bool:
        result = store.put_if(key, document, None).result
        # An answer that was lost says nothing about what is stored.
        return locked(key, document) if result == "unclear" else result == "stored"

    return conditional if store.is_remote and store.keeps_conditions(path) else locked


@contextlib.contextmanager
def _each(store: Store) -> Iterator[Callable[[Callable[[str], None], Iterable[str]], None]]:
    """A function that calls another one for each item; for a remote store, for many at once."""
    with contextlib.ExitStack() as stack:
        mapped: Any = map
        if store.is_remote:
            mapped = stack.enter_context(ThreadPoolExecutor(config.concurrent_requests)).map

        def each(call: Callable[[str], None], items: Iterable[str]) -> None:
            collections.deque(mapped(call, items), maxlen=0)

        yield each


def _levels(paths: Iterable[str]) -> Iterator[list[str]]:
    """The paths by depth, from the root down."""
    by_depth: dict[int, list[str]] = {}
    for path in sorted(paths):
        by_depth.setdefault(path.count("/") + bool(path), []).append(path)
    return iter(by_depth[depth] for depth in sorted(by_depth))


def _node(metadata: Metadata, document: bytes) -> nodes.Node:
    kind = "array" if isinstance(metadata, ArrayMetadata) else "group"
    return nodes.Node(metadata.zarr_format, kind, document)
