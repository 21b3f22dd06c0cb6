"""Errors of the system below HDF5: those of a file that it writes are kept from it.

HDF5 writes what it has in memory when it needs room, and when something is closed. h5py drops the
errors of what is closed without a call, so that a file could lack values without an error, and the
library itself crashes where the system refuses to write. Here it is told that all is written, reads
back what it has written, and the first error is raised behind its back.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["library", "new_file", "raise_of_system"]

# What the system says of a place that no file has: a damaged file names it.
_OF_A_PLACE = frozenset((errno.EINVAL, errno.EOVERFLOW))


def library() -> Any:
    """The module h5py.

    Raises
    ------
    ImportError
        It is not installed.
    """
    try:
        # Optional package: extra [convert].
        return importlib.import_module("h5py")
    except ImportError:
        raise ImportError("HDF5 needs the package h5py: pip install 'zarrix[convert]'") from None


def raise_of_system(error: BaseException, path: str) -> None:
    """Raise the `OSError` of a read that the system refused, which says nothing of the file.

    h5py has the number of the error in a text, and one that was raised here has it as itself.
    """
    if isinstance(error, OSError) and error.errno and error.errno not in _OF_A_PLACE:
        raise error
    found = re.search(r"read failed:.*errno = ([1-9]\d*)", str(error), re.DOTALL)
    number = int(found[1]) if found else 0
    if number and number not in _OF_A_PLACE:
        raise OSError(number, os.strerror(number), path) from None


class _Disk(io.FileIO):
    """A file that keeps its first error, Ctrl-C among them, and what is written after it."""

    def __init__(self, path: Any) -> None:
        super().__init__(path, "w+")
        self.error: BaseException | None = None
        self._late: list[tuple[int, bytes]] = []

    def check(self) -> None:
        """Raise the error that was kept."""
        if self.error is not None:
            raise self.error

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a position; the end is that of all that HDF5 has written."""
        at = super().seek(offset, whence)
        if whence == os.SEEK_END and self._late:
            at = super().seek(max(at, *(start + len(data) for start, data in self._late)))
        return at

    def write(self, data: Any, /) -> int:
        """Write all of ``data``; after an error it is kept until the file is closed."""
        left, at = memoryview(data).cast("B"), self.tell()
        length = left.nbytes
        while left.nbytes and self.error is None:
            try:
                left = left[super().write(left) :]
            except BaseException as error:
                self.error = error
        if self.error is not None:
            self._late.append((at, bytes(data)))
        return length

    def readinto(self, buffer: Any, /) -> int:
        """Read until ``buffer`` is full, or the file ends."""
        into, at, done = memoryview(buffer).cast("B"), self.tell(), 0
        try:
            while done < into.nbytes and (count := super().readinto(into[done:])):
                done += count
        except BaseException as error:
            self.error = self.error or error
        for start, data in self._late:
            begin, end = max(at, start), min(at + into.nbytes, start + len(data))
            if begin < end:
                into[begin - at : end - at] = data[begin - start : end - start]
        return done if self.error is None else into.nbytes

    def truncate(self, size: int | None = None, /) -> int:
        """Give the file its length."""
        try:
            return super().truncate(size)
        except BaseException as error:
            self.error = self.error or error
            return size or 0


@contextlib.contextmanager
def new_file(path: Any, job: Any, **options: Any) -> Iterator[Any]:
    """A file to write with h5py; it is complete at the end of the context, or an error is raised.

    Parameters
    ----------
    path : Path
    job : ExportJob
        Is stopped at the next region after an error.
    **options
        Of `h5py.File`.
    """
    with _Disk(path) as disk:
        job.check = disk.check
        try:
            with library().File(disk, "w", **options) as file:
                yield file
        except Exception:
            # What follows from the first error says less.
            disk.check()
            raise
        disk.check()
