"""A handle of a stored array: where it is, how it was opened, and the last known snapshot of it.

Users see `zarrix._array.array.Array`, which adds properties, reading and writing; those take what
they need from a handle and are functions of other files. A change of metadata always starts from
the stored document, under the store's lock, and never from the snapshot. Therefore several
processes can append to one array.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import GenericAlias
from typing import Any, ClassVar, Self, cast

from zarrix._array.options import ArrayOptions
from zarrix._array.snapshot import ArraySnapshot, snapshot_of
from zarrix._errors import ArrayNotFoundError, ChunksMovedError, ReadOnlyError
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.checksum import with_frame_checksum
from zarrix._metadata.literals import Order
from zarrix._nodes import nodes
from zarrix._nodes.attributes import Attributes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.existing import not_found
from zarrix._nodes.location import Location
from zarrix._nodes.member import Member
from zarrix._runtime.config import config
from zarrix._runtime.system import on_fork
from zarrix._stores.keys import ARRAY_DOCUMENT, ZARRAY, key_of

__all__ = ["ArrayHandle"]


# Threads that share an array adopt their changes in the order in which they were stored. No I/O
# happens under the lock, a handler of a signal may take it again, and a forked child gets a free
# one.
_change_numbers = itertools.count(1)
_adopting = threading.RLock()


def _free_lock() -> None:
    global _adopting
    _adopting = threading.RLock()


on_fork(after_in_child=_free_lock)


class ArrayHandle(Member):
    """Location, options and snapshot of an array; users see `Array`.

    The snapshot is replaced by one assignment: a thread that takes it once sees one state of the
    array, also while other threads change it.
    """

    # The first for programs that give an array a subclass of theirs as its class.
    __slots__ = (
        *("__dict__", "__weakref__"),
        *("_adopted", "_attrs", "_location", "_options", "_snapshot"),
    )

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    _options: ArrayOptions
    _snapshot: ArraySnapshot
    _adopted: int

    def __init__(
        self,
        store: Any,
        path: str | None = None,
        read_only: bool = False,
        chunk_store: Any = None,
        synchronizer: Any = None,
        cache_metadata: bool = True,
        cache_attrs: bool = True,
        partial_decompress: bool | None = None,
        write_empty_chunks: bool | None = None,
        zarr_version: int | None = None,
        meta_array: Any = None,
        allow_pickle: bool = False,
        checksum: bool = False,
        *,
        read_missing_chunks: bool | None = None,
        order: Order | None = None,
    ) -> None:
        counterpart = getattr(store, "_sync", None)
        if isinstance(counterpart, ArrayHandle):
            self._be_handle_of(counterpart)
            return
        location = Location.of(store, path, zarr_version, chunk_store=chunk_store)
        node = location.find()
        if node is None or node.kind != "array":
            raise _array_missing(location)
        options = ArrayOptions(
            read_only=read_only,
            synchronizer=synchronizer,
            cache_metadata=cache_metadata,
            cache_attrs=cache_attrs,
            write_empty_chunks=write_empty_chunks,
            meta_array=meta_array,
            allow_pickle=allow_pickle,
            checksum=checksum,
            read_missing_chunks=read_missing_chunks,
            order=order,
        )
        self._open(location, node, options)

    def _be_handle_of(self, other: ArrayHandle) -> None:
        """Be a handle of the same array: `Array` of an `AsyncArray`."""
        self._location, self._options, self._attrs = other._location, other._options, other._attrs
        self._adopted, self._snapshot = other._adopted, other._snapshot

    @classmethod
    def _at(cls, location: Location, node: nodes.Node, options: ArrayOptions) -> Self:
        """The array of ``node``, without another lookup."""
        new = cls.__new__(cls)
        new._open(location, node, options)
        return new

    def _open(self, location: Location, node: nodes.Node, options: ArrayOptions) -> None:
        store, path, _, _ = location
        self._location = location
        options = self._options = options.of_open_array(store, node.zarr_format)
        self._adopted = 0
        key = key_of(path, ARRAY_DOCUMENT[node.zarr_format])
        metadata = self._parse(node.document, key)
        self._snapshot = snapshot_of(location, options, metadata, node.document, key)
        self._attrs = Attributes._of_node(
            store,
            path,
            node.zarr_format,
            read_only=options.read_only,
            cache=options.cache_attrs,
            synchronizer=options.synchronizer,
            stored=node.attributes,
        )

    def __getstate__(self) -> dict[str, Any]:
        location, options, snapshot = self._location, self._options, self._snapshot
        state = {
            "store": location.store,
            "path": location.path,
            "read_only": options.read_only,
            "chunk_store": location.chunk_store,
            "synchronizer": options.synchronizer,
            "cache_metadata": options.cache_metadata,
            "cache_attrs": self._attrs.cache,
            "write_empty_chunks": options.write_empty_chunks,
            "meta_array": options.meta_array,
            "allow_pickle": options.allow_pickle,
            "checksum": options.checksum,
            "read_missing_chunks": options.read_missing_chunks,
            "order": snapshot.order,
        }
        if options.is_view:
            state["view"] = (replace(snapshot.metadata), options.cast_to)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        view = state.pop("view", None)
        self.__init__(**state)  # type: ignore[misc]
        if view is not None:
            metadata, cast_to = view
            self._reopen(metadata, cast_to=cast_to)

    def _reopen(self, metadata: ArrayMetadata, **options: Any) -> None:
        """Become a view: other metadata of the same document, and other options."""
        old = self._snapshot
        changed = self._options._replace(is_view=True, **options)
        # The label is that of the document, whose name determines its format.
        metadata = metadata.at(old.metadata.where)
        key = self._document_key()
        self._snapshot = snapshot_of(self._location, changed, metadata, old.document, key)
        self._options = changed

    def _set_read_only(self, read_only: bool) -> None:
        with _adopting:
            self._options = self._options._replace(read_only=read_only)
            self._adopt(self._snapshot)

    def _adopt(self, snapshot: ArraySnapshot) -> None:
        """Make this the snapshot, with the options as they are now; inside the lock."""
        options = self._options
        is_plain = snapshot.is_plain_read and not options.read_only and options.synchronizer is None
        if snapshot.is_plain_write != is_plain:
            snapshot = replace(snapshot, is_plain_write=is_plain)
        self._snapshot = snapshot

    def _document_key(self) -> str:
        return key_of(self._location.path, self._snapshot.metadata.document_name)

    def _load(self) -> ArraySnapshot:
        """The snapshot of the stored metadata, which replaces one of other metadata."""
        key = self._document_key()
        document = self._location.store._value(key)
        if document is None:
            raise _array_missing(self._location)
        snapshot = self._snapshot
        if document != snapshot.document:
            metadata = self._parse(document, key)
            snapshot = snapshot_of(self._location, self._options, metadata, document, key)
            with _adopting:
                self._adopt(snapshot)
        return snapshot

    def _followed(self, old: ArraySnapshot, error: ArrayNotFoundError) -> ArraySnapshot | None:
        """The snapshot to repeat a call with, after the chunks of a snapshot were found to have
        moved, or its store was moved; None if they are gone.
        """
        store, key = self._location.store, self._document_key()
        if not isinstance(error, ChunksMovedError):
            return self._in_moved_store(old, key) if store._has_moved else None
        document = store._value(key)
        if document is None:
            raise _array_missing(self._location)
        metadata, options = self._parse(document, key), self._options
        if metadata.key_encoding == old.metadata.key_encoding:
            # That of consolidated metadata. It may be ahead of the array's own document.
            now = store._consolidated_value(key)
            if now is None or self._parse(now, key).key_encoding != metadata.key_encoding:
                return None
            options = options._replace(is_detached=True)
            return snapshot_of(self._location, options, old.metadata, old.document, key)
        if options.is_view:
            metadata = replace(old.metadata, key_encoding=metadata.key_encoding)
        snapshot = snapshot_of(self._location, options, metadata, document, key)
        with _adopting:
            self._adopt(snapshot)
        return snapshot

    def _in_moved_store(self, old: ArraySnapshot, key: str) -> ArraySnapshot | None:
        """The snapshot in a store that has moved; None if the array is not there either, or the
        old one is from there.
        """
        store = self._location.store
        document, label = store._value(key), nodes.place(store, key)
        if document is None or label == old.metadata.where:
            return None
        if self._options.is_view:
            metadata, document = old.metadata.at(label), old.document
        else:
            metadata = self._parse(document, key)
        snapshot = snapshot_of(self._location, self._options, metadata, document, key)
        with _adopting:
            self._adopt(snapshot)
        return snapshot

    def _current(self) -> ArraySnapshot:
        """The snapshot; that of the stored metadata if it is not cached."""
        options = self._options
        return self._snapshot if options.cache_metadata or options.is_view else self._load()

    def _parse(self, document: Any, key: str) -> ArrayMetadata:
        """The metadata in a document of the array; its key determines the format."""
        store = self._location.store
        label = nodes.place(store, key)
        if label.endswith(ZARRAY):
            separator = store._dimension_separator
            metadata = v2.parse_array(bytes(document), label, default_separator=separator)
        else:
            metadata = v3.parse_array(bytes(document), label)
        return with_frame_checksum(metadata) if self._options.checksum else metadata

    @property
    def _fsync(self) -> bool:
        """Whether writes are synced, as set for the store or in the current config."""
        syncs = self._snapshot.syncs
        return config.syncs if syncs is None else syncs

    def _forbid_on_view(self) -> None:
        if self._options.is_view:
            raise PermissionError(
                "a view cannot change the shape or fill value of its array; "
                "operation not permitted for views"
            )

    def _rewrite(self, change: Callable[[ArrayMetadata], ArrayMetadata]) -> ArraySnapshot:
        """Replace the stored metadata by the result of ``change``, under its lock. Returns the
        snapshot of what was stored; a later change by another thread may be adopted already.
        """
        self._forbid_on_view()
        store, path, _, _ = self._location
        zarr_format, key = self._snapshot.metadata.zarr_format, self._document_key()
        number = 0

        def rewrite(document: bytes | None) -> bytes:
            nonlocal number
            if document is None:
                raise _array_missing(self._location)
            number = next(_change_numbers)
            changed = nodes.array_document(change(self._parse(document, key)))
            # Nothing is stored that could not be opened again.
            self._parse(changed, key)
            return changed

        stored = store.update_value(key, rewrite)
        update_consolidated(store, path, zarr_format)
        metadata = self._parse(stored, key)
        snapshot = snapshot_of(self._location, self._options, metadata, stored, key)
        with _adopting:
            if number > self._adopted:
                self._adopted = number
                self._adopt(snapshot)
        return snapshot

    def _writing(self) -> AbstractContextManager[Any]:
        """Raise an error if the array is read-only; otherwise return the lock for the write."""
        options = self._options
        if options.cast_to is not None:
            raise ReadOnlyError("a view made by astype() converts on reading; it cannot be written")
        if options.read_only:
            raise ReadOnlyError(
                f"{self._title()} is read-only; {self._location.store._how_to_write}"
            )
        if options.synchronizer is None:
            return nullcontext()
        return cast("AbstractContextManager[Any]", options.synchronizer[self._document_key()])

    def _title(self) -> str:
        path = self._location.path
        return f"array {'/' + path!r}" if path else "the array"


def _array_missing(location: Location) -> Exception:
    if nodes.has_group(location.store, location.path):
        return ArrayNotFoundError(f"{location.describe()} is a group, not an array")
    return not_found(location, "array")
