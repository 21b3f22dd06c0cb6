"""The lock of an array's length: shared by appends and resizes, exclusive for a stream.

`Array.append` and `Array.resize` may run at the same time, because each reads the stored shape. A
`Writer` does not read it before each block, and stores a block before the shape covers it. Rows
that another process appended meanwhile would be in the same chunks. Therefore a writer takes this
lock exclusively. Other calls share it, or get an error.

In directory stores it is an ``flock`` of the array's directory, which needs no file and ends with
its process; other stores, and systems without ``flock``, use a table in this process. If neither
helps (other machines, other libraries), the writer still detects that the shape has changed, and
stops.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Self
from weakref import WeakSet

from zarrix._array.handle import ArrayHandle
from zarrix._errors import WriterError
from zarrix._nodes.on_demand import on_demand
from zarrix._nodes.pending import intent_above
from zarrix._runtime.system import HAS_FLOCK, NOT_INHERITED, lock_file, on_fork, unlock_file

__all__ = ["LengthLock"]

# By store and path: the number of shared holders, or -1 for a writer.
_table: dict[tuple[str, str], int] = {}
_table_lock = threading.Lock()
_open: WeakSet[LengthLock] = WeakSet()
_ATTEMPTS = 3


class LengthLock:
    """A lock that a call takes, and holds until it is released; a context manager.

    If a signal handler raises an exception in `acquire`, the lock is released, and in `release`, it
    is held until that is called again, or the object is deleted.

    Parameters
    ----------
    array : Array
    alone : bool
        Whether to take it exclusively.
    of_commit : bool
        Whether a commit takes it, which has looked for other commits.
    """

    # Here for the finalizer of a lock whose constructor was interrupted.
    _descriptor: int | None = None
    _entry: tuple[str, str] | None = None

    def __init__(self, array: ArrayHandle, *, alone: bool, of_commit: bool = False) -> None:
        self._array, self._alone, self._of_commit = array, alone, of_commit

    def acquire(self) -> None:
        """Take the lock; `WriterError` if another call holds it exclusively.

        A commit that is not over has rows beyond the end of the array. The call waits for its end,
        or, if its process is gone, ends it.
        """
        refused = 0
        while True:
            try:
                self._acquire(self._array, self._alone)
                _open.add(self)
            except WriterError:
                self.release()
                folder = self._commit()
                refused += 1
                if folder is None and (refused == _ATTEMPTS or self._of_commit):
                    raise
                if folder is None:
                    # A commit may have ended meanwhile.
                    continue
            except BaseException:
                self.release()
                raise
            else:
                folder = self._commit()
                if folder is None:
                    return
                self.release()
            on_demand("end_commit")(folder)

    def _commit(self) -> str | None:
        location = self._array._location
        return None if self._of_commit else intent_above(location.store, location.path)

    def _acquire(self, array: ArrayHandle, alone: bool) -> None:
        store = array.store
        folder = None if store._is_staged or store.is_remote else store._folder_at(array.path)
        taken = (
            self._take_directory(folder, alone)
            if folder is not None and HAS_FLOCK
            else self._take_entry((store._engine.id, array.path), alone)
        )
        if not taken:
            raise WriterError(
                f"the length of {array._title()} is being changed by another call: a writer "
                "needs it exclusively"
                if alone
                else f"a writer of {array._title()} is open; close it before changing the length"
            )

    def _take_directory(self, path: str, alone: bool) -> bool:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | NOT_INHERITED)
        try:
            lock_file(self._descriptor, shared=not alone, wait=False)
        except BlockingIOError:
            os.close(self._descriptor)
            self._descriptor = None
            return False
        except OSError:
            # The file system has no locks; only the writer's own check remains.
            return True
        return True

    def _take_entry(self, entry: tuple[str, str], alone: bool) -> bool:
        with _table_lock:
            # No call here, so that neither an exception of a signal handler comes in between, nor
            # garbage collection, which may release another lock in this thread.
            others = _table[entry] if entry in _table else 0  # noqa: SIM401
            if others if alone else others < 0:
                return False
            _table[entry] = -1 if alone else others + 1
            self._entry = entry
        return True

    def release(self) -> None:
        """Release the lock; releasing it again does nothing."""
        _open.discard(self)
        if self._descriptor is not None:
            # Unlocked explicitly, because a child that was forked meanwhile has the same
            # descriptor.
            unlock_file(self._descriptor)
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)
        with _table_lock:
            # No call here, as above.
            if self._entry is not None:
                holders = _table[self._entry]
                if holders > 1:
                    _table[self._entry] = holders - 1
                else:
                    del _table[self._entry]
                self._entry = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def _leave_to_the_parent() -> None:
    """In a forked child, because the lock belongs to the parent, even if the parent is killed."""
    global _table_lock
    _table_lock = threading.Lock()
    _table.clear()
    for lock in list(_open):
        if lock._descriptor is not None:
            os.close(lock._descriptor)
        lock._descriptor = lock._entry = None
    _open.clear()


on_fork(after_in_child=_leave_to_the_parent)
