"""What a reader of a format yields: the groups and arrays of a file, before any data is read.

Readers look at metadata only. Data is read region by region by `SourceArray.read`, so that memory
does not depend on the size of the file. Where the bytes of the file are chunks that Zarr
could have encoded, `Encoded` says so: they can then be copied or referenced without decoding.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zarrix._engine import SYSTEM, versions_of
from zarrix._errors import ConversionError
from zarrix._runtime.system import NOT_INHERITED, UNBLOCKED, read_at, read_into_at

__all__ = [
    "Encoded",
    "OpenFile",
    "Part",
    "Region",
    "Source",
    "SourceArray",
    "UnkeptError",
    "absolute",
    "folders_of",
    "identities_of",
    "identity_of",
    "natural",
]

Region = tuple[slice, ...]


class UnkeptError(ConversionError):
    """Elements are of no data type of Zarr, which only reading them shows; the file is sound."""


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
        The file that the parts lie in; not used for parts with a value.
    listed : function
        The chunks that the file says are stored, each as a `Part`.
    find : function
        The part of one chunk; None if it is missing.
    files : sequence of tuple
        Coordinates and path, if each chunk is a file.
    """

    chunks: tuple[int, ...]
    filters: list[dict[str, Any]] | None
    compressor: dict[str, Any] | None
    file: OpenFile
    listed: Callable[[], Iterator[Part]]
    find: Callable[[tuple[int, ...]], Part | None]
    files: Sequence[tuple[tuple[int, ...], str]] = ()

    def parts(self) -> Iterator[Part]:
        """The chunks that are stored.

        Raises
        ------
        ConversionError
            The file is shorter than it says.
        """
        for part in self.listed():
            if part.value is None:
                self.file.require(part.offset, part.length)
            yield part


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
    pictures : Encoded, optional
        Chunks that are copied if that is asked, as in ``encoded``. Otherwise the library of the
        format decodes them, because it accepts more.
    why_decoded : str
        Why its chunks cannot be kept, if ``encoded`` is missing.
    native : function, optional
        Reads a region by the library of the format alone, for the verification of an import; `read`
        if the format has no library, or if `read` is a call of it.
    stored : function, optional
        The coordinates of the chunks that are stored, in the grid of ``chunks``; all others have
        the fill value. Every chunk is stored if it is omitted. An array without chunks is one.
    fill_is_mask : bool
        Whether the fill value may stand for missing values, as readers of v2 take it.
    intact : function, optional
        Raises `ConversionError` if checksums of the file, which ``read`` does not compare, say that
        the array is damaged.
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
    pictures: Encoded | None = None
    why_decoded: str = "its format has no chunks"
    native: Callable[[Region], Any] | None = None
    stored: Callable[[], Iterable[tuple[int, ...]]] | None = None
    fill_is_mask: bool = True
    intact: Callable[[], None] | None = None

    @property
    def itemsize(self) -> int:
        """Bytes of an element; for elements of variable length an estimate."""
        return self.dtype.itemsize if isinstance(self.dtype, np.dtype) else 64

    @property
    def keepable(self) -> Encoded | None:
        """The chunks that can be copied as they are encoded; None if they have to be decoded."""
        return self.encoded or self.pictures

    @property
    def extent(self) -> tuple[int, ...]:
        """The shape of a chunk."""
        return tuple(max(1, n) for n in (self.chunks or self.shape))

    @property
    def is_sparse(self) -> bool:
        """Whether less than half of the chunks are stored."""
        if self.stored is None:
            return False
        total = math.prod(-(-n // one) for n, one in zip(self.shape, self.extent, strict=True))
        return 2 * len([*self.stored()]) < total

    @property
    def nbytes(self) -> int:
        """Decoded bytes."""
        return int(np.prod([int(n) for n in self.shape], dtype=object)) * self.itemsize


@dataclass
class Source:
    """An open source: arrays by path, and attributes by the path of each group.

    The array of a source that has only one, and no name for it, has the empty path.

    name : str
    arrays, groups : dict
    notes : list of str
        What a user should know about the result.
    left_out : list of str
        The members and attributes that are not in the result, each with the reason.
    identity : list
        Of every file and folder that the values depend on: what `identity_of` says when it is
        opened.
    plain : frozenset of str
        The files of ``identity`` that were found to be regular files, and not symbolic links.
    asked : object
        What else the values depend on, such as the sidecar of a raw file.
    """

    name: str
    arrays: dict[str, SourceArray]
    groups: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    identity: list[list[Any]] = field(default_factory=list)
    plain: frozenset[str] = frozenset()
    asked: Any = None
    close: Callable[[], None] = lambda: None

    def leave_out(self, what: str, why: object) -> None:
        """Note that a member or an attribute is not in the result."""
        self.left_out.append(f"{what} is left out: {why}")

    def drop(self, path: str, why: object) -> None:
        """Leave out a group with all that it has."""
        self.leave_out(path, why)
        for nodes in (self.groups, self.arrays):
            for name in [one for one in nodes if f"{one}/".startswith(f"{path}/")]:
                del nodes[name]

    def check(self) -> None:
        """Raise `ConversionError` if a file has changed since the source was opened."""
        folders = [seen for seen in self.identity if len(seen) == 3]
        files = [seen for seen in self.identity if len(seen) > 3]
        try:
            now = [[*(found or ())][:3] for found in _versions([seen[0] for seen in files])]
        except OSError:
            now = [[] for _ in files]
        changed = [seen[0] for seen, version in zip(files, now, strict=True) if version != seen[1:]]
        for seen in () if changed else folders:
            try:
                is_same = identity_of(seen[0], seen[2]) == seen
            except OSError:
                is_same = False
            changed += [] if is_same else [seen[0]]
        if changed:
            raise ConversionError(f"{changed[0]} has changed while it was read")

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def identity_of(path: str | os.PathLike[str], depth: int | None = None) -> list[Any]:
    """What tells a file or a folder from another one, and from later versions of it.

    The time of the last change (ctime) is part of it, because programs set that of the last
    modification back. A folder has a digest of the files in ``depth`` levels, or of all.
    """
    found = os.stat(path)
    shown = os.path.abspath(path)
    if not stat.S_ISDIR(found.st_mode):
        return [shown, *_version(found)]
    digest = hashlib.sha256()
    for folder, inside, files in os.walk(path):
        inside.sort()
        below = os.path.relpath(folder, path)
        if depth is not None and (0 if below == "." else below.count(os.sep) + 1) >= depth - 1:
            inside.clear()
        files.sort()
        paths = [os.path.join(folder, name) for name in files]
        for name, file, itself in zip(files, paths, _versions(paths, follows=False), strict=True):
            if itself is None:
                continue
            told = f"{below}\0{name}\0{itself}"
            if not itself[-1]:
                # What a link leads to counts, too.
                with contextlib.suppress(FileNotFoundError):
                    told += str(_version(os.stat(file)))
            digest.update(told.encode("utf-8", "surrogatepass"))
    return [shown, digest.hexdigest(), depth]


def identities_of(paths: Sequence[str]) -> tuple[list[list[Any] | None], frozenset[str]]:
    """What `identity_of` says of each of many files, in one call; None for those that are not there
    or not regular files. The second result is the files that are not symbolic links.
    """
    versions, every = _versions(paths, follows=False), absolute(paths)
    links = [n for n, found in enumerate(versions) if found is not None and not found[3]]
    for n, found in zip(links, _versions([paths[n] for n in links]), strict=True):
        versions[n] = found
    identities = [
        [path, *found[:3]] if found is not None and found[3] else None
        for path, found in zip(every, versions, strict=True)
    ]
    return identities, frozenset(every).difference([every[n] for n in links])


def _versions(
    paths: Sequence[str | os.PathLike[str]], *, follows: bool = True
) -> list[tuple[int, int, int, bool] | None]:
    """The version of each file, or of a link itself, and whether it is a regular file."""
    if SYSTEM != "windows":
        return versions_of(paths, follows=follows)
    # There, the time of the last change is that of the creation in Python.
    found: list[tuple[int, int, int, bool] | None] = []
    for path in paths:
        try:
            status = os.stat(path, follow_symlinks=follows)
        except FileNotFoundError:
            found.append(None)
        else:
            size, modified, changed = _version(status)
            found.append((size, modified, changed, stat.S_ISREG(status.st_mode)))
    return found


def absolute(files: Iterable[str]) -> list[str]:
    """The absolute paths of files; their folders are looked up once."""
    return _from_folders(files, lambda folder: os.path.join(os.path.abspath(folder), ""))


def folders_of(files: Iterable[str]) -> set[str]:
    """The folders of files, as they are named."""
    if os.altsep is not None:
        return {os.path.dirname(one) for one in files}
    parts = (one.rpartition(os.sep) for one in files)
    return {above or between for above, between, _ in parts}


def names_below(folder: str, files: Iterable[str]) -> list[str]:
    """The paths of files below a folder; their own folders are compared once."""

    def below(other: str) -> str:
        path = os.path.relpath(other, folder)
        return "" if path == "." else path + os.sep

    return _from_folders(files, below)


def _from_folders(files: Iterable[str], prefix_of: Callable[[str], str]) -> list[str]:
    """Each file with another text for the folder before its name."""
    found, known = [], dict[str, str]()
    for file in files:
        above, between, name = file.rpartition(os.sep)
        if name in ("", ".", "..") or os.altsep is not None:
            above, name = os.path.split(os.path.abspath(file))
        if above not in known:
            known[above] = prefix_of(above or between or ".")
        found.append(known[above] + name)
    return found


def _version(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


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
        # No call of a user closes a group that shows a file, so that a finalizer does.
        self._closing = weakref.finalize(self, os.close, self._number)
        found = os.fstat(self._number)
        if not stat.S_ISREG(found.st_mode):
            self.close()
            raise ConversionError(f"{self.path} is not a regular file")
        self.size = found.st_size
        self._seen = (found.st_size, found.st_mtime_ns)
        self.identity: list[Any] = [os.path.abspath(self.path), *_version(found)]
        """What `identity_of` says of the file that was opened."""

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
                # A file that was cut off since has another size than the one that is known.
                self.check()
                raise ConversionError(
                    f"{self.path} is truncated: bytes from {offset} on are needed, and it has "
                    f"{self.size}"
                )
            left, offset = left[count:], offset + count
        self.check()

    def require(self, offset: int, length: int) -> None:
        """Raise `ConversionError` if the file does not have these bytes."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise ConversionError(
                f"{self.path} is truncated: it has {self.size} bytes, and bytes {offset} to "
                f"{offset + length} are needed"
            )

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from ``offset``; the file must have all of them."""
        self.require(offset, length)
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


def natural(name: str) -> list[Any]:
    """A sort key in which ``frame10`` comes after ``frame9``."""
    parts = re.split(r"(\d+)", os.fspath(name))
    return [int(part) if part.isdecimal() else part for part in parts]
