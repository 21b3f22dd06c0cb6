"""What a reader of a format yields: the groups and arrays of a file, before any data is read.

Readers look at metadata only. Data is read region by region by `SourceArray.read`, so that memory
does not depend on the size of the file. Where the bytes of the file are chunks that Zarr
could have encoded, `Encoded` says so: they can then be copied or referenced without decoding.
"""

from __future__ import annotations

import os
import stat
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zarrix._errors import ConversionError
from zarrix._runtime.system import NOT_INHERITED, UNBLOCKED, read_at, read_into_at

__all__ = ["Encoded", "OpenFile", "Part", "Region", "Source", "SourceArray"]

Region = tuple[slice, ...]


class Part(NamedTuple):
    """One encoded chunk: the bytes of a file, or bytes that were encoded anew.

    coords : tuple of int
        Its place in the chunk grid.
    offset, length : int
        Where it lies in the file; ignored if ``value`` is given.
    value : bytes, optional
    """

    coords: tuple[int, ...]
    offset: int
    length: int
    value: bytes | None = None


@dataclass(frozen=True)
class Encoded:
    """An array whose stored bytes are chunks of a Zarr v2 array.

    chunks : tuple of int
    filters, compressor
        Configurations of numcodecs; what v2 calls them.
    file : OpenFile
        The file that the parts lie in.
    parts : function
        The chunks that are stored, each as a `Part`.
    find : function
        The part of one chunk; None if it is missing.
    """

    chunks: tuple[int, ...]
    filters: list[dict[str, Any]] | None
    compressor: dict[str, Any] | None
    file: OpenFile
    parts: Callable[[], Iterator[Part]]
    find: Callable[[tuple[int, ...]], Part | None]


@dataclass
class SourceArray:
    """An array of a source.

    shape, dtype
        The dtype is NumPy's, or text that `zarrix.create` takes, such as ``"str"``.
    read : function
        Reads a region, for which all slices have step 1.
    chunks : tuple of int, optional
        Those of the source, if it has any.
    sequential : bool
        Regions are read in order, each as complete rows of the first axis.
    encoded : Encoded, optional
    why_decoded : str
        Why its chunks cannot be kept, if ``encoded`` is missing.
    """

    shape: tuple[int, ...]
    dtype: Any
    read: Callable[[Region], Any]
    chunks: tuple[int, ...] | None = None
    order: str = "C"
    fill_value: Any = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    dimension_names: Sequence[str | None] | None = None
    sequential: bool = False
    encoded: Encoded | None = None
    why_decoded: str = "its format has no chunks"

    @property
    def itemsize(self) -> int:
        """Bytes of an element; for elements of variable length an estimate."""
        return self.dtype.itemsize if isinstance(self.dtype, np.dtype) else 64

    @property
    def nbytes(self) -> int:
        """Decoded bytes."""
        return int(np.prod([int(n) for n in self.shape], dtype=object)) * self.itemsize


@dataclass
class Source:
    """An open source: arrays by path, and attributes by the path of each group.

    The array of a source that has only one, and no name for it, has the empty path.
    """

    name: str
    arrays: dict[str, SourceArray]
    groups: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    identity: Any = None
    close: Callable[[], None] = lambda: None

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OpenFile:
    """A file that is read by position, and that must not change while it is open.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    ConversionError
        It is not a regular file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        # O_NONBLOCK: opening a pipe without a writer would wait for one.
        self._number = os.open(self.path, os.O_RDONLY | NOT_INHERITED | UNBLOCKED)
        # A group that shows a file has no moment at which its user closes it.
        self._closing = weakref.finalize(self, os.close, self._number)
        found = os.fstat(self._number)
        if not stat.S_ISREG(found.st_mode):
            self.close()
            raise ConversionError(f"{self.path} is not a regular file")
        self.size = found.st_size
        self._seen = (found.st_size, found.st_mtime_ns)

    @property
    def identity(self) -> list[Any]:
        """What tells this version of the file from another one."""
        return [os.fspath(self.path.absolute()), *self._seen]

    @property
    def seen(self) -> tuple[int, int]:
        """The size and the time of the last modification, in nanoseconds, when it was opened."""
        return self._seen

    def check(self) -> None:
        """Raise `ConversionError` if the file has changed since it was opened."""
        found = os.fstat(self._number)
        if (found.st_size, found.st_mtime_ns) != self._seen:
            raise ConversionError(f"{self.path} has changed while it was read")

    def read_into(self, buffer: Any, offset: int) -> None:
        """Fill a writable buffer of bytes from ``offset``."""
        left = memoryview(buffer)
        while left.nbytes:
            count = read_into_at(self._number, left[: 2**30], offset)
            if count == 0:
                raise ConversionError(
                    f"{self.path} is truncated: bytes from {offset} on are needed, and it has "
                    f"{self.size}"
                )
            left, offset = left[count:], offset + count
        self.check()

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from ``offset``; the file must have all of them."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise ConversionError(
                f"{self.path} is truncated: it has {self.size} bytes, and bytes {offset} to "
                f"{offset + length} are needed"
            )
        value = read_at(self._number, length, offset)
        if len(value) != length:
            buffer = bytearray(length)
            self.read_into(buffer, offset)
            return bytes(buffer)
        self.check()
        return value

    def close(self) -> None:
        """Close the file; it can be called again."""
        self._closing()
