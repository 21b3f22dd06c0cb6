"""What systems do differently: forks, locks of files, and reads at an offset.

Windows has neither ``fork`` nor ``fcntl``, and macOS has another ``struct flock``. All modules use
these functions, so that each can be imported everywhere. Where a lock between processes cannot be
had, `LostUpdateWarning` is given once.
"""

from __future__ import annotations

import os
import struct
import sys
import time
import warnings
from collections.abc import Callable

try:
    import fcntl
except ImportError:
    _has_fcntl = False
else:
    _has_fcntl = True
if sys.platform == "win32":
    import msvcrt

__all__ = [
    "HAS_FLOCK",
    "NOT_INHERITED",
    "UNBLOCKED",
    "lock_file",
    "lock_from",
    "lock_record",
    "on_fork",
    "read_at",
    "read_into_at",
    "records_exclude_threads",
    "unlock_file",
    "unlock_record",
]

HAS_FLOCK = _has_fcntl
"""Whether a file, or a directory, can be locked by ``flock``."""
NOT_INHERITED: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""The flags with which a file is opened for this process alone, as bytes."""
UNBLOCKED: int = getattr(os, "O_NONBLOCK", 0)
"""The flag with which opening a pipe does not wait for its other end."""

# Seconds between two tries where the system cannot wait for a lock.
_PAUSE = 0.005
_warned = False


def on_fork(
    *,
    before: Callable[[], None] | None = None,
    after_in_parent: Callable[[], None] | None = None,
    after_in_child: Callable[[], None] | None = None,
) -> None:
    """Call these functions around every later fork; nothing on a system without forks."""
    calls = {
        "before": before,
        "after_in_parent": after_in_parent,
        "after_in_child": after_in_child,
    }
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**{name: call for name, call in calls.items() if call is not None})


def lock_file(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock a file for this open description; `BlockingIOError` if it is taken, unless ``wait``."""
    if _has_fcntl:
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, how | (0 if wait else fcntl.LOCK_NB))
    else:
        _lock_first_byte(descriptor, wait)


def unlock_file(descriptor: int) -> None:
    """Undo `lock_file`."""
    if _has_fcntl:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    else:
        _unlock_first_byte(descriptor)


def lock_record(descriptor: int) -> None:
    """Wait for the record lock of a file, which other libraries take by ``lockf``."""
    if not _has_fcntl:
        _lock_first_byte(descriptor, True)
    elif records_exclude_threads():
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, _request(fcntl.F_WRLCK))
    else:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)


def records_exclude_threads() -> bool:
    """Whether the locks of `lock_record` belong to descriptions, and not to processes."""
    return _has_fcntl and hasattr(fcntl, "F_OFD_SETLKW")


def unlock_record(descriptor: int) -> None:
    """Undo `lock_record`."""
    if not _has_fcntl:
        _unlock_first_byte(descriptor)
    elif records_exclude_threads():
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, _request(fcntl.F_UNLCK))
    else:
        fcntl.lockf(descriptor, fcntl.LOCK_UN)


def _request(kind: int) -> bytes:
    # struct flock of Linux: type, whence, start, length (0: to the end), pid (0, as open file
    # description locks demand), padded to the alignment of its 64-bit members.
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, 0, 0, 0)


if sys.platform == "win32":

    def _lock_first_byte(descriptor: int, wait: bool) -> None:
        while True:
            os.lseek(descriptor, 0, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if not wait:
                    raise BlockingIOError(error.errno, error.strerror) from None
                time.sleep(_PAUSE)
            else:
                return

    def _unlock_first_byte(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _lock_first_byte(descriptor: int, wait: bool) -> None:
        _warn_once()

    def _unlock_first_byte(descriptor: int) -> None:
        """Nothing was locked."""


def _warn_once() -> None:
    global _warned
    if _warned:
        return
    _warned = True
    # Inside, because importing this module must not load all errors.
    from zarrix._errors import LostUpdateWarning

    warnings.warn(
        "this system has no locks between processes: if two processes change one file at the same "
        "moment, one change can be lost. Threads of one process are safe",
        LostUpdateWarning,
        stacklevel=4,
    )


def read_at(descriptor: int, length: int, offset: int) -> bytes:
    """At most ``length`` bytes from ``offset`` on; without ``pread``, for one thread at a time."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, length)


def read_into_at(descriptor: int, buffer: memoryview, offset: int) -> int:
    """Read into ``buffer`` from ``offset`` on, under the same condition; returns how many bytes."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [buffer], offset)
    value = read_at(descriptor, buffer.nbytes, offset)
    buffer[: len(value)] = value
    return len(value)


def lock_from(descriptor: int, start: int, length: int) -> None:
    """Lock a range of a file for this open description; `BlockingIOError` if a part is taken.

    ``length`` 0 reaches to the end of all files. Only where `records_exclude_threads`.
    """
    request = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, request)
    except PermissionError as error:
        # Some systems report a lock of another process so.
        raise BlockingIOError(error.errno, error.strerror) from None
