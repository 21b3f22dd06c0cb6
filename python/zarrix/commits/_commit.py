"""`commit`: several changes of one hierarchy that become visible together."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from zarrix._array.access import opened_at
from zarrix._hierarchy.group import Group
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._nodes.location import Location
from zarrix.commits._lock import CommitLock
from zarrix.commits._place import CommitPlace, place_of
from zarrix.commits._recover import end, happened, settle
from zarrix.commits._stage import StagedStore
from zarrix.commits._steps import show

__all__ = ["commit"]


@contextlib.contextmanager
def commit(
    root: Any,
    *,
    message: str = "",
    wait: float = 60.0,
    durability: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """Change several arrays, groups and attributes: all become visible at the end, or nothing.

    Readers that use consolidated metadata see all changes or none, in zarr-python, xarray and
    zarrix alike. Readers that open array by array see each array before or after the commit. An
    error in the block, or the death of the process, leaves everything as it was; what it has stored
    is removed by the next commit, or by the next change of a length.

    Arrays can grow (`Array.append`, `Array.resize` and writes to the new part), nodes can be
    created, and attributes can change. Others may write meanwhile: what they change is kept, and a
    change of the same attribute, or of the length of the same array, is an error at the end of the
    block.

    Parameters
    ----------
    root : Group, Array, Store, str or Path
        A node of a hierarchy in a local directory. If neither it nor a group above has consolidated
        metadata, the commit writes it.
    message : str
        Stored with the commit.
    wait : float
        Seconds to wait for another commit of the hierarchy, and for writers of an array that is to
        grow.
    durability : {"process", "fsync"}, optional
        With ``"fsync"``, a loss of power leaves the state before or after the commit, too.
    storage_options : mapping, optional
        As of `zarrix.open`, if ``root`` is a path.

    Yields
    ------
    Group or Array
        The node, whose changes are held back. It is read-only after the block.

    Raises
    ------
    CommitBusyError
        Another commit, or a writer of an array, was open for ``wait`` seconds.
    CommitConflictError
        Another writer has changed what the commit changes. Nothing is visible.
    NotAtomicError
        A change cannot be part of a commit, or the store has no commits.
    ReadOnlyError
        ``root`` is read-only.
    PathNotFoundError
        There is no node.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group("forecast.zarr")
    >>> for name in ("temperature", "pressure"):
    ...     z = root.create_array(name, shape=(0, 4), chunks=(1, 4), dtype="f4")
    >>> with zarr.commit("forecast.zarr", message="step 1") as new:
    ...     for name in ("temperature", "pressure"):
    ...         new[name].append([[1, 2, 3, 4]])
    ...     new.attrs["steps"] = 1
    (1, 4)
    (1, 4)
    >>> zarr.open_consolidated("forecast.zarr")["pressure"].shape
    (1, 4)
    """
    place = place_of(root, storage_options, durability)
    lock = CommitLock(place.store.dir_path())
    lock.acquire(wait)
    try:
        settle(place.store, lock)
        intent = Intent(
            os.urandom(16).hex(), place.root, place.zarr_format, _this_process(), message
        )
        stage = StagedStore(place.store, lock, intent, wait)
        try:
            yield _opened(stage, place)
            _end(stage, lock, intent)
        except BaseException:
            _give_up(stage, lock, intent)
            raise
    finally:
        lock.release()


def _opened(stage: StagedStore, at: CommitPlace) -> Any:
    location = Location(stage, at.path, at.zarr_format)
    node = location.find()
    assert node is not None
    return opened_at(location, node) if node.kind == "array" else Group._at(location, node)


def _end(stage: StagedStore, lock: CommitLock, intent: Intent) -> None:
    changes = {
        key: tuple(None if one is None else json_loads(one, key) for one in pair)
        for key, pair in stage.changes().items()
    }
    store = stage._store
    if changes:
        show(store, lock, intent, changes)
        end(store, intent, forward=True)
    stage.finish()
    lock.end(fsync=store.syncs)


def _give_up(stage: StagedStore, lock: CommitLock, intent: Intent) -> None:
    """After an error: finish the commit if it has become visible, and else remove what it stored.

    If that fails, too, the intent stays for the next commit.
    """
    stage.finish()
    if lock.is_held:
        store = stage._store
        end(store, intent, forward=happened(store, intent))
        lock.end(fsync=store.syncs)


def _this_process() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"
