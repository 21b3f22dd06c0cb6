"""Commits on servers, whose steps are conditional puts.

S1  read the root, and wait for the claim of another                `zarrix.commits._claim`
S2  claim: put the root, if it is the one that was read
S3  chunks, to keys that no reader looks at, under conditions        `zarrix.commits._fenced`
S4  unchanged chunks of rewritten arrays, to another key space       `zarrix.commits._server_carry`
    chunks of the fill value, where the block has written nothing    `_fill`
S5  put the root with the new documents: the commit
S6  the documents of the nodes; nodes are deleted
S7  key spaces are deleted whose grace is over                       `zarrix.commits._server_sweep`
S8  put the root without the claim

The claim stays until the documents of the nodes are stored: the next commit begins from them, and
one that takes the claim over finishes them. Before the first chunk is stored in another key space,
and before one is deleted, the claim says so: see `zarrix.commits._inherited`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from zarrix import _engine
from zarrix._array.access import opened_at
from zarrix._array.options import ArrayOptions
from zarrix._array.stored import box_of, chunk_key
from zarrix._errors import (
    CommitConflictError,
    CommitLostError,
    ContainsArrayError,
    NotAtomicError,
    VersionLostError,
)
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.consolidated import commit_of
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node
from zarrix._selection.values import fill_element
from zarrix._stores.base import Store
from zarrix._stores.keys import ARRAY_DOCUMENT, key_of
from zarrix._stores.labels import describe, place
from zarrix.commits import _left
from zarrix.commits._carry import CarriedArray
from zarrix.commits._claim import Claim
from zarrix.commits._fenced import FencedValues
from zarrix.commits._left import Left
from zarrix.commits._server_carry import (
    OldChunks,
    Source,
    carry_all,
    digest_of,
    listed_below,
    old_chunks,
    settle,
)
from zarrix.commits._server_steps import store_documents
from zarrix.commits._server_sweep import chunks_in, delete_left, sweep_due
from zarrix.commits._spaces import KeySpace, space_of, spaces_of, with_space
from zarrix.commits._stage import StagedStore, touches
from zarrix.commits._steps import read_documents, rebase, report, root_document
from zarrix.commits._sweep import left_below

__all__ = ["ServerStage", "give_up", "make_visible"]

MOST_FILLED = 10_000
"""Chunks that a commit stores because the block has not written them."""


class ServerStage(StagedStore):
    """The store of the group that a commit on a server gives."""

    def __init__(self, store: Store, claim: Claim, intent: Intent, max_carry: int) -> None:
        super().__init__(store, claim, intent, wait=0.0, max_carry=max_carry)
        self._claim = claim
        self._values = FencedValues(store, claim, self._is_unseen)
        self._known: dict[str, tuple[bytes, ArrayMetadata]] = {}
        # What the commit began from; the end of the block asks whether it has changed.
        self._documents: dict[str, bytes | None] = {}
        # By path: the listing of an array after its chunks were carried.
        self._last: dict[str, dict[str, str]] = {}
        # Whether the root's document was put with all changes.
        self.is_visible = False

    def _stored(self, key: str) -> bytes | None:
        with self._mutex:
            if key not in self._documents:
                self._documents[key] = super()._stored(key)
            return self._documents[key]

    def _wait_for_others(self, path: str, key: str) -> None:
        self._alone.add(path)

    def _open_engine(self) -> _engine.Store:
        return _engine.PythonStore(self._values)

    def _is_unseen(self, key: str) -> bool:
        """Whether a chunk lies wholly beyond what readers see of its array, or is of a new one."""
        for path in self.intent.creates:
            if key.startswith(f"{self.engine_path(path)}/"):
                return True
        if self.is_in_new_space(key):
            return True
        for path in [*self.intent.grows]:
            start = self.engine_path(path)
            if not key.startswith(f"{start}/") and start:
                continue
            metadata, known = self._grown(path)
            coords = _coords_of(metadata, key[len(start) + 1 if start else 0 :])
            if coords is not None:
                region = metadata.chunk_region(coords)
                return any(one.start >= end for one, end in zip(region, known, strict=True))
        return False

    def _grown(self, path: str) -> tuple[ArrayMetadata, tuple[int, ...]]:
        """An array as the block has made it, and the shape that readers know."""
        after = self._array_at(path)
        is_grown = path in self.intent.grows and path not in self.carried
        before = self.intent.grows[path][0] if is_grown else [0] * len(after.shape)
        return after, tuple(before)

    def _array_at(self, path: str) -> ArrayMetadata:
        key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
        document = self._value(key)
        known = self._known.get(path)
        if known is not None and known[0] == document:
            return known[1]
        found = None if document is None else self._array(key, document)
        if found is None:
            raise NotAtomicError(f"{describe(self._store, path)} is not an array any more")
        self._known[path] = (document, found)
        return found

    # What is not there yet

    def _judged(
        self, key: str, change: Callable[[bytes | None], bytes | None], new: bytes
    ) -> bytes:
        document = super()._judged(key, change, new)
        path = key.rpartition("/")[0]
        before, after = self.intent.grows.get(path, ([], []))
        is_smaller = any(b > a for b, a in zip(before, after, strict=True))
        if is_smaller and path not in self.carried:
            raise self._refused(path, "an array with one spelling of its keys cannot get smaller")
        return document

    def _before_write(self, path: str, axes: Any, coords: Any = ()) -> bool:
        with self._mutex:
            self._require_open()
            if path in self.intent.creates or path in self.carried:
                return False
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            first = self._first(key)
            known = None if first is None else self._array(key, first)
            if known is None or not touches(known.shape, axes, coords):
                return False
            assert first is not None
            self._put_elsewhere(path, key, first, known)
            return True

    def _put_elsewhere(self, path: str, key: str, first: bytes, known: ArrayMetadata) -> None:
        """Give an array another key space; its chunks are carried at the end of the block."""
        space, tags = self._free_place(path, known, known)
        array = CarriedArray(path, known.ndim, space_of(known), space)
        sources = self._sources(array, known, tags)
        if len(sources) > self._max_carry:
            raise NotAtomicError(
                f"{describe(self._store, path)} has {len(sources):,} chunks, and a commit that "
                f"changes some has the server copy all others; max_carry is {self._max_carry:,}. "
                "Pass a larger one, or use shards"
            )
        self._require_few(path, len(sources), known)
        array.chunks = OldChunks(sources)
        self.intent.flips[path] = (str(array.old), str(array.new))
        self._note()
        self.carried[path] = array
        with self._values._mutex:
            old_keys = {new: (old, tag) for new, (old, tag, _) in sources.items()}
            self._values.old_keys.update(old_keys)
        self._before.setdefault(key, first)
        current = self._after.get(key, first)
        assert current is not None
        self._after[key] = with_space(current, key, space)

    def _sources(
        self, array: CarriedArray, known: ArrayMetadata, tags: dict[str, str]
    ) -> dict[str, Source]:
        """Where the chunks of an array are that readers see, or that the block has stored."""
        path = self.engine_path(array.path)

        def is_seen(key: str) -> bool:
            coords = _coords_of(known, key[len(path) + 1 :])
            return coords is not None or not known.shape or key in self._values.stored

        return old_chunks(tags, path, (array.old, array.new), array.ndim, is_seen)

    def _free_space(self, path: str, before: ArrayMetadata, after: ArrayMetadata) -> KeySpace:
        return self._free_place(path, before, after)[0]

    def _free_place(
        self, path: str, before: ArrayMetadata, after: ArrayMetadata
    ) -> tuple[KeySpace, dict[str, str]]:
        """A key space of an array in which nothing is, and the tags of all that is below it."""
        own, zarr_format = space_of(before), self.intent.zarr_format
        others = [space for space in spaces_of(after) if str(space) != str(own)]
        if not others:
            raise self._refused(path, "it has one spelling of its chunk keys, so that")
        for is_swept in (False, True):
            left = left_below(self._store, self.intent.root, zarr_format)
            own_left = [one for one in left if one.path == path]
            tags = listed_below(self._store, self.engine_path(path))
            kept = {one.space for one in own_left}
            for space in others:
                known = chunks_in(tags, self.engine_path(path), space, (own, before.ndim))
                if space not in kept and not known:
                    return space, tags
            due = [one for one in own_left if one.space in others and not one.is_late]
            if is_swept or not due:
                break
            oldest = min(due, key=lambda one: one.since)
            # It stays for as long as is promised.
            time.sleep(max(0.0, min(oldest.since + _left.PROMISED - time.time(), _left.PROMISED)))
            delete_left(self._store, self._claim, self.intent, [oldest])
        raise NotAtomicError(
            f"{describe(self._store, path)}: all spellings of its chunk keys are in use: "
            f"{', '.join(map(str, others))} have keys of former contents or of other programs, or "
            "a commit that was overtaken may still delete in them; zarrix.sweep(root, now=True) "
            "frees them, when no such commit can go on any more"
        )

    def _create(self, path: str, key: str, document: bytes) -> None:
        for one in self._claim.late_paths if path not in self.intent.creates else ():
            if f"{path}/".startswith(f"{one}/"):
                raise NotAtomicError(
                    f"{describe(self._store, path)}: a commit that was overtaken may still delete "
                    f"{one!r}; zarrix.sweep(root, now=True) allows the name again, when that "
                    "commit cannot go on any more"
                )
        metadata = self._array(key, document)
        if path not in self.intent.creates:
            if metadata is not None:
                self._require_no_others(path, metadata)
            self.intent.creates.append(path)

    def _require_no_others(self, path: str, metadata: ArrayMetadata) -> None:
        """Chunks of an array that is gone may be there if the new one stores all of them."""
        top = self.engine_path(path)
        for key in listed_below(self._store, top):
            name = key[len(top) + 1 :]
            is_chunk = any(space.any_keys().fullmatch(name) for space in spaces_of(metadata))
            if is_chunk and _coords_of(metadata, name) is None and metadata.shape:
                raise ContainsArrayError(
                    f"{describe(self._store, path)} has no metadata, but the chunk {name!r} of an "
                    "array that is gone, which could become part of the new one"
                )

    def _delete(self, path: str) -> None:
        if path in self.intent.creates or path in self.carried:
            raise NotAtomicError(
                f"{describe(self._store, path)}: on a server, a commit cannot delete or replace "
                "what it has made or changed itself; leave out the first change"
            )
        super()._delete(path)

    def take_versions(self, path: str, sources: dict[str, Source], reader: Any) -> None:
        """Let the server copy versions of objects to the chunks of a new array, which has none.

        Parameters
        ----------
        path : str
        sources : dict of key to Source
            By the canonical keys of the chunks, relative to the array.
        reader : engine store
            What reads the values of these versions.
        """
        with self._mutex:
            self._require_open()
            metadata = self._array_at(path)
        self._require_few(path, len(sources), metadata)
        canonical, top = KeySpace("default", "/"), self.engine_path(path)
        space = space_of(metadata)
        named = {
            key_of(top, canonical.respelled(name, space, metadata.ndim)): source
            for name, source in sources.items()
        }
        carried = carry_all(self._store, self._values, named, reader)
        if len(carried) < len(named):
            lost = min(named.keys() - carried)
            raise VersionLostError(
                f"{place(self._store, named[lost][0])}: the version of the object that is to be "
                "restored is gone, or has another content; nothing is restored"
            )

    def _refused(self, path: str, what: str) -> NotAtomicError:
        return NotAtomicError(
            f"{describe(self._store, path)}: {what} elements that readers see cannot change in a "
            "commit; append, write a new array, or do it before or after the block"
        )

    def _require_few(self, path: str, stored: int, metadata: ArrayMetadata) -> None:
        missing = math.prod(metadata.chunk_grid_shape) - stored
        if missing > MOST_FILLED:
            raise NotAtomicError(
                f"{describe(self._store, path)}: a commit on a server stores every chunk of what "
                f"it rewrites, and {missing:,} chunks of the array are not stored; at most "
                f"{MOST_FILLED:,} may be missing. Use larger chunks, or write outside of a commit"
            )

    def carry(self) -> None:
        """S4: let the server copy the chunks that the block has not changed."""
        for path, array in sorted(self.carried.items()):
            if not isinstance(array.chunks, OldChunks):
                continue
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            first = self._first(key)
            known = None if first is None else self._array(key, first)
            assert known is not None

            def find(
                tags: dict[str, str], array: CarriedArray = array, known: ArrayMetadata = known
            ) -> dict[str, Source]:
                return self._sources(array, known, tags)

            top = self.engine_path(path)
            self._last[path] = settle(self._store, self._values, array.chunks, top, find)

    def left(self, now: float, grace: float | None) -> list[Left]:
        """The key spaces that the commit leaves."""
        found = []
        for path, array in sorted(self.carried.items()):
            top = self.engine_path(path)
            tags = self._last[path] if path in self._last else listed_below(self._store, top)
            digest = digest_of((key, tags[key]) for key in chunks_in(tags, top, array.old))
            found.append(Left(path, array.old, now, array.ndim, grace, digest))
        return found

    def is_in_new_space(self, key: str) -> bool:
        """Whether a chunk is in a key space that no document names yet."""
        for path, array in [*self.carried.items()]:
            start = f"{self.engine_path(path)}/"
            if key.startswith(start) and array.new.any_keys().fullmatch(key[len(start) :]):
                return True
        return False

    # The end of the block

    def fill(self) -> None:
        """S4: store every chunk of what becomes visible that the block has not stored."""
        for path in dict.fromkeys([*self.carried, *self.intent.grows, *self.intent.creates]):
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            document = self._value(key)
            if document is None or self._array(key, document) is None:
                continue
            self._fill(path, key, document)

    def _fill(self, path: str, key: str, document: bytes) -> None:
        metadata, known = self._grown(path)
        regions = []
        for box in _boxes(known, metadata.shape) if metadata.shape else [[]]:
            axes = box_of(metadata.grid, [(a, 1, b - a) for a, b in box])
            for coords in itertools.product(*(range(a, b) for a, b in axes)):
                name = self.engine_path(key_of(path, chunk_key(metadata, coords)))
                if name not in self._values.stored:
                    regions.append((metadata.chunk_region(coords), known))
                if len(regions) > MOST_FILLED:
                    raise NotAtomicError(
                        f"{describe(self._store, path)}: a commit on a server stores every chunk "
                        f"of what becomes visible, and more than {MOST_FILLED} of them were not "
                        "written; write them in the block, or create the array before it"
                    )
        if not regions:
            return
        options = ArrayOptions(write_empty_chunks=True)
        location = Location(self, path, self.intent.zarr_format)
        node = Node(self.intent.zarr_format, "array", document)
        array = opened_at(location, node, options)
        fill: Any = fill_element(metadata.dtype, metadata.fill_value)
        for region, visible in regions:
            for part in _outside(region, visible, metadata.shape) if region else [()]:
                array[part] = fill


def _coords_of(metadata: ArrayMetadata, name: str) -> tuple[int, ...] | None:
    """The coordinates in the key of a chunk below the path of its array; None for another key."""
    encoding, separator = metadata.key_encoding
    separator = separator or metadata.dimension_separator
    parts = name.removesuffix(metadata.key_suffix).split(separator)
    numbers = parts[1:] if encoding == "default" else parts
    if not metadata.shape or len(numbers) != len(metadata.shape):
        return None
    if not all(one.isascii() and one.isdigit() for one in numbers):
        return None
    coords = tuple(map(int, numbers))
    inside = all(a < b for a, b in zip(coords, metadata.chunk_grid_shape, strict=True))
    return coords if inside and chunk_key(metadata, coords) == name else None


def _boxes(known: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Boxes that together are what ``shape`` has beyond ``known``, without a common element."""
    for axis, (before, after) in enumerate(zip(known, shape, strict=True)):
        if after <= before:
            continue
        box = [(0, n) for n in known[:axis]] + [(before, after)]
        box += [(0, n) for n in shape[axis + 1 :]]
        if all(a < b for a, b in box):
            yield box


def _outside(
    region: tuple[slice, ...], known: tuple[int, ...], shape: tuple[int, ...]
) -> Iterator[tuple[slice, ...]]:
    """The parts of a chunk that lie in ``shape`` and beyond ``known``."""
    for box in _boxes(known, shape):
        part = [
            slice(max(one.start, a), min(one.stop, b))
            for one, (a, b) in zip(region, box, strict=True)
        ]
        if all(one.start < one.stop for one in part):
            yield tuple(part)


def make_visible(
    stage: ServerStage, claim: Claim, intent: Intent, *, one_node: bool, grace: float | None
) -> None:
    """S4 to S8."""

    def parsed(document: bytes | None, key: str) -> Any:
        return None if document is None else json_loads(document, key)

    pairs = stage.changes().items()
    changes = {key: (parsed(before, key), parsed(after, key)) for key, (before, after) in pairs}
    if not changes:
        claim.end()
        return
    paths = {key.rpartition("/")[0] for key in changes}
    if one_node and len(paths) > 1:
        raise NotAtomicError(
            f"readers='all': readers that open array by array could see some of {sorted(paths)} "
            "changed and not all of them; commit each by itself, or leave readers='consolidated'"
        )
    stage.carry()
    stage.fill()
    store = stage._store
    left = stage.left(time.time(), grace)

    def change(old: bytes | None) -> bytes:
        stored = read_documents(store, [*changes])
        after = rebase(store, changes, stored)
        _require_lengths(store, stage, changes, stored)
        intent.documents = {one: (stored.get(one), after[one]) for one in after}
        return root_document(store, intent, old, after, left)

    claim.replace(change, intent)
    stage.is_visible = True
    store_documents(store, claim, intent)
    sweep_due(store, claim, intent)
    claim.end()


def _require_lengths(
    store: Store, stage: ServerStage, changes: dict[str, Any], stored: dict[str, Any]
) -> None:
    """A row that others append meanwhile would stay under the old keys."""
    for path in stage.carried:
        key = key_of(path, ARRAY_DOCUMENT[stage.intent.zarr_format])
        before, theirs = changes[key][0], stored.get(key)
        apart = [
            {name: one for name, one in dict(document or {}).items() if name != "attributes"}
            for document in (before, theirs)
        ]
        if apart[0] != apart[1]:
            raise CommitConflictError(
                f"another writer has changed the shape or layout of {place(store, key)}, whose "
                "elements the commit changes; nothing of it is visible: make it again",
                path,
                key,
                "shape",
            )


def give_up(stage: ServerStage, claim: Claim, intent: Intent, error: BaseException) -> None:
    """After an error: finish the commit if it has become visible, and else remove what it stored.

    What cannot be finished or removed is left to the next commit.

    Raises
    ------
    CommitVisibleError
        The commit is visible, and the error is not one that ends the process.
    """
    stage.finish()
    store = stage._store
    try:
        is_visible = stage.is_visible or _is_last(store, claim, intent)
    except OSError as failed:
        error.add_note(
            f"whether the commit is visible is not known, because {describe(store, claim.root)} "
            f"cannot be read: {failed}; look before you make it again"
        )
        return
    second: Exception | None = None
    try:
        if is_visible:
            store_documents(store, claim, intent)
            claim.end()
        else:
            _take_back(stage, claim)
    except Exception as failed:
        second = failed
    report(store, intent.root, error, second, is_visible=is_visible)


def _is_last(store: Store, claim: Claim, intent: Intent) -> bool:
    """Whether the commit is the last one that has become visible."""
    last: str | None = commit_of(store._value(claim.key), intent.zarr_format)
    return last == intent.id


def _take_back(stage: ServerStage, claim: Claim) -> None:
    """Delete what the block has created, while the claim is ours."""
    if not claim.is_held:
        return
    with contextlib.suppress(CommitLostError):
        claim.verify()
        now = time.time()
        # What is in another key space is deleted later, under a claim that says so.
        claim.leave([Left(one.path, one.new, now, one.ndim, 0.0) for one in stage.carried.values()])
        for key in sorted(key for key in stage._values.created if not stage.is_in_new_space(key)):
            if not claim.is_fresh():
                claim.verify()
            stage._store._engine.delete(key)
        claim.end()
