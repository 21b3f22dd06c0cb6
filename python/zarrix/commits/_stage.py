"""The store inside of a commit: its documents are in memory, its chunks under keys that no reader
looks at.

Arrays and groups work in it as in any other store. A change of a document is held back until the
commit becomes visible. Chunks are stored at once, by the engine: those of new arrays, and those
beyond the shape that readers know. What a change is going to leave if it never becomes visible is
in the intent before the first chunk.
"""

from __future__ import annotations

import sys
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
    ContainsArrayError,
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
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node
from zarrix._nodes.orphans import chunk_left
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
from zarrix._stores.sites import Site
from zarrix.commits import _left
from zarrix.commits._carry import CarriedArray, carry
from zarrix.commits._claim import Claim
from zarrix.commits._lock import CommitLock
from zarrix.commits._spaces import (
    KeySpace,
    delete_keys,
    has_many_folders,
    keys_beside,
    parse_space,
    remove_chunks,
    space_of,
    spaces_of,
    with_space,
)
from zarrix.commits._sweep import left_below, sweep_root

__all__ = ["StagedStore", "touches"]


class StagedStore(Store):
    """The store of the group that a commit gives.

    Parameters
    ----------
    store : LocalStore, or Store on a server
        Of the topmost group.
    lock : CommitLock or Claim
        Held.
    intent : Intent
        Of the commit; nothing is in it yet.
    wait : float
        Seconds that a change of a length waits for a writer of the array.
    max_carry : int
        The most chunks of one array that are carried.
    """

    _is_staged = True

    def __init__(
        self,
        store: Store,
        lock: CommitLock | Claim,
        intent: Intent,
        *,
        wait: float,
        max_carry: int,
    ) -> None:
        # Only a folder is carried from.
        self._store: Any = store
        self._lock, self.wait, self._max_carry = lock, wait, max_carry
        self.carried: dict[str, CarriedArray] = {}
        self.intent = intent
        self._mutex = threading.RLock()
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self._alone: set[str] = set()
        self._is_over = False
        self._dimension_separator = store._dimension_separator
        self._durability = store._durability
        self.path = getattr(store, "path", "")

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

    def _update_at_most(
        self, key: str, change: Callable[[bytes | None], bytes | None], limit: int
    ) -> bytes | None:
        return self.update_value(key, change)

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
        first = self._first(key)
        if path in intent.deletes:
            return self._recreated(path, key, first, new)
        if first is None:
            self._create(path, key, new)
            return new
        before, after = self._array(key, first), self._array(key, new)
        if path in intent.creates or before is None or after is None:
            return new
        carried = self.carried.get(path)
        if carried is not None:
            if carried.chunks is not None:
                self._require_same(key, with_space(first, key, carried.new), new)
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
        intent.grows[path] = ([*before.shape], [*after.shape])
        self._note()
        return new

    def _create(self, path: str, key: str, document: bytes) -> None:
        if path in self.intent.creates:
            return
        left = None if self._array(key, document) is None else chunk_left(self._store, path)
        if left is not None:
            raise ContainsArrayError(
                f"{describe(self._store, path)} has no metadata, but the chunk {left!r} of an "
                "array that is gone, which would become part of the new one"
            )
        self.intent.creates.append(path)
        self._note()

    def _first(self, key: str) -> bytes | None:
        """The document that the commit has begun from."""
        return self._before[key] if key in self._before else self._stored(key)

    def _recreated(self, path: str, key: str, first: bytes | None, new: bytes) -> bytes:
        """The document of a node at the path of one that the commit has deleted."""
        before = None if first is None else self._array(key, first)
        after = self._array(key, new)
        if first is None or (before is None) != (after is None):
            raise NotAtomicError(
                f"{describe(self._store, path)}: a commit cannot put a group in the place of an "
                "array, or an array in that of a group; use another name"
            )
        if before is not None and after is not None:
            carried = self.carried.get(path)
            if carried is None:
                self._wait_for_others(path, key)
                space = self._free_space(path, before, after)
                carried = CarriedArray(path, before.ndim, space_of(before), space)
                self.carried[path] = carried
            carried.chunks = None
            self.intent.flips[path] = (str(carried.old), str(carried.new))
            new = with_space(new, key, carried.new)
        self.intent.deletes.remove(path)
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
                if time.monotonic() - begun >= self.wait:
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

    def _before_write(self, path: str, axes: Any, coords: Any = ()) -> bool:
        """Put an array into another key space before an element changes that readers see."""
        with self._mutex:
            self._require_open()
            if path in self.intent.creates or path in self.carried:
                return False
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            first = self._first(key)
            known = None if first is None else self._array(key, first)
            if known is None or not touches(known.shape, axes, coords):
                return False
            self._wait_for_others(path, key)
            space = self._free_space(path, known, known)
            array = CarriedArray(path, known.ndim, space_of(known), space)
            self.intent.flips[path] = (str(array.old), str(array.new))
            self._note()
            try:
                array.chunks = carry(self._store, array, self._max_carry)
            except BaseException:
                # The caller may go on without this change.
                delete_keys(self._store, path, keys_beside(self._store, path, space, known))
                del self.intent.flips[path]
                self._note()
                raise
            self.carried[path] = array
            self._before.setdefault(key, first)
            current = self._after.get(key, first)
            assert current is not None
            self._after[key] = with_space(current, key, space)
            return True

    def _free_space(self, path: str, before: ArrayMetadata, after: ArrayMetadata) -> KeySpace:
        """A key space of an array that is not in use; the oldest one that was left, if need be."""
        own, zarr_format = space_of(before), self.intent.zarr_format
        others = [space for space in spaces_of(after) if str(space) != str(own)]
        if not others:
            raise NotAtomicError(
                f"{describe(self._store, path)} has only one spelling of its chunk keys, so that "
                "elements which readers see cannot change in a commit; append to it, write it "
                "outside of the commit, or change its format with zarrix.migrate(store, to=3)"
            )
        others.sort(key=lambda one: (has_many_folders(one, after), one.separator != own.separator))
        left = left_below(self._store, self.intent.root, zarr_format)
        left = [one for one in left if one.path == path]
        kept = {one.space for one in left}
        for space in others:
            if space not in kept and not keys_beside(self._store, path, space, before):
                return space
        ring = spaces_of(after)
        turn = ring.index(own) if own in ring else 0
        places = {space: (at - turn) % len(ring) for at, space in enumerate(ring)}
        for one in sorted(left, key=lambda one: (one.since, places.get(one.space, 0))):
            if one.space not in others:
                continue
            # It stays for as long as is promised.
            time.sleep(max(0.0, one.since + _left.PROMISED - time.time()))
            sweep_root(self._store, self.intent.root, zarr_format, only=one)
            if not keys_beside(self._store, path, one.space, before):
                return one.space
        raise NotAtomicError(
            f"{describe(self._store, path)}: all spellings of its chunk keys are in use: "
            f"{', '.join(map(str, others))} have keys of former contents, which zarrix.sweep() "
            "deletes, or of other programs"
        )

    # Everything else is that of the store below

    def _open_engine(self) -> _engine.Store:
        engine: _engine.Store = self._store._engine
        return engine

    def engine_path(self, path: str) -> str:
        """``path`` in the spelling of the engine store."""
        return str(self._store.engine_path(path))

    def _sites(self, path: str) -> list[Site]:
        sites: list[Site] = self._store._sites(path)
        return sites

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
            found = list(self._nodes_below(path or ""))
            if found and found[0] == self.intent.root:
                raise NotAtomicError(
                    f"{describe(self._store, found[0])} is what makes the commit visible, and "
                    "cannot be deleted in it"
                )
            for one in found:
                self._delete(one)
            if found:
                self._note()

    def begin_anew(
        self, path: str, document: bytes | None, *, has_attributes: bool = False
    ) -> None:
        """Put an array without elements, or a group without members, in the place of a node.

        Parameters
        ----------
        path : str
        document : bytes or None
            That of the new array; None for a group.
        has_attributes : bool
            Whether the attributes are those of the document, and not those of the node.
        """
        with self._mutex:
            self._require_open()
            if document is None:
                for name in self.child_names(path):
                    self.rmdir(key_of(path, name))
                return
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            first = self._first(key)
            if first is not None and key.endswith(ZARR_JSON) and not has_attributes:
                attributes = json_loads(first, key).get("attributes", {})
                document = v3.attributes_document(document, attributes, key)
            self.intent.deletes.append(path)
            self._before.setdefault(key, first)
            self._after[key] = self._recreated(path, key, first, document)

    def take_from(self, path: str, source: str, axes: int, space: str) -> None:
        """Carry the chunks of an array in another folder to those of a new array, which has none.

        Parameters
        ----------
        path : str
        source : str
            The folder of the other array.
        axes : int
        space : str
            Its key space.
        """
        with self._mutex:
            self._require_open()
            old = parse_space(space)
            if old is None:
                raise NotAtomicError(
                    f"{describe(self._store, path)}: the chunks of {source!r} have keys of another "
                    "form than 'c/0/1' and '0/1', which cannot be carried; copy the array"
                )
            new = self.carried[path].new if path in self.carried else old
            carry(self._store, CarriedArray(path, axes, old, new), sys.maxsize, source)

    def _nodes_below(self, path: str) -> Iterator[str]:
        """The paths of a node and of all nodes below it, if there is one."""
        node = nodes.find(self, path, self.intent.zarr_format)
        if node is not None:
            yield path
        for name in self.child_names(path) if node is not None and node.kind == "group" else ():
            yield from self._nodes_below(key_of(path, name))

    def _delete(self, path: str) -> None:
        intent = self.intent
        for name in DOCUMENTS_OF_A_NODE[intent.zarr_format]:
            key = key_of(path, name)
            self._require_inside(key)
            if self._value(key) is not None:
                self._before.setdefault(key, self._stored(key))
                self._after[key] = None
        if path in intent.creates:
            remove_chunks(self._store, path)
            return
        if path in self.carried:
            array = self.carried[path]
            key = key_of(path, ARRAY_DOCUMENT[intent.zarr_format])
            first = self._first(key)
            before = None if first is None else self._array(key, first)
            assert before is not None
            delete_keys(self._store, path, keys_beside(self._store, path, array.new, before))
        if path not in intent.deletes:
            intent.deletes.append(path)

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


def touches(shape: tuple[int, ...], axes: Any, coords: Any) -> bool:
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
