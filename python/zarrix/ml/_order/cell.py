"""The current epoch of a dataset, in memory that worker processes share.

It has no name and no file: forked children inherit the mapping, and children that are spawned get
its descriptor from multiprocessing. Nothing is left after a process is killed.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

from zarrix._runtime.anonymous import anonymous_file

__all__ = ["Cell"]

_BYTES = 8


class Cell:
    """A number that the process which makes it and its workers share."""

    __slots__ = ("_fd", "_memory")

    def __init__(self, fd: int | None = None) -> None:
        if fd is None:
            fd = anonymous_file("epoch", _BYTES)
        self._fd = fd
        self._memory = mmap.mmap(fd, _BYTES)

    @property
    def epoch(self) -> int:
        return int.from_bytes(self._memory[:_BYTES], "little")

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._memory[:_BYTES] = epoch.to_bytes(_BYTES, "little")

    def __reduce__(self) -> Any:
        # For import time: only workers that are spawned need it.
        from multiprocessing import context, reduction

        if context.get_spawning_popen() is not None:
            # Only while a child is started can a descriptor go with it.
            return _shared, (reduction.DupFd(self._fd),)
        return _copied, (self.epoch,)

    def __del__(self, close: Any = os.close) -> None:
        # The function is a default value: at exit the module's names may be gone.
        fd = getattr(self, "_fd", None)
        if fd is not None:
            close(fd)


def _shared(descriptor: Any) -> Cell:
    return Cell(descriptor.detach())


def _copied(epoch: int) -> Cell:
    cell = Cell()
    cell.epoch = epoch
    return cell
