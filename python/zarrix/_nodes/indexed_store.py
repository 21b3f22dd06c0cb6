"""A store that serves the metadata of a hierarchy on a server from the index beside it.

What the index has, the consolidated metadata has, too: an index is used only while the tag of the
consolidated metadata is the one that it was made of. Members that it does not have are looked for
in the store, and so are all if an element is missing, damaged, or of another state.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from zarrix import _engine
from zarrix._errors import MetadataError, StaleMetadataWarning
from zarrix._nodes.index_format import (
    Element,
    bucket_key,
    bucket_of,
    documents_of,
    element_of,
    names_of,
    shard_key,
)
from zarrix._nodes.long_documents import tag_of
from zarrix._runtime.caller import warn_caller
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    CONSOLIDATED_DOCUMENT,
    DOCUMENTS,
    INDEX_SUFFIX,
    ZMETADATA,
    key_of,
)
from zarrix._stores.labels import place
from zarrix._stores.local import LocalStore
from zarrix._stores.remote.store import RemoteStore
from zarrix._stores.sites import Site

__all__ = ["IndexedStore", "beside"]

_SERVED = DOCUMENTS - {ZMETADATA}
# Elements that a store keeps for the next lookups.
_KEPT = 32


def beside(store: Store) -> Store:
    """The store of the index of the hierarchy in a store.

    Raises
    ------
    ValueError
        The store has no place beside it.
    """
    if isinstance(store, RemoteStore) and store.address.prefix:
        return store._at_url(store.url.rstrip("/") + INDEX_SUFFIX)
    if isinstance(store, LocalStore):
        return LocalStore(store.path.rstrip("/") + INDEX_SUFFIX)
    raise ValueError(f"{store!r} has no place beside it: pass index=, a store for the index")


class IndexedStore(Store):
    """A read-only store that finds members and documents in an index.

    Parameters
    ----------
    store : Store
    index : Store
    verify : bool
        Read the documents themselves from the store, one request for each node.
    """

    is_remote = True

    def __init__(self, store: Store, index: Store, *, verify: bool = False) -> None:
        self._store, self._index, self._verify = store, index, verify
        self._is_told = False
        # Tag and key of the consolidated metadata, once it is known to be stored.
        self._made_of: tuple[str, str] | None = None
        self._kept: OrderedDict[int | str, Element] = OrderedDict()
        self._lock = threading.Lock()
        self._dimension_separator = store._dimension_separator
        self._reads_attributes = store._reads_attributes
        self._writeable = False
        root = getattr(store, "path", None)
        if isinstance(root, str):
            self.path = root

    def validate(self, path: str) -> bool:
        """Whether there is an index, and it is of the consolidated metadata that is stored now.

        ``path`` is a node whose documents are asked for next.
        """
        number = bucket_of(path.rpartition("/")[0])
        chunk = self._index._engine.get(bucket_key(number), most=config.max_document_bytes)
        found = None if chunk is None else self._parsed(chunk, number, bucket_key(number))
        if found is None:
            return False
        if found.head.key not in CONSOLIDATED_DOCUMENT.values():
            return self._tell("it names no consolidated metadata")
        head = self._store._engine.head(self._store.engine_path(found.head.key))
        if head is None or tag_of(head) != found.head.tag:
            return self._tell("the consolidated metadata has changed")
        self._made_of = found.head[:2]
        self._keep(number, found)
        return True

    def _tell(self, why: str) -> bool:
        """Warn once that the index is not used; False."""
        if not self._is_told:
            self._is_told = True
            warn_caller(
                f"the index of {self._store!r} is not used: {why}. Nodes are looked for one by "
                "one; run build_index() again",
                StaleMetadataWarning,
            )
        return False

    def _parsed(self, chunk: bytes, own: int | str, key: str) -> Element | None:
        try:
            found = element_of(bytes(chunk), own, place(self._index, key))
        except MetadataError as error:
            self._tell(str(error))
            return None
        if self._made_of not in (None, found.head[:2]):
            self._tell(f"{place(self._index, key)} is of another state")
            return None
        return found

    def _keep(self, own: int | str, element: Element) -> None:
        with self._lock:
            self._kept[own] = element
            self._kept.move_to_end(own)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _buckets(self, groups: Iterable[str]) -> dict[int, Element]:
        """The elements of ``groups`` with the members of some groups, by one round of requests."""
        numbers = {bucket_of(group) for group in groups}
        with self._lock:
            found = {number: self._kept[number] for number in numbers if number in self._kept}
        asked = sorted(numbers.difference(found))
        keys = [bucket_key(number) for number in asked]
        chunks = self._index._engine.get_many(keys, most=config.max_document_bytes) if keys else []
        for number, key, chunk in zip(asked, keys, chunks, strict=True):
            one = None if chunk is None else self._parsed(chunk, number, key)
            if one is not None:
                found[number] = one
                self._keep(number, one)
        return found

    def _block(self, group: str, row: Any) -> Element | None:
        """The block of a large group."""
        first, shard, offset, length = row
        own = f"{shard}/{offset}"
        with self._lock:
            kept = self._kept.get(own)
        if kept is not None:
            return kept
        key = shard_key(shard)
        chunk = self._index._engine.get_slice(key, offset, offset + length)
        found = None if chunk is None else self._parsed(chunk, group, key)
        if found is None or next(iter(found.documents), None) != first:
            return None
        self._keep(own, found)
        return found

    def _found(self, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The documents of those nodes that the index has, by name."""
        wanted = list(paths)
        buckets = self._buckets(path.rpartition("/")[0] for path in wanted)
        found = {}
        for path in wanted:
            group = path.rpartition("/")[0]
            element = buckets.get(bucket_of(group))
            rows = () if element is None or not path else _rows(element, group)
            if rows:
                at = bisect_right(rows, path, key=lambda row: row[0]) - 1
                element = self._block(group, rows[at]) if at >= 0 else None
            encoded = None if element is None else element.documents.get(path)
            documents = None if encoded is None else documents_of(encoded)
            if documents is not None:
                found[path] = documents
        return found

    def getitems(self, keys: Iterable[str], *, contexts: Any = None) -> dict[str, Any]:
        """The values of those ``keys`` that are stored."""
        asked = {key: key.rpartition("/") for key in keys}
        known = self._found({path for path, _, name in asked.values() if name in _SERVED})
        found, others = {}, []
        for key, (path, _, name) in asked.items():
            is_known = path in known and name in _SERVED
            if is_known and name not in known[path]:
                continue
            if is_known and not self._verify:
                found[key] = json.dumps(known[path][name]).encode()
            else:
                others.append(key)
        return {**found, **(self._store.getitems(others, contexts={}) if others else {})}

    def __getitem__(self, key: str) -> Any:
        return self.getitems([key])[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and key.rpartition("/")[2] in _SERVED:
            return key in self.getitems([key])
        return key in self._store

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that may be nodes, sorted."""
        return self.child_names_of([path])[0]

    def child_names_of(self, paths: Iterable[str]) -> list[list[str]]:
        """`child_names` of each of ``paths``."""
        wanted = list(paths)
        self._buckets(wanted)
        return [self._names(path) for path in wanted]

    def _names(self, path: str) -> list[str]:
        element = self._buckets([path]).get(bucket_of(path))
        if element is None:
            return self._store.child_names(path)
        rows = _rows(element, path)
        found = [] if rows else names_of(element, path)
        for block in self._all_blocks(path, rows):
            if block is None:
                return self._store.child_names(path)
            found += names_of(block, path)
        # A node without members, or one that the index does not have.
        return found or ([] if self._found([path]) else self._store.child_names(path))

    def _names_after(self, path: str, after: str) -> Iterator[str]:
        element = self._buckets([path]).get(bucket_of(path))
        rows = () if element is None else _rows(element, path)
        if not rows:
            yield from (name for name in self._names(path) if name > after)
            return
        at = bisect_right(rows, key_of(path, after), key=lambda row: row[0]) - 1
        for row in rows[max(at, 0) :]:
            block = self._block(path, row)
            if block is None:
                yield from (name for name in self._store.child_names(path) if name > after)
                return
            for name in names_of(block, path):
                if name > after:
                    yield name
                    after = name

    def _all_blocks(self, group: str, rows: Sequence[Any]) -> Iterator[Element | None]:
        """All blocks of a group, by one request for each shard."""
        number = 0
        while number < len(rows):
            shard, begin = rows[number][1], rows[number][2]
            end = number
            while end < len(rows) and rows[end][1] == shard:
                end += 1
            last = rows[end - 1][2] + rows[end - 1][3]
            size = min(last - begin, config.max_document_bytes)
            data = self._index._engine.get_slice(shard_key(shard), begin, begin + size) or b""
            for first, _, offset, length in rows[number:end]:
                part = bytes(data[offset - begin : offset - begin + length])
                block = self._parsed(part, group, shard_key(shard))
                is_own = block is not None and next(iter(block.documents), None) == first
                yield block if is_own else None
            number = end

    @property
    def _user_store(self) -> Store:
        return self._store._user_store

    def _open_engine(self) -> _engine.Store:
        return self._store._engine

    def _sites(self, path: str) -> list[Site]:
        return self._store._sites(path)

    def engine_path(self, path: str) -> str:
        """``path`` in the spelling of the engine store."""
        return self._store.engine_path(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)

    def __setitem__(self, key: str, value: Any) -> None:
        self._forbid_changes()

    def __delitem__(self, key: str) -> None:
        self._forbid_changes()

    def close(self) -> None:
        """Close the store and its index."""
        self._store.close()
        self._index.close()

    def __eq__(self, other: object) -> bool:
        inner = other._store if isinstance(other, IndexedStore) else other
        return bool(self._store == inner)

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_lock": None, "_kept": OrderedDict()}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__({**state, "_lock": threading.Lock()})

    def __repr__(self) -> str:
        return f"<indexed {self._store!r}>"


def _rows(element: Element, group: str) -> Sequence[Any]:
    """The blocks of a group, if it is large."""
    return element.head.blocks.get(group, ())
