"""The generations of stored values: what tells them from those that replace them.

Everything that goes on after an interruption asks for them, so that old and new values are never
mixed. A file has its size, its times of change and its inode. Values in the memory of this process
have none of these, and are hashed. A store that cannot list its values so has no state, and its
callers have to say so.

`state_below` is of chunks alone, and can be taken again at any time after the first one, also when
inodes change: jobs run for days, on several machines. `digest_below` is of all values, metadata
documents too, and waits until none is so new that the clock of a file system could hide a change.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.identity import innermost, is_in_one_process
from zarrix._stores.keys import DOCUMENTS, JOB_FOLDER, JOB_MARK, key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.lru_cache import LRUStoreCache
from zarrix._stores.zip import ZipStore

__all__ = [
    "StoredState",
    "digest_at_once",
    "digest_below",
    "state_below",
    "state_of_file",
    "state_of_memory",
]

# Files that were changed less long before a state was taken may be replaced without another time:
# file systems have clocks that tick each 10 ms, or each two seconds.
_TICK_NS = 3 * 10**9
# The clock by which file systems note a change has ticks of up to 10 ms: a file that is replaced
# twice within one could look the same.
_CLOCK_NS = 20_000_000
_TRIES = 10
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


def digest_below(store: Any, path: str) -> str | None:
    """Changes with every value at and below a path that is stored, replaced or removed.

    It is the names of files, their inodes, sizes and times in a directory, those of the archive for
    one that is read-only, and the values themselves in memory.

    Parameters
    ----------
    store : Store
    path : str

    Returns
    -------
    str or None
        None for a store that cannot tell without reading all values.
    """
    inner = innermost(store)
    if inner is not store:
        # A wrapper may translate keys.
        path = ""
    engine = getattr(inner, "_engine", None)
    if isinstance(engine, _engine.LocalStore):
        return _digest_of_files(engine.root, engine.list_prefix(inner.engine_path(path)))
    if isinstance(engine, _engine.ZipStore) and not inner.is_writeable():
        return _digest_of_files(os.path.dirname(inner.path), [os.path.basename(inner.path)])
    if is_in_one_process(store) or isinstance(engine, _engine.ZipStore):
        return _digest_of_values(store, path)
    return None


def digest_at_once(store: Store, path: str, max_values: int) -> str | None:
    """The same for at most so many values, without waiting; it is None where one is too new.

    Only files and memory are looked at; a wrapper is asked for its engine's store.
    """
    engine, prefix = store._engine, store.engine_path(path)
    if not isinstance(engine, _engine.LocalStore | _engine.MemoryStore):
        return None
    names = engine.list_prefix(prefix)
    if len(names) > max_values:
        return None
    if isinstance(engine, _engine.LocalStore):
        digest, is_settled = _looked_at(engine.root, names)
        return digest if is_settled else None
    total = _Sum()
    for name in names:
        value = engine.get(name)
        if value is not None:
            total.add(name, len(value), 0, _hashed(memoryview(value)))
    return total.state().digest


def _digest_of_files(root: str, names: list[str]) -> str:
    for _ in range(_TRIES):
        digest, is_settled = _looked_at(root, names)
        if is_settled:
            return digest
        time.sleep(_CLOCK_NS / 1e9)
    # Something is written all the time: this state is equal to no other one.
    return os.urandom(16).hex()


def _looked_at(root: str, names: list[str]) -> tuple[str, bool]:
    """The digest of files, and whether all are old enough that a change would show."""
    now = time.time_ns()
    digest, newest = hashlib.blake2b(digest_size=16), 0
    for name in sorted(names):
        try:
            found = os.stat(os.path.join(root, name))
        except FileNotFoundError:
            continue
        newest = max(newest, found.st_mtime_ns, found.st_ctime_ns)
        times = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        digest.update(f"{name}\0{times}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest(), not 0 <= now - newest < _CLOCK_NS


def _digest_of_values(store: Any, path: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    inside = key_of(path, "")
    for key in sorted(key for key in store if key.startswith(inside)):
        value = bytes(store[key])
        digest.update(f"{key}\0{len(value)}\n".encode("utf-8", "surrogateescape"))
        digest.update(value)
    return digest.hexdigest()
