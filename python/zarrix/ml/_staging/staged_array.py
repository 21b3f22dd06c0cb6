"""An array in a stage: which of its units are there, and how others get there."""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from zarrix import _engine
from zarrix._array.access import ArrayOptions, io_of, location_of, opened_at
from zarrix._array.array import Array
from zarrix._metadata.array import ArrayMetadata
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node
from zarrix._selection.values import fill_element
from zarrix._stores.identity import identity
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.memory import MemoryStore
from zarrix.ml._order.random import Ints
from zarrix.ml._staging.folder import LAYERS, Folder
from zarrix.ml._staging.layout import UnitLayout, document_of

__all__ = ["SOURCE", "StagedArray"]

#: The layer of what is read from its source.
SOURCE = 255
_UNKNOWN = 0
_VERSION = 1
# Decoded bytes of units that are staged together.
_GROUP_BYTES = 64 << 20
_MARK = b"zarrix-stage"
_END = struct.Struct("<II12s")
_MOST_NOTE = 4096
# A file that was changed less long ago may change again without another time.
_TICK_NS = 20_000_000


class _Open(NamedTuple):
    """What one process has of a staged array."""

    pid: int
    folder: str
    ios: list[_engine.ArrayIO]
    # SOURCE or 1 + the layer of each unit, where that is known for good.
    known: Any
    # The generation of each unit in each layer, by what its files say.
    noted: dict[int, list[str | None]]
    # The units whose first layer was noted to be stale.
    stale: set[int]


class StagedArray:
    """The units of one array that a stage has; threads and processes may share it."""

    def __init__(
        self,
        array: Array,
        metadata: ArrayMetadata,
        layout: UnitLayout,
        folder: Folder,
        codec: str,
        is_frozen: bool,
    ) -> None:
        self.metadata, self.layout = metadata, layout
        self._array, self._folder, self._is_frozen = array, folder, is_frozen
        store, path, _, chunks = location_of(array)
        chunks = store if chunks is None else chunks
        self._prefix = chunks.engine_path(path)
        self._document = document_of(metadata, layout, codec)
        about = {
            "version": _VERSION,
            "source": [*identity(chunks), path],
            "metadata": metadata.to_dict(),
            "codec": codec,
        }
        self._about = json.dumps(about, default=str, sort_keys=True, indent=1).encode()
        self.name = blake2b(self._about + self._document, digest_size=16).hexdigest()
        self._opened: _Open | None = None
        #: How many windows were read from the stage.
        self.windows = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def open(self) -> _Open:
        """The folder of the array, made if it is missing; again in a forked child."""
        opened = self._opened
        if opened is not None and opened.pid == os.getpid():
            return opened
        self._folder.open()
        documents = {"array.json": self._about}
        documents |= {f"{layer}/{ZARR_JSON}": self._document for layer in range(LAYERS)}
        folder = self._folder.use(self.name, documents)
        ios = [
            io_of(self._staged(Location(LocalStore(os.path.join(folder, str(layer))))))
            for layer in range(LAYERS)
        ]
        known = np.zeros(int(np.prod(self.layout.counts)), np.uint8)
        opened = _Open(os.getpid(), folder, ios, known, {}, set())
        self._opened = opened
        return opened

    def _staged(self, location: Location) -> Array:
        options = ArrayOptions(is_detached=True, write_empty_chunks=True, read_missing_chunks=False)
        return opened_at(location, Node(3, "array", self._document), options)

    def io(self, layer: int) -> _engine.ArrayIO:
        """The engine's array of a layer."""
        return self.open().ios[layer]

    def layers_of(self, units: Ints, cancel: Any = None, threads: int = 0) -> Any:
        """The layer that has each of these different units, staged now if it was in none.

        `SOURCE` where none has it: it is missing, damaged, too new, or there is no room.
        """
        opened = self.open()
        known = opened.known[units]
        if self._is_frozen and known.all():
            return np.where(known == SOURCE, SOURCE, known - 1)
        found: Any = np.full(len(units), SOURCE, np.uint8)
        missing: list[tuple[int, int, str, int]] = []
        tags: dict[str, str | None] = {}
        for place, unit in enumerate(units.tolist()):
            if known[place] == SOURCE or (known[place] and self._is_frozen):
                found[place] = SOURCE if known[place] == SOURCE else known[place] - 1
                continue
            key = self._source_key(unit)
            if key not in tags:
                tags[key] = self._tag(key)
            tag = tags[key]
            if tag is None:
                # A missing chunk is the fill value, which nothing has to decode.
                self._note_known(opened, unit, SOURCE - 1)
                continue
            layer, is_staged = self._look(opened, unit, tag)
            if is_staged:
                found[place] = layer
                self._note_known(opened, unit, layer)
            elif layer < LAYERS and not self._folder.is_refused and _is_settled(tag):
                missing.append((place, unit, tag, layer))
        for group in _groups(missing, self._unit_bytes):
            self._stage(opened, group, found, cancel, threads)
        return found

    @property
    def _unit_bytes(self) -> int:
        return int(np.prod(self.layout.unit)) * self.metadata.dtype.itemsize

    def _note_known(self, opened: _Open, unit: int, layer: int) -> None:
        if self._is_frozen:
            opened.known[unit] = 1 + layer

    def damaged(self, units: Ints) -> None:
        """Read units from their source from now on: what the stage has of them is damaged."""
        opened = self.open()
        for unit in units.tolist():
            layer = int(opened.known[unit]) - 1
            noted = opened.noted.pop(unit, [])
            for number in {layer, *range(len(noted))}:
                if 0 <= number < LAYERS:
                    self._folder.drop(self._path(opened, unit, number))
            opened.known[unit] = SOURCE

    def forget(self) -> None:
        """Look at the folder anew: something else changed it."""
        self._opened = None

    # Units

    def coordinates(self, unit: int) -> tuple[int, ...]:
        """The coordinates of a unit on the grid of units."""
        return tuple(int(n) for n in np.unravel_index(unit, self.layout.counts))

    def _source_key(self, unit: int) -> str:
        """The key, in the source, of the chunk or shard of a unit."""
        coords = [
            n // count
            for n, count in zip(self.coordinates(unit), self.layout.per_value, strict=True)
        ]
        return key_of(self._prefix, self.metadata.encode_chunk_key(coords))

    def _tag(self, key: str) -> str | None:
        """What tells the generation of a value of the source; None if it is missing."""
        store, _, _, chunks = location_of(self._array)
        found = (store if chunks is None else chunks)._engine.head(key)
        return None if found is None else f"{found[0]}-{found[1]}"

    def _name(self, unit: int) -> str:
        return ".".join(["c", *map(str, self.coordinates(unit))])

    def _path(self, opened: _Open, unit: int, layer: int) -> str:
        return os.path.join(opened.folder, str(layer), self._name(unit))

    def _look(self, opened: _Open, unit: int, tag: str) -> tuple[int, bool]:
        """The layer of a unit of this generation and True, or the first free layer and False."""
        noted = opened.noted.setdefault(unit, [])
        if tag in noted:
            return noted.index(tag), True
        # Other processes may have added layers.
        while len(noted) < LAYERS:
            layer = len(noted)
            if layer and unit not in opened.stale:
                opened.stale.add(unit)
                self._folder.note_stale(self.name, self._name(unit))
            note = self._note_of(self._path(opened, unit, layer), unit)
            if note is None:
                return layer, False
            noted.append(note)
            if note == tag:
                return layer, True
        return LAYERS, False

    def _note_of(self, path: str, unit: int) -> str | None:
        """The generation that a staged file says it is of; None if there is no file."""
        try:
            with open(path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _MOST_NOTE))
                tail = file.read()
        except OSError:
            return None
        return _note_in(tail, self.name, unit)

    # Staging

    def _stage(
        self,
        opened: _Open,
        group: list[tuple[int, int, str, int]],
        layers: Any,
        cancel: Any,
        threads: int,
    ) -> None:
        """Decode units of the source by one call, and store those that did not change meanwhile."""
        shape = np.array(self.layout.unit, np.int64)
        starts = np.array([self.coordinates(unit) for _, unit, _, _ in group], np.int64) * shape
        values = np.empty((len(group), *self.layout.unit), self.metadata.dtype)
        padding = fill_element(self.metadata.dtype, self.metadata.fill_value).tobytes()
        native: Any = (io_of(self._array), starts, values, "pad", padding, None, None)
        failures = _engine.read_many([native], tolerate=True, cancel=cancel, threads=threads)
        failed = {window for _, window, _, _ in failures}
        tags: dict[str, str | None] = {}
        for number, (place, unit, tag, layer) in enumerate(group):
            if number in failed:
                continue
            key = self._source_key(unit)
            if not self._is_frozen and key not in tags:
                tags[key] = self._tag(key)
            if tags.get(key, tag) != tag:
                continue
            value = self._encoded(starts[number], values[number]) + _note(self.name, unit, tag)
            if not self._folder.put(self._path(opened, unit, layer), value):
                return
            # Another process may have stored another generation under the name.
            layer, is_staged = self._look(opened, unit, tag)
            if is_staged:
                layers[place] = layer
                self._note_known(opened, unit, layer)

    def _encoded(self, start: Ints, value: Any) -> bytes:
        """The bytes of a unit as a value of the staged array."""
        store = MemoryStore()
        ends = np.minimum(start + value.shape, self.metadata.shape)
        inside = tuple(slice(0, int(n)) for n in ends - start)
        region = tuple(slice(int(a), int(b)) for a, b in zip(start, ends, strict=True))
        self._staged(Location(store))[region] = value[inside]
        coords = start // np.array(self.layout.unit)
        return bytes(store[".".join(["c", *map(str, coords.tolist())])])


def _is_settled(tag: str) -> bool:
    """Whether a file was changed long enough ago that another change would show in its tag."""
    time_of_file, _, _ = tag.partition("-")[2].partition("-")
    try:
        changed = int(time_of_file, 16)
    except ValueError:
        # An ETag, which is of the content.
        return True
    return not 0 <= time.time_ns() - changed < _TICK_NS


def _groups(units: list[Any], size: int) -> list[list[Any]]:
    """The units in groups that are decoded together."""
    count = max(1, _GROUP_BYTES // size)
    return [units[first : first + count] for first in range(0, len(units), count)]


def _note(name: str, unit: int, tag: str) -> bytes:
    """What follows the value of a unit in its file."""
    text = json.dumps([name, unit, tag]).encode()
    return text + _END.pack(len(text), zlib.crc32(text), _MARK)


def _note_in(tail: bytes, name: str, unit: int) -> str:
    """The generation in the last bytes of a file; empty, which none is, if they are not a note."""
    if len(tail) < _END.size:
        return ""
    length, checksum, mark = _END.unpack(tail[-_END.size :])
    text = tail[: -_END.size][-length:] if 0 < length <= len(tail) - _END.size else b""
    if mark != _MARK or zlib.crc32(text) != checksum:
        return ""
    of, number, tag = json.loads(text)
    return str(tag) if (of, number) == (name, unit) else ""
