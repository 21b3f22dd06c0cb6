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
from zarrix._nodes.attributes import put_first_attributes, require_json
from zarrix._nodes.batch import known_groups
from zarrix._nodes.consolidate import updated_once
from zarrix._nodes.new import group_metadata
from zarrix._nodes.orphans import LISTED
from zarrix._nodes.undo import or_nothing
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of

__all__ = ["create_many", "each_of", "levels"]

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
    documents, checked = {}, set[bytes]()
    for path, metadata in metadata_of.items():
        require_json(metadata.attributes)
        documents[path] = document = nodes.node_of(metadata).document
        if document not in checked:
            # One of several equal documents is checked.
            checked.add(nodes.checked_document(store, path, None, metadata))
        nodes.check_name(path)
    new: dict[str, Metadata] = dict(metadata_of)
    with updated_once(store, "", zarr_format), each_of(store) as each:
        asked, missing = _require_free(store, metadata_of, zarr_format)
        for path in missing:
            new[path] = group_metadata(zarr_format)
            documents[path] = nodes.group_document(GroupMetadata(zarr_format=zarr_format))
            nodes.check_name(path)

        def create(path: str) -> None:
            metadata, document = new[path], documents[path]
            nodes.store_first(
                store,
                path,
                metadata,
                document,
                is_free=path not in asked,
                may_exist=path in missing,
            )
            if zarr_format == 2 and (metadata.attributes or DIALECT.is_zarr3):
                key = key_of(path, metadata.document_name)
                with or_nothing(store, path, None, metadata, replaces=False):
                    put_first_attributes(store, path, metadata.attributes, {key: document})

        for level in levels(new):
            each(create, level)
    return {
        path: nodes.node_of(metadata, documents[path]) for path, metadata in metadata_of.items()
    }


def _require_free(
    store: Store, metadata_of: Mapping[str, Metadata], zarr_format: Format
) -> tuple[set[str], list[str]]:
    """The paths at which something is stored, and the groups above that do not exist."""
    members: dict[str, set[str]] = {}
    for path in metadata_of:
        while path:
            above = path.rpartition("/")[0]
            members.setdefault(above, set()).add(path)
            path = above
    there: set[str] = set()
    missing = {path for path in members if path not in metadata_of}
    level = [""]
    with store.listed_once():
        while level:
            there.update(level)
            for path, node in nodes.find_all(store, level).items():
                if path in metadata_of:
                    _require_nothing(store, path, node, metadata_of[path])
                elif node is not None:
                    # It raises if this is an array, or a group of the other format.
                    below = min(members.get(path, [path]))
                    groups = known_groups(store, below, zarr_format)
                    nodes.missing_parents(store, below, zarr_format, groups)
                    missing.discard(path)
            level = _there(store, [members[above] for above in level if above in members])
    return there, sorted(missing)


def _there(store: Store, members: Iterable[Collection[str]]) -> list[str]:
    """Those members of some groups at which something may be stored."""
    some: list[str] = []
    found = []
    for paths in members:
        if len(paths) <= _ASKED and isinstance(store._engine, LISTED):
            some += sorted(paths)
        else:
            above = min(paths).rpartition("/")[0]
            names = store.child_names(above)
            found += [path for name in names if (path := key_of(above, name)) in paths]
    listings = store._engine.list_dirs([store.engine_path(path) for path in some])
    pairs = zip(some, listings, strict=True)
    return found + [path for path, (files, folders) in pairs if files or folders]


def _require_nothing(store: Store, path: str, node: nodes.Node | None, new: Metadata) -> None:
    if node is not None:
        nodes.require_free(store, path)
    if isinstance(new, ArrayMetadata) and not store._is_staged:
        nodes.require_no_chunks(store, path)


@contextlib.contextmanager
def each_of(store: Store) -> Iterator[Callable[[Callable[[str], None], Iterable[str]], None]]:
    """A function that calls another one for each item; for a remote store, for many at once."""
    with contextlib.ExitStack() as stack:
        mapped: Any = map
        if store._user_store.is_remote:
            mapped = stack.enter_context(ThreadPoolExecutor(config.concurrent_requests)).map

        def each(call: Callable[[str], None], items: Iterable[str]) -> None:
            collections.deque(mapped(call, items), maxlen=0)

        yield each


def levels(paths: Iterable[str]) -> Iterator[list[str]]:
    """The paths by depth, from the root down."""
    by_depth: dict[int, list[str]] = {}
    for path in sorted(paths):
        by_depth.setdefault(path.count("/") + bool(path), []).append(path)
    return iter(by_depth[depth] for depth in sorted(by_depth))
