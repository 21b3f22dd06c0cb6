"""Locks by key, for code that passes ``synchronizer=``.

zarrix needs none: every write of a chunk already holds the lock of its key, across the threads and
processes of a machine. A synchronizer that a user passes is honoured all the same, and its locks
exclude what they promise to exclude.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any, Protocol

from zarrix._runtime.system import (
    NOT_INHERITED,
    lock_record,
    on_fork,
    records_exclude_threads,
    unlock_record,
)
from zarrix._stores.path import normalize_storage_path

__all__ = ["FileLock", "ProcessSynchronizer", "Synchronizer", "ThreadSynchronizer"]


class Synchronizer(Protocol):
    """Anything that gives a lock, a context manager, for a key."""

    def __getitem__(self, item: str) -> Any:
        """The lock of ``item``."""


class ThreadSynchronizer:
    """One lock for each key, excluding the threads of this process.

    Pickling keeps no locks: a copy in another process starts afresh.

    Examples
    --------
    >>> from zarrix.sync import ThreadSynchronizer
    >>> sync = ThreadSynchronizer()
    >>> with sync["0.0"]:
    ...     sync["0.0"].locked(), sync["0.1"].locked()
    (True, False)
    """

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        self.locks: dict[str, threading.Lock] = {}

    def __getitem__(self, item: str) -> threading.Lock:
        with self.mutex:
            return self.locks.setdefault(item, threading.Lock())

    def __getstate__(self) -> bool:
        return True

    def __setstate__(self, state: bool) -> None:
        self.__init__()  # type: ignore[misc]


class ProcessSynchronizer:
    """One lock file for each key, excluding threads and processes that share a file system.

    It also excludes zarr 2.18 with a ``ProcessSynchronizer`` of the same path.

    Parameters
    ----------
    path : str or Path
        A directory for the lock files, not that of the data; it is made when first needed.

    Raises
    ------
    OSError
        On locking, if the lock file cannot be made.

    Examples
    --------
    >>> import zarrix as zarr
    >>> sync = zarr.ProcessSynchronizer("data.sync")
    >>> z = zarr.zeros(10, store="data.zarr", synchronizer=sync)
    >>> z[:5] = 1
    >>> z[:].sum()
    np.float64(5.0)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)

    def __getitem__(self, item: str) -> FileLock:
        return FileLock(os.path.join(self.path, normalize_storage_path(item)))

    def __repr__(self) -> str:
        return f"ProcessSynchronizer({self.path!r})"


class FileLock:
    """An exclusive lock on a file, held by one `FileLock` of one thread of one process at a time.

    Parameters
    ----------
    path : str
        The file. It is created with its directories when the lock is first taken. It is never
        removed, because then two processes could lock two different files.
    """

    # Here for the finalizer of a lock whose constructor was interrupted.
    _descriptor: int | None = None
    _thread_lock: threading.Lock | None = None

    def __init__(self, path: str) -> None:
        self.path = path

    def acquire(self) -> bool:
        """Wait for the lock and take it; returns True."""
        thread_lock = _thread_lock(self.path)
        if thread_lock is not None:
            thread_lock.acquire()
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | NOT_INHERITED, 0o666)
            try:
                lock_record(descriptor)
            except BaseException:
                # The end of the descriptor is that of its lock.
                os.close(descriptor)
                raise
        except BaseException:
            if thread_lock is not None:
                thread_lock.release()
            raise
        self._descriptor, self._thread_lock = descriptor, thread_lock
        return True

    def release(self) -> None:
        """Give the lock up."""
        descriptor, thread_lock = self._descriptor, self._thread_lock
        if descriptor is None:
            raise RuntimeError(f"the lock on {self.path!r} is not held")
        self._descriptor = self._thread_lock = None
        try:
            # Explicitly: a child forked meanwhile has the description too, and would hold it on.
            unlock_record(descriptor)
        finally:
            os.close(descriptor)
            if thread_lock is not None:
                thread_lock.release()

    def __del__(self) -> None:
        # An exception of a signal handler may have come before `release`.
        if self._descriptor is not None:
            self.release()

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


# Threads of this process queue here where the system has only locks that belong to a process, which
# would let all of them in.
_locks_of_process: dict[str, threading.Lock] = {}
_locks_mutex = threading.Lock()


def _thread_lock(path: str) -> threading.Lock | None:
    if records_exclude_threads():
        return None
    with _locks_mutex:
        return _locks_of_process.setdefault(os.path.abspath(path), threading.Lock())


def _forget_locks() -> None:
    # In a forked child the threads that held these are gone.
    global _locks_mutex
    _locks_mutex = threading.Lock()
    _locks_of_process.clear()


on_fork(after_in_child=_forget_locks)


for _class in (FileLock, ProcessSynchronizer, Synchronizer, ThreadSynchronizer):
    _class.__module__ = "zarrix.sync"
del _class
