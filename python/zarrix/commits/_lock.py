"""The lock of commits: the file of the intent, which its holder replaces while it holds the lock.

It is an ``flock``, so that the kernel releases it when the process ends, however it ends, and a
process that is only stopped keeps it. The holder locks each new file before it gives it the name.
A process that has locked a file checks that it still has the name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import threading
import time
from typing import Any
from weakref import WeakSet

from zarrix._errors import CommitBusyError, MetadataError, NotAtomicError
from zarrix._metadata.intent import Intent, parse_intent
from zarrix._nodes.pending import read_intent
from zarrix._runtime.config import config
from zarrix._runtime.new_files import make_file, sync_folder
from zarrix._runtime.system import (
    HAS_FLOCK,
    NOT_INHERITED,
    lock_file,
    on_fork,
    unlock_file,
)
from zarrix._stores.keys import COMMIT_INTENT

__all__ = ["CommitLock", "partial_intents"]

_REFUSED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_NOT_A_LINK = getattr(os, "O_NOFOLLOW", 0)
_PARTIAL = re.compile(re.escape(COMMIT_INTENT) + r"\.\d+-[0-9a-f]{16}\.partial")
# Seconds between two tries: for commits that end soon, and for all others.
_PAUSES = (0.002, 0.02)

_held: WeakSet[CommitLock] = WeakSet()


class CommitLock:
    """The lock of the commits in one folder.

    Parameters
    ----------
    folder : str
        Of the topmost group.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._file = os.path.join(folder, COMMIT_INTENT)
        self._descriptor: int | None = None
        self._thread: int | None = None
        self._is_new = False

    def acquire(self, wait: float) -> None:
        """Take the lock; waits for another holder, at most ``wait`` seconds.

        Raises
        ------
        CommitBusyError
            The holder still has it, or is this thread.
        NotAtomicError
            The file system has no locks.
        """
        begun = time.monotonic()
        while not self._try():
            waited = time.monotonic() - begun
            mine = any(
                lock._thread == threading.get_ident() and lock.folder == self.folder
                for lock in list(_held)
            )
            if mine:
                raise CommitBusyError(
                    f"this thread has a commit of {self.folder!r} open: change the hierarchy "
                    "through the group that the commit gave, or after the block"
                )
            if waited >= wait:
                raise CommitBusyError(
                    f"{self._holder()} has a commit of {self.folder!r} open, and still had it "
                    f"after {waited:.0f} s; commits of one hierarchy are made one after the other"
                )
            time.sleep(_PAUSES[waited > 1])

    def _holder(self) -> str:
        try:
            intent = read_intent(self.folder)
        except (MetadataError, OSError):
            intent = None
        return intent.holder if intent is not None and intent.holder else "another process"

    def _try(self) -> bool:
        if not HAS_FLOCK:
            raise _no_locks(self.folder, "this system has no flock")
        flags = os.O_RDWR | os.O_CREAT | _NOT_A_LINK | NOT_INHERITED
        try:
            descriptor, is_new = os.open(self._file, flags | os.O_EXCL, 0o666), True
        except FileExistsError:
            descriptor, is_new = os.open(self._file, flags, 0o666), False
        taken = False
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a file", self._file)
            try:
                lock_file(descriptor, wait=False)
            except BlockingIOError:
                return False
            except OSError as error:
                if error.errno not in _REFUSED:
                    raise
                if not status.st_size:
                    os.unlink(self._file)
                raise _no_locks(self.folder, os.strerror(error.errno)) from None
            try:
                named = os.lstat(self._file)
            except FileNotFoundError:
                return False
            taken = (named.st_dev, named.st_ino) == (status.st_dev, status.st_ino)
        finally:
            if not taken:
                os.close(descriptor)
        if taken:
            self._descriptor, self._thread = descriptor, threading.get_ident()
            self._is_new = is_new
            _held.add(self)
        return taken

    @property
    def is_held(self) -> bool:
        """Whether this process holds it: a forked child does not."""
        return self._descriptor is not None

    def left(self) -> Intent | None:
        """The intent of a commit whose process is gone; None if there is none.

        What that process was about to put in its place is removed.

        Raises
        ------
        MetadataError
            The file is something else.
        """
        assert self._descriptor is not None
        if not self._is_new:
            self.remove_partials()
        document = os.pread(self._descriptor, config.max_document_bytes + 1, 0)
        return parse_intent(document, self._file) if document else None

    def remove_partials(self) -> None:
        """Remove what a holder that is gone was about to put in the place of the intent."""
        for partial in partial_intents(self.folder):
            os.unlink(partial)

    def store(self, intent: Intent, *, fsync: bool) -> None:
        """Replace the intent, which survives a kill; with ``fsync`` also a loss of power.

        Raises
        ------
        NotAtomicError
            It is longer than a document may be, so that it could not be read after a crash.
        """
        document = intent.encode()
        if len(document) > config.max_document_bytes:
            raise NotAtomicError(
                f"the changed documents have {len(document)} bytes in all, more than "
                f"config.max_document_bytes ({config.max_document_bytes}); make several commits, "
                "or raise the limit"
            )
        partial = f"{self._file}.{os.getpid()}-{os.urandom(8).hex()}.partial"
        descriptor = make_file(partial)
        try:
            lock_file(descriptor, wait=False)
            view = memoryview(document)
            while view:
                view = view[os.write(descriptor, view) :]
            if fsync:
                os.fsync(descriptor)
            os.replace(partial, self._file)
        except BaseException:
            os.close(descriptor)
            os.unlink(partial)
            raise
        before, self._descriptor = self._descriptor, descriptor
        if before is not None:
            os.close(before)
        sync_folder(self.folder, fsync=fsync)

    def clear(self) -> None:
        """Empty the intent, and keep the lock."""
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)

    def end(self, *, fsync: bool) -> None:
        """Remove the intent, and release the lock."""
        if self._descriptor is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._file)
            sync_folder(self.folder, fsync=fsync)
        self.release()

    def release(self) -> None:
        """Release the lock, and leave an intent as it is; releasing it again does nothing."""
        _held.discard(self)
        if self._descriptor is not None:
            # Unlocked explicitly, because a child that was forked meanwhile has the same
            # descriptor.
            descriptor, self._descriptor = self._descriptor, None
            unlock_file(descriptor)
            os.close(descriptor)


def partial_intents(folder: str) -> list[str]:
    """The files that are to become the intent, of the holder of the lock and of any before it."""
    names = sorted(os.listdir(folder))
    return [os.path.join(folder, name) for name in names if _PARTIAL.fullmatch(name)]


def _no_locks(folder: str, why: str) -> NotAtomicError:
    return NotAtomicError(
        f"{folder!r} cannot be locked ({why}), so that two commits could run at once; commit on a "
        "local disk, or write without a commit while nothing else does"
    )


def _leave_to_the_parent(*_: Any) -> None:
    """In a forked child: the lock is the parent's, and is gone when the parent is."""
    for lock in list(_held):
        if lock._descriptor is not None:
            os.close(lock._descriptor)
            lock._descriptor = None
    _held.clear()


on_fork(after_in_child=_leave_to_the_parent)
