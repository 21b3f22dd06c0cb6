"""Consolidated metadata in stores: creating it, opening through it, and updating it.

Every change of metadata through zarrix ends in `update_consolidated`, which updates the
consolidated documents of the groups above under their locks. Therefore consolidated metadata is
stale only if another program changed something. `ConsolidatedStore` serves metadata from it. In a
local store it checks the stored documents, warns once of a difference, and serves the stored
document. In other stores a check would cost as much as consolidated metadata saves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zarrix import _engine
from zarrix._errors import PathNotFoundError, StaleMetadataWarning
from zarrix._metadata import consolidated, v2, v3
from zarrix._metadata.checks import members_of
from zarrix._metadata.consolidated import Documents
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._runtime.cached_property import cached_property
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    CONSOLIDATED_DOCUMENT,
    DOCUMENTS,
    DOCUMENTS_OF_A_NODE,
    ZARR_JSON,
    ZARRAY,
    ZATTRS,
    ZGROUP,
    ZMETADATA,
    key_of,
)
from zarrix._stores.labels import place as place_of

__all__ = [
    "ConsolidatedMetadata",
    "ConsolidatedStore",
    "consolidate",
    "update_consolidated",
    "open_store",
    "view",
]


_SERVED = DOCUMENTS - {ZMETADATA}


def _collect(store: Store, root: str, path: str, zarr_format: int, deep: bool) -> Documents:
    """The documents of the node at ``path`` and of all nodes below, by key relative to ``root``.

    Level by level, so that one request to a remote store covers a level.
    """
    found: Documents = {}
    start = len(root) + 1 if root else 0
    level = [path]
    while level:
        names = DOCUMENTS_OF_A_NODE[zarr_format]
        stored = store.getitems([key_of(one, name) for one in level for name in names])
        groups = []
        for one in level:
            own = [key_of(one, name) for name in names if key_of(one, name) in stored]
            documents = {key: members_of(stored[key], place_of(store, key)) for key in own}
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


def _without_members(document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    return {k: v for k, v in document.items() if k != "consolidated_metadata"}


def consolidate(store: Store, path: str, zarr_format: int, key: str) -> None:
    """Write the consolidated metadata of the group at ``path``; in v2 under the name ``key``.

    The documents are read under the lock of the consolidated document, so that no change is lost in
    between.
    """
    place = key_of(path, key if zarr_format == 2 else ZARR_JSON)

    def write(old: bytes | None) -> bytes:
        with store.listed_once():
            documents = _collect(store, path, path, zarr_format, deep=True)
        return _encode(old, documents, zarr_format, place_of(store, place))

    store.update_value(place, write)


def _encode(old: bytes | None, documents: Documents, zarr_format: int, place: str) -> bytes:
    if zarr_format == 2:
        return consolidated.encode_v2(documents)
    if old is None:
        raise PathNotFoundError("the group is gone, and its metadata with it")
    return consolidated.encode_v3(old, documents, place)


def _parse(document: Any, zarr_format: int, where: str) -> Documents | None:
    if document is None:
        return None
    parse = consolidated.parse_v2 if zarr_format == 2 else consolidated.parse_v3
    return parse(document, where)


def update_consolidated(store: Store, path: str, zarr_format: int, *, deep: bool = False) -> None:
    """Update consolidated metadata above ``path`` after a change of that node.

    Parameters
    ----------
    store : Store
    path : str
        Path of the node that was created, changed or removed.
    zarr_format : 2 or 3
    deep : bool
        Whether everything below it changed, too, as after a move.
    """
    names = path.split("/") if path else []
    roots = ["/".join(names[:depth]) for depth in range(len(names) + 1)]
    if zarr_format == 3:
        # The document of a group does not contain itself.
        roots.pop()
    name = CONSOLIDATED_DOCUMENT[zarr_format]
    documents = store.getitems([key_of(root, name) for root in roots])
    for root in roots:
        place = key_of(root, name)
        document = documents.get(place)
        if document is None or (zarr_format == 3 and b'"consolidated_metadata"' not in document):
            continue
        try:
            store.update_value(place, _resynced(store, root, path, zarr_format, deep, place))
        except OSError as error:
            error.add_note(
                f"the change of {path or '/'!r} itself is stored; the consolidated metadata in "
                f"{place!r} does not say so: bring it up to date with consolidate_metadata()"
            )
            raise


def _resynced(
    store: Store, root: str, path: str, zarr_format: int, deep: bool, place: str
) -> Callable[[bytes | None], bytes | None]:
    def change(old: bytes | None) -> bytes | None:
        documents = _parse(old, zarr_format, place_of(store, place))
        if documents is None:
            return old
        prefix = path[len(root) :].strip("/")
        fresh = _collect(store, root, path, zarr_format, deep)
        own = {key_of(prefix, name) for name in DOCUMENTS_OF_A_NODE[zarr_format]}

        def replaced(key: str) -> bool:
            below = prefix == "" or key.startswith(f"{prefix}/")
            return key in own or (below and (deep or not fresh))

        left = {key: one for key, one in documents.items() if not replaced(key)}
        return _encode(old, {**left, **fresh}, zarr_format, place_of(store, place))

    return change


@dataclass(frozen=True)
class ConsolidatedMetadata:
    """The metadata of the members of a group that is stored in the group.

    Attributes
    ----------
    metadata : dict of str to ArrayMetadata or GroupMetadata
        Metadata of its direct members, by name; groups have their own consolidated metadata.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group()
    >>> z = root.create_array("a/b", shape=3, dtype="i4")
    >>> found = zarr.consolidate_metadata(root.store).metadata.consolidated_metadata
    >>> sorted(found.metadata), sorted(found.flattened_metadata)
    (['a'], ['a', 'a/b'])
    """

    metadata: dict[str, Any]
    kind: ClassVar[str] = "inline"
    must_understand: ClassVar[bool] = False

    def to_dict(self) -> dict[str, Any]:
        """The ``consolidated_metadata`` member of the document of a v3 group.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.core.group import ConsolidatedMetadata
        >>> ConsolidatedMetadata({}).to_dict()
        {'kind': 'inline', 'must_understand': False, 'metadata': {}}
        """
        members = {path: one.to_dict() for path, one in self.flattened_metadata.items()}
        return {"kind": self.kind, "must_understand": self.must_understand, "metadata": members}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ConsolidatedMetadata:
        """The inverse of `to_dict`.

        Parameters
        ----------
        data : mapping
            The ``consolidated_metadata`` member of the document of a v3 group.

        Returns
        -------
        ConsolidatedMetadata

        Raises
        ------
        MetadataError
            ``data`` is not such a member.

        Examples
        --------
        >>> from zarrix.core.group import ConsolidatedMetadata
        >>> member = {"kind": "inline", "must_understand": False, "metadata": {}}
        >>> ConsolidatedMetadata.from_dict(member)
        ConsolidatedMetadata(metadata={})
        """
        root = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": dict(data)}
        documents = consolidated.parse_v3(json_dumps(root), "consolidated_metadata")
        assert documents is not None
        return _as_objects(documents, 3)

    @property
    def flattened_metadata(self) -> dict[str, Any]:
        """The metadata of all members, by path."""
        found: dict[str, Any] = {}
        for name, one in self.metadata.items():
            found[name] = one
            inside = getattr(one, "consolidated_metadata", None)
            if inside is not None:
                found.update({f"{name}/{k}": v for k, v in inside.flattened_metadata.items()})
        return found


def view(store: Store, path: str, group: GroupMetadata) -> ConsolidatedMetadata | None:
    """The consolidated metadata of a group as an object; None if it has none."""
    if isinstance(store, ConsolidatedStore) and path != store.root:
        prefix = f"{path[len(store.root) :].strip('/')}/"
        below = store.documents()
        documents: Documents | None = {
            key[len(prefix) :]: one for key, one in below.items() if key.startswith(prefix)
        }
    else:
        place = key_of(path, CONSOLIDATED_DOCUMENT[group.zarr_format])
        documents = _parse(store.get(place), group.zarr_format, place_of(store, place))
    return None if documents is None else _as_objects(documents, group.zarr_format)


def _as_objects(documents: Documents, zarr_format: int) -> ConsolidatedMetadata:
    found: dict[str, Any] = {}
    for name in sorted({key.split("/", 1)[0] for key in documents if "/" in key}):
        own = {k[len(name) + 1 :]: v for k, v in documents.items() if k.startswith(f"{name}/")}
        if zarr_format == 3 and own.get(ZARR_JSON, {}).get("node_type") == "array":
            found[name] = v3.parse_array(own[ZARR_JSON], f"{name}/{ZARR_JSON}")
        elif zarr_format == 3 and ZARR_JSON in own:
            group = v3.parse_group(own[ZARR_JSON], f"{name}/{ZARR_JSON}")
            found[name] = replace(group, consolidated_metadata=_as_objects(own, 3))
        elif ZARRAY in own:
            array = v2.parse_array(own[ZARRAY], f"{name}/{ZARRAY}")
            found[name] = replace(array, zattrs=own.get(ZATTRS, {}))
        elif ZGROUP in own:
            inside = _as_objects(own, 2)
            found[name] = GroupMetadata(own.get(ZATTRS, {}), 2, consolidated_metadata=inside)
    return ConsolidatedMetadata(found)


class ConsolidatedStore(Store):
    """A store that reads metadata from the consolidated metadata of one of its groups.

    All other reads, and all changes, go to the wrapped store.

    Parameters
    ----------
    store : Store
    path : str
        Of the group.
    documents : mapping
        By key relative to the group.
    place : str
        Key of the consolidated metadata.
    """

    def __init__(self, store: Store, path: str, documents: Documents, place: str) -> None:
        self._store = store
        self._root = path
        self._place = place
        self._documents = {
            key_of(path, key): json_dumps(one) for key, one in documents.items() if one is not None
        }
        self._dimension_separator = store._dimension_separator
        self._durability = store._durability
        self._writeable = store._writeable
        self._is_near = isinstance(store._engine, _engine.LocalStore | _engine.MemoryStore)
        self._warned = False
        root = getattr(store, "path", None)
        if isinstance(root, str):
            self.path = root

    def vouching_for(self, key: str) -> str | None:
        """The key of the consolidated metadata, if a node has no other metadata."""
        if self._is_near and key in self._store:
            return None
        return self.engine_path(self._place)

    def _open(self) -> _engine.Store:
        return self._store._engine

    def engine_path(self, path: str) -> str:
        """``path`` in the spelling of the engine store."""
        return self._store.engine_path(path)

    @property
    def root(self) -> str:
        """Path of the group with the consolidated metadata."""
        return self._root

    def documents(self) -> Documents:
        """The consolidated documents, by key relative to the group."""
        start = len(self._root) + 1 if self._root else 0
        return {key[start:]: json_loads(one) for key, one in self._documents.items()}

    def _serves(self, key: str) -> bool:
        inside = not self._root or key.startswith(f"{self._root}/")
        return inside and key.rsplit("/", 1)[-1] in _SERVED

    def __getitem__(self, key: str) -> bytes:
        if not self._serves(key):
            return bytes(self._store[key])
        known = self._documents.get(key)
        if self._is_near:
            stored = self._store.get(key)
            if stored is not None or known is None or not self._is_alone:
                if not _same(known, stored):
                    self._notice(key)
                known = stored
        if known is None:
            raise KeyError(key)
        return bytes(known)

    @cached_property
    def _is_alone(self) -> bool:
        """Whether this is a copy with chunks, but without the separate documents.

        If there are no chunks either, the members may have been deleted.
        """
        start = f"{self._root}/" if self._root else ""
        own = {f"{start}{name}" for names in DOCUMENTS_OF_A_NODE.values() for name in names}
        members = [key for key in self._documents if key not in own]
        if any(self._store.get(key) is not None for key in members):
            return False
        paths = {key.rpartition("/")[0] for key in members}
        below = (self._store._engine.list_dir(self._store.engine_path(path)) for path in paths)
        return any(keys or prefixes for keys, prefixes in below)

    def _notice(self, key: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the consolidated metadata of {self._store!r} is stale: {key!r} has changed. "
                "The stored document is used; run consolidate_metadata() again",
                StaleMetadataWarning,
                stacklevel=4,
            )

    def __setitem__(self, key: str, value: Any) -> None:
        self._store[key] = value
        self._remember(key, bytes(value))

    def __delitem__(self, key: str) -> None:
        del self._store[key]
        self._remember(key, None)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and self._serves(key):
            return self.get(key) is not None
        return key in self._store

    def __iter__(self) -> Iterator[str]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)

    def _remember(self, key: str, value: bytes | None) -> None:
        if not self._serves(key):
            return
        if value is None:
            self._documents.pop(key, None)
        else:
            self._documents[key] = value

    def update_value(
        self, key: str, change: Callable[[bytes | None], bytes | None]
    ) -> bytes | None:
        """Replace the value of ``key`` by ``change(old)``, in the wrapped store."""
        stored = self._store.update_value(key, change)
        self._remember(key, stored)
        return stored

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that may be nodes, sorted."""
        if self._is_near and not self._is_alone:
            return self._store.child_names(path)
        prefix = f"{path}/" if path else ""
        below = [key[len(prefix) :] for key in self._documents if key.startswith(prefix)]
        return sorted({key.split("/", 1)[0] for key in below if "/" in key})

    def rmdir(self, path: str | None = None) -> None:
        """Delete every key below ``path``."""
        self._store.rmdir(path)
        prefix = f"{path}/" if path else ""
        for key in [key for key in self._documents if key.startswith(prefix)]:
            del self._documents[key]

    def rename(self, src_path: str, dst_path: str) -> None:
        """Move everything at and below ``src_path`` to ``dst_path``."""
        self._store.rename(src_path, dst_path)
        for key in [key for key in self._documents if key.startswith(f"{src_path}/")]:
            self._documents[dst_path + key[len(src_path) :]] = self._documents.pop(key)

    def close(self) -> None:
        """Close the wrapped store."""
        self._store.close()

    def __eq__(self, other: object) -> bool:
        inner = other._store if isinstance(other, ConsolidatedStore) else other
        return bool(self._store == inner)

    def __repr__(self) -> str:
        return f"<consolidated {self._store!r}>"


def _same(known: bytes | None, stored: bytes | None) -> bool:
    if known is None or stored is None:
        return known is stored
    mine, theirs = json_loads(known), json_loads(stored)
    for one in (mine, theirs):
        if isinstance(one, dict):
            one.pop("consolidated_metadata", None)
    return bool(mine == theirs)


def open_store(store: Store, path: str, zarr_format: int | None, key: str) -> ConsolidatedStore:
    """The store through the consolidated metadata of its group at ``path``.

    Raises
    ------
    PathNotFoundError
        There is none (also a ``KeyError`` and a ``ValueError``).
    """
    for wanted, name in ((2, key), (3, ZARR_JSON)):
        if zarr_format in (None, wanted):
            place = key_of(path, name)
            documents = _parse(store.get(place), wanted, place_of(store, place))
            if documents is not None:
                return ConsolidatedStore(store, path, documents, place)
    raise PathNotFoundError(
        f"no consolidated metadata in {store!r} at {path!r}; write it with consolidate_metadata(), "
        "or open without it"
    )


# Pickles name a class by its module: a public one, which does not move.
for _class in (ConsolidatedMetadata, ConsolidatedStore):
    _class.__module__ = "zarrix.core.group"
