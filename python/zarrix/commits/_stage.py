"""The store inside of a commit: its documents are in memory, its chunks under keys that no reader
looks at.

Arrays and groups work in it as in any other store. A change of a document is held back until the
commit becomes visible. Chunks are stored at once, by the engine: those of new arrays, and those
beyond the shape that readers know. What a change is going to leave if it never becomes visible is
in the intent before the first chunk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._array.access import opened_at
from zarrix._array.length_lock import LengthLock
from zarrix._errors import (
    ArrayReplacedError,
    CommitBusyError,
    CommitConflictError,
    NotAtomicError,
    ReadOnlyError,
    WriterError,
)
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._metadata.merged import bare, encoded
from zarrix._metadata.replaced import judge_replaced
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    ARRAY_DOCUMENT,
    DOCUMENTS_OF_A_NODE,
    GROUP_DOCUMENT,
    ZARR_JSON,
    ZARRAY,
    ZMETADATA,
    is_document,
    key_of,
)
from zarrix._stores.labels import describe, place
from zarrix._stores.local import LocalStore
from zarrix._stores.sites import Site
from zarrix.commits._lock import CommitLock

__all__ = ["StagedStore"]


class StagedStore(Store):
    """The store of the group that a commit gives.

    Parameters
    ----------
    store : LocalStore
        Of the topmost group.
    lock : CommitLock
        Held.
    intent : Intent
        Of the commit; nothing is in it yet.
    wait : float
        Seconds that a change of a length waits for a writer of the array.
    """

    _is_staged = True

    def __init__(self, store: LocalStore, lock: CommitLock, intent: Intent, wait: float) -> None:
        self._store, self._lock, self._wait = store, lock, wait
        self.intent = intent
        self._mutex = threading.RLock()
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self._alone: set[str] = set()
        self._is_over = False
        self._dimension_separator = store._dimension_separator
        self._durability = store._durability
        self.path = store.path

    # Documents

    def _value(self, key: str, default: Any = None) -> Any:
        if self._is_over or not is_document(key):
            return self._store._value(key, default)
        if key.rpartition("/")[2] == ZMETADATA:
            # It is written when the commit becomes visible.
            return default
        value = self._after[key] if key in self._after else self._stored(key)
        return default if value is None else value

    def _stored(self, key: str) -> bytes | None:
        """The document outside of the commit, without consolidated metadata."""
        if any(key.startswith(f"{path}/") for path in self.intent.deletes):
            return None
        value = self._store._value(key)
        if value is not None and b'"consolidated_metadata"' in value and key.endswith(ZARR_JSON):
            return encoded(bare(json_loads(value, place(self._store, key))), key)
        return None if value is None else bytes(value)

    def __getitem__(self, key: str) -> Any:
        value = self._value(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.update_value(key, lambda _: bytes(value))

    def __delitem__(self, key: str) -> None:
        if self._value(key) is None:
            raise KeyError(key)
        self.update_value(key, lambda _: None)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._value(key) is not None

    def __iter__(self) -> Iterator[str]:
        staged = {key for key, value in self._after.items() if value is not None}
        for key in self._store:
            if key not in self._after and key in self:
                yield key
        yield from sorted(staged)

    def update_value(
        self, key: str, change: Callable[[bytes | None], bytes | None]
    ) -> bytes | None:
        """Replace the value of ``key`` by ``change(old)``, when the commit becomes visible."""
        with self._mutex:
            self._require_open()
            if not is_document(key) or key.endswith(ZMETADATA):
                raise NotAtomicError(
                    f"{key!r} is not a metadata document, and would be visible before the commit; "
                    "store it before or after the block"
                )
            self._require_inside(key)
            old = self._value(key)
            new = change(old)
            if new is not None:
                new = self._judged(key, change, new)
            if key not in self._before:
                self._before[key] = self._stored(key)
            self._after[key] = new
            return new

    def _require_inside(self, key: str) -> None:
        root = self.intent.root
        if root and not key.startswith(f"{root}/"):
            raise NotAtomicError(
                f"{key!r} lies outside of {describe(self._store, root)}, whose consolidated "
                "metadata makes the commit visible; commit the group that both lie in, after "
                "consolidate_metadata() of it"
            )

    def _judged(
        self, key: str, change: Callable[[bytes | None], bytes | None], new: bytes
    ) -> bytes:
        """The new document of ``key``; the intent says before what it needs."""
        path, _, name = key.rpartition("/")
        intent = self.intent
        if name not in (ARRAY_DOCUMENT[intent.zarr_format], GROUP_DOCUMENT[intent.zarr_format]):
            return new
        first = self._before[key] if key in self._before else self._stored(key)
        if first is None:
            if path not in intent.creates:
                intent.creates.append(path)
                self._note()
            return new
        before, after = self._array(key, first), self._array(key, new)
        if path in intent.creates or before is None or after is None:
            return new
        if before.shape == after.shape:
            self._require_same(key, first, new)
            return new
        if path not in self._alone:
            self._wait_for_others(path, key)
            # The array may have grown until then.
            self._before.pop(key, None)
            if key not in self._after:
                first = self._stored(key)
                changed = change(first)
                if first is None or changed is None:
                    raise CommitConflictError(f"{path!r} is gone", path, key, "node")
                new, before, after = changed, self._array(key, first), self._array(key, changed)
                assert before is not None
                assert after is not None
        self._require_same(key, first, new)
        if any(b > a for b, a in zip(before.shape, after.shape, strict=True)):
            raise NotAtomicError(
                f"{describe(self._store, path)}: a smaller shape would delete chunks that readers "
                "see; make the array smaller before or after the commit"
            )
        intent.grows[path] = ([*before.shape], [*after.shape])
        self._note()
        return new

    def _require_same(self, key: str, before: bytes, after: bytes) -> None:
        label = place(self._store, key)
        members = [dict(json_loads(document, label)) for document in (before, after)]
        for one in members:
            for name in ("shape", "attributes"):
                one.pop(name, None)
        if members[0] == members[1]:
            return
        try:
            judge_replaced(before, label, self._dimension_separator, after)
        except ArrayReplacedError as error:
            raise NotAtomicError(
                f"{error}; in a commit an array keeps its layout: create another array"
            ) from None

    def _array(self, key: str, document: bytes) -> ArrayMetadata | None:
        label = place(self._store, key)
        if key.endswith(ZARRAY):
            return v2.parse_array(document, label, default_separator=self._dimension_separator)
        if not key.endswith(ZARR_JSON) or v3.node_type(document, label) != "array":
            return None
        return v3.parse_array(document, label)

    def _wait_for_others(self, path: str, key: str) -> None:
        """Wait for calls that change the length of an array; later ones find the intent, and wait.

        The lock is not kept: a call that makes the first attributes of the array needs it.
        """
        document = self._stored(key)
        if document is None:
            raise CommitConflictError(f"{path!r} is gone", path, key, "node")
        location = Location(self._store, path, self.intent.zarr_format)
        array = opened_at(location, Node(self.intent.zarr_format, "array", document))
        lock = LengthLock(array, alone=True, of_commit=True)
        begun = time.monotonic()
        while True:
            try:
                lock.acquire()
            except WriterError as error:
                if time.monotonic() - begun >= self._wait:
                    raise CommitBusyError(str(error)) from None
                time.sleep(0.002)
            else:
                lock.release()
                self._alone.add(path)
                return

    def _note(self) -> None:
        self._lock.store(self.intent, fsync=self._store.syncs)

    def _require_open(self) -> None:
        if self._is_over:
            raise ReadOnlyError(
                "the commit of this array or group is over; open it again to change it"
            )
        if not self._lock.is_held:
            raise ReadOnlyError("the commit belongs to the process that this one was forked from")

    # Chunks

    def _before_write(self, path: str, axes: Any, coords: Any = ()) -> None:
        """Refuse a write that readers would see before the commit is over."""
        with self._mutex:
            self._require_open()
            if path in self.intent.creates:
                return
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            first = self._before[key] if key in self._before else self._stored(key)
            known = None if first is None else self._array(key, first)
        if known is None or not _touches(known.shape, axes, coords):
            return
        raise NotAtomicError(
            f"{describe(self._store, path)}: elements that readers see cannot change in a commit "
            "yet; append to the array, or write a new one"
        )

    # Everything else is that of the store below

    def _open_engine(self) -> _engine.Store:
        return self._store._engine

    def engine_path(self, path: str) -> str:
        """``path`` in the spelling of the engine store."""
        return self._store.engine_path(path)

    def _sites(self, path: str) -> list[Site]:
        return self._store._sites(path)

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that may be nodes, sorted."""
        names = set(self._store.child_names(path))
        prefix = f"{path}/" if path else ""
        for key, value in self._after.items():
            if value is not None and key.startswith(prefix) and "/" in key[len(prefix) :]:
                names.add(key[len(prefix) :].partition("/")[0])
        return sorted(names)

    def rmdir(self, path: str | None = None) -> None:
        """Delete the node at ``path``, and all below it, when the commit becomes visible."""
        with self._mutex:
            self._require_open()
            inside = path or ""
            names = DOCUMENTS_OF_A_NODE[self.intent.zarr_format]
            if not any(key_of(inside, name) in self for name in names):
                return
            raise NotAtomicError(
                f"{describe(self._store, inside)}: nodes cannot be deleted or replaced in a "
                "commit yet; do it before or after the block"
            )

    def rename(self, src_path: str, dst_path: str) -> None:
        """Refused: a move would be visible before the commit is over."""
        raise NotAtomicError(
            f"a commit cannot move {src_path!r}, because its chunks would have to move at once; "
            "move it before or after the block"
        )

    # The end of the commit

    def changes(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """The documents before and after, by key, of those that differ."""
        with self._mutex:
            pairs = {key: (self._before[key], self._after[key]) for key in self._after}
        return {key: (a, b) for key, (a, b) in sorted(pairs.items()) if a != b}

    def finish(self) -> None:
        """From now on the documents are those of the store below, and nothing can be changed."""
        with self._mutex:
            self._is_over = True

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<commit of {self._store!r}>"

    def __getstate__(self) -> Any:
        raise TypeError("the group of a commit cannot be pickled: only its process can commit")


def _touches(shape: tuple[int, ...], axes: Any, coords: Any) -> bool:
    """Whether a selection may contain an element inside of ``shape``; None selects everything."""
    if axes is None:
        return 0 not in shape
    points = iter(coords)
    for length, axis in zip(shape, axes, strict=True):
        if axis is None:
            axis = next(points)
        if isinstance(axis, int):
            first = axis
        elif isinstance(axis, tuple):
            start, step, count = axis
            if not count:
                return False
            first = min(start, start + step * (count - 1))
        else:
            if not len(axis):
                return False
            first = int(np.min(axis))
        if first >= length:
            return False
    return True
