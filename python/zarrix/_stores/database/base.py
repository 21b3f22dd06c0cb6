"""Base of stores in a local database: one open handle per process, and lock files.

One thread at a time uses a handle. A forked child never uses it, and opens its own. A fork waits
for running calls, so that no child inherits an unfinished one. Writers of one chunk in several
processes coordinate through lock files next to the database (``lock_files.rs`` of the engine).
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeVar

from zarrix._runtime.system import on_fork
from zarrix._stores.path import normalize_dimension_separator
from zarrix._stores.python import PythonStore
from zarrix._stores.sites import Site, of_file

__all__ = ["DatabaseStore"]

# By identity, because stores are compared by content.
T = TypeVar("T")

_stores: weakref.WeakValueDictionary[int, DatabaseStore] = weakref.WeakValueDictionary()
_stopped: list[DatabaseStore] = []


class DatabaseStore(PythonStore):
    """Keys in a database, with the methods of a store."""

    path: str

    _opened_with = frozenset({"path", "mode", "flag"})

    def __init__(self, path: str | os.PathLike[str], dimension_separator: str | None) -> None:
        self.path = os.path.abspath(os.fsdecode(path))
        self._dimension_separator = normalize_dimension_separator(dimension_separator)
        self._prepare()

    def _prepare(self) -> None:
        self._mutex = threading.RLock()
        self._handle: Any = None
        self._owner = os.getpid()
        # Handles of a parent process: closing one here would end the parent's transactions.
        self._inherited: list[Any] = []
        _stores[id(self)] = self

    @abstractmethod
    def _connect(self) -> Any:
        """A new handle."""

    @abstractmethod
    def _disconnect(self, handle: Any) -> None:
        """Close a handle of this process."""

    def _locks(self) -> str | None:
        # All names of one file share the same locks.
        return f"{os.path.realpath(self.path)}.locks"

    def _files(self) -> tuple[str, ...]:
        """The files that the database may have."""
        return (self.path,)

    def _sites(self, path: str) -> list[Site]:
        return [site for file in self._files() for site in of_file(file, path)]

    def _with_handle(self, function: Callable[[Any], T]) -> T:
        """What a function of the handle of this process returns; no other thread calls meanwhile.

        Not a context manager: Ctrl-C in one that is written in Python leaves the mutex locked as
        long as the exception is kept.
        """
        with self._mutex:
            if self._owner != os.getpid():
                self._inherited.append(self._handle)
                self._handle, self._owner = None, os.getpid()
            if self._handle is None:
                self._handle = self._connect()
            return function(self._handle)

    def flush(self) -> None:
        """There is nothing to flush: a value is in the database when the call returns.

        Examples
        --------
        >>> import zarrix as zarr
        >>> with zarr.DBMStore("values.dbm") as store:
        ...     store["a"] = b"1"
        ...     store.flush()
        """

    def close(self) -> None:
        """Close the database; the next call opens it again.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.SQLiteStore("values.sqlite")
        >>> store["a"] = b"1"
        >>> store.close()
        >>> store["a"]  # opens it again
        b'1'
        >>> store.close()
        """
        with self._mutex:
            handle, self._handle = self._handle, None
            if handle is not None and self._owner == os.getpid():
                self._disconnect(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def with_durability(self, durability: str | None) -> Self:
        other = super().with_durability(durability)
        if other is not self:
            # The handle stays with this store, which the copy calls.
            other._handle = None
        return other

    def __getstate__(self) -> Any:
        left_out = ("_mutex", "_handle", "_owner", "_inherited")
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in left_out}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._prepare()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DatabaseStore):
            return NotImplemented
        return type(self) is type(other) and self.path == other.path

    def _label(self) -> Any:
        return repr(self.path)


def _stop_all() -> None:
    _stopped[:] = _stores.values()
    for store in _stopped:
        store._mutex.acquire()


def _go_on() -> None:
    while _stopped:
        _stopped.pop()._mutex.release()


on_fork(before=_stop_all, after_in_parent=_go_on, after_in_child=_go_on)
