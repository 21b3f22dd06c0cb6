"""Key spaces that no document names any more: kept for readers that are open, and then deleted."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from zarrix._errors import LateWriteWarning
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.consolidated import with_commit_member
from zarrix._metadata.intent import Intent
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._runtime.caller import warn_caller
from zarrix._stores.keys import ARRAY_DOCUMENT, CONSOLIDATED_DOCUMENT, key_of
from zarrix._stores.labels import describe, place
from zarrix._stores.local import LocalStore
from zarrix.commits._claim import PATIENCE, Claim
from zarrix.commits._left import GRACE, Left, left_in
from zarrix.commits._lock import CommitLock
from zarrix.commits._place import place_of
from zarrix.commits._recover import WAIT, settle
from zarrix.commits._server_sweep import sweep_on_server
from zarrix.commits._spaces import delete_keys, keys_in, space_of, spaces_of

__all__ = ["sweep", "sweep_root"]


def left_below(store: LocalStore, root: str, zarr_format: Format) -> list[Left]:
    """The key spaces that commits of ``root`` have left."""
    if nodes.has_array(store, root, zarr_format):
        return left_of_array(store, root, zarr_format)
    return left_in(store._value(key_of(root, CONSOLIDATED_DOCUMENT[zarr_format])), zarr_format)


def left_of_array(store: LocalStore, path: str, zarr_format: Format) -> list[Left]:
    """The key spaces that an array has left which is in no group: those that have keys."""
    node = nodes.find(store, path, zarr_format)
    if node is None or node.kind != "array":
        return []
    metadata = _metadata(node.document, zarr_format, describe(store, path))
    own = space_of(metadata)
    key = key_of(path, ARRAY_DOCUMENT[zarr_format])
    since = os.stat(os.path.join(store.path, key)).st_mtime
    return [
        Left(path, space, since, metadata.ndim, GRACE)
        for space in spaces_of(metadata)
        if space != own and keys_in(store, path, space, metadata.ndim)
    ]


def _metadata(document: bytes, zarr_format: Format, label: str) -> ArrayMetadata:
    parse = v2.parse_array if zarr_format == 2 else v3.parse_array
    return parse(document, label)


def sweep_root(
    store: LocalStore,
    root: str,
    zarr_format: Format,
    *,
    now: bool = False,
    only: Left | None = None,
) -> int:
    """Delete the key spaces whose grace is over, and forget them; returns how many keys.

    The caller has the lock of commits.
    """
    key = key_of(root, CONSOLIDATED_DOCUMENT[zarr_format])
    clock, deleted = time.time(), 0
    done = []
    for one in left_below(store, root, zarr_format):
        if one == only or (only is None and (now or one.is_over(clock))):
            deleted += _delete(store, one, zarr_format)
            done.append(one)
    if done and not nodes.has_array(store, root, zarr_format):

        def forget(document: bytes | None) -> bytes | None:
            entries = [one.to_json() for one in left_in(document, zarr_format) if one not in done]
            return with_commit_member(document, zarr_format, {"sweep": entries}, place(store, key))

        store.update_value(key, forget)
    return deleted


def _delete(store: LocalStore, left: Left, zarr_format: Format) -> int:
    """Delete the chunks of a key space that the array's document does not name."""
    node = nodes.find(store, left.path, zarr_format)
    if node is None or node.kind != "array":
        return 0
    metadata = _metadata(node.document, zarr_format, describe(store, left.path))
    own = space_of(metadata)
    if own == left.space:
        return 0
    late, over = [], []
    top = store.engine_path(left.path)
    start = len(top) + 1 if top else 0
    is_own = own.keys(metadata.ndim).fullmatch
    for key in keys_in(store, left.path, left.space, left.ndim):
        if is_own(key[start:]):
            continue
        try:
            modified = os.stat(os.path.join(store.path, key)).st_mtime
        except FileNotFoundError:
            continue
        if modified > left.since:
            late.append(key)
        else:
            over.append(key)
    if late:
        warn_caller(
            f"{late[0]!r} and {len(late) - 1} more chunks of {describe(store, left.path)} were "
            "written after a commit had replaced the array, by a program that did not see it; they "
            "are kept, and no reader sees them",
            LateWriteWarning,
        )
    return delete_keys(store, left.path, over)


def sweep(root: Any, *, now: bool = False, storage_options: Mapping[str, Any] | None = None) -> int:
    """Delete what commits have replaced, once its grace is over.

    An array that a commit rewrites has its new chunks under other keys. The old ones stay for
    readers that have the array open: until ``grace`` of the commit is over, and for ten seconds in
    any case. The next commit deletes them as well.

    Parameters
    ----------
    root : Group, Array, Store, str or Path
        A node of the hierarchy.
    now : bool
        Delete them before their grace is over. Readers of zarrix that are open go on with the new
        chunks; those of other libraries read the fill value instead of deleted chunks. On a server,
        it also allows names and spellings of keys again that a commit may still delete which
        another one has overtaken: call it when no such process can go on any more.
    storage_options : mapping, optional
        As of `zarrix.open`, if ``root`` is a path.

    Returns
    -------
    int
        The number of chunks that were deleted.

    Raises
    ------
    CommitBusyError
        A commit is open, and was not over within 60 seconds.
    NotAtomicError
        The store has no commits.
    PathNotFoundError
        There is no node.

    Warns
    -----
    LateWriteWarning
        A chunk was written after it had been replaced. It is kept.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.create_group("swept.zarr").create_array("a", shape=4, chunks=2, dtype="i4")
    >>> z[:] = 1
    >>> with zarr.commit("swept.zarr") as new:
    ...     new["a"][0] = 2
    >>> zarr.sweep("swept.zarr"), zarr.sweep("swept.zarr", now=True)
    (0, 2)
    """
    at = place_of(root, storage_options)
    if not isinstance(at.store, LocalStore):
        intent = Intent(os.urandom(16).hex(), at.root, at.zarr_format, message="sweep")
        claim = Claim(at.store, at.root, at.zarr_format, intent, PATIENCE)
        return sweep_on_server(at.store, claim, intent, WAIT, now=now)
    lock = CommitLock(at.store.dir_path())
    lock.acquire(WAIT)
    try:
        settle(at.store, lock)
        deleted = sweep_root(at.store, at.root, at.zarr_format, now=now)
        lock.end(fsync=at.store.syncs)
        return deleted
    finally:
        lock.release()
