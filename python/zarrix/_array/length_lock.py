"""Who may change the length of an array's axes: everybody in turn, or a stream alone.

`Array.append` and `Array.resize` may run at the same time, since each takes the shape from what is
stored. A `Writer` knows where its next block goes without asking, and stores it before the shape
says so: what somebody else would append meanwhile would lie in the same chunks. So a writer takes
this lock alone, and others share it, or are told that they cannot have it.

For directories it is an ``flock`` of the array's directory, which leaves nothing behind and ends
with its process; other stores have a table in this process. Where neither tells (other machines,
other libraries), the writer still notices that the shape is not what it left, and stops.
"""

from __future__ import annotations

import fcntl
import os
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self
from weakref import WeakSet

from zarrix._errors import WriterError
from zarrix._stores.local import DirectoryStore

if TYPE_CHECKING:
    from zarrix._array.protocols import StoredArray

__all__ = ["LengthLock"]

# Store and path: how many share it, or -1 for a writer.
_table: dict[tuple[str, str], int] = {}
_table_lock = threading.Lock()
_open: WeakSet[LengthLock] = WeakSet()


class LengthLock:
    """Taken when made, until it is released; a context manager.

    Parameters
    ----------
    array : Array
    alone : bool
        Whether nobody else may have it at the same time.

    Raises
    ------
    WriterError
        Somebody has it who cannot share it.
    """

    def __init__(self, array: StoredArray, *, alone: bool) -> None:
        store = array.store
        self._descriptor: int | None = None
        self._entry: tuple[str, str] | None = None
        taken = (
            self._take_directory(store.dir_path(array.path), alone)
            if isinstance(store, DirectoryStore)
            else self._take_entry((store._engine.id, array.path), alone)
        )
        if not taken:
            raise WriterError(
                f"the length of {array._title()} is being changed: a writer has to be alone"
                if alone
                else f"a writer of {array._title()} is open; nobody else may change its length "
                "before that is closed"
            )
        _open.add(self)

    def _take_directory(self, path: str, alone: bool) -> bool:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        try:
            fcntl.flock(self._descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            self._descriptor = None
            return False
        except OSError:
            # A file system without locks: the writer's own check has to do.
            return True
        return True

    def _take_entry(self, entry: tuple[str, str], alone: bool) -> bool:
        with _table_lock:
            others = _table.get(entry, 0)
            if others if alone else others < 0:
                return False
            _table[entry] = -1 if alone else others + 1
        self._entry = entry
        return True

    def release(self) -> None:
        """Let others have it; releasing again does nothing."""
        _open.discard(self)
        if self._descriptor is not None:
            # Not by closing alone: a child forked meanwhile has the same descriptor.
            with_lock, self._descriptor = self._descriptor, None
            fcntl.flock(with_lock, fcntl.LOCK_UN)
            os.close(with_lock)
        if self._entry is not None:
            with _table_lock:
                left = abs(_table.pop(self._entry)) - 1
                if left:
                    _table[self._entry] = left
            self._entry = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


def _leave_to_the_parent() -> None:
    """In a forked child: what is locked is the parent's, also if that is killed."""
    global _table_lock
    _table_lock = threading.Lock()
    _table.clear()
    for lock in list(_open):
        if lock._descriptor is not None:
            os.close(lock._descriptor)
        lock._descriptor = lock._entry = None
    _open.clear()


os.register_at_fork(after_in_child=_leave_to_the_parent)
