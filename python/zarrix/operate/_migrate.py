"""Migration of a hierarchy between the formats: new metadata documents for the same chunks.

First, every array is checked: the other format must be able to represent it, and a stored chunk
must read the same with both documents. Then chunks that cannot stay in place are copied, and the
new documents are written next to the old ones. They have no effect until one document of the root
changes. Only then are the old documents and chunks removed. If the process is killed at any point,
the hierarchy is complete in one of the formats, and the same call completes or repeats the
migration.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from zarrix import _engine
from zarrix._display.printable import counted, lines
from zarrix._display.table import Printed
from zarrix._dtypes.variable import is_variable
from zarrix._errors import GroupNotFoundError, MetadataError, ZarrixError
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.json import json_loads
from zarrix._metadata.literals import Format
from zarrix._metadata.translate import parsed, same_fill, to_2, to_3, zattrs
from zarrix._nodes import nodes as _nodes
from zarrix._nodes.consolidate import consolidate
from zarrix._nodes.engine_array import engine_array
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    DOCUMENTS_OF_A_NODE,
    ZARR_JSON,
    ZATTRS,
    ZGROUP,
    ZMETADATA,
    document_of,
    key_of,
)
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path

__all__ = ["Migration", "migrate"]

# Chunk keys that only v3 has.
_KEY_OF_3 = re.compile(r"c|c(?:/\d+)+|c(?:\.\d+)+")


@dataclass(frozen=True)
class Migration(Printed):
    """The changes of a migration, made or planned.

    Attributes
    ----------
    to : 2 or 3
    arrays, groups : tuple of str
        Paths of the nodes that get new documents.
    rewritten : tuple of str
        Paths of the arrays whose chunks are rewritten; those of all others stay in place.
    obstacles : mapping of str to str
        By path, the reason why the other format cannot represent an array; if there are any,
        nothing is migrated.
    done : bool
        Whether it was carried out.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore()
    >>> z = zarr.array([1, 2], store=store, path="a")
    >>> plan = zarr.migrate(store, to=3, dry_run=True)
    >>> print(plan)
    would migrate 1 array and 1 group to v3
      array /a
      group /
    >>> plan.done, plan.obstacles
    (False, {})
    """

    to: int
    arrays: tuple[str, ...]
    groups: tuple[str, ...]
    obstacles: Mapping[str, str]
    done: bool
    rewritten: tuple[str, ...] = ()

    def __str__(self) -> str:
        verb = "migrated" if self.done else "would migrate"
        rows = [
            f"{verb} {counted(len(self.arrays), 'array')} and "
            f"{counted(len(self.groups), 'group')} to v{self.to}"
        ]
        for path in self.arrays:
            chunks = ", and rewrites its chunks" if path in self.rewritten else ""
            rows.append(f"  array /{path}{chunks}")
        rows += [f"  group /{path}" for path in self.groups]
        rows += [f"  cannot: /{path}: {reason}" for path, reason in self.obstacles.items()]
        return lines(rows)


def migrate(
    store: Any,
    to: Literal[2, 3] = 3,
    *,
    path: str | None = None,
    dry_run: bool = False,
    rewrite: bool = False,
) -> Migration:
    """Change the format of a hierarchy; chunks stay in place.

    The migration is atomic: if it is killed at any point, the hierarchy is complete in one of the
    formats, and the same call completes the migration. Do not change metadata meanwhile. Readers
    and writers of chunks are not disturbed, except for arrays that are rewritten; do not write to
    these meanwhile.

    Parameters
    ----------
    store : Store, mapping, str or Path
    to : {3, 2}
    path : str, optional
        Path of an array or group that is not inside a group; the root when omitted. A node that
        already has the format is unchanged, except that the remains of a killed migration are
        removed.
    dry_run : bool
        Change nothing, and list the changes and the obstacles.
    rewrite : bool
        In a migration to v2, copy chunks that cannot stay in place (keys that begin with ``c``, and
        shards) to v2 keys; until the old ones are removed at the end, both take space. Without it,
        such arrays are obstacles.

    Returns
    -------
    Migration

    Raises
    ------
    MetadataError
        The other format cannot represent an array; all such arrays are named.
    GroupNotFoundError
        The node does not exist.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore()
    >>> zarr.group(store).create_dataset("a", data=[1, 2, 3]).attrs["unit"] = "mm"
    >>> print(zarr.migrate(store, to=3))
    migrated 1 array and 1 group to v3
      array /a
      group /
    >>> zarr.open(store)["a"].zarr_format, zarr.open(store)["a"][:]
    (3, array([1, 2, 3]))
    """
    if to not in (2, 3):
        raise ValueError(f"to is 2 or 3, not {to!r}")
    opened = as_store(store)
    root = normalize_storage_path(path)
    current = _nodes.find(opened, root)
    if current is None:
        raise GroupNotFoundError(f"nothing to migrate at {_nodes.describe(opened, root)}")
    if _nodes.has_group(opened, root.rpartition("/")[0]) and root:
        raise ValueError(f"{root!r} is inside a group; a hierarchy is migrated as a whole")
    if current.zarr_format == to:
        if not dry_run:
            _clean(opened, root, to)
        return Migration(to, (), (), {}, done=not dry_run)
    with opened.listed_once():
        found = dict(_walk(opened, root, 5 - to))
        plan = {
            node: _plan(opened, node, metadata, to, rewrite) for node, metadata in found.items()
        }
    obstacles = {node: one for node, one in plan.items() if isinstance(one, str)}
    kinds = {node: isinstance(one, ArrayMetadata) for node, one in found.items()}
    report = Migration(
        to,
        tuple(node for node, is_array in kinds.items() if is_array),
        tuple(node for node, is_array in kinds.items() if not is_array),
        obstacles,
        done=False,
        rewritten=tuple(
            node for node, one in plan.items() if isinstance(one, _Change) and one.rewriting
        ),
    )
    if dry_run:
        return report
    if obstacles:
        raise MetadataError(f"nothing was migrated: {report}")
    changes = {node: one for node, one in plan.items() if isinstance(one, _Change)}
    _carry_out(opened, root, changes, to, found)
    return replace(report, done=True)


def _walk(
    store: Store, path: str, zarr_format: int
) -> Iterator[tuple[str, ArrayMetadata | GroupMetadata]]:
    """The nodes at and below ``path``, parents first, with their attributes.

    Nodes in folders that are not groups are included: they are opened by their paths, and could not
    be opened below a root of the other format.
    """
    node = _nodes.find(store, path, zarr_format)
    if node is not None:
        yield path, _read(store, path, node.kind, zarr_format)
    if node is None or node.kind == "group":
        for name in store.child_names(path):
            yield from _walk(store, key_of(path, name), zarr_format)


def _read(store: Store, path: str, kind: str, zarr_format: int) -> ArrayMetadata | GroupMetadata:
    if zarr_format == 3:
        key = key_of(path, ZARR_JSON)
        parse = v3.parse_array if kind == "array" else v3.parse_group
        return parse(store[key], _nodes.place(store, key))
    key = key_of(path, ZATTRS)
    attributes = v2.parse_attributes(store._value(key, b"{}"), _nodes.place(store, key))
    key = key_of(path, document_of(kind, 2))
    where = _nodes.place(store, key)
    if kind == "group":
        return replace(v2.parse_group(store[key], where), attributes=attributes)
    separator = store._dimension_separator
    array = v2.parse_array(store[key], where, default_separator=separator)
    return replace(array, zattrs=attributes)


# One node


@dataclass(frozen=True)
class _Change:
    """The new documents of a node by name, with the metadata of both formats if chunks are
    rewritten.
    """

    documents: dict[str, bytes]
    rewriting: tuple[ArrayMetadata, ArrayMetadata] | None = None


def _plan(
    store: Store, path: str, metadata: ArrayMetadata | GroupMetadata, to: int, rewrite: bool
) -> _Change | str:
    """The change of a node, or the reason why it is not possible."""
    if isinstance(metadata, GroupMetadata):
        known = {"attributes", "zarr_format", "node_type", "consolidated_metadata"}
        unknown = sorted(set(metadata.extra) - known)
        if unknown:
            return f"its document has the key {unknown[0]!r}, which v{to} does not have"
        if to == 3:
            return _Change({ZARR_JSON: v3.group_document(v3.new_group(metadata.attributes))})
        return _Change({ZGROUP: v2.group_document(), **zattrs(metadata.attributes)})
    try:
        documents = to_3(metadata) if to == 3 else to_2(metadata)
        new = parsed(documents, to)
        if not same_fill(metadata.fill_value, new.fill_value, metadata.dtype):
            return f"v{to} cannot represent its fill value, {metadata.fill_value!r}, to the bit"
        why = _why_rewritten(metadata) if to == 2 else None
        if why is None:
            _check_equal(store, path, metadata, new)
            return _Change(documents)
        if metadata.key_encoding[0] == "v2":
            return f"{why}, and the keys of its shards are those that its chunks would have"
        if not rewrite:
            return f"{why}; rewrite=True copies its chunks to v2 keys"
        new.layout()
        return _Change(documents, (metadata, new))
    except (ZarrixError, ValueError, TypeError) as error:
        return str(error)


def _why_rewritten(array: ArrayMetadata) -> str | None:
    """The reason why the chunks of a v3 array cannot stay in place in v2."""
    if array.shard_codec is not None:
        return "its chunks are in shards, which v2 does not have"
    if array.key_encoding[0] != "v2":
        return "its chunk keys begin with 'c', which v2 does not have"
    return None


def _io(store: Store, path: str, metadata: ArrayMetadata) -> _engine.ArrayIO:
    return engine_array(store, path, metadata, write_empty_chunks=False)


def _check_equal(store: Store, path: str, old: ArrayMetadata, new: ArrayMetadata) -> None:
    """Check that one stored chunk has the same elements in both formats."""
    shape = tuple(max(n, 1) for n in old.chunk_shape)
    sides = []
    for metadata in (old, new):
        io = _io(store, path, metadata)
        stored = io.stored_chunks()
        chunk: Any = np.empty(shape, metadata.dtype)
        if stored:
            io.read_chunk(tuple(stored[0][1]), chunk)
        if is_variable(metadata.dtype):
            sides.append((len(stored), chunk.astype(object).tolist()))
        else:
            native = chunk.astype(metadata.dtype.newbyteorder("="))
            sides.append((len(stored), native.tobytes()))
    if not math.prod(old.shape) or not sides[0][0]:
        return
    if sides[0] != sides[1]:
        raise MetadataError("a stored chunk reads differently with the new metadata")


def _rewrite(store: Store, path: str, old: ArrayMetadata, new: ArrayMetadata) -> None:
    """Store the chunks of an array under the v2 keys, next to the old ones."""
    before, after = _io(store, path, old), _io(store, path, new)
    _forget(store, path, new)
    for key, place in before.stored_chunks():
        if old.shard_codec is None:
            name = old.dimension_separator.join(map(str, place)) or "0"
            store[key_of(path, name)] = store[key]
            continue
        begin = [i * length for i, length in zip(place, old.chunk_shape, strict=True)]
        ends = zip(begin, old.chunk_shape, old.shape, strict=True)
        counts = tuple(min(length, size - first) for first, length, size in ends)
        region = tuple((first, 1, count) for first, count in zip(begin, counts, strict=True))
        elements: Any = np.empty(counts, old.dtype)
        before.read(region, elements)
        if is_variable(old.dtype):
            elements = elements.astype(object)
        after.write(region, elements.astype(new.dtype, copy=False))


def _forget(store: Store, path: str, new: ArrayMetadata) -> None:
    """Delete the remains of an earlier migration under the v2 keys."""
    for key, _ in _io(store, path, new).stored_chunks():
        store.update_value(key, lambda _: None)


# All of them


def _carry_out(
    store: Store,
    root: str,
    changes: Mapping[str, _Change],
    to: Format,
    metadata_of: Mapping[str, Any],
) -> None:
    documents = {path: one.documents for path, one in changes.items()}
    moved = {path: one.rewriting for path, one in changes.items() if one.rewriting}
    consolidated = [
        path
        for path, metadata in metadata_of.items()
        if isinstance(metadata, GroupMetadata) and _is_consolidated(store, path, 5 - to)
    ]
    before = _snapshot(store, documents, 5 - to)
    # Before the documents exist, because an array that is opened by its own path is found by them.
    try:
        for path, sides in moved.items():
            _rewrite(store, path, *sides)
    except (ZarrixError, OSError, MemoryError):
        for path, (_, new) in moved.items():
            _forget(store, path, new)
        raise
    for path in reversed(documents):
        if to == 2 and path == root:
            continue
        for name, document in documents[path].items():
            store[key_of(path, name)] = document
    if _snapshot(store, documents, 5 - to) != before:
        for path in documents:
            for name in documents[path]:
                store.update_value(key_of(path, name), lambda _: None)
        for path, (_, new) in moved.items():
            _forget(store, path, new)
        raise MetadataError("metadata changed during the migration; nothing was migrated")
    if to == 2:
        # Attributes first, because the root's other document makes the hierarchy v2.
        for name in sorted(documents[root], reverse=True, key=lambda name: name == ZATTRS):
            store[key_of(root, name)] = documents[root][name]
    # That of the root first, so that other programs see the new format, too.
    kind = "group" if isinstance(metadata_of[root], GroupMetadata) else "array"
    decides = document_of(kind, 5 - to)
    store.update_value(key_of(root, decides), lambda _: None)
    _clean(store, root, to)
    for path in consolidated:
        consolidate(store, path, to, ZMETADATA)


def _clean(store: Store, root: str, to: int) -> None:
    """Remove the documents of the old format, and chunks that only they describe."""
    with store.listed_once():
        nodes = dict(_walk(store, root, to))
    for path, node in nodes.items():
        for name in (*DOCUMENTS_OF_A_NODE[5 - to], *((ZMETADATA,) if to == 3 else ())):
            store.update_value(key_of(path, name), lambda _: None)
        if to == 2 and isinstance(node, ArrayMetadata):
            start = len(key_of(path, ""))
            for key in _below(store, path):
                if _KEY_OF_3.fullmatch(key[start:]):
                    store.update_value(key, lambda _: None)


def _below(store: Store, path: str) -> Iterator[str]:
    """Keys directly below an array, and those below its ``c``."""
    files, _ = store._engine.list_dir(store.engine_path(path))
    yield from (key_of(path, name) for name in files)
    yield from store._engine.list_prefix(store.engine_path(key_of(path, "c")))


def _is_consolidated(store: Store, path: str, zarr_format: int) -> bool:
    if zarr_format == 2:
        return key_of(path, ZMETADATA) in store
    members = json_loads(store[key_of(path, ZARR_JSON)])
    return members.get("consolidated_metadata") is not None


def _snapshot(store: Store, paths: Any, zarr_format: int) -> dict[str, bytes | None]:
    keys = [key_of(path, name) for path in paths for name in DOCUMENTS_OF_A_NODE[zarr_format]]
    return {key: store._value(key) for key in keys}


Migration.__module__ = migrate.__module__ = "zarrix"
