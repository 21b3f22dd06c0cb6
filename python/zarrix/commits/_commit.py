"""`commit`: several changes of one hierarchy that become visible together."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from zarrix._array.access import opened_at
from zarrix._errors import NotAtomicError
from zarrix._hierarchy.group import Group
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._nodes.location import Location
from zarrix._stores.keys import ARRAY_DOCUMENT, key_of
from zarrix._stores.local import LocalStore
from zarrix.commits._carry import alone, carry_late
from zarrix.commits._claim import PATIENCE, Claim
from zarrix.commits._left import GRACE, Left
from zarrix.commits._lock import CommitLock
from zarrix.commits._place import CommitPlace, place_of
from zarrix.commits._recover import end, happened, settle
from zarrix.commits._server import ServerStage, give_up, make_visible
from zarrix.commits._server_steps import finish_left
from zarrix.commits._stage import StagedStore
from zarrix.commits._steps import clean, report, show, store_documents
from zarrix.commits._sweep import sweep_root

__all__ = ["commit"]

MOST_CARRIED, MOST_COPIED = 1_000_000, 10_000
"""Chunks of an array that are carried on disk, and on a server."""


def commit(
    root: Any,
    *,
    message: str = "",
    readers: str = "consolidated",
    wait: float = 60.0,
    grace: float | None = GRACE,
    max_carry: int | None = None,
    durability: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> AbstractContextManager[Any]:
    """Change several arrays, groups and attributes: all become visible at the end, or nothing.

    Readers that use consolidated metadata see all changes or none, in zarr-python, xarray and
    zarrix alike. Readers that open array by array see each array before or after the commit. An
    error in the block, or the death of the process, leaves everything as it was; what it has stored
    is removed by the next commit, or by the next change of a length.

    Arrays can grow and shrink, elements can change, nodes can be created, deleted and replaced
    (``overwrite=True``), and attributes can change. Others may write meanwhile: what they change is
    kept. A change of the same chunk, attribute or length is an error at the end of the block.

    Before the first element changes that readers see, the chunks of the array are stored under
    another spelling of their keys, which v2 and v3 have: as clones or hard links, and as copies
    where the file system has neither, and on servers. The old chunks stay for readers that have the
    array open. A handle of zarrix goes on with the new ones when the old ones are gone; for other
    libraries, they are then missing chunks.

    Parameters
    ----------
    root : Group, Array, Store, str or Path
        A node of a hierarchy in a local directory or a bucket. If neither it nor a group above has
        consolidated metadata, the commit writes it.
    message : str
        Stored with the commit.
    readers : {"consolidated", "all"}
        With ``"all"``, it is an error if readers that open array by array could see some of the
        changes and not all of them: the commit may change one node.
    wait : float
        Seconds to wait for another commit of the hierarchy, and for writers of an array that is to
        change.
    grace : float, optional
        Seconds for which the old chunks of an array stay; the next commit after that deletes them.
        At least ten, and fewer than asked for if an array is rewritten so often that no spelling of
        its keys is free. None keeps them until `sweep`.
    max_carry : int, optional
        The most chunks of an array that are carried to other keys: by default a million on disk,
        and 10,000 on a server.
    durability : {"process", "fsync"}, optional
        With ``"fsync"``, a loss of power leaves the state before or after the commit, too.
    storage_options : mapping, optional
        As of `zarrix.open`, if ``root`` is a path.

    Returns
    -------
    context manager
        It gives the node, as a Group or an Array, whose changes are held back. After the block,
        that can only be read.

    Raises
    ------
    CommitBusyError
        Another commit, or a writer of an array, was open for ``wait`` seconds.
    CommitLostError
        On a server: another commit took over, because this one did not show for a minute that it
        lives. Nothing is visible.
    ValueError
        ``readers`` is something else.
    CommitConflictError
        Another writer has changed what the commit changes. Nothing is visible.
    CommitVisibleError
        An error came after the changes had become visible, such as that of a full disk or of a
        server. The changes must not be made again; if ``is_complete`` is false, the next commit,
        or `recover`, completes what is missing.
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
    if readers not in ("consolidated", "all"):
        raise ValueError(f"readers={readers!r}; allowed are 'consolidated' and 'all'")
    at = place_of(root, storage_options, durability)
    intent = Intent(os.urandom(16).hex(), at.root, at.zarr_format, _this_process(), message)
    if not isinstance(at.store, LocalStore):
        most = MOST_COPIED if max_carry is None else max_carry
        return _on_server(at, intent, wait, readers == "all", (grace, most))

    def begin(lock: CommitLock) -> StagedStore:
        most = MOST_CARRIED if max_carry is None else max_carry
        return StagedStore(at.store, lock, intent, wait=wait, max_carry=most)

    return _committing(at, begin, readers == "all", grace)


@contextlib.contextmanager
def _committing(
    at: CommitPlace,
    begin: Callable[[CommitLock], StagedStore],
    one_node: bool,
    grace: float | None,
) -> Iterator[Any]:
    lock = CommitLock(at.store.dir_path())
    # L2 is when the block first stores something.
    stage = begin(lock)
    lock.acquire(stage.wait)
    try:
        settle(at.store, lock)
        try:
            yield _opened(stage, at)
            _end(stage, lock, one_node, grace)
        except BaseException as error:
            _give_up(stage, lock, error)
            raise
    finally:
        lock.release()


@contextlib.contextmanager
def _on_server(
    at: CommitPlace,
    intent: Intent,
    wait: float,
    one_node: bool,
    rewriting: tuple[float | None, int],
) -> Iterator[Any]:
    grace, max_carry = rewriting
    claim = Claim(at.store, at.root, at.zarr_format, intent, PATIENCE)
    claim.acquire(wait)
    try:
        finish_left(at.store, claim)
        stage = ServerStage(at.store, claim, intent, max_carry)
        try:
            yield _opened(stage, at)
            make_visible(stage, claim, intent, one_node=one_node, grace=grace)
            stage.finish()
        except BaseException as error:
            give_up(stage, claim, intent, error)
            raise
    finally:
        claim.release()


def _opened(stage: StagedStore, at: CommitPlace) -> Any:
    location = Location(stage, at.path, at.zarr_format)
    node = location.find()
    assert node is not None
    return opened_at(location, node) if node.kind == "array" else Group(stage, at.path)


def _end(stage: StagedStore, lock: CommitLock, one_node: bool, grace: float | None) -> None:
    """Steps L4 to L6."""
    changes = {
        key: tuple(None if one is None else json_loads(one, key) for one in pair)
        for key, pair in stage.changes().items()
    }
    store, intent = stage._store, stage.intent
    carried = [array for _, array in sorted(stage.carried.items()) if array.path in intent.flips]
    if one_node:
        _require_one(intent, changes)

    def left(now: float) -> list[Left]:
        return [Left(one.path, one.old, now, one.ndim, grace) for one in carried]

    if changes:
        name = ARRAY_DOCUMENT[intent.zarr_format]
        keys = [key_of(array.path, name) for array in carried if array.path not in intent.deletes]
        with alone(store, keys, stage.wait):
            for array in carried:
                carry_late(store, array)
            show(store, lock, intent, changes, left, keys)
            store_documents(store, intent, keys)
        clean(store, intent)
        sweep_root(store, intent.root, intent.zarr_format)
    stage.finish()
    lock.end(fsync=store.syncs)


def _require_one(intent: Intent, changes: Mapping[str, Any]) -> None:
    changed = sorted({key.rpartition("/")[0] for key in changes})
    if len(changed) > 1:
        raise NotAtomicError(
            f"the commit changes {', '.join(repr('/' + path) for path in changed[:5])}, and "
            "readers that open array by array would see these changes one after the other; "
            "readers='consolidated' makes them visible at once where consolidated metadata is read"
        )


def _give_up(stage: StagedStore, lock: CommitLock, error: BaseException) -> None:
    """After an error: finish the commit if it has become visible, and else remove what it stored.

    If that fails, too, the intent stays for the next commit.

    Raises
    ------
    CommitVisibleError
        The commit is visible, and the error is not one that ends the process.
    """
    stage.finish()
    if not lock.is_held:
        return
    store, intent = stage._store, stage.intent
    is_visible, second = False, None
    try:
        is_visible = happened(store, intent)
        end(store, intent, forward=is_visible)
        lock.end(fsync=store.syncs)
    except Exception as failed:
        second = failed
    report(store, intent.root, error, second, is_visible=is_visible)


def _this_process() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"
