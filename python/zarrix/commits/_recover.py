"""What a commit has left whose process is gone: finished if it happened, and removed if it did not.

Only stored documents decide. Nothing is removed that one of them names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from zarrix._array.access import metadata_of, opened_at
from zarrix._metadata.consolidated import commit_of, parse
from zarrix._metadata.intent import Intent, document_keys, has_happened
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._nodes.pending import intent_above
from zarrix._stores.base import Store
from zarrix._stores.labels import place
from zarrix._stores.local import LocalStore
from zarrix.commits._claim import PATIENCE, Claim
from zarrix.commits._lock import CommitLock, partial_intents
from zarrix.commits._place import place_of
from zarrix.commits._server_steps import recover_on_server
from zarrix.commits._spaces import (
    delete_keys,
    keys_beside,
    parse_space,
    remove_chunks,
    space_of,
)
from zarrix.commits._steps import (
    clean,
    commit_key,
    erase,
    read_documents,
    store_documents,
)

__all__ = ["Recovered", "end", "end_commit", "happened", "recover", "settle"]

WAIT = 60.0
"""Seconds that a change of a length waits for the end of a commit."""


@dataclass(frozen=True)
class Recovered:
    """What `recover` has done with the rest of a commit.

    Attributes
    ----------
    direction : {"forward", "back", "nothing"}
        Whether it was finished or removed, or nothing was there.
    id, message : str
        Of the commit.
    paths : tuple of str
        The nodes that it changes, relative to the topmost group.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group("recovered.zarr")
    >>> zarr.recover(root)
    Recovered(direction='nothing', id='', message='', paths=())
    """

    direction: Literal["forward", "back", "nothing"] = "nothing"
    id: str = ""
    message: str = ""
    paths: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What was done, as JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> from zarrix.commits import Recovered
        >>> Recovered().to_dict()["direction"]
        'nothing'
        """
        return asdict(self)

    def __str__(self) -> str:
        if self.direction == "nothing":
            return "no commit was left"
        done = "finished" if self.direction == "forward" else "removed"
        named = f" {self.message!r}" if self.message else ""
        return f"the commit{named} of {len(self.paths)} nodes was {done}"


def end_commit(folder: str) -> None:
    """Wait for the commit whose intent is in ``folder``, or end it if its process is gone."""
    lock = CommitLock(folder)
    lock.acquire(WAIT)
    try:
        store = LocalStore(folder)
        settle(store, lock)
        lock.end(fsync=store.syncs)
    finally:
        lock.release()


def settle(store: Store, lock: CommitLock, *, dry_run: bool = False) -> Recovered:
    """L1: finish or remove what the last holder of the lock has left; the lock stays."""
    intent = lock.left()
    if intent is None:
        return Recovered("nothing")
    forward = happened(store, intent)
    if not dry_run:
        end(store, intent, forward=forward)
        lock.clear()
    paths = tuple(intent.paths())
    return Recovered("forward" if forward else "back", intent.id, intent.message, paths)


def end(store: Store, intent: Intent, *, forward: bool) -> None:
    """Finish a commit that has become visible, or remove what another one has stored."""
    if forward:
        store_documents(store, intent)
        clean(store, intent)
    else:
        _undo(store, intent)


def happened(store: Store, intent: Intent) -> bool:
    """Whether a commit has become visible."""
    key = commit_key(store, intent)
    root = store._value(key)
    start = f"{intent.root}/" if intent.root else ""
    known = parse(root, intent.zarr_format, place(store, key)) or {}
    consolidated = {start + one: document for one, document in known.items()}
    own = read_documents(store, document_keys(intent))
    return has_happened(intent, commit_of(root, intent.zarr_format), consolidated, own)


def _undo(store: Store, intent: Intent) -> None:
    """Remove what a commit has stored that no document names."""
    erase(store, intent, shorter=False)
    for path, (_, new) in intent.flips.items():
        node, space = nodes.find(store, path, intent.zarr_format), parse_space(new)
        if node is None or node.kind != "array" or space is None:
            continue
        metadata = metadata_of(opened_at(Location(store, path, intent.zarr_format), node))
        if space_of(metadata) != space:
            delete_keys(store, path, keys_beside(store, path, space, metadata))
    for path in sorted(intent.creates, reverse=True):
        if nodes.find(store, path) is None and _may_have_made(store, path, intent):
            remove_chunks(store, path)


def _may_have_made(store: Store, path: str, intent: Intent) -> bool:
    """Whether a commit can have made the folder of a node: in a group, and not as a link."""
    while path in intent.creates:
        folder = store._folder_at(path)
        if not path or (folder is not None and os.path.islink(folder)):
            return False
        path = path.rpartition("/")[0]
    return nodes.has_group(store, path)


def recover(
    root: Any, *, dry_run: bool = False, storage_options: Mapping[str, Any] | None = None
) -> Recovered:
    """Finish, or remove, what a commit has left whose process was killed.

    The next commit, and the next change of a length, do the same. If the commit had become visible
    in one document, all others follow; otherwise nothing of it stays.

    Parameters
    ----------
    root : Group, Array, Store, str or Path
        A node of the hierarchy.
    dry_run : bool
        Only say what would be done.
    storage_options : mapping, optional
        As of `zarrix.open`, if ``root`` is a path.

    Returns
    -------
    Recovered
        ``direction`` is ``"forward"``, ``"back"`` or ``"nothing"``.

    Raises
    ------
    CommitBusyError
        A commit is open, and was not over within 60 seconds.
    NotAtomicError
        The store has no commits.
    MetadataError
        The intent is not one that zarrix writes.
    PathNotFoundError
        There is no node.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group("example.zarr")
    >>> zarr.recover("example.zarr").direction
    'nothing'
    """
    at = place_of(root, storage_options)
    store = at.store
    if not isinstance(store, LocalStore):
        intent = Intent(os.urandom(16).hex(), at.root, at.zarr_format, message="recovery")
        claim = Claim(store, at.root, at.zarr_format, intent, PATIENCE)
        found = recover_on_server(store, claim, WAIT, dry_run=dry_run)
        if found is None:
            return Recovered("nothing")
        forward, left = found
        direction: Literal["forward", "back"] = "forward" if forward else "back"
        return Recovered(direction, left.id, left.message, tuple(left.paths()))
    lock = CommitLock(store.dir_path())
    # A loss of power can leave the second without the first.
    if intent_above(store, "") is None and not partial_intents(lock.folder):
        return Recovered("nothing")
    lock.acquire(WAIT)
    try:
        if not dry_run:
            lock.remove_partials()
        done = settle(store, lock, dry_run=dry_run)
        if not dry_run or done.direction == "nothing":
            lock.end(fsync=store.syncs)
        return done
    finally:
        lock.release()
