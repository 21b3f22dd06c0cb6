"""The memory of batches whose samples worker processes transform.

It lies in a few files without a name, whose descriptors go to workers. Neither a kill nor a full
/dev/shm matters: no file has to be removed, and the system's memory alone is the limit.
"""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._runtime.anonymous import anonymous_file

__all__ = ["Mapped", "SharedMemory", "Window"]

# The first file has at least so many bytes, each later one twice as many: all have few descriptors.
_FIRST_BYTES = 2**26
_ALIGNED = 64


class Window(NamedTuple):
    """Where an array lies in shared memory, for another process."""

    file: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


class _File:
    """A file, its mapping here, and how much of it was given out."""

    def __init__(self, size: int) -> None:
        self.fd, self.size, self.used = anonymous_file("batches", size), size, 0
        self.mapping = mmap.mmap(self.fd, size)
        self.begin = np.frombuffer(self.mapping, np.uint8).ctypes.data

    def __del__(self, close: Any = os.close) -> None:
        # The function is a default value: at exit the module's names may be gone.
        fd = getattr(self, "fd", None)
        if fd is not None:
            close(fd)


class SharedMemory:
    """Allocates memory that workers map; what is not used any more is given out again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.files: list[_File] = []
        # Ranges by size. What a finalizer found is not among them yet: it may run within a call.
        self._free: dict[int, list[tuple[int, int]]] = {}
        self._dropped: deque[tuple[int, int, int]] = deque()

    def __call__(self, count: int) -> npt.NDArray[np.uint8]:
        count = -(-count // _ALIGNED) * _ALIGNED
        with self._lock:
            while self._dropped:
                size, number, offset = self._dropped.popleft()
                self._free.setdefault(size, []).append((number, offset))
            free = self._free.get(count)
            number, offset = free.pop() if free else self._new(count)
            # An array of its own: the pool counts the references to it.
            found = np.frombuffer(self.files[number].mapping, np.uint8, count, offset)
        dropped = weakref.finalize(found, self._dropped.append, (count, number, offset))
        dropped.atexit = False
        return found

    def _new(self, count: int) -> tuple[int, int]:
        """The number and the offset of memory that was never given out."""
        if not self.files or self.files[-1].used + count > self.files[-1].size:
            least = 2 * self.files[-1].size if self.files else _FIRST_BYTES
            self.files.append(_File(max(least, count)))
        file = self.files[-1]
        if hasattr(os, "posix_fallocate"):
            # Without it a process is killed where it writes, if the system has no memory left.
            try:
                os.posix_fallocate(file.fd, file.used, count)
            except OSError as error:
                raise MemoryError(f"no shared memory for {count} bytes of a batch") from error
        offset = file.used
        file.used += count
        return len(self.files) - 1, offset

    def window(self, array: npt.NDArray[Any]) -> Window | None:
        """Where an array lies; None if it is in other memory."""
        if not array.size or array.dtype.hasobject:
            return None
        address = array.__array_interface__["data"][0]
        for number, file in enumerate(self.files):
            offset = address - file.begin
            if 0 <= offset < file.size:
                return Window(number, offset, array.shape, array.strides, array.dtype)
        return None


class Mapped:
    """The same memory in a worker, file by file."""

    def __init__(self) -> None:
        self._files: dict[int, mmap.mmap] = {}

    def add(self, number: int, fd: int, size: int) -> None:
        """Map a file, whose descriptor is closed."""
        try:
            self._files[number] = mmap.mmap(fd, size)
        finally:
            os.close(fd)

    def __call__(self, window: Window) -> npt.NDArray[Any]:
        number, offset, shape, strides, dtype = window
        return np.ndarray(shape, dtype, self._files[number], offset, strides)
