"""A store that serves the metadata of a hierarchy from the consolidated metadata of a group.

If the wrapped store is local, each document is compared with what is stored: a difference is warned
of once, and the stored document is served. Elsewhere a check would cost what consolidated metadata
saves. Under `zarrix.as_zarr` no document is compared, as in zarr-python. A difference that a commit
makes, or has made since the group was opened, is none: the group shows one state of all nodes, also
while their documents change one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from zarrix import _engine
from zarrix._errors import PathNotFoundError, StaleMetadataWarning
from zarrix._metadata.consolidated import (
    ConsolidatedMetadata,
    Documents,
    as_objects,
    commit_of,
    parse,
)
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._nodes.long_documents import consolidated_entries, is_long, without_entries
from zarrix._nodes.pending import intent_above
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.caller import warn_caller
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    CONSOLIDATED_DOCUMENT,
    DOCUMENTS,
    DOCUMENTS_OF_A_NODE,
    ZARR_JSON,
    ZARRAY,
    ZGROUP,
    ZMETADATA,
    key_of,
)
from zarrix._stores.labels import place
from zarrix._stores.sites import Site
from zarrix._stores.tagged import PutOutcome, most_bytes

__all__ = ["ConsolidatedStore", "open_store", "view"]

_SERVED = DOCUMENTS - {ZMETADATA}


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
    key : str
        Of the consolidated metadata.
    commit : object
        The id of the commit that wrote it, if there is one.
    """

    def __init__(
        self, store: Store, path: str, documents: Documents, key: str, commit: Any = None
    ) -> None:
        self._commit = commit
        self._store = store
        self._root = path
        self._place = key
        self._documents = {
            key_of(path, name): one if isinstance(one, bytes) else json_dumps(one)
            for name, one in documents.items()
            if one is not None
        }
        self._dimension_separator = store._dimension_separator
        self._durability = store._durability
        self._writeable = store._writeable
        self.is_remote = store.is_remote
        is_near = isinstance(store._engine, _engine.LocalStore | _engine.MemoryStore)
        self._is_near = is_near and not DIALECT.is_zarr3
        self._warned = False
        root = getattr(store, "path", None)
        if isinstance(root, str):
            self.path = root

    @property
    def _user_store(self) -> Store:
        return self._store._user_store

    def vouching_for(self, key: str) -> str | None:
        """The key of the consolidated metadata, if a node has no other metadata."""
        if self._is_near and key in self._store:
            return None
        return self.engine_path(self._place)

    def _open_engine(self) -> _engine.Store:
        return self._store._engine

    def _sites(self, path: str) -> list[Site]:
        return self._store._sites(path)

    def _folder_at(self, path: str) -> str | None:
        return self._store._folder_at(path)

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
        return {
            key[start:]: json_loads(one, place(self._store, key))
            for key, one in self._documents.items()
        }

    def member_without_group(self) -> str | None:
        """The path of a node whose group is not in the consolidated metadata."""
        parted = (key.rpartition("/") for key in self._documents)
        there = {folder for folder, _, name in parted if name in (ZARRAY, ZGROUP, ZARR_JSON)}
        there.add(self._root)
        below = sorted(there - {self._root})
        return next((one for one in below if one.rpartition("/")[0] not in there), None)

    def _serves(self, key: str) -> bool:
        inside = not self._root or key.startswith(f"{self._root}/")
        return inside and key.rsplit("/", 1)[-1] in _SERVED

    def __getitem__(self, key: str) -> bytes:
        if not self._serves(key):
            return bytes(self._store[key])
        known = self._documents.get(key)
        if self._is_near:
            stored = self._stored(key)
            if stored is not None or known is None or not self._is_alone:
                if not _same(known, stored, place(self._store, key)):
                    stored = self._as_shown(key, known)
                known = stored
        if known is None:
            raise KeyError(key)
        return bytes(known)

    def _stored(self, key: str) -> bytes | None:
        """The document of ``key`` in the wrapped store, without those of other nodes in it."""
        stored: bytes | None = self._store._value(key)
        return stored and without_entries(self._store, key, stored)

    def _as_shown(self, key: str, known: bytes | None) -> bytes | None:
        """The document of ``key``, which was found to differ from the consolidated one."""
        if self._is_of_commit(key):
            return known
        # A commit may have ended meanwhile.
        stored = self._stored(key)
        if not _same(known, stored, place(self._store, key)):
            self._notice(key)
        return stored

    def _consolidated_value(self, key: str) -> bytes | None:
        zarr_format = 3 if self._place.rpartition("/")[2] == ZARR_JSON else 2
        label = place(self._store, self._place)
        documents = parse(self._store._value(self._place), zarr_format, label) or {}
        start = len(self._root) + 1 if self._root else 0
        found = documents.get(key[start:])
        return None if found is None else json_dumps(found)

    def _is_of_commit(self, key: str) -> bool:
        """Whether a commit changes the document of ``key``, or has since this was opened."""
        zarr_format = 3 if self._place.rpartition("/")[2] == ZARR_JSON else 2
        if commit_of(self._store._value(self._place), zarr_format) != self._commit:
            return True
        return intent_above(self._store, key.rpartition("/")[0]) is not None

    @cached_property
    def _is_alone(self) -> bool:
        """Whether this is a copy without the separate documents: with chunks, or a mirror of the
        metadata.

        Without chunks, a v2 group that has its own document may have lost its members to another
        program. A v3 group that has lost all members looks like a mirror, and is taken for one.
        """
        start = f"{self._root}/" if self._root else ""
        own = {f"{start}{name}" for names in DOCUMENTS_OF_A_NODE.values() for name in names}
        members = [key for key in self._documents if key not in own]
        if any(self._store._value(key) is not None for key in members):
            return False
        if self._is_mirror:
            return True
        paths = {key.rpartition("/")[0] for key in members}
        below = (self._store._engine.list_dir(self._store.engine_path(path)) for path in paths)
        return any(keys or prefixes for keys, prefixes in below)

    @property
    def _is_mirror(self) -> bool:
        """Whether the group has no document of its own besides the consolidated metadata."""
        is_v3 = self._place.rpartition("/")[2] == ZARR_JSON
        return is_v3 or self._store._value(key_of(self._root, ZGROUP)) is None

    def _notice(self, key: str) -> None:
        if not self._warned:
            self._warned = True
            warn_caller(
                f"the consolidated metadata of {self._store!r} is stale: {key!r} has changed. "
                "The stored document is used; run consolidate_metadata() again",
                StaleMetadataWarning,
            )

    def __setitem__(self, key: str, value: Any) -> None:
        self._store[key] = value
        self._remember(key, bytes(value))

    def __delitem__(self, key: str) -> None:
        del self._store[key]
        self._remember(key, None)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and self._serves(key):
            return self._value(key) is not None
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
        return self._update_at_most(key, change, most_bytes(key))

    def _update_at_most(
        self, key: str, change: Callable[[bytes | None], bytes | None], limit: int
    ) -> bytes | None:
        stored = self._store._update_at_most(key, change, limit)
        self._remember(key, stored)
        return stored

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that may be nodes, sorted."""
        if self._is_near and not self._is_alone:
            return self._store.child_names(path)
        prefix = f"{path}/" if path else ""
        below = [key[len(prefix) :] for key in self._documents if key.startswith(prefix)]
        return sorted({key.split("/", 1)[0] for key in below if "/" in key})

    def child_names_of(self, paths: Iterable[str]) -> list[list[str]]:
        """`child_names` of each of ``paths``."""
        return [self.child_names(path) for path in paths]

    def getitems(self, keys: Iterable[str], *, contexts: Any = None) -> dict[str, Any]:
        """The values of those ``keys`` that are stored; those of other programs by one request."""
        wanted = list(keys)
        others = [key for key in wanted if not self._serves(key)]
        found = self._store.getitems(others, contexts={}) if others else {}
        served = {key: self._value(key) for key in wanted if self._serves(key)}
        return {**found, **{key: one for key, one in served.items() if one is not None}}

    def put_if(
        self, key: str, value: Any, condition: str | None, *, anchor: str | None = None,
        changes: str = "",
    ) -> PutOutcome:  # fmt: skip
        """`Store.put_if` in the wrapped store."""
        outcome = self._store.put_if(key, value, condition, anchor=anchor, changes=changes)
        if outcome.is_stored:
            self._remember(key, bytes(value))
        return outcome

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


def _same(known: bytes | None, stored: bytes | None, label: str) -> bool:
    if known is None or stored is None:
        return known is stored
    mine, theirs = json_loads(known, label), json_loads(stored, label)
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
            key = key_of(path, name)
            document = store._value(key)
            if document is not None and is_long(document):
                documents, commit = consolidated_entries(store, key)
            else:
                documents = parse(document, wanted, place(store, key))
                commit = commit_of(document, wanted)
            if documents is not None:
                return ConsolidatedStore(store, path, documents, key, commit)
    raise PathNotFoundError(
        f"no consolidated metadata in {store!r} at {path!r}; write it with consolidate_metadata(), "
        "or open without it"
    )


def view(store: Store, path: str, group: GroupMetadata, above: str) -> ConsolidatedMetadata | None:
    """The consolidated metadata of a group as an object; None if there is none.

    It is the group's own, or the part of that of the group ``above`` that describes its members.
    """
    if isinstance(store, ConsolidatedStore) and path != store.root:
        inside = path[len(store.root) :].strip("/")
        documents: Documents | None = _below(store.documents(), inside)
    else:
        documents = _stored(store, path, group)
        if documents is None and path != above:
            start = len(above) + 1 if above else 0
            found = _stored(store, above, group)
            documents = None if found is None else _below(found, path[start:])
    return None if documents is None else as_objects(documents, group.zarr_format)


def _stored(store: Store, path: str, group: GroupMetadata) -> Documents | None:
    key = key_of(path, CONSOLIDATED_DOCUMENT[group.zarr_format])
    document = store._value(key)
    if document is not None and is_long(document):
        found, _ = consolidated_entries(store, key)
        return found and {name: json_loads(one, place(store, key)) for name, one in found.items()}
    return parse(document, group.zarr_format, place(store, key))


def _below(documents: Documents, path: str) -> Documents:
    prefix = f"{path}/"
    return {key[len(prefix) :]: one for key, one in documents.items() if key.startswith(prefix)}
