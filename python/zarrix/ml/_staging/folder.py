"""The folder of a stage: its bytes, its locks, and its files, which appear atomically.

    zarrix-stage/lock              locked for moments; its content is how many bytes there are
    zarrix-stage/ARRAY/lock        locked, shared, as long as a process uses the array
    zarrix-stage/ARRAY/0/          a Zarr array of the staged chunks; 1 to 3 have chunks of which
                                   the source changed while the array was in use

A staged chunk never changes under its name, and is removed only while nothing uses its array, or if
it is damaged: missing ones are errors of a read, and not the fill value. Bytes are counted before
they are written, so that a kill can only make the count too large; the first use of a process
counts anew.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import threading
import time
from collections.abc import Iterator
from typing import Any

from zarrix._runtime.new_files import make_file
from zarrix._runtime.system import NOT_INHERITED, lock_file, unlock_file
from zarrix._stores.keys import ZARR_JSON

__all__ = ["LAYERS", "Folder"]

LAYERS = 4
_NAME = "zarrix-stage"
_ARRAY = re.compile(r"[0-9a-f]{32}\Z")
_LAYER = re.compile(r"[0-3]\Z")
_CHUNK = re.compile(r"c(\.\d+)*\Z")
_OWN = re.compile(rf"(c(\.\d+)*|{re.escape(ZARR_JSON)}|array\.json)\Z")
_PARTIAL = re.compile(r"[\w.]*\.[0-9a-f]{16}\.partial\Z")
_BLOCK = 4096
_PAUSE_S = 0.002
# How long the lock is waited for: another process may have been stopped while it held it.
_OPEN_S, _PUT_S = 30.0, 1.0
# A full stage, or a disk that failed, is asked again after so many seconds.
_AGAIN_S = 30.0


class Folder:
    """A stage as one process sees it; a forked child opens it anew."""

    def __init__(self, path: str, max_bytes: int | None) -> None:
        self.path, self._given = os.path.join(path, _NAME), max_bytes
        self._max_bytes = 0
        self._pid = -1
        self._mutex = threading.Lock()
        self._lock = -1
        self._refused_until = 0.0
        # The descriptors that hold the locks of arrays in use.
        self._used: dict[str, int] = {}

    def __reduce__(self) -> Any:
        # Another process has locks of its own.
        return Folder, (os.path.dirname(self.path), self._given)

    # Opening

    def open(self) -> None:
        """Make or check the folder, once in each process.

        Raises
        ------
        OSError
            It cannot be made, is not a folder of this user, or has files of others.
        """
        if self._pid == os.getpid():
            return
        self._mutex, self._used, self._refused_until = threading.Lock(), {}, 0.0
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.path, 0o700)
        found = os.lstat(self.path)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"{self.path} is not a folder, as a stage needs it")
        if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            raise PermissionError(f"{self.path} is of another user; stage= needs a folder of yours")
        lock = os.path.join(self.path, "lock")
        if not os.path.lexists(lock) and os.listdir(self.path):
            raise FileExistsError(f"{self.path} has files that are not of a stage")
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | NOT_INHERITED
        self._lock = os.open(lock, flags, 0o600)
        with self._locked(_OPEN_S) as is_held:
            if not is_held:
                raise TimeoutError(f"{lock} has been locked by another process for {_OPEN_S:.0f} s")
            counted = self._counted()
            self._write_count(counted)
        if self._given is None:
            self._max_bytes = counted + shutil.disk_usage(self.path).free // 2
        else:
            self._max_bytes = self._given
        self._pid = os.getpid()

    @contextlib.contextmanager
    def _locked(self, seconds: float) -> Iterator[bool]:
        """Hold the lock of the folder; False if it cannot be had for so long."""
        until = time.monotonic() + seconds
        if not self._mutex.acquire(timeout=seconds):
            yield False
            return
        try:
            is_held = False
            while not is_held and time.monotonic() < until:
                with contextlib.suppress(BlockingIOError):
                    lock_file(self._lock, wait=False)
                    is_held = True
                if not is_held:
                    time.sleep(_PAUSE_S)
            try:
                yield is_held
            finally:
                if is_held:
                    unlock_file(self._lock)
        finally:
            self._mutex.release()

    def _count(self) -> int:
        text = os.pread(self._lock, 32, 0)
        return int(text) if text.strip().isdigit() else self._counted()

    def _write_count(self, count: int) -> None:
        os.pwrite(self._lock, b"%020d" % max(0, count), 0)

    def _counted(self) -> int:
        """The bytes of all staged chunks; what killed processes left unfinished is removed."""
        return sum(self._counted_of(array) for array in self._arrays())

    def _arrays(self) -> list[str]:
        with os.scandir(self.path) as entries:
            return [e.name for e in entries if _ARRAY.match(e.name) and _is_folder(e)]

    def _counted_of(self, array: str) -> int:
        total = 0
        for entry in self._files(array):
            if _PARTIAL.match(entry.name) and _is_unlocked(entry.path):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(entry.path)
                continue
            with contextlib.suppress(FileNotFoundError):
                total += _blocks(entry.stat(follow_symlinks=False).st_size)
        return total

    def _files(self, array: str) -> Iterator[os.DirEntry[str]]:
        """The regular files below an array that the stage has made."""
        folder = os.path.join(self.path, array)
        with os.scandir(folder) as entries:
            layers = [e.path for e in entries if _LAYER.match(e.name) and _is_folder(e)]
        for path in [folder, *layers]:
            with os.scandir(path) as entries:
                for entry in entries:
                    is_own = _OWN.match(entry.name) or _PARTIAL.match(entry.name)
                    if is_own and entry.is_file(follow_symlinks=False):
                        yield entry

    # Arrays

    def use(self, array: str, documents: dict[str, bytes]) -> str:
        """The folder of an array, which nothing removes while this process lives."""
        folder = os.path.join(self.path, array)
        with self._locked(_OPEN_S) as is_held:
            if not is_held:
                raise TimeoutError(f"the lock of {self.path} cannot be had")
            if array in self._used:
                return folder
            os.makedirs(folder, 0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | NOT_INHERITED
            descriptor = os.open(os.path.join(folder, "lock"), flags, 0o600)
            is_alone = _try_lock(descriptor)
            if is_alone:
                self._remove_stale(array)
                unlock_file(descriptor)
            lock_file(descriptor, shared=True)
            os.utime(os.path.join(folder, "lock"))
            self._used[array] = descriptor
            for layer in range(LAYERS):
                os.makedirs(os.path.join(folder, str(layer)), 0o700, exist_ok=True)
            for name, document in documents.items():
                if not os.path.lexists(os.path.join(folder, name)):
                    self._write(os.path.join(folder, name), document)
        return folder

    def _write(self, path: str, value: bytes) -> None:
        partial = f"{path}.{os.urandom(8).hex()}.partial"
        with os.fdopen(make_file(partial), "wb") as file:
            file.write(value)
        os.replace(partial, path)

    def _remove_stale(self, array: str) -> None:
        """Remove what `note_stale` noted, and the higher layers, while nothing uses the array."""
        folder, removed = os.path.join(self.path, array), 0
        for entry in list(self._files(array)):
            layer = os.path.basename(os.path.dirname(entry.path))
            if layer in "123" and _CHUNK.match(entry.name):
                removed += _unlinked(entry.path)
        noted = os.path.join(folder, "stale")
        with contextlib.suppress(FileNotFoundError), open(noted, "rb") as file:
            for line in file.read().split(b"\n"):
                name = line.decode("ascii", "replace")
                if _CHUNK.match(name):
                    removed += _unlinked(os.path.join(folder, "0", name))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(noted)
        self._write_count(self._count() - removed)

    def note_stale(self, array: str, chunk: str) -> None:
        """Have a chunk of the first layer removed when nothing uses the array."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        with contextlib.suppress(OSError):
            descriptor = os.open(
                os.path.join(self.path, array, "stale"), flags | NOT_INHERITED, 0o600
            )
            try:
                os.write(descriptor, chunk.encode() + b"\n")
            finally:
                os.close(descriptor)

    # Chunks

    @property
    def is_refused(self) -> bool:
        """Whether nothing can be added now: the stage or the disk is full."""
        return time.monotonic() < self._refused_until

    def put(self, path: str, value: bytes) -> bool:
        """Store a chunk under a name that has none; whether one is there then."""
        try:
            is_stored = self._put(path, value)
        except OSError:
            # A full disk, a folder that is gone: the loader reads its source.
            is_stored = False
        if not is_stored:
            self._refused_until = time.monotonic() + _AGAIN_S
        return is_stored

    def _put(self, path: str, value: bytes) -> bool:
        size = _blocks(len(value))
        partial = f"{path}.{os.urandom(8).hex()}.partial"
        with self._locked(_PUT_S) as is_held:
            if not is_held or not self._reserve(size):
                return False
            try:
                descriptor = make_file(partial)
            except OSError:
                self._write_count(self._count() - size)
                raise
            # Locked as long as it is written: what is not locked was left by a kill.
            lock_file(descriptor, wait=False)
            os.ftruncate(descriptor, len(value))
        is_renamed = False
        try:
            _write_all(descriptor, value)
            with self._locked(_PUT_S) as is_held:
                if is_held and not os.path.lexists(path):
                    os.rename(partial, path)
                    is_renamed = True
        finally:
            if not is_renamed:
                with contextlib.suppress(OSError):
                    os.unlink(partial)
                with self._locked(_PUT_S) as is_held:
                    if is_held:
                        self._write_count(self._count() - size)
            os.close(descriptor)
        return os.path.lexists(path)

    def _reserve(self, size: int) -> bool:
        """Count bytes before they are written; False if there are too many."""
        count = self._count()
        if count + size > self._max_bytes:
            count -= self._evict(count + size - self._max_bytes)
        if count + size > self._max_bytes:
            self._write_count(count)
            return False
        self._write_count(count + size)
        return True

    def _evict(self, size: int) -> int:
        """Remove chunks of arrays that nothing uses, those used longest ago first."""
        ages = []
        for array in self._arrays():
            with contextlib.suppress(OSError):
                ages.append((os.stat(os.path.join(self.path, array, "lock")).st_mtime_ns, array))
        removed = 0
        for _, array in sorted(ages):
            if removed >= size:
                break
            if array in self._used:
                continue
            flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | NOT_INHERITED
            with contextlib.suppress(OSError):
                descriptor = os.open(os.path.join(self.path, array, "lock"), flags)
                try:
                    if _try_lock(descriptor):
                        removed += sum(_unlinked(e.path) for e in list(self._files(array)))
                finally:
                    os.close(descriptor)
        return removed

    def drop(self, path: str) -> None:
        """Remove a damaged chunk; those who read it have an error, and read their source."""
        with self._locked(_PUT_S) as is_held:
            if is_held:
                self._write_count(self._count() - _unlinked(path))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _blocks(size: int) -> int:
    """The bytes that a file of a size takes on the disk."""
    return -(-size // _BLOCK) * _BLOCK


def _unlinked(path: str) -> int:
    """Remove a file; how many bytes that frees."""
    try:
        size = os.lstat(path).st_size
        os.unlink(path)
    except OSError:
        return 0
    return _blocks(size)


def _try_lock(descriptor: int) -> bool:
    try:
        lock_file(descriptor, wait=False)
    except BlockingIOError:
        return False
    return True


def _is_unlocked(path: str) -> bool:
    """Whether no living process writes a partial file."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | NOT_INHERITED)
    except OSError:
        return False
    try:
        return _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, value: bytes) -> None:
    rest = memoryview(value)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
