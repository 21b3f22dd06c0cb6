"""The chunks of a dataset of HDF5 as bytes of its file, at the coordinates that they have.

What the library lists is not taken as it is. For an index of the newest format whose unlimited axis
is not the first, HDF5 (2.0 and before) counts the chunks along another order of axes; and before
2.0 it counts offsets from behind the block of the user that MATLAB's files begin with. Where either
may be, the bytes at a listed position are compared with those that the library reads at the
coordinates, until only one reading of the list is possible.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._hdf5_filters import Filters
from zarrix.convert._source import Encoded, OpenFile, Part

__all__ = ["Chunks"]

# A codec makes no chunk longer than this multiple of its decoded bytes, and some for its header.
_MOST_EXPANSION = 2
_HEADER = 4096
# Deflate makes nothing smaller than by this.
_DEFLATE_RATIO = 1040

Coords = tuple[int, ...]


class _Listed(NamedTuple):
    """A chunk as the library lists it."""

    coords: Coords
    offset: int
    size: int
    mask: int


class Chunks:
    """Where each chunk is, and which filters it lacks; the index is read when it is first used."""

    def __init__(self, dataset: Any, file: OpenFile, filters: Filters) -> None:
        self._dataset, self._file, self._filters = dataset, file, filters
        self._extent: Coords = tuple(dataset.chunks)
        self._nbytes = math.prod(self._extent) * dataset.id.get_type().get_size()
        self._index: dict[Coords, tuple[int, int, int]] | None = None
        self._raw_edges: bool | None = None

    def encoded(self) -> Encoded:
        """The chunks as those of an array of v2."""
        split = self._filters.split()
        return Encoded(self._extent, *split, self._file, self.parts, self.find)

    def stored(self) -> Iterable[Coords]:
        """The coordinates of the chunks that are stored."""
        return self._indexed().keys()

    def _indexed(self) -> dict[Coords, tuple[int, int, int]]:
        if self._index is None:
            listed = self._listed()
            base, is_turned = self._reading(listed)
            grid = [-(-n // one) for n, one in zip(self._dataset.shape, self._extent, strict=True)]
            index = {}
            for one in listed:
                coords = self._turned(one.coords) if is_turned else one.coords
                if all(i < n for i, n in zip(coords, grid, strict=True)):
                    index[coords] = (one.offset + base, one.size, one.mask)
            self._index = index
        return self._index

    def _listed(self) -> list[_Listed]:
        listed: list[_Listed] = []

        def note(info: Any) -> None:
            coords = tuple(at // n for at, n in zip(info.chunk_offset, self._extent, strict=True))
            self._check(coords, info)
            listed.append(_Listed(coords, info.byte_offset, info.size, info.filter_mask))

        try:
            self._dataset.id.chunk_iter(note)
        except (OSError, RuntimeError, KeyError) as error:
            raise ConversionError(
                f"{self._file.path}: the chunks of {self._dataset.name} cannot be listed: {error}"
            ) from None
        return listed

    def _check(self, coords: Coords, info: Any) -> None:
        """Refuse a chunk whose bytes are not in the file, or which cannot become a chunk."""
        told = f"{self._file.path}: the chunk {coords} of {self._dataset.name}"
        if info.byte_offset is None or info.byte_offset + info.size > self._file.size:
            raise ConversionError(f"{told} ends behind the file, which has {self._file.size} bytes")
        if self._filters.unknown:
            return
        if info.size > self._nbytes * _MOST_EXPANSION + _HEADER:
            raise ConversionError(
                f"{told} has {info.size} bytes, more than {self._nbytes} bytes can become"
            )
        kinds = {one["id"] for one in self._filters.codecs} - {"shuffle", "fletcher32"}
        ratio = {frozenset(): 1, frozenset({"zlib"}): _DEFLATE_RATIO}.get(frozenset(kinds))
        if ratio is not None and self._nbytes > info.size * ratio + (_HEADER if ratio > 1 else 0):
            raise ConversionError(
                f"{told} has {info.size} bytes, which do not decode to {self._nbytes}"
            )

    def _reading(self, listed: list[_Listed]) -> tuple[int, bool]:
        """What is added to offsets, and whether coordinates are turned."""
        userblock = int(self._dataset.file.userblock_size)
        turns = (False, True) if self._may_be_turned() else (False,)
        possible = [*itertools.product({0, userblock}, turns)]
        for one in listed:
            told = {
                (base, turned): (base, self._turned(one.coords) if turned else one.coords)
                for base, turned in possible
            }
            if len({*told.values()}) == 1:
                continue
            possible = [each for each in possible if self._is_at(one, *told[each])]
            if len(possible) == 1:
                break
        if not possible:
            raise ConversionError(
                f"{self._file.path}: the chunks of {self._dataset.name} are not where HDF5 lists "
                "them; read it with h5py"
            )
        return possible[0]

    def _is_at(self, listed: _Listed, base: int, coords: Coords) -> bool:
        """Whether the library reads the bytes of the file at these coordinates."""
        if listed.offset + base + listed.size > self._file.size:
            return False
        try:
            at = tuple(i * n for i, n in zip(coords, self._extent, strict=True))
            _, value = self._dataset.id.read_direct_chunk(at)
        except (OSError, RuntimeError, ValueError, KeyError):
            return False
        return bool(bytes(value) == self._file.read(listed.offset + base, listed.size))

    def _unlimited(self) -> list[int]:
        return [axis for axis, most in enumerate(self._dataset.maxshape) if most is None]

    def _may_be_turned(self) -> bool:
        found = self._unlimited()
        return len(found) == 1 and found[0] > 0

    def _turned(self, coords: Coords) -> Coords:
        """The coordinates of a chunk that is listed as if its unlimited axis were not the first.

        The library stores chunks with the unlimited axis first, and counts them along the axes as
        they are, none of which it counts beyond its greatest length.
        """
        (free,) = self._unlimited()
        most = [
            0 if n is None else -(-n // one)
            for n, one in zip(self._dataset.maxshape, self._extent, strict=True)
        ]
        number = 0
        for axis, (i, n) in enumerate(zip(coords, most, strict=True)):
            number = number * (n if axis != free else 1) + i
        found = [0] * len(coords)
        for axis in reversed(range(len(coords))):
            if axis != free:
                number, found[axis] = divmod(number, max(1, most[axis]))
        found[free] = number
        return tuple(found)

    def parts(self) -> Iterator[Part]:
        """Every stored chunk, in the order of the file."""
        index = self._indexed()
        for coords in sorted(index, key=lambda one: index[one][0]):
            part = self.find(coords)
            if part is not None:
                yield part

    def find(self, coords: Coords) -> Part | None:
        """One chunk; its bytes are made anew if some filters were left out."""
        found = self._indexed().get(coords)
        if found is None:
            return None
        offset, size, mask = found
        if mask == 0 and not (self._is_edge(coords) and self._edges_are_raw(coords)):
            return Part(coords, offset, size)
        raw = self._file.read(offset, size)
        if mask == 0:
            mask = (1 << len(self._filters.codecs)) - 1
        return Part(coords, offset, size, self._encoded_by_all(raw, mask))

    def _is_edge(self, coords: Coords) -> bool:
        sides = zip(coords, self._extent, self._dataset.shape, strict=True)
        return any((i + 1) * n > length for i, n, length in sides)

    def _edges_are_raw(self, coords: Coords) -> bool:
        """Whether chunks at the edge are stored without filters, although their mask is 0.

        HDF5 has an option for that, which h5py cannot read: one chunk is compared with what the
        library reads.
        """
        if self._raw_edges is None:
            self._raw_edges = False
            offset, size, _ = self._indexed()[coords]
            if self._filters.codecs and size == self._nbytes:
                stored = np.frombuffer(self._file.read(offset, size), self._dataset.dtype)
                region = tuple(
                    slice(i * n, min((i + 1) * n, length))
                    for i, n, length in zip(coords, self._extent, self._dataset.shape, strict=True)
                )
                inside = tuple(slice(0, one.stop - one.start) for one in region)
                raw = stored.reshape(self._extent)[inside]
                self._raw_edges = raw.tobytes() == self._dataset[region].tobytes()
        return self._raw_edges

    def _encoded_by_all(self, value: bytes, mask: int) -> bytes:
        """A chunk that lacks the filters of ``mask``, with all filters."""
        # Import time: such chunks are rare.
        from zarrix._codecs.numcodecs_names import get_codec

        codecs = [get_codec(dict(one)) for one in self._filters.codecs]
        try:
            for index, codec in reversed(list(enumerate(codecs))):
                if not mask >> index & 1:
                    value = bytes(memoryview(codec.decode(value)).cast("B"))
                    if len(value) > 2 * self._nbytes + _HEADER:
                        raise ValueError(f"it becomes longer than {self._nbytes} bytes")
        except (ValueError, RuntimeError, OSError) as error:
            raise ConversionError(
                f"{self._file.path}: a chunk of {self._dataset.name} cannot be decoded: {error}"
            ) from None
        if len(value) != self._nbytes:
            raise ConversionError(
                f"{self._file.path}: a chunk of {self._dataset.name} decodes to {len(value)} "
                f"bytes, and not to {self._nbytes}"
            )
        for codec in codecs:
            value = bytes(memoryview(codec.encode(value)).cast("B"))
        return value
