"""A virtual array or group as a read-only store: its documents are stored, and its chunks are not.

Arrays that are opened in it read through `zarrix._array.boxes.BoxesIO`, so that everything that
takes an array or a group takes these. What copies or serves keys gets chunks that are made of the
elements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._array.access import io_of, location_of, metadata_of
from zarrix._array.array import Array
from zarrix._array.boxes import BoxesIO, OpenBox
from zarrix._array.stored import chunk_key
from zarrix._errors import PieceChangedError, PieceNotFoundError
from zarrix._metadata import v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._selection.values import fill_element
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.python import PythonStore
from zarrix._stores.sites import Site, of_file
from zarrix.virtual._decode import Decode
from zarrix.virtual._opener import Opener
from zarrix.virtual._table import Table

__all__ = ["Boxes", "VirtualStore", "box_of"]

_NUMBER = re.compile(r"\d+")
_MOST_OPEN = 16_384
_MOST_FILES = 256


class Boxes:
    """Opens the boxes of one table; those that were opened last stay open."""

    def __init__(self, table: Table, opener: Opener, dtype: np.dtype[Any]) -> None:
        self._table, self._opener, self._dtype = table, opener, dtype
        self._open: dict[int, OpenBox] = {}
        self._most_open: int | None = None
        self.missing: set[int] = set()
        opener.used_by(self)

    def release(self, source: int) -> None:
        """Drop the boxes of a source; a call that reads them has them still."""
        opened = self._open
        for number in [*opened]:
            if self._table.sources[number] == source:
                opened.pop(number, None)

    def __call__(self, numbers: Sequence[int]) -> list[OpenBox | None]:
        opened = self._open
        found = [opened.get(number) for number in numbers]
        if None in found:
            lacking = [n for n, box in zip(numbers, found, strict=True) if box is None]
            new = self._new(lacking)
            found = [box or new.get(n) for n, box in zip(numbers, found, strict=True)]
        return found

    def _new(self, numbers: list[int]) -> dict[int, OpenBox]:
        table = self._table
        wanted = [(table.sources[n], table.paths[n]) for n in numbers]
        arrays = self._opener.arrays(wanted, [table.checks[n] for n in numbers])
        new: dict[int, OpenBox] = {}
        if self._most_open is None:
            formats = {source.format for source in self._opener.sources}
            self._most_open = _MOST_OPEN if formats <= {"zarr2", "zarr3"} else _MOST_FILES
        most = self._most_open
        for number, place, array in zip(numbers, wanted, arrays, strict=True):
            if array is None:
                self._lacks(number, self._opener.told(*place))
                continue
            while len(self._open) >= most:
                self._open.pop(next(iter(self._open)), None)
            new[number] = self._open[number] = self._box(number, array)
        return new

    def _lacks(self, number: int, name: str) -> None:
        if not self._table.more[number].get("fill"):
            raise PieceNotFoundError(
                f"the piece {name} is gone; missing='fill' reads it as the fill value"
            )
        self.missing.add(number)

    def _box(self, number: int, array: Any) -> OpenBox:
        metadata = metadata_of(array)
        box = box_of(metadata, io_of(array), self._table, number, self._dtype)
        if box is None:
            row = self._table.row(number)
            told = self._opener.told(row.source, row.path)
            raise PieceChangedError(
                f"the piece {told} has shape {metadata.shape} and dtype {metadata.dtype}, which is "
                "not what was listed; zarrix.virtual.refresh lists it again"
            )
        return box._replace(store=location_of(array).store)


def box_of(
    metadata: ArrayMetadata, io: Any, table: Table, number: int, dtype: np.dtype[Any]
) -> OpenBox | None:
    """The box of a piece in its array; None if the array does not have its elements."""
    more, ndim = table.more[number], len(metadata.shape)
    axes = tuple(more.get("axes", range(ndim)))
    origin = tuple(more.get("from", (0,) * ndim))
    step = tuple(more.get("step", (1,) * ndim))
    if not len(axes) == len(origin) == len(step) == ndim:
        return None
    shape = table.shapes[number].tolist()
    for axis, first, stride, size in zip(axes, origin, step, metadata.shape, strict=True):
        count = 1 if axis is None else shape[axis]
        last = first + stride * (count - 1)
        if count and not (0 <= first < size and 0 <= last < size):
            return None
    given = [axis for axis in axes if axis is not None]
    if len(set(given)) != len(given) or any(
        size != 1 for axis, size in enumerate(shape) if axis not in given
    ):
        return None
    stored = np.dtype(more["dtype"]) if "dtype" in more else dtype
    if metadata.dtype.newbyteorder("=") != stored.newbyteorder("="):
        return None
    is_same = metadata.dtype == dtype and not {"scale", "offset", "nan"} & more.keys()
    decode = None if is_same else Decode(dtype, more)
    is_plain = (
        decode is None
        and axes == tuple(range(len(shape)))
        and not any(origin)
        and all(one == 1 for one in step)
    )
    return OpenBox(io, metadata.dtype, axes, origin, step, decode, is_plain)


class VirtualStore(PythonStore):
    """The documents of a virtual hierarchy.

    Parameters
    ----------
    values : mapping of str to bytes
        Documents, and chunks of arrays that are in the list itself.
    tables : mapping of str to Table
        The pieces of each array, by its path.
    opener : Opener
    path : str
        Of the document that has the list; empty for one that is not stored.
    """

    _writeable = _erasable = False
    _how_to_write = (
        "a virtual array is a list of pieces: write to the piece, which zarrix.virtual.pieces names"
    )

    def __init__(
        self,
        values: Mapping[str, bytes],
        tables: Mapping[str, Table],
        opener: Opener,
        path: str = "",
    ) -> None:
        self._values, self.tables, self.opener, self.path = dict(values), dict(tables), opener, path
        self._readers: dict[str, BoxesIO] = {}
        self.boxes: dict[str, Boxes] = {}
        self._parsed: dict[str, ArrayMetadata] = {}

    @property
    def stored_values(self) -> Mapping[str, bytes]:
        """Documents, and chunks of arrays that are in the list itself, by key."""
        return self._values

    def array(self, path: str) -> Array:
        """One of its arrays."""
        return Array(self, path, read_only=True)

    def _array_io(self, path: str, metadata: ArrayMetadata) -> Any:
        table = self.tables.get(path)
        if table is None:
            return None
        found = self._readers.get(path)
        if found is None or found.dtype != metadata.dtype:
            boxes = self.boxes[path] = Boxes(table, self.opener, metadata.dtype)
            fill = fill_element(metadata.dtype, metadata.fill_value)
            found = BoxesIO(metadata, fill, table.index, boxes, path)
            self._readers[path] = found
        return found

    def _read(self, key: str) -> bytes | None:
        found = self._values.get(key)
        if found is not None:
            return found
        chunk = self._chunk(key)
        return None if chunk is None else self._encoded(*chunk)

    def _chunk(self, key: str) -> tuple[str, tuple[int, ...]] | None:
        """The path of the array of a chunk's key, and its coordinates."""
        for path in self.tables:
            begin = f"{path}/" if path else ""
            if not key.startswith(begin):
                continue
            metadata = self._metadata(path)
            numbers = _NUMBER.findall(key[len(begin) :])
            coords = tuple(map(int, numbers[max(0, len(numbers) - len(metadata.shape)) :]))
            if len(coords) != len(metadata.shape):
                continue
            grid = zip(metadata.grid, metadata.shape, strict=True)
            counts = (axis.count(size) for axis, size in grid)
            is_inside = all(n < count for n, count in zip(coords, counts, strict=True))
            if is_inside and key_of(path, chunk_key(metadata, coords)) == key:
                return path, coords
        return None

    def _metadata(self, path: str) -> ArrayMetadata:
        found = self._parsed.get(path)
        if found is None:
            key = key_of(path, ZARR_JSON)
            found = self._parsed[path] = v3.parse_array(self._values[key], key)
        return found

    def _encoded(self, path: str, coords: tuple[int, ...]) -> bytes:
        """A chunk for those who copy keys, and not elements; reads do not come here."""
        metadata = self._metadata(path)
        extents = [axis.chunk(n) for axis, n in zip(metadata.grid, coords, strict=True)]
        lengths = [extent.end - extent.begin for extent in extents]
        document = dict(json_loads(self._values[key_of(path, ZARR_JSON)]))
        document["shape"] = lengths
        document["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": lengths}}
        scratch = MemoryStore()
        scratch[ZARR_JSON] = json_dumps(document)
        one = Array(scratch, write_empty_chunks=True)
        region = metadata.chunk_region(coords)
        one[tuple(slice(0, part.stop - part.start) for part in region)] = self.array(path)[region]
        return bytes(scratch[chunk_key(metadata_of(one), (0,) * len(coords))])

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._forbid_changes()

    def _drop(self, key: str, fsync: bool) -> bool:
        self._forbid_changes()
        return False

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/" if prefix else ""
        found = [key for key in self._values if key.startswith(start)]
        for path in self.tables:
            if f"{path}/".startswith(start) or not path or path == prefix:
                chunks = self._array_io(path, self._metadata(path)).stored_chunks()
                keys = (key for key, _ in chunks)
                found += [key for key in keys if key.startswith(start)]
        return found

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """The document of an array, or the members of a group: chunks are not looked at."""
        start = f"{prefix}/" if prefix else ""
        inside = [key[len(start) :] for key in self._values if key.startswith(start)]
        if prefix in self.tables or any(prefix.startswith(f"{path}/") for path in self.tables):
            return super()._list_dir(prefix)
        return (
            [key for key in inside if "/" not in key],
            sorted({key.partition("/")[0] for key in inside if "/" in key}),
        )

    def _sites(self, path: str) -> list[Site]:
        """The document, and everything that has pieces."""
        found = of_file(self.path) if self.path else super()._sites(path)
        return [*found, *self.opener.sites()]

    def _label(self) -> str:
        return repr(self.path) if self.path else f"of {len(self.tables)} arrays"

    def __reduce__(self) -> Any:
        return VirtualStore, (self._values, self.tables, self.opener, self.path)
