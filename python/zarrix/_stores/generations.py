"""What tells stored values from those that replace them, without reading them.

A file has its size, its time of change and, where that time alone could be that of two versions,
its inode. Values in the memory of this process have none of these, and are hashed. A store that
cannot list its values so has no state, and its callers have to say so.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from typing import Any, NamedTuple

from zarrix._stores.base import Store
from zarrix._stores.identity import is_in_one_process
from zarrix._stores.keys import DOCUMENTS, JOB_FOLDER, JOB_MARK
from zarrix._stores.local import LocalStore
from zarrix._stores.lru_cache import LRUStoreCache
from zarrix._stores.zip import ZipStore

__all__ = ["StoredState", "state_below", "state_of_file", "state_of_memory"]

# Files that were changed less long before a state was taken may be replaced without another time:
# file systems have clocks that tick each 10 ms, or each two seconds.
_TICK_NS = 3 * 10**9
_MOST_LISTED = 2_000_000
_MOST_HASHED = 256 << 20


class StoredState(NamedTuple):
    """The state of some values: equal for two listings between which none was changed.

    Attributes
    ----------
    values : int
    nbytes : int
    newest : int
        The time of the last change in nanoseconds; 0 where there is none.
    digest : str
    """

    values: int
    nbytes: int
    newest: int
    digest: str


class _Sum:
    """A state that values are added to, in any order."""

    def __init__(self) -> None:
        self._count = self._nbytes = self._newest = self._digest = 0

    def add(self, key: str, size: int, changed: int, version: object) -> None:
        told = f"{key}\0{size}\0{changed}\0{version}".encode("utf-8", "surrogateescape")
        one = hashlib.blake2b(told, digest_size=16).digest()
        self._digest = (self._digest + int.from_bytes(one)) % (1 << 128)
        self._count, self._nbytes = self._count + 1, self._nbytes + size
        self._newest = max(self._newest, changed)

    @property
    def count(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def state(self) -> StoredState:
        return StoredState(self._count, self._nbytes, self._newest, f"{self._digest:032x}")


def state_below(store: Store, path: str, as_of: int) -> StoredState | None:
    """The state of the values below a path, without metadata documents.

    Parameters
    ----------
    store : Store
    path : str
    as_of : int
        The time in nanoseconds when the first of the states was taken that are to be compared.

    Returns
    -------
    StoredState or None
        None if the store cannot tell it: it is on a server or in a database, or has too many
        values.
    """
    while isinstance(store, LRUStoreCache):
        store = store._store
    if isinstance(store, LocalStore):
        return _of_folder(store.dir_path(path), as_of)
    if isinstance(store, ZipStore):
        return state_of_file(store.path, as_of)
    return _of_memory_below(store, path) if is_in_one_process(store) else None


def state_of_file(path: str, as_of: int) -> StoredState | None:
    """The state of one file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    total = _Sum()
    total.add("", found.st_size, found.st_mtime_ns, _version(found, as_of))
    return total.state()


def state_of_memory(values: Any) -> StoredState:
    """The state of bytes in memory."""
    seen = memoryview(values)
    total = _Sum()
    total.add("", seen.nbytes, 0, _hashed(seen))
    return total.state()


def _version(found: os.stat_result, as_of: int) -> int:
    """The inode where the time alone is not enough; file systems exist whose inodes change."""
    return found.st_ino if found.st_mtime_ns > as_of - _TICK_NS else 0


def _of_folder(folder: str, as_of: int) -> StoredState | None:
    total = _Sum()
    try:
        for key, found in _files(folder, "", frozenset()):
            total.add(key, found.st_size, found.st_mtime_ns, _version(found, as_of))
            if total.count > _MOST_LISTED:
                return None
    except PermissionError:
        return None
    return total.state()


def _files(
    folder: str, prefix: str, above: frozenset[tuple[int, int]]
) -> Iterator[tuple[str, os.stat_result]]:
    """The files below a folder that may be values, by key; links are followed, as by readers."""
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        name = entry.name
        if name in DOCUMENTS or name in (JOB_MARK, JOB_FOLDER) or name.endswith(".partial"):
            continue
        try:
            found = entry.stat()
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(found.st_mode):
            yield f"{prefix}{name}", found
            continue
        here = (found.st_dev, found.st_ino)
        if here not in above or not found.st_ino:
            yield from _files(entry.path, f"{prefix}{name}/", above | {here})


def _of_memory_below(store: Store, path: str) -> StoredState | None:
    total = _Sum()
    engine, prefix = store._engine, store.engine_path(path)
    for key in engine.list_prefix(prefix):
        name = key.rpartition("/")[2]
        below = key[len(prefix) + 1 :] if prefix else key
        if name in DOCUMENTS or name == JOB_MARK or JOB_FOLDER in below.split("/"):
            continue
        if total.nbytes + (engine.size(key) or 0) > _MOST_HASHED:
            return None
        value = engine.get(key)
        if value is not None:
            total.add(below, len(value), 0, _hashed(memoryview(value)))
    return total.state()


def _hashed(values: memoryview) -> str:
    return hashlib.blake2b(values, digest_size=16).hexdigest()
