"""`replacing`: a new content under the path of a node, while the old one is read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from zarrix._array.access import metadata_of, opened_at
from zarrix._array.array import Array
from zarrix._errors import NotAtomicError
from zarrix._hierarchy.group import Group
from zarrix._metadata.array import ArrayMetadata
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.location import Location
from zarrix._nodes.member import Member
from zarrix._runtime.new_files import exchange, sync_folder
from zarrix._stores.keys import document_of, key_of
from zarrix._stores.local import LocalStore
from zarrix.commits._commit import commit
from zarrix.commits._left import GRACE
from zarrix.commits._lock import CommitLock
from zarrix.commits._place import place_of, store_at
from zarrix.commits._recover import WAIT, settle
from zarrix.commits._spaces import spaces_of

__all__ = ["replacing"]


def replacing(
    node: Any, *, how: str = "auto", grace: float | None = GRACE, like: Array | None = None
) -> AbstractContextManager[Any]:
    """Give an array or a group a new content, which becomes visible at the end of the block.

    In the block, ``node`` has its old content, so that the new one can be computed from it. An
    error in the block, or the death of the process, leaves the old content.

    Parameters
    ----------
    node : Array or Group
        In a local directory, or on a server with conditional writes. It keeps its attributes.
    how : {"auto", "keys", "exchange"}
        ``"keys"`` makes a `commit` with the new chunks under another spelling of their keys: open
        handles read the old content, and readers of consolidated metadata see one of the two.
        ``"exchange"`` builds a new folder and exchanges both: readers that open the node then see
        one of the two, but a handle that is open may see parts of both, and it is only for systems
        that exchange folders. ``"auto"`` is ``"keys"`` where the array has another spelling.
    grace : float, optional
        As of `commit`, for ``"keys"``.
    like : Array, optional
        The new array has its shape, chunks, data type and codecs; by default those of ``node``.

    Returns
    -------
    context manager
        It gives the new array, in which all is the fill value, or the new group, which is empty.

    Raises
    ------
    NotAtomicError
        The content cannot become visible at once.
    TypeError
        ``node`` is not an open array or group, or ``like`` is for a group.
    ValueError
        ``how`` is something else, or ``like`` has another format.
    CommitBusyError, CommitConflictError, ReadOnlyError
        As of `commit`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.create_group("labels.zarr").create_array("a", shape=4, chunks=2, dtype="i4")
    >>> z[:] = [1, 2, 3, 4]
    >>> with zarr.replacing(z) as new:
    ...     new[:] = z[::-1]
    >>> zarr.open_array("labels.zarr", path="a")[:]
    array([4, 3, 2, 1], dtype=int32)
    """
    if how not in ("auto", "keys", "exchange"):
        raise ValueError(f"how={how!r}; allowed are 'auto', 'keys' and 'exchange'")
    if not isinstance(node, Member):
        raise TypeError(f"an open array or group is needed, not {type(node).__name__}")
    metadata = metadata_of(node) if isinstance(node, Array) else None
    if like is not None:
        if metadata is None:
            raise TypeError("like= is for an array")
        if metadata_of(like).zarr_format != metadata.zarr_format:
            raise ValueError("like= has another format than the array that is replaced")
        metadata = metadata_of(like)
    has_space = metadata is None or len(spaces_of(metadata)) > 1
    if how == "exchange" or (how == "auto" and not has_space):
        return _exchanging(node, metadata)
    return _by_keys(node, metadata, grace)


@contextlib.contextmanager
def _by_keys(node: Any, metadata: ArrayMetadata | None, grace: float | None) -> Iterator[Any]:
    with commit(node, grace=grace) as new:
        document = None if metadata is None else nodes.array_document(metadata)
        new.store.begin_anew(new.path, document)
        yield new


@contextlib.contextmanager
def _exchanging(node: Any, metadata: ArrayMetadata | None) -> Iterator[Any]:
    at = place_of(node)
    if not isinstance(at.store, LocalStore):
        raise NotAtomicError(
            f"{node!r}: folders are exchanged on a local disk only, and how='keys' needs an array "
            "with several spellings of its chunk keys, which v2 with one axis has not: write a new "
            "array, or migrate it with zarrix.migrate(store, to=3)"
        )
    lock = CommitLock(at.store.dir_path())
    lock.acquire(WAIT)
    try:
        settle(at.store, lock)
        if not at.path:
            raise NotAtomicError(
                "the topmost node of a hierarchy cannot be exchanged: its folder has the lock; "
                "how='keys' replaces what is in it"
            )
        folder = at.store.dir_path(at.path)
        beside = f"{folder}.{os.getpid()}-{os.urandom(8).hex()}.partial"
        os.mkdir(beside)
        new = store_at(at.store, beside)
        try:
            yield _made(node, new, metadata, at.zarr_format)
            _exchange(beside, folder)
            # Before the old content is deleted under the other name.
            sync_folder(os.path.dirname(folder), fsync=at.store.syncs)
            update_consolidated(at.store, at.path, at.zarr_format, deep=True)
        finally:
            # What the name has now: the new content after an error, and else the old one.
            nodes.clear(new, "")
            with contextlib.suppress(OSError):
                os.rmdir(beside)
    finally:
        lock.end(fsync=at.store.syncs)


def _made(node: Any, store: Any, metadata: ArrayMetadata | None, zarr_format: Any) -> Any:
    """A node without content at the root of a new store."""
    old = node.store
    kind = "group" if metadata is None else "array"
    name = document_of(kind, zarr_format)
    document = old[key_of(node.path, name)]
    if metadata is not None:
        document = nodes.array_document(metadata)
    store[name] = bytes(document)
    location = Location(store, "", zarr_format)
    found = location.find()
    assert found is not None
    made = Group(store) if metadata is None else opened_at(location, found)
    attributes = dict(node.attrs)
    if attributes != dict(made.attrs):
        made.attrs.put(attributes)
    return made


def _exchange(new: str, old: str) -> None:
    if not exchange(Path(new), Path(old)):
        raise NotAtomicError(
            f"{old!r} cannot be exchanged in one step on this system or file system; how='keys' "
            "needs no exchange"
        )
