"""Nodes of a hierarchy in a store: finding, creating and deleting them.

A v2 node is an array if it has a ``.zarray``, and a group if it has a ``.zgroup``; a v3 node has
its kind in ``zarr.json``. A path with documents of both formats is a v2 node, as it is to zarr 2.
All nodes of a hierarchy have the format of its root.

A node is deleted only after its replacement has been checked. Only keys of the Zarr format are
deleted: a folder with any other file is an error that names the first such file. Metadata is
created under its lock, so that if two processes create the same node, one succeeds and the other
gets an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zarrix._errors import (
    ContainsArrayError,
    ContainsGroupError,
    InvalidKeyError,
    MetadataError,
    ZarrixError,
)
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes.attributes import put_first_attributes
from zarrix._nodes.batch import BATCHES, known_format, known_groups
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.engine_array import engine_array
from zarrix._nodes.folders_above import array_above
from zarrix._nodes.known_groups import KnownGroups
from zarrix._nodes.long_documents import without_entries
from zarrix._nodes.orphans import chunk_left, forget_attributes, has_no_folder
from zarrix._nodes.put_new import put_new
from zarrix._nodes.strangers import RESERVED, clear, require_ours, stranger
from zarrix._runtime.caller import warn_caller
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    ZARR_JSON,
    ZARRAY,
    ZATTRS,
    ZGROUP,
    key_of,
)
from zarrix._stores.labels import describe, place

__all__ = [
    "Node",
    "array_document",
    "arrays_below",
    "check_format",
    "check_name",
    "choose_format",
    "checked_document",
    "clear",
    "create",
    "describe",
    "find",
    "find_all",
    "group_document",
    "has_array",
    "has_group",
    "in_other_format",
    "members",
    "missing_parents",
    "node_of",
    "place",
    "publish",
    "refuse_below_array",
    "require_no_chunks",
    "require_ours",
    "require_parents",
    "store_first",
    "stranger",
]

# The documents that make a node, in the order of precedence.
_MARKS: tuple[tuple[str, Format], ...] = ((ZARRAY, 2), (ZARR_JSON, 3), (ZGROUP, 2))
_MARKS_OF: dict[int | None, tuple[str, ...]] = {
    None: tuple(mark for mark, _ in _MARKS),
    **{wanted: tuple(mark for mark, one in _MARKS if one == wanted) for wanted in (2, 3)},
}
_BATCH = 256  # Members in one request.


class Node(NamedTuple):
    """The node at a path: its format, its kind ("array" or "group"), and its document.

    A member of a group may be "broken", if its document does not have its kind. ``attributes`` is
    the document of v2 attributes, if it was read in the same request, and empty if there is none.
    ``members`` is the document of v3 parsed, if its kind was found by that.
    """

    zarr_format: Format
    kind: str
    document: bytes
    attributes: bytes | None = None
    members: Mapping[str, Any] | None = None


def _node(store: Store, key: str, mark: str, document: Any) -> Node:
    if mark == ZARR_JSON:
        document = bytes(document)
        # Asked here: opening an array calls few functions.
        if len(document) > config._max_document_bytes:
            document = without_entries(store, key, document)
        try:
            kind, parsed = v3.kind_and_members(document, key)
        except MetadataError:
            # The same error with the label of the document, which takes time to make.
            kind, parsed = v3.kind_and_members(document, place(store, key))
        return Node(3, kind, document, members=parsed)
    return Node(2, "array" if mark == ZARRAY else "group", bytes(document))


def find(store: Store, path: str, zarr_format: int | None = None) -> Node | None:
    """The node at ``path``, of one format or of either; None if there is none."""
    if store.is_remote:
        return find_all(store, [path], zarr_format)[path]
    found = store._first_document(path, _MARKS_OF.get(zarr_format, ()))
    if found is None:
        return None
    return _node(store, key_of(path, found[0]), *found)


def find_all(
    store: Store, paths: Iterable[str], zarr_format: int | None = None
) -> dict[str, Node | None]:
    """`find` for many paths, by one request to a remote store."""
    wanted = list(paths)
    if not store.is_remote:
        return {path: find(store, path, zarr_format) for path in wanted}
    marks = [mark for mark, its_format in _MARKS if zarr_format in (None, its_format)]
    names = [*marks, ZATTRS] if store._reads_attributes and zarr_format != 3 else marks
    documents = store.getitems(
        [key_of(path, name) for path in wanted for name in names], contexts={}
    )
    found: dict[str, Node | None] = dict.fromkeys(wanted)
    for path in wanted:
        stored = (mark for mark in marks if key_of(path, mark) in documents)
        mark = next(stored, None)
        if mark is not None:
            key = key_of(path, mark)
            node = _node(store, key, mark, documents[key])
            if node.zarr_format == 2 and ZATTRS in names:
                node = node._replace(attributes=bytes(documents.get(key_of(path, ZATTRS), b"")))
            found[path] = node
    return found


def members(
    store: Store,
    path: str,
    zarr_format: int,
    *,
    attributes: bool = False,
    names: Sequence[str] | None = None,
) -> Iterator[tuple[str, Node]]:
    """Names directly below ``path``, sorted, and their nodes; or only those of some names.

    One request covers many documents, so that a remote store is not asked name by name. With
    ``attributes``, it covers those of the attributes of v2 arrays as well.
    """
    names = store.child_names(path) if names is None else names
    for begin in range(0, len(names), _BATCH):
        part = names[begin : begin + _BATCH]
        found: dict[str, Node] = {}
        for mark, its_format in _MARKS:
            if its_format != zarr_format:
                continue
            keys = {key_of(path, f"{name}/{mark}"): name for name in part if name not in found}
            is_array = attributes and mark == ZARRAY
            beside = [key[: -len(mark)] + ZATTRS for key in keys] if is_array else []
            documents = _values(store, [*keys, *beside])
            for key, name in keys.items():
                if key not in documents:
                    continue
                node = _member(store, key, mark, documents[key])
                if is_array:
                    stored = documents.get(key[: -len(mark)] + ZATTRS, b"")
                    node = node._replace(attributes=None if stored is None else bytes(stored))
                found[name] = node
        yield from ((name, found[name]) for name in part if name in found)


def _member(store: Store, key: str, mark: str, document: Any) -> Node:
    """The node of a document; "broken" if it has no kind or cannot be read."""
    its_format: Format = 3 if mark == ZARR_JSON else 2
    if document is None:
        return Node(its_format, "broken", b"")
    try:
        return _node(store, key, mark, document)
    except MetadataError:
        return Node(its_format, "broken", bytes(document))


def arrays_below(
    store: Store, path: str, zarr_format: int, recurse: bool
) -> Iterator[tuple[str, Node]]:
    """Paths of the arrays in a group; with ``recurse``, also those in its groups.

    Broken nodes are included, because they may be arrays.
    """
    for name, node in members(store, path, zarr_format):
        below = key_of(path, name)
        if node.kind != "group":
            yield below, node
        elif recurse:
            yield from arrays_below(store, below, zarr_format, recurse)


def _values(store: Store, keys: Iterable[str]) -> Mapping[str, Any]:
    """The documents of ``keys`` that are stored; None for one that cannot be read."""
    try:
        return store.getitems(keys, contexts={})
    except (InvalidKeyError, MetadataError, PermissionError, IsADirectoryError):
        # An invalid name from another program, or one document that cannot be read, does not affect
        # the others.
        found: dict[str, Any] = {}
        for key in keys:
            try:
                value = store._value(key)
            except (MetadataError, PermissionError, IsADirectoryError):
                found[key] = None
            else:
                if value is not None:
                    found[key] = value
        return found


def has_array(store: Store, path: str, zarr_format: int | None = None) -> bool:
    """Whether an array is stored at ``path``."""
    node = find(store, path, zarr_format)
    return node is not None and node.kind == "array"


def has_group(store: Store, path: str, zarr_format: int | None = None) -> bool:
    """Whether a group, and not an array, is stored at ``path``."""
    node = find(store, path, zarr_format)
    return node is not None and node.kind == "group"


def in_other_format(store: Store, path: str, asked: int | None) -> str:
    """The end of a message about a missing node, which names the node of the other format."""
    node = None if asked is None else find(store, path)
    if node is None:
        return ""
    return (
        f"; there is a v{node.zarr_format} {node.kind}: leave out zarr_format={asked}, or "
        f"change its format with zarrix.migrate(store, to={asked})"
    )


def check_format(zarr_version: Any, zarr_format: Any = None) -> Format | None:
    """The format in a call, under either of its names; None if the call has none."""
    asked = zarr_version if zarr_format is None else zarr_format
    if asked not in (None, 2, 3) or isinstance(asked, bool):
        raise ValueError(f"zarr_format is 2 or 3, not {asked!r}")
    return None if asked is None else 2 if asked == 2 else 3


def choose_format(
    store: Store, path: str, asked: Format | None, default: Format, word: str | None = None
) -> Format:
    """The format of a new node: that of its parent group, otherwise that of the call.

    Parameters
    ----------
    store, path : Store, str
        Store and path of the new node.
    asked : 2, 3 or None
        The format in the call.
    default : 2 or 3
        Format of the release of zarr that introduced the function.
    word : str, optional
        An argument of the call that only v3 has.

    Raises
    ------
    ValueError
        The format of the parent group differs, or does not support ``word``.
    """
    above, its_format = _group_above(store, path) if path else ("", None)
    if its_format is not None:
        if asked not in (None, its_format):
            raise ValueError(
                f"{describe(store, above)} is a v{its_format} group, and its members are "
                f"v{its_format}, too; zarr_format={asked} needs another hierarchy"
            )
        asked = its_format
    if word is not None and asked == 2:
        named = word if "=" in word else f"{word}="
        raise ValueError(
            f"{named} belongs to zarr_format=3; create the array at top level with zarr_format=3, "
            "or in a group that was created with it"
        )
    asked = store._format_of(asked)
    if asked is not None or word is not None:
        return asked or 3
    preferred = config.default_zarr_format
    return default if preferred is None else check_format(preferred) or default


def _group_above(store: Store, path: str) -> tuple[str, Format | None]:
    """The next group above ``path``, and its format; None if there is none."""
    known = known_format(store, path)
    if known is not None:
        return path.rpartition("/")[0], known
    names = path.split("/")
    groups = ["/".join(names[:depth]) for depth in reversed(range(len(names)))]
    nodes = find_all(store, groups) if store.is_remote else {}
    for above in groups:
        node = nodes[above] if nodes else find(store, above)
        if node is not None and node.kind == "group":
            return above, node.zarr_format
    return "", None


def array_document(metadata: ArrayMetadata) -> bytes:
    """The document of an array, in its format."""
    encode = v2.array_document if metadata.zarr_format == 2 else v3.array_document
    return encode(metadata)


def group_document(metadata: GroupMetadata) -> bytes:
    """The document of a group, in its format."""
    encode = v2.group_document if metadata.zarr_format == 2 else v3.group_document
    return encode(metadata)


def node_of(metadata: ArrayMetadata | GroupMetadata, document: bytes | None = None) -> Node:
    """The node with this metadata, whose document may be given."""
    if isinstance(metadata, ArrayMetadata):
        return Node(metadata.zarr_format, "array", document or array_document(metadata))
    return Node(metadata.zarr_format, "group", document or group_document(metadata))


def checked_document(
    store: Store, path: str, chunk_store: Store | None, metadata: ArrayMetadata | GroupMetadata
) -> bytes:
    """The document of a new node. An error if it could not be opened again, or if the engine does
    not support the array.
    """
    if isinstance(metadata, GroupMetadata):
        return group_document(metadata)
    document = array_document(metadata)
    parse = v2.parse_array if metadata.zarr_format == 2 else v3.parse_array
    parse(document, place(store, key_of(path, metadata.document_name)))
    chunks = store if chunk_store is None else chunk_store
    engine_array(chunks, path, metadata, allow_pickle=config.allow_pickle)
    return document


def create(
    store: Store,
    path: str,
    chunk_store: Store | None,
    metadata: ArrayMetadata | GroupMetadata,
    document: bytes,
    overwrite: bool,
) -> bool:
    """Store the valid document of a new node; return whether it replaces a node.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at the path, or a parent path is an array.
    """
    zarr_format: Format = metadata.zarr_format
    check_name(path)
    groups = known_groups(store, path, zarr_format) if BATCHES else None
    above = missing_parents(store, path, zarr_format, groups)
    is_free = groups is not None and groups.is_free(store, path)
    if overwrite and not (is_free and chunk_store in (None, store)):
        return _replace(store, path, chunk_store, metadata, document, above)
    is_free = is_free or has_no_folder(store, path)
    if not is_free:
        require_free(store, path)
        # Chunks in a separate store are there on purpose, and a commit knows those it replaces.
        if isinstance(metadata, ArrayMetadata) and chunk_store is None and not store._is_staged:
            require_no_chunks(store, path)
    _create_above(store, above, zarr_format)
    if not store_first(store, path, metadata, document, is_free=is_free, may_exist=overwrite):
        # Another process has created it since the listing.
        return _replace(store, path, chunk_store, metadata, document, [])
    return False


def store_first(
    store: Store,
    path: str,
    metadata: ArrayMetadata | GroupMetadata,
    document: bytes,
    *,
    is_free: bool,
    may_exist: bool,
) -> bool:
    """Store the document of a new node unless there is one; return whether it was stored.

    Parameters
    ----------
    store : Store
    path : str
    metadata : ArrayMetadata or GroupMetadata
    document : bytes
    is_free : bool
        Whether nothing else was at the path, and below it.
    may_exist : bool
        Keep a document that is there, which is an error otherwise.
    """
    zarr_format, key = metadata.zarr_format, key_of(path, metadata.document_name)
    if zarr_format == 2 and not is_free:
        forget_attributes(store, path)

    def taken(old: bytes) -> bytes:
        if may_exist:
            return old
        name = metadata.document_name
        kind = v3.node_type(old, key) if name == ZARR_JSON else name
        raise _occupied(store, path, "array" in kind)

    is_new = put_new(store, key, document, taken)
    update_consolidated(store, path, zarr_format, documents={key: document} if is_new else None)
    if isinstance(metadata, GroupMetadata):
        groups = known_groups(store, path, zarr_format)
        if groups is not None:
            groups.add(store, path, is_new=is_free and is_new)
    return is_new


def _replace(
    store: Store,
    path: str,
    chunk_store: Store | None,
    metadata: ArrayMetadata | GroupMetadata,
    document: bytes,
    above: list[str],
) -> bool:
    """Store a node in place of what is at the path; return whether something was there."""
    replaces = clear(store, path)
    if chunk_store is not None and chunk_store is not store:
        replaces |= clear(chunk_store, path)
    _create_above(store, above, metadata.zarr_format)
    store[key_of(path, metadata.document_name)] = document
    update_consolidated(store, path, metadata.zarr_format, deep=True)
    return replaces


def publish(store: Store, path: str, documents: Mapping[str, bytes], *, deep: bool = False) -> None:
    """Store the documents of a node whose chunks are stored already; the last one makes it
    visible. With ``deep``, there are nodes below it.
    """
    zarr_format: Format = 3 if ZARR_JSON in documents else 2
    require_parents(store, path, zarr_format)
    for name, document in documents.items():
        store[key_of(path, name)] = document
    update_consolidated(store, path, zarr_format, deep=deep)


def check_name(path: str) -> None:
    """Raise an error for an invalid name of a new node, and warn of a reserved one."""
    name = path.rpartition("/")[2]
    if name in RESERVED or (name and not name.strip(".")):
        raise InvalidKeyError(
            f"path {path!r} has the segment {name!r}; names of periods only, and of documents such "
            "as 'zarr.json', are not allowed for arrays and groups"
        )
    if name.startswith("__"):
        warn_caller(
            f"path {path!r} has the segment {name!r}; names that begin with '__' are reserved by "
            "the specification of v3, and other programs may refuse them",
        )


def require_free(store: Store, path: str) -> None:
    node = find(store, path)
    if node is not None:
        raise _occupied(store, path, node.kind == "array")


def require_no_chunks(store: Store, path: str) -> None:
    """Raise an error if chunks of an array that is gone are at ``path``."""
    chunk = chunk_left(store, path)
    if chunk is not None:
        # Another process may have created the array since the check.
        require_free(store, path)
        raise ContainsArrayError(
            f"{describe(store, path)} has no metadata, but the chunk {chunk!r} of an array that is "
            "gone, which would become part of the new one; pass overwrite=True (or mode='w') to "
            "delete the chunks, or restore the metadata to have the array back"
        )


def _occupied(store: Store, path: str, is_array: bool) -> ZarrixError:
    advice = "pass overwrite=True (or mode='w') to replace it, or open it with mode='r+'"
    if is_array:
        return ContainsArrayError(f"path {describe(store, path)} contains an array; {advice}")
    return ContainsGroupError(f"path {describe(store, path)} contains a group; {advice}")


def require_parents(store: Store, path: str, zarr_format: Format) -> None:
    """Create the groups above ``path`` that do not exist.

    Raises
    ------
    ContainsArrayError
        One of them is an array. It is never replaced: a call names the node that it writes, and
        not the nodes above.
    ValueError
        One of them has the other format.
    """
    groups = known_groups(store, path, zarr_format)
    _create_above(store, missing_parents(store, path, zarr_format, groups), zarr_format)


def missing_parents(
    store: Store, path: str, zarr_format: Format, groups: KnownGroups | None = None
) -> list[str]:
    """The paths above ``path`` that have no group yet, from the root down; raises as
    `require_parents`. A batch that knows groups is asked first.
    """
    known = None if groups is None else groups.missing_above(store, path)
    if known is not None:
        return known
    parents = _above(store, path, zarr_format)
    missing = [parent for parent, node in parents.items() if node is None]
    _refuse_arrays(store, path, parents)
    for parent, node in parents.items():
        if node is None:
            continue
        if node.zarr_format != zarr_format and find(store, parent, zarr_format) is None:
            raise ValueError(
                f"{describe(store, parent)} is a v{node.zarr_format} group, and its members are "
                f"v{node.zarr_format}, too; a v{zarr_format} node needs another hierarchy"
            )
    if groups is not None:
        for parent in set(parents).difference(missing):
            groups.add(store, parent, is_new=False)
    return missing


def refuse_below_array(store: Store, path: str) -> None:
    """Raise `ContainsArrayError` if an array is above ``path``, in the store or above it."""
    _refuse_arrays(store, path, _above(store, path, None))


def _refuse_arrays(store: Store, path: str, parents: Mapping[str, Node | None]) -> None:
    found = None
    for parent, node in parents.items():
        if node is not None and node.kind == "array":
            found = describe(store, parent)
            break
    if found is None and parents.get("") is None:
        folder = array_above(store)
        found = None if folder is None else repr(folder)
    if found is not None:
        raise ContainsArrayError(
            f"{found} is an array, so nothing can be created below it; {describe(store, path)} "
            "needs another path"
        )


def _create_above(store: Store, missing: list[str], zarr_format: Format) -> None:
    if not missing:
        return
    new = GroupMetadata(zarr_format=zarr_format)
    document = group_document(new)
    for parent in missing:
        check_name(parent)
        groups = known_groups(store, parent, zarr_format)
        is_free = groups is not None and groups.is_free(store, parent)
        store_first(store, parent, new, document, is_free=is_free, may_exist=True)
        if zarr_format == 2 and DIALECT.is_zarr3:
            put_first_attributes(store, parent, {}, {key_of(parent, ZGROUP): document})


def _above(store: Store, path: str, zarr_format: Format | None) -> dict[str, Node | None]:
    """The nodes at the parents of ``path``, from the root down.

    Local stores are asked from below up to the first group of the format, whose own parents were
    checked when it was created: below 400 groups this is one check instead of 400.
    """
    if not path:
        return {}
    names = path.split("/")
    parents = ["/".join(names[:depth]) for depth in range(len(names))]
    if store.is_remote:
        return find_all(store, parents)
    found: dict[str, Node | None] = {}
    for parent in reversed(parents):
        node = found[parent] = find(store, parent)
        if node is not None and node.kind == "group" and node.zarr_format == zarr_format:
            break
    return dict(reversed(found.items()))
