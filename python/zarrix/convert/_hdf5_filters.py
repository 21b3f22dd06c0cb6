"""The filters of HDF5 as codecs of Zarr v2, and the chunks of a dataset as bytes of its file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._source import Encoded, OpenFile, Part

__all__ = ["Filters", "encoded_chunks"]

_BLOSC = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_NAMES = {
    4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf", 32004: "lz4 (a framing of its own)",
    32008: "bitshuffle", 32013: "zfp", 32026: "blosc2",
}  # fmt: skip
# A codec makes no chunk longer than this multiple of its decoded bytes, and some for its header.
_MOST_EXPANSION = 2
_HEADER = 4096


@dataclass
class Filters:
    """The pipeline of a dataset.

    Attributes
    ----------
    codecs : list of dict
        The configuration of each filter as a codec of numcodecs, in the order of encoding.
    unknown : str
        Why the chunks cannot be kept; empty if all filters are codecs.
    """

    codecs: list[dict[str, Any]] = field(default_factory=list)
    unknown: str = ""

    @classmethod
    def of(cls, dataset: Any) -> Filters:
        """The pipeline of a dataset of h5py."""
        properties = dataset.id.get_create_plist()
        made = cls()
        for index in range(properties.get_nfilters()):
            code, _, values, _ = properties.get_filter(index)
            codec = _codec(code, values, dataset.dtype.itemsize)
            if codec is None:
                name = _NAMES.get(code, str(code))
                made.unknown = f"its filter {name} is not a codec of Zarr"
                return made
            made.codecs.append(codec)
        return made

    def split(self) -> tuple[list[dict[str, Any]] | None, dict[str, Any] | None]:
        """The filters and the compressor of v2."""
        if self.codecs and self.codecs[-1]["id"] in ("zlib", "blosc", "zstd", "bz2"):
            return self.codecs[:-1] or None, self.codecs[-1]
        return self.codecs or None, None


def _codec(code: int, values: Any, itemsize: int) -> dict[str, Any] | None:
    match code:
        case 1:
            return {"id": "zlib", "level": int(values[0]) if values else 1}
        case 2:
            return {"id": "shuffle", "elementsize": int(values[0]) if values else itemsize}
        case 3:
            return {"id": "fletcher32"}
        case 307:
            return {"id": "bz2", "level": int(values[0]) if values else 9}
        case 32015:
            return {"id": "zstd", "level": int(values[0]) if values else 3}
        case 32001:
            level, shuffle, name = (*values[4:7], *(5, 1, 0)[max(0, len(values) - 4) :])[:3]
            if name >= len(_BLOSC):
                return None
            return {
                "id": "blosc", "cname": _BLOSC[name], "clevel": int(level),
                "shuffle": int(shuffle), "blocksize": 0,
            }  # fmt: skip
    return None


def encoded_chunks(dataset: Any, file: OpenFile, filters: Filters) -> Encoded:
    """The chunks of a dataset; their index is read when it is first used."""
    chunks = _Chunks(dataset, file, filters)
    split = filters.split()
    return Encoded(tuple(dataset.chunks), *split, file, chunks.parts, chunks.find)


class _Chunks:
    """Where each chunk is, and which filters it lacks."""

    def __init__(self, dataset: Any, file: OpenFile, filters: Filters) -> None:
        self._dataset, self._file, self._filters = dataset, file, filters
        self._extent = tuple(dataset.chunks)
        self._nbytes = math.prod(self._extent) * dataset.dtype.itemsize
        self._index: dict[tuple[int, ...], tuple[int, int, int]] | None = None
        self._raw_edges: bool | None = None

    def _indexed(self) -> dict[tuple[int, ...], tuple[int, int, int]]:
        if self._index is None:
            index: dict[tuple[int, ...], tuple[int, int, int]] = {}
            most = self._nbytes * _MOST_EXPANSION + _HEADER

            def note(info: Any) -> None:
                coords = tuple(
                    at // n for at, n in zip(info.chunk_offset, self._extent, strict=True)
                )
                if info.size > most or info.byte_offset is None:
                    raise ConversionError(
                        f"{self._file.path}: a chunk of {self._dataset.name} has {info.size} "
                        f"bytes, more than {self._nbytes} bytes can become"
                    )
                index[coords] = (info.byte_offset, info.size, info.filter_mask)

            self._dataset.id.chunk_iter(note)
            self._index = index
        return self._index

    def parts(self) -> Iterator[Part]:
        """Every stored chunk, in the order of the file."""
        index = self._indexed()
        for coords in sorted(index, key=lambda one: index[one][0]):
            part = self.find(coords)
            if part is not None:
                yield part

    def find(self, coords: tuple[int, ...]) -> Part | None:
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

    def _is_edge(self, coords: tuple[int, ...]) -> bool:
        sides = zip(coords, self._extent, self._dataset.shape, strict=True)
        return any((i + 1) * n > length for i, n, length in sides)

    def _edges_are_raw(self, coords: tuple[int, ...]) -> bool:
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
