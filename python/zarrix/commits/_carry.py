"""Rewriting an array in another key space: unchanged chunks are carried there, at no cost in bytes.

The chunks are carried when an element that readers see is first changed. Others may go on writing
to the old key space. Immediately before the commit becomes visible, the array is locked, and what
they have changed since is carried, too; if the commit has changed the same chunk, it is a conflict.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from zarrix._errors import CommitBusyError, CommitConflictError, NotAtomicError
from zarrix._runtime.system import NOT_INHERITED, lock_from, records_exclude_threads
from zarrix._stores.labels import describe
from zarrix._stores.local import LocalStore
from zarrix.commits._spaces import KeySpace, keys_in, moved

__all__ = ["CarriedArray", "alone", "carry", "carry_late"]

# The bytes of a metadata file that are the locks of its chunks, and the gate before them.
_GATE = 1 << 40
_PAUSE = 0.002


class _Tag(NamedTuple):
    """What tells one content of a file from the next."""

    inode: int
    modified: int
    size: int


@dataclass
class CarriedArray:
    """What was carried of one array.

    Attributes
    ----------
    path : str
    ndim : int
    old, new : KeySpace
    tags : dict of key to (tag, tag)
        By the key in the old space: of the old and of the new file, when it was carried.
    is_whole : bool
        Whether the old content is carried at all; not if a new one replaces it.
    """

    path: str
    ndim: int
    old: KeySpace
    new: KeySpace
    tags: dict[str, tuple[_Tag | None, _Tag | None]] = field(default_factory=dict)
    is_whole: bool = True


def _tag(store: LocalStore, key: str) -> _Tag | None:
    try:
        status = os.stat(os.path.join(store.path, key))
    except FileNotFoundError:
        return None
    return _Tag(status.st_ino, status.st_mtime_ns, status.st_size)


def carry(store: LocalStore, array: CarriedArray, max_carry: int) -> None:
    """Carry all stored chunks of an array to its new key space.

    Raises
    ------
    NotAtomicError
        There are more than ``max_carry``.
    """
    keys = keys_in(store, array.path, array.old, array.ndim)
    if len(keys) > max_carry:
        raise NotAtomicError(
            f"{describe(store, array.path)} has {len(keys):,} chunks, and a commit that changes "
            f"some would carry all of them; max_carry is {max_carry:,}. Pass a larger one, or use "
            "shards"
        )
    before = {key: _tag(store, key) for key in keys}
    _carry_keys(store, array, keys)
    pairs = ((key, _in_new(store, array, key)) for key in keys)
    array.tags = {key: (before[key], _tag(store, new)) for key, new in pairs}


def _in_new(store: LocalStore, array: CarriedArray, key: str) -> str:
    return moved(key, store.engine_path(array.path), array.ndim, array.new)


def _carry_keys(store: LocalStore, array: CarriedArray, keys: list[str]) -> None:
    # Without the guard, which would leave files that some libraries cannot change.
    pairs = [(key, _in_new(store, array, key)) for key in keys]
    store._engine.carry(pairs, "auto", guard=False, fsync=store.syncs)


def carry_late(store: LocalStore, array: CarriedArray) -> None:
    """Carry what others have changed since; the caller has locked the array.

    Raises
    ------
    CommitConflictError
        The commit has changed the same chunk.
    """
    if not array.is_whole:
        return
    keys = keys_in(store, array.path, array.old, array.ndim)
    late = []
    for key in {*keys, *array.tags}:
        old, new = array.tags.get(key, (None, None))
        if _tag(store, key) == old:
            continue
        target = _in_new(store, array, key)
        if _tag(store, target) != new:
            raise CommitConflictError(
                f"another writer has changed the chunk {key!r}, which the commit changes, too; "
                "nothing of the commit is visible: make it again",
                array.path,
                key,
                "chunk",
            )
        store._engine.delete(target, fsync=store.syncs)
        late.append(key)
    _carry_keys(store, array, sorted(late))


@contextlib.contextmanager
def alone(store: LocalStore, keys: list[str], wait: float) -> Iterator[None]:
    """Keep all others from writing chunks of arrays with these documents, and the documents.

    On systems without such locks between processes, nothing is locked.

    Raises
    ------
    CommitBusyError
        A writer has a chunk for more than ``wait`` seconds.
    """
    with contextlib.ExitStack() as held:
        for key in sorted(keys) if records_exclude_threads() else ():
            held.callback(os.close, _locked(store, key, wait))
        yield


def _locked(store: LocalStore, key: str, wait: float) -> int:
    file = os.path.join(store.path, store.engine_path(key))
    until = time.monotonic() + max(wait, 1)
    while True:
        descriptor = os.open(file, os.O_RDWR | NOT_INHERITED)
        try:
            # First the gate, as the engine does: no new writer begins.
            lock_from(descriptor, _GATE, 1)
            while not _is_locked(descriptor):
                if time.monotonic() > until:
                    raise CommitBusyError(
                        f"a writer of a chunk of {file!r} has not ended in {wait:.0f} s"
                    )
                time.sleep(_PAUSE)
            named, opened = os.stat(file), os.fstat(descriptor)
            if (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino):
                return descriptor
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(descriptor)
                raise CommitBusyError(f"{file!r} is locked by another writer") from None
            time.sleep(_PAUSE)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        lock_from(descriptor, _GATE, 0)
    except BlockingIOError:
        return False
    return True
