"""The files that this process has downloaded: their bytes have a bound, and old ones make room.

`zarrix.config.max_download_bytes` is the bound. All bytes of a file are reserved before its first
one is fetched, so that a list of hostile URLs cannot fill the disk. The folder of a process is
locked as long as the process lives. One without a lock is what a killed process has left, and is
removed by the next process that downloads.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from zarrix._errors import DownloadLimitError
from zarrix._runtime.config import config
from zarrix._runtime.system import HAS_FLOCK, NOT_INHERITED, lock_file, on_fork
from zarrix._stores.redaction import public_url

__all__ = ["Download", "Downloads", "downloads", "new_folder"]

_PREFIX = "zarrix-downloads-"
_TRIES = 100


def _keep() -> None:
    """Release nothing."""


@dataclass(eq=False)
class Download:
    """One file on the disk of this machine.

    Attributes
    ----------
    path : str
    size : int
        How many bytes it is to have.
    written : int
        How many it has.
    release : function
        Drops what keeps the file open without using it.
    owner : int
        The process that removes it.
    """

    path: str
    size: int
    written: int = 0
    release: Callable[[], None] = _keep
    owner: int = field(default_factory=os.getpid)


class Downloads:
    """All files of this process, from the oldest to the newest."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._held: dict[int, Download] = {}
        self._next = 0
        # The descriptors that hold the locks of folders.
        self._roots: dict[str, int] = {}

    def mark(self) -> int:
        """A number: downloads that begin later do not make room for `reserve` with it."""
        return self._next

    def held_bytes(self) -> int:
        """The bytes of all files that are there, or that are being fetched."""
        return sum(one.size for one in [*self._held.values()])

    def reserve(self, url: str, path: str, size: int, before: int | None = None) -> Download:
        """Room for a file. Files that nothing reads are removed if it is needed, the oldest first.

        Parameters
        ----------
        url, path : str
            What is fetched, and where it is stored.
        size : int
        before : int, optional
            Only downloads that began before this `mark` make room.

        Raises
        ------
        DownloadLimitError
            There is not enough.
        """
        new = Download(path, size)
        with self._lock:
            if not self._has_room(size, path):
                self._make_room(size, path, before)
            if not self._has_room(size, path):
                raise self._too_much(url, size, path)
            self._held[self._next] = new
            self._next += 1
        return new

    def _most(self, path: str) -> int:
        """The bound in bytes."""
        most = config.max_download_bytes
        if most is not None:
            return most
        written = sum(one.written for one in [*self._held.values()])
        return (shutil.disk_usage(os.path.dirname(path)).free + written) // 2

    def _has_room(self, size: int, path: str) -> bool:
        return self.held_bytes() + size <= self._most(path)

    def _make_room(self, size: int, path: str, before: int | None) -> None:
        if size > self._most(path):
            return
        for number, one in [*self._held.items()]:
            if before is not None and number >= before:
                break
            one.release()
            if self._has_room(size, path):
                return
        # A file whose store is part of a cycle is removed with it.
        gc.collect()

    def _too_much(self, url: str, size: int, path: str) -> DownloadLimitError:
        held, most = self.held_bytes(), self._most(path)
        used = f" beside {held:,} bytes of other downloads that are in use" if held else ""
        is_told = config.max_download_bytes is not None
        why = "" if is_told else f", half of what is free in {os.path.dirname(path)}"
        return DownloadLimitError(
            f"{public_url(url)} has {size:,} bytes, and is not downloaded{used}: "
            f"config.max_download_bytes is {most:,}{why}; raise it if this is intended"
        )

    def folder(self) -> str:
        """A new folder, which `remove` removes."""
        above = tempfile.gettempdir()
        with self._lock:
            root = next((one for one in self._roots if os.path.dirname(one) == above), None)
            if root is None:
                _remove_left(above)
                root, self._roots[root] = _new_root()
            return tempfile.mkdtemp(dir=root)

    def remove(self, folder: str) -> None:
        """Remove a folder with all files in it."""
        shutil.rmtree(folder, ignore_errors=True)
        begin, root = os.path.join(folder, ""), os.path.dirname(folder)
        with self._lock:
            self._held = {n: one for n, one in self._held.items() if not one.path.startswith(begin)}
            with contextlib.suppress(OSError):
                # Others may be in it.
                os.rmdir(root)
                descriptor = self._roots.pop(root, None)
                if descriptor is not None:
                    os.close(descriptor)

    def forget(self, download: Download) -> None:
        """The file of a download is gone."""
        with self._lock:
            self._held = {n: one for n, one in self._held.items() if one is not download}


def _new_root() -> tuple[str, int]:
    """A folder that this process has locked, and the descriptor of the lock."""
    for _ in range(_TRIES):
        root = tempfile.mkdtemp(prefix=_PREFIX)
        try:
            descriptor = _locked(root)
        except BlockingIOError:
            # Another process takes it for one that was left.
            continue
        except OSError:
            # Without locks no process takes it for one that was left.
            return root, os.open(os.devnull, os.O_RDONLY)
        if os.path.exists(root):
            return root, descriptor
        os.close(descriptor)
    raise OSError(errno.EAGAIN, f"no folder for downloads in {tempfile.gettempdir()} can be locked")


def _locked(folder: str) -> int:
    """The descriptor of a folder that is locked now."""
    if not HAS_FLOCK:
        raise OSError(errno.ENOSYS, "the system has no locks of folders")
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | NOT_INHERITED)
    try:
        lock_file(descriptor, wait=False)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove_left(above: str) -> None:
    """Remove the folders of processes that were killed."""
    for one in [*os.scandir(above)]:
        if not one.name.startswith(_PREFIX):
            continue
        # One of another user, or that a process has, stays.
        with contextlib.suppress(OSError):
            if one.stat(follow_symlinks=False).st_uid == os.geteuid():
                descriptor = _locked(one.path)
                shutil.rmtree(one.path, ignore_errors=True)
                os.close(descriptor)


downloads = Downloads()
"""Those of this process."""

# A forked process has the same files, and does not remove them.
on_fork(after_in_child=downloads._begin)


@contextlib.contextmanager
def new_folder() -> Iterator[str]:
    """A folder for the downloads of a block, after which it is gone with all of them."""
    folder = downloads.folder()
    try:
        yield folder
    finally:
        downloads.remove(folder)
