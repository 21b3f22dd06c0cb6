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
from dataclasses import dataclass

from zarrix import _engine
from zarrix._errors import CommitBusyError, CommitConflictError, NotAtomicError
from zarrix._runtime.system import NOT_INHERITED, lock_from, records_exclude_threads
from zarrix._stores.keys import key_of
from zarrix._stores.labels import describe
from zarrix._stores.local import LocalStore
from zarrix.commits._server_carry import OldChunks
from zarrix.commits._spaces import KeySpace

__all__ = ["CarriedArray", "alone", "carry", "carry_late"]

# The bytes of a metadata file that are the locks of its chunks, and the gate before them.
_GATE = 1 << 40
_PAUSE = 0.002


@dataclass
class CarriedArray:
    """What was carried of one array.

    Attributes
    ----------
    path : str
    ndim : int
    old, new : KeySpace
    chunks : CarriedSpace or OldChunks, optional
        The carried chunks, on disk and on a server; None if a new content replaces the old one.
    """

    path: str
    ndim: int
    old: KeySpace
    new: KeySpace
    chunks: _engine.CarriedSpace | OldChunks | None = None


def carry(
    store: LocalStore, array: CarriedArray, max_carry: int, source: str | None = None
) -> _engine.CarriedSpace:
    """Carry all stored chunks of an array to its new key space.

    Parameters
    ----------
    store : LocalStore
    array : CarriedArray
    max_carry : int
    source : str, optional
        The folder that has the chunks, if it is not that of the array; nothing that is written to
        the array then changes it.

    Raises
    ------
    NotAtomicError
        There are more than ``max_carry``.
    """
    folder = store.dir_path(array.path)
    chunks = _engine.CarriedSpace(
        (folder if source is None else source, str(array.old)),
        (folder, str(array.new)),
        array.ndim,
        # A guard in one array would leave files that some libraries cannot change.
        guard=source is not None,
        fsync=store.syncs,
    )
    count = chunks.carry(max_carry)
    if count > max_carry:
        raise NotAtomicError(
            f"{describe(store, array.path)} has {count:,} chunks, and a commit that changes "
            f"some would carry all of them; max_carry is {max_carry:,}. Pass a larger one, or use "
            "shards"
        )
    return chunks


def carry_late(store: LocalStore, array: CarriedArray) -> None:
    """Carry what others have changed since; the caller has locked the array.

    Raises
    ------
    CommitConflictError
        The commit has changed the same chunk.
    """
    if not isinstance(array.chunks, _engine.CarriedSpace):
        return
    found = array.chunks.carry_late()
    if found is not None:
        key = key_of(store.engine_path(array.path), found)
        raise CommitConflictError(
            f"another writer has changed the chunk {key!r}, which the commit changes, too; "
            "nothing of the commit is visible: make it again",
            array.path,
            key,
            "chunk",
        )


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
