"""NumPy's npz: stored members are read by position, deflated ones as a stream."""

from __future__ import annotations

import contextlib
import math
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._npy import MOST_LOADED, header_of, npy_array, read_header
from zarrix.convert._source import OpenFile, Region, Source, SourceArray

__all__ = ["Rows", "open_source", "save", "path_of"]

_BLOCK = 1 << 20


def open_source(path: Path, *, allow_pickle: bool = False) -> Source:
    """The arrays of an npz file, by the names of its members."""
    file = OpenFile(path)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, struct.error) as error:
        file.close()
        raise ConversionError(f"{path} is not an npz file: {error}") from None
    with contextlib.ExitStack() as stack:
        stack.callback(file.close)
        stack.callback(archive.close)
        source = Source(str(path), {}, {"": {}}, identity=[file.identity])
        for member in archive.infolist():
            if member.is_dir():
                continue
            if not member.filename.endswith(".npy"):
                source.notes.append(f"{member.filename} is left out: it is not an npy file")
                continue
            name = path_of(member.filename.removesuffix(".npy"), str(path))
            if name in source.arrays:
                raise ConversionError(f"{path} has two members {member.filename!r}")
            source.arrays[name] = one = _member(file, archive, member, allow_pickle)
            if one.nbytes <= MOST_LOADED and one.dtype is not object:
                one.native = _native(path, archive, member)
        closing = stack.pop_all()
    source.close = closing.close
    return source


def _native(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Reads an array by NumPy alone, which compares the checksum of the member.

    The archive is not opened again, because that reads the names of all its members.
    """
    loaded: list[Any] = []

    def read(region: Region) -> Any:
        if not loaded:
            try:
                with archive.open(info) as member:
                    loaded.append(np.lib.format.read_array(member, allow_pickle=False))
            except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError) as error:
                raise ConversionError(f"{path}: {info.filename} is damaged: {error}") from None
        return loaded[0][region]

    return read


def path_of(name: str, shown: str) -> str:
    """The path in a hierarchy of a name in a file.

    Raises
    ------
    ConversionError
        It leads out of the hierarchy, or is empty.
    """
    parts = name.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ConversionError(f"{shown} has a member {name!r}, which is not a path in a hierarchy")
    return "/".join(parts)


def _member(
    file: OpenFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo, allow_pickle: bool
) -> SourceArray:
    if member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1:
        local = file.read(member.header_offset, 30)
        if local[:4] != b"PK\x03\x04":
            raise ConversionError(f"{file.path} is damaged: {member.filename} has no header")
        names, extra = struct.unpack("<HH", local[26:30])
        start = member.header_offset + 30 + names + extra
        array = npy_array(file, start, member.file_size, allow_pickle=allow_pickle)
        array.intact = lambda: _check_sum(file, start, member)
        return array
    return _deflated(file, archive, member)


def _check_sum(file: OpenFile, start: int, member: zipfile.ZipInfo) -> None:
    """Compare the checksum of a stored member, whose regions are read by position."""
    found, buffer = 0, bytearray(_BLOCK)
    for at in range(0, member.file_size, _BLOCK):
        part = memoryview(buffer)[: min(_BLOCK, member.file_size - at)]
        file.read_into(part, start + at)
        found = zlib.crc32(part, found)
    if found != member.CRC:
        raise ConversionError(
            f"{file.path} is damaged: the checksum of {member.filename} is {found:08x}, and its "
            f"directory says {member.CRC:08x}"
        )


def _deflated(file: OpenFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> SourceArray:
    shown = f"{file.path}: {member.filename}"

    def stream() -> Any:
        try:
            return archive.open(member)
        except (
            RuntimeError,
            NotImplementedError,
            ValueError,
            OSError,
            zipfile.BadZipFile,
        ) as error:
            # A directory may place the member before the file's begin.
            raise ConversionError(f"{shown} cannot be read: {error}") from None

    with stream() as opened:
        try:
            shape, order, dtype, start = read_header(opened.read, shown)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
            raise ConversionError(f"{shown} is damaged: {error}") from None
    needed = math.prod(shape) * dtype.itemsize
    if start + needed != member.file_size:
        raise ConversionError(
            f"{shown} has {member.file_size - start} bytes of data, and {shape} of {dtype} has "
            f"{needed}"
        )
    stored = shape[::-1] if order == "F" else shape
    rows = Rows(stream, start, stored, dtype, shown)
    if order == "C":
        return SourceArray(shape, dtype, rows.read, sequential=True,
                           why_decoded="it is compressed as one stream")  # fmt: skip
    return SourceArray(shape, dtype, _spooled(rows, stored, dtype), order="F",
                       why_decoded="it is compressed as one stream")  # fmt: skip


def _spooled(rows: Rows, stored: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Reads an array in Fortran order from a temporary file, because its rows are its columns."""
    spooled: list[Any] = []

    def read(region: Region) -> Any:
        if not spooled:
            file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the source
            step = max(1, _BLOCK * 16 // max(1, math.prod(stored[1:]) * dtype.itemsize))
            for start in range(0, stored[0], step):
                stop = min(start + step, stored[0])
                whole = tuple(slice(0, n) for n in stored[1:])
                file.write(rows.read((slice(start, stop), *whole)).tobytes())
            file.flush()
            spooled.append(np.memmap(file, dtype, "r", shape=stored))
            file.close()
        return np.array(spooled[0][region[::-1]]).T

    return read


class Rows:
    """Rows of an array in C order, from a stream that is read in order.

    Parameters
    ----------
    stream : function
        Opens the stream at its begin.
    start : int
        Bytes before the first element.
    """

    def __init__(
        self, stream: Any, start: int, shape: tuple[int, ...], dtype: np.dtype[Any], shown: str
    ) -> None:
        self._stream, self._start, self._shape, self._dtype = stream, start, shape, dtype
        self._shown = shown
        self._open: Any = None
        self._at = 0

    def read(self, region: Region) -> Any:
        """Complete rows of the first axis."""
        extent = tuple(one.stop - one.start for one in region)
        out = np.empty(extent, self._dtype)
        if out.nbytes == 0:
            return out
        row = math.prod(self._shape[1:]) * self._dtype.itemsize if self._shape else 0
        first = self._start + (region[0].start * row if region else 0)
        if self._open is None or first < self._at:
            if self._open is not None:
                self._open.close()
            self._open, self._at = self._stream(), 0
        try:
            while self._at < first:
                skipped = len(self._open.read(min(_BLOCK, first - self._at)))
                if not skipped:
                    break
                self._at += skipped
            left = out.reshape(-1).view(np.uint8).data
            while left.nbytes:
                got = self._open.read(min(left.nbytes, _BLOCK))
                if not got:
                    raise ConversionError(f"{self._shown} is truncated")
                left[: len(got)] = got
                left, self._at = left[len(got) :], self._at + len(got)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            ValueError,
            RuntimeError,
        ) as error:
            if isinstance(error, ConversionError):
                raise
            raise ConversionError(f"{self._shown} is damaged: {error}") from None
        return out


def save(node: Any, path: Path, job: Any, *, deflate: bool = False) -> None:
    """Write a group as npz; an array is the member ``arr_0``, as `numpy.savez` names it."""
    method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    headers = {name: header_of(array, order="C") for name, array in job.arrays().items()}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, array in job.arrays().items():
            member = zipfile.ZipInfo(f"{name or 'arr_0'}.npy")
            member.compress_type = method
            with archive.open(member, "w", force_zip64=True) as file:
                file.write(headers[name])
                for block in job.stream(array):
                    file.write(block)
