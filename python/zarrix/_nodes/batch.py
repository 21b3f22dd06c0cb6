"""Batches: many changes below a group, and one update of consolidated metadata at the end.

The nodes themselves are stored at once. A batch holds which of them changed, in the memory of the
process that began it: a process that is killed inside leaves consolidated metadata without these
changes. A process that is forked inside is in no batch.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from zarrix._metadata.literals import Format
from zarrix._nodes.known_groups import KnownGroups
from zarrix._runtime.system import on_fork
from zarrix._stores.base import Store

__all__ = [
    "BATCHES",
    "Batch",
    "Change",
    "batches_above",
    "forget_known",
    "known_format",
    "known_groups",
]


@dataclass(slots=True)
class Change:
    """A node that was created, changed or removed.

    Attributes
    ----------
    deep : bool
        Whether all below it was, too.
    documents : dict of str to bytes, optional
        The documents that were stored, by key, if they are all that the node has.
    is_leaf : bool
        Whether it is known to be an array.
    """

    path: str
    zarr_format: Format
    deep: bool
    documents: Mapping[str, bytes] | None = None
    is_leaf: bool = False

    def followed_by(self, change: Change) -> Change:
        """This change and a later one of the node. What is stored is not known then, unless the
        later one adds documents to these.
        """
        if self.documents and self.documents.items() <= (change.documents or {}).items():
            return change
        is_leaf = self.is_leaf and not change.deep
        return Change(self.path, self.zarr_format, deep=self.deep or change.deep, is_leaf=is_leaf)


class Batch:
    """The changes below one group that consolidated metadata does not have yet.

    Every batch above a node holds its changes, whichever thread makes them, so that each one is
    complete when it ends.

    Parameters
    ----------
    store : Store
    root : str
        The path of the group.
    zarr_format : {2, 3}
        Of the hierarchy.
    before : dict of str to bytes
        By key, the consolidated metadata at and above the group when the batch begins. While it is
        the same, no other process has changed a node, and what this one has stored is known.
    """

    def __init__(
        self, store: Store, root: str, zarr_format: Format, before: Mapping[str, bytes]
    ) -> None:
        self.zarr_format, self.before = zarr_format, before
        self.groups = KnownGroups()
        self._engine, self._prefix = store._engine.id, store.engine_path(root)
        self._thread = threading.get_ident()
        self._changes: dict[tuple[str, Format], Change] = {}
        self._is_over = False
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Hold the changes below the group from here on."""
        BATCHES[self] = None

    def end(self) -> list[Change]:
        """Hold no more; the changes that are left to the caller.

        These are none inside another batch of the same thread, and in a process that was forked
        meanwhile.
        """
        if self not in BATCHES:
            return []
        del BATCHES[self]
        with self._lock:
            self._is_over = True
        if any(one._thread == self._thread and one._holds_all_of(self) for one in tuple(BATCHES)):
            return []
        return list(self._changes.values())

    def hold(self, store: Store, change: Change) -> bool:
        """Whether the batch holds this change now; it does not if it has ended meanwhile."""
        note = self.groups.forget if change.deep else self.groups.stored
        note(store, change.path)
        if not self.before:
            # Only consolidated metadata that was there before is brought up to date by them.
            change = replace(change, documents=None)
        with self._lock:
            if not self._is_over:
                place = change.path, change.zarr_format
                before = self._changes.get(place)
                self._changes[place] = before.followed_by(change) if before else change
            return not self._is_over

    def _holds_all_of(self, other: Batch) -> bool:
        return self._engine == other._engine and _is_below(other._prefix, self._prefix)

    def covers(self, store: Store, path: str) -> bool:
        """Whether the batch is to hold the changes of this node."""
        return store._engine.id == self._engine and _is_below(store.engine_path(path), self._prefix)


_FORMATS: tuple[Format, ...] = (2, 3)
# Those of this process, in the order in which they began. A change of a dictionary is one step for
# other threads.
BATCHES: dict[Batch, None] = {}
on_fork(after_in_child=BATCHES.clear)


def _is_below(path: str, root: str) -> bool:
    return not root or path == root or path.startswith(f"{root}/")


def batches_above(store: Store, path: str) -> list[Batch]:
    """The batches of this process that are to hold changes of the node at ``path``."""
    return [one for one in tuple(BATCHES) if one.covers(store, path)] if BATCHES else []


def known_groups(store: Store, path: str, zarr_format: Format) -> KnownGroups | None:
    """What a batch above ``path`` knows about groups of this format; None outside of batches."""
    if not BATCHES or store._is_staged:
        return None
    own = (one for one in batches_above(store, path) if one.zarr_format == zarr_format)
    return next((one.groups for one in own), None)


def forget_known(store: Store, *paths: str) -> None:
    """Tell batches that what is at and below some paths may be gone or have changed."""
    for path in paths:
        for one in batches_above(store, path):
            one.groups.forget(store, path)


def known_format(store: Store, path: str) -> Format | None:
    """The format of the groups above a new node at ``path``, if a batch knows them."""
    for zarr_format in _FORMATS if BATCHES else ():
        groups = known_groups(store, path, zarr_format)
        if groups is not None and groups.missing_above(store, path) is not None:
            return zarr_format
    return None
