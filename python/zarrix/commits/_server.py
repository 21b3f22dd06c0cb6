"""Commits on servers, whose steps are conditional puts.

S1  read the root, and wait for the claim of another                `zarrix.commits._claim`
S2  claim: put the root, if it is the one that was read
S3  chunks, to keys that no reader looks at, under conditions        `zarrix.commits._fenced`
S4  chunks of the fill value, where the block has written nothing    `_fill`
S5  put the root with the new documents: the commit
S6  the documents of the nodes
S7  put the root without the claim

The claim stays until the documents of the nodes are stored: the next commit begins from them, and
one that takes the claim over finishes them. Nothing is deleted that another holder could have
stored.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from zarrix import _engine
from zarrix._array.access import opened_at
from zarrix._array.options import ArrayOptions
from zarrix._array.stored import box_of, chunk_key
from zarrix._errors import CommitLostError, NotAtomicError
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.consolidated import commit_of
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node
from zarrix._selection.values import fill_element
from zarrix._stores.base import Store
from zarrix._stores.keys import ARRAY_DOCUMENT, key_of
from zarrix._stores.labels import describe
from zarrix.commits._claim import Claim
from zarrix.commits._fenced import FencedValues
from zarrix.commits._server_steps import store_documents
from zarrix.commits._stage import StagedStore, touches
from zarrix.commits._steps import read_documents, rebase, root_document

__all__ = ["ServerStage", "give_up", "make_visible"]

MOST_FILLED = 10_000
"""Chunks that a commit stores because the block has not written them."""


class ServerStage(StagedStore):
    """The store of the group that a commit on a server gives."""

    def __init__(self, store: Store, claim: Claim, intent: Intent) -> None:
        super().__init__(store, claim, intent, wait=0.0, max_carry=0)
        self._claim = claim
        self._values = FencedValues(store, claim, self._is_unseen)
        self._known: dict[str, tuple[bytes, ArrayMetadata]] = {}
        # What the commit began from; the end of the block asks whether it has changed.
        self._documents: dict[str, bytes | None] = {}

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
        before = self.intent.grows[path][0] if path in self.intent.grows else [0] * len(after.shape)
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
        if any(b > a for b, a in zip(before, after, strict=True)):
            raise self._refused(path, "an array cannot get smaller")
        return document

    def _before_write(self, path: str, axes: Any, coords: Any = ()) -> bool:
        with self._mutex:
            self._require_open()
            if path in self.intent.creates:
                return False
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            first = self._first(key)
            known = None if first is None else self._array(key, first)
            if known is None or not touches(known.shape, axes, coords):
                return False
        raise self._refused(path, "elements that readers see cannot change")

    def rmdir(self, path: str | None = None) -> None:
        """Refused for nodes that exist."""
        if any(True for _ in self._nodes_below(path or "")):
            raise self._refused(path or "", "nodes cannot be deleted or replaced")

    def _refused(self, path: str, what: str) -> NotAtomicError:
        return NotAtomicError(
            f"{describe(self._store, path)}: {what} in a commit on a server yet; append, write a "
            "new array, or do it before or after the block"
        )

    # The end of the block

    def fill(self) -> None:
        """S4: store every chunk of what becomes visible that the block has not stored."""
        for path in [*self.intent.grows, *self.intent.creates]:
            key = key_of(path, ARRAY_DOCUMENT[self.intent.zarr_format])
            document = self._value(key)
            if document is None or self._array(key, document) is None:
                continue
            self._fill(path, key, document)

    def _fill(self, path: str, key: str, document: bytes) -> None:
        metadata, known = self._grown(path)
        regions = []
        for box in _boxes(known, metadata.shape):
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
            for part in _outside(region, visible, metadata.shape):
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


def make_visible(stage: ServerStage, claim: Claim, intent: Intent, *, one_node: bool) -> None:
    """S4 to S7."""

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
    stage.fill()
    store = stage._store

    def change(old: bytes | None) -> bytes:
        stored = read_documents(store, [*changes])
        after = rebase(store, changes, stored)
        intent.documents = {one: (stored.get(one), after[one]) for one in after}
        return root_document(store, intent, old, after, [])

    claim.replace(change, intent)
    store_documents(store, claim, intent)
    claim.end()


def give_up(stage: ServerStage, claim: Claim, intent: Intent) -> None:
    """After an error in the block: remove what it has created, while the claim is ours.

    An error after the commit has become visible leaves the claim, and the next one finishes it.
    """
    stage.finish()
    store = stage._store
    if not claim.is_held or commit_of(store._value(claim.key), intent.zarr_format) == intent.id:
        return
    with contextlib.suppress(CommitLostError):
        claim.verify()
        for key in sorted(stage._values.created):
            if not claim.is_fresh():
                claim.verify()
            store._engine.delete(key)
        claim.end()
