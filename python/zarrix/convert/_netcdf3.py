"""NetCDF3, in its three variants (CDF-1, CDF-2, CDF-5): the header is read here.

Variables without the record axis lie in one block each. Those with it are interleaved: each record
has one row of every such variable.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._cf import mask
from zarrix.convert._flat import Flat, flat_array
from zarrix.convert._npz import path_of
from zarrix.convert._source import Encoded, OpenFile, Part, Region, Source, SourceArray

__all__ = ["open_source"]

_TYPES = {1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8",
          7: "u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}  # fmt: skip
_MOST_LISTED = 1_000_000
_MOST_HEADER = 64 * 2**20


def open_source(path: Path) -> Source:
    """The variables of a NetCDF3 file."""
    file = OpenFile(path)
    try:
        return _Header(file).source()
    except BaseException:
        file.close()
        raise


class _Header:
    """The header, read in order."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._bytes = file.read(0, min(file.size, 1 << 20))
        self._at = 4
        if self._bytes[:3] != b"CDF" or len(self._bytes) < 8 or self._bytes[3] not in (1, 2, 5):
            raise ConversionError(f"{file.path} is not a NetCDF3 file")
        self._version = self._bytes[3]

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if count < 0 or end > min(self._file.size, _MOST_HEADER):
            raise ConversionError(f"{self._file.path} is damaged: its header is not complete")
        if end > len(self._bytes):
            self._bytes = self._file.read(0, min(self._file.size, max(2 * len(self._bytes), end)))
        found = self._bytes[self._at : end]
        self._at = end
        return found

    def _count(self) -> int:
        """A number of elements: 4 bytes, or 8 in CDF-5."""
        if self._version == 5:
            return int(struct.unpack(">q", self._take(8))[0])
        return int(struct.unpack(">i", self._take(4))[0])

    def _int(self) -> int:
        return int(struct.unpack(">i", self._take(4))[0])

    def _listed(self) -> int:
        count = self._count()
        if not 0 <= count <= _MOST_LISTED:
            raise ConversionError(f"{self._file.path} is damaged: a list of {count}")
        return count

    def _name(self) -> str:
        length = self._listed()
        name = self._take(length).decode("utf-8", "replace")
        self._take(-length % 4)
        return name

    def _attributes(self) -> dict[str, Any]:
        self._int()
        found = {}
        for _ in range(self._listed()):
            name, kind, count = self._name(), self._int(), self._listed()
            dtype = self._dtype(kind)
            raw = self._take(count * dtype.itemsize)
            self._take(-len(raw) % 4)
            if kind == 2:
                # As the library reads it, which stores a NUL for text without characters.
                found[name] = raw.decode("utf-8", "replace").replace("\0", "")
                continue
            values = np.frombuffer(raw, dtype).tolist()
            found[name] = values[0] if len(values) == 1 else values
        return found

    def _dtype(self, kind: int) -> np.dtype[Any]:
        if kind not in _TYPES:
            raise ConversionError(f"{self._file.path} is damaged: {kind} is not a type")
        return np.dtype(_TYPES[kind])

    def source(self) -> Source:
        """Dimensions, attributes and variables."""
        records = self._count()
        self._int()
        dimensions = [(self._name(), self._count()) for _ in range(self._listed())]
        attributes = self._attributes()
        self._int()
        variables = []
        for _ in range(self._listed()):
            name = path_of(self._name(), str(self._file.path))
            axes = [self._count() for _ in range(self._listed())]
            if any(not 0 <= axis < len(dimensions) for axis in axes):
                raise ConversionError(f"{self._file.path} is damaged: {name} has axes {axes}")
            notes = self._attributes()
            dtype = self._dtype(self._int())
            self._count()
            begin = (
                self._int() if self._version == 1 else int(struct.unpack(">q", self._take(8))[0])
            )
            variables.append((name, axes, notes, dtype, begin))
        return self._made(records, dimensions, attributes, variables)

    def _made(
        self,
        records: int,
        dimensions: list[tuple[str, int]],
        attributes: dict[str, Any],
        variables: list[Any],
    ) -> Source:
        file = self._file
        source = Source(
            str(file.path), {}, {"": attributes}, identity=[file.identity], close=file.close
        )
        lengths = {}
        for name, axes, _, dtype, _ in variables:
            if axes and dimensions[axes[0]][1] == 0:
                lengths[name] = dtype.itemsize * math.prod(dimensions[i][1] for i in axes[1:])
        padded = {name: n + -n % 4 for name, n in lengths.items()}
        # The records of a single variable are not padded.
        record = sum(padded.values()) if len(padded) > 1 else sum(lengths.values())
        if lengths and records < 0:
            # The file was still being written: its length says how many records there are.
            begin = min(one[4] for one in variables if one[0] in lengths)
            records = max(0, file.size - begin) // max(1, record)
        for name, axes, notes, dtype, begin in variables:
            names = [dimensions[i][0] for i in axes]
            if name in lengths:
                shape = (records, *(dimensions[i][1] for i in axes[1:]))
                one = _record_array(file, begin, record, shape, dtype)
                notes = {**notes, "unlimited_axes": [0]}
            else:
                shape = tuple(dimensions[i][1] for i in axes)
                one = flat_array(file, begin, shape, dtype)
            one.attributes, one.dimension_names = notes, names
            mask(one)
            source.arrays[name] = one
        return source


def _record_array(
    file: OpenFile, begin: int, record: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> SourceArray:
    """A variable with the record axis: its rows are ``record`` bytes apart."""
    row = math.prod(shape[1:]) * dtype.itemsize
    end = begin + (shape[0] - 1) * record + row
    if begin < 0 or (shape[0] and row and end > file.size):
        raise ConversionError(
            f"{file.path} is truncated: {shape[0]} records need {end} bytes, and it has {file.size}"
        )

    def read(region: Region) -> Any:
        first, count = region[0].start, region[0].stop - region[0].start
        inner = tuple(slice(0, one.stop - one.start) for one in region[1:])
        if not (count and row):
            return np.empty([one.stop - one.start for one in region], dtype)
        # The last record of the file may be shorter than the others.
        rows = Flat(file, begin + first * record, (count - 1, record), np.dtype("u1"))
        found = np.empty((count, row), "u1")
        if count > 1:
            found[:-1] = rows.read((slice(0, count - 1), slice(0, row)))
        file.read_into(found[-1].data, begin + (first + count - 1) * record)
        values = found.reshape(-1).view(dtype).reshape(count, *shape[1:])
        within = tuple(
            slice(one.start, one.start + part.stop)
            for one, part in zip(region[1:], inner, strict=True)
        )
        return values[(slice(None), *within)]

    def find(coords: tuple[int, ...]) -> Part | None:
        return Part(coords, begin + coords[0] * record, row)

    encoded = None
    if row and shape[0]:
        zeros = (0,) * (len(shape) - 1)
        encoded = Encoded(
            (1, *shape[1:]), None, None, file,
            lambda: (Part((i, *zeros), begin + i * record, row) for i in range(shape[0])), find,
        )  # fmt: skip
    return SourceArray(shape, dtype, read, encoded=encoded)
