"""`read_encoded`: the encoded bytes that a selection needs, and a table of how they are decoded.

The table has three steps, each of which a device can do at once for all rows: decompress streams,
unshuffle blocks, and copy the selected part of each chunk to its place. What a device has no
decoder for is decoded here, by the engine, and is a stream without a codec.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.access import current_snapshot, is_made_of_boxes, location_of, options_of
from zarrix._array.array import Array
from zarrix._array.open_array import open_array
from zarrix._errors import CorruptChunkError
from zarrix._selection.basic import parse_basic
from zarrix._selection.values import fill_element
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix._stores.memory import MemoryStore
from zarrix.ml._reading.blosc_streams import Frame, Stream, streams_of

__all__ = ["EncodedBlocks", "read_encoded"]

_ALIGNED = 16
_STREAM = [("codec", "U8"), *((name, "i8") for name in Stream._fields[1:])]
_PART = ("shape", "order", "start", "count", "target")
_BLOCK = [("shuffle", "U4"), ("begin", "i8"), ("bytes", "i8"), ("itemsize", "i8")]


@dataclass(frozen=True, eq=False)
class EncodedBlocks:
    """Encoded bytes of a selection, and how they become its elements.

    Decoded streams go to a buffer of ``decoded_bytes``; its blocks are unshuffled one by one; and
    then a box of each chunk is copied to the result. Checksums are not part of the table.

    Attributes
    ----------
    data : array of uint8
        All encoded bytes: ``into``, or new memory.
    nbytes : int
        How many of ``data`` are used.
    streams : structured array
        ``codec`` ("zstd", "lz4", "deflate" without a header, or "none"), ``source`` and
        ``source_bytes`` in ``data``, ``destination`` and ``destination_bytes`` in the buffer.
    blocks : structured array
        ``shuffle`` ("byte" or "bit"), ``begin`` and ``bytes`` in the buffer, and ``itemsize``.
        Bytes behind the last whole element stay where they are.
    parts : structured array
        ``begin`` of a chunk in the buffer, -1 for one that is missing and has ``fill_value``; its
        ``shape`` and the ``order`` of its axes in the buffer; ``start`` and ``count`` of the
        selected box in it, and ``target``, where that begins in the result.
    shape : tuple of int
        Of the result; ``box`` has the axes that integers select, too.
    box : tuple of int
    dtype : dtype
    fill_value : ndarray
        Without axes.
    decoded_bytes : int

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.arange(100), chunks=50, compressor=None)
    >>> encoded = ml.read_encoded(z, np.s_[40:60])
    >>> encoded.streams["codec"].tolist(), encoded.nbytes
    (['none', 'none'], 800)
    """

    __module__ = "zarrix.ml"

    data: npt.NDArray[np.uint8]
    nbytes: int
    streams: npt.NDArray[Any]
    blocks: npt.NDArray[Any]
    parts: npt.NDArray[Any]
    shape: tuple[int, ...]
    box: tuple[int, ...]
    dtype: np.dtype[Any]
    fill_value: npt.NDArray[Any]
    decoded_bytes: int


class _Chunk(NamedTuple):
    """A chunk that a selection touches: its box, and what of it is selected."""

    coords: tuple[int, ...]
    begins: tuple[int, ...]
    shape: tuple[int, ...]
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    targets: tuple[int, ...]


class _Chain(NamedTuple):
    """Codecs that a device can undo: the order of axes, a shuffle of elements, a compressor."""

    order: tuple[int, ...]
    itemsize: int
    compressor: str


def read_encoded(array: Array, selection: Any = ..., *, into: Any = None) -> EncodedBlocks:
    """Read what a selection needs without decoding it, and say how to decode it elsewhere.

    It is the basis of decoding on a device: zstd, LZ4 and deflate, in chunks, in inner chunks of
    shards and in the blocks of Blosc, with their shuffles. Chunks of other codecs, of codecs with
    checksums and of numbers in the byte order of other machines are decoded here.

    Parameters
    ----------
    array : Array
        Not a view, and of fixed-size elements.
    selection : int, slice with a step of 1, Ellipsis, or a tuple of these
    into : writable buffer of bytes, optional
        What encoded bytes are put into, such as page-locked memory. New memory when omitted.

    Returns
    -------
    EncodedBlocks

    Raises
    ------
    TypeError
        ``array`` is a view, or has variable-length elements.
    ValueError
        The selection has a step or new axes, or ``into`` is too small.
    CorruptChunkError
        The index of a shard, or a chunk that is decoded here, is damaged.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.arange(100), chunks=50)
    >>> encoded = ml.read_encoded(z, np.s_[40:60], into=bytearray(4096))
    >>> encoded.shape, len(encoded.parts), encoded.data.nbytes
    ((20,), 2, 4096)
    """
    is_view = options_of(array).cast_to is not None or is_made_of_boxes(array) or array.is_view
    if is_view or array.dtype.kind in "OT":
        raise TypeError("read_encoded takes arrays of fixed-size elements that are not views")
    axes, shape, new_axes = parse_basic(selection, array.shape)
    ranges = [(axis, 1, 1) if isinstance(axis, int) else axis for axis in axes]
    if new_axes or any(step != 1 and count > 1 for _, step, count in ranges):
        raise ValueError("read_encoded takes integers and slices with a step of 1")
    reading = _Reading(array, into)
    for chunk in reading.chunks([(start, count) for start, _, count in ranges]):
        reading.add(chunk)
    return reading.result(shape, tuple(count for _, _, count in ranges))


class _Reading:
    """One call: the table as far as it is made."""

    def __init__(self, array: Array, into: Any) -> None:
        self._snapshot = current_snapshot(array)
        self._metadata = self._snapshot.metadata
        store, path, _, chunks = location_of(array)
        chunks = store if chunks is None else chunks
        self._engine: Any = chunks._engine
        self._prefix = chunks.engine_path(path)
        self._into = None if into is None else np.frombuffer(into, np.uint8)
        self._data: list[bytes] = []
        self._at = self._decoded = 0
        self._streams: list[tuple[Any, ...]] = []
        self._blocks: list[tuple[Any, ...]] = []
        self._parts: list[tuple[Any, ...]] = []
        shard = self._metadata.shard_codec
        codecs = self._metadata.codecs if shard is None else shard["codecs"]
        self._chain = _chain_of(codecs, self._metadata.dtype, self._metadata.ndim)
        self._shard = None if shard is None else _Shard.of(shard, self._metadata)
        if shard is not None and self._shard is None:
            self._chain = None
        self._indexes: dict[str, Any] = {}

    def chunks(self, ranges: Sequence[tuple[int, int]]) -> Iterator[_Chunk]:
        """The chunks, or inner chunks, that a box touches."""
        along = []
        for grid, (start, count) in zip(self._metadata.inner_grid, ranges, strict=True):
            extents, at = [], start
            while at < start + count:
                extent = grid.find(at)
                end = min(extent.end, start + count)
                length = extent.end - extent.begin
                extents.append(
                    (extent.chunk, extent.begin, length, at - extent.begin, end - at, at - start)
                )
                at = end
            along.append(extents)
        for each in product(*along):
            yield _Chunk(*zip(*each, strict=True)) if each else _Chunk((), (), (), (), (), ())

    def add(self, chunk: _Chunk) -> None:
        """Put a chunk into the table."""
        size = math.prod(chunk.shape) * self._metadata.dtype.itemsize
        value = None if self._chain is None else self._encoded(chunk)
        frame = None
        if self._chain is not None:
            if value is None:
                self._part(chunk, -1, chunk.shape, self._chain.order, chunk.starts)
                return
            frame = _frame_of(value, self._chain, size)
        if frame is None or value is None or self._chain is None:
            self._add_decoded(chunk)
            return
        begin = self._begin(size)
        for codec, source, source_bytes, destination, count in frame.streams:
            self._streams.append(
                (codec, self._at + source, source_bytes, begin + destination, count)
            )
        for at in range(0, size if frame.shuffle != "none" else 0, frame.block_bytes):
            length = min(frame.block_bytes, size - at)
            if frame.shuffle == "bit" and length // frame.itemsize % 8:
                # Blosc leaves it as it is.
                continue
            self._blocks.append((frame.shuffle, begin + at, length, frame.itemsize))
        self._put(value)
        self._part(chunk, begin, chunk.shape, self._chain.order, chunk.starts)

    def _add_decoded(self, chunk: _Chunk) -> None:
        """The selected box of a chunk, decoded by the engine."""
        values: Any = np.empty(chunk.counts, self._metadata.dtype)
        axes = tuple(
            (begin + start, 1, count)
            for begin, start, count in zip(chunk.begins, chunk.starts, chunk.counts, strict=True)
        )
        self._snapshot.io.read(axes, values)
        begin = self._begin(values.nbytes)
        self._streams.append(("none", self._at, values.nbytes, begin, values.nbytes))
        self._put(values.tobytes())
        zeros = (0,) * len(chunk.counts)
        self._part(chunk, begin, chunk.counts, tuple(range(len(zeros))), zeros)

    def _begin(self, size: int) -> int:
        begin = self._decoded
        self._decoded += -(-size // _ALIGNED) * _ALIGNED
        return begin

    def _put(self, value: bytes) -> None:
        end = self._at + len(value)
        if self._into is None:
            self._data.append(value)
        elif end > len(self._into):
            raise ValueError(f"into= has {len(self._into)} bytes, and more than {end} are needed")
        else:
            self._into[self._at : end] = np.frombuffer(value, np.uint8)
        self._at = end

    def _part(self, chunk: _Chunk, begin: int, shape: Any, order: Any, starts: Any) -> None:
        self._parts.append((begin, shape, order, starts, chunk.counts, chunk.targets))

    def _encoded(self, chunk: _Chunk) -> bytes | None:
        """The stored bytes of a chunk or an inner chunk; None if it is missing."""
        shard = self._shard
        if shard is None:
            key = self._metadata.encode_chunk_key(chunk.coords)
            found: bytes | None = self._engine.get(key_of(self._prefix, key))
            return found
        coords = [n // m for n, m in zip(chunk.coords, shard.inner, strict=True)]
        key = key_of(self._prefix, self._metadata.encode_chunk_key(coords))
        if key not in self._indexes:
            self._indexes[key] = shard.read_index(self._engine, key)
        index = self._indexes[key]
        if index is None:
            return None
        inside = tuple(n % m for n, m in zip(chunk.coords, shard.inner, strict=True))
        offset, length = (int(n) for n in index[inside])
        if offset == length == 2**64 - 1:
            return None
        value: bytes | None = self._engine.get_slice(key, offset, offset + length)
        if value is None or len(value) != length:
            raise CorruptChunkError(f"{key}: the index of the shard leads out of it")
        return value

    def result(self, shape: tuple[int, ...], box: tuple[int, ...]) -> EncodedBlocks:
        metadata = self._metadata
        data = self._into
        if data is None:
            data = np.frombuffer(b"".join(self._data), np.uint8)
        axes = (len(box),)
        part = [("begin", "i8"), *((name, "i8", axes) for name in _PART)]
        return EncodedBlocks(
            data,
            self._at,
            np.array(self._streams, _STREAM),
            np.array(self._blocks, _BLOCK),
            np.array(self._parts, part),
            shape,
            box,
            metadata.dtype,
            fill_element(metadata.dtype, metadata.fill_value),
            self._decoded,
        )


class _Shard(NamedTuple):
    """How many inner chunks a shard has along each axis, and where its index is."""

    inner: tuple[int, ...]
    is_at_end: bool
    codecs: list[Any]
    index_bytes: int

    @classmethod
    def of(cls, shard: Mapping[str, Any], metadata: Any) -> _Shard | None:
        """None if the index has codecs of which the length is not known here."""
        codecs = list(shard["index_codecs"])
        names = [codec["name"] for codec in codecs]
        if names not in (["bytes"], ["bytes", "crc32c"]) or not all(g.even for g in metadata.grid):
            return None
        counts = tuple(
            axis.even // length
            for axis, length in zip(metadata.grid, shard["chunk_shape"], strict=True)
        )
        size = 16 * math.prod(counts) + 4 * (len(names) - 1)
        return cls(counts, shard.get("index_location", "end") == "end", codecs, size)

    def read_index(self, engine: Any, key: str) -> Any:
        """Offset and length of each inner chunk, its checksum verified; None without a shard."""
        if self.is_at_end:
            stored = engine.get_last(key, self.index_bytes)
        else:
            stored = engine.get_slice(key, 0, self.index_bytes)
        if stored is None:
            return None
        shape = [*self.inner, 2]
        document = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": "uint64",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
            "chunk_key_encoding": {"name": "default"},
            "fill_value": 0,
            "codecs": self.codecs,
        }
        store = MemoryStore()
        store[ZARR_JSON] = json.dumps(document).encode()
        store["/".join(["c", *("0" for _ in shape)])] = stored
        return open_array(store, mode="r")[...]


def _chain_of(codecs: Sequence[Any], dtype: np.dtype[Any], ndim: int) -> _Chain | None:
    """The chain that a device can undo; None if it cannot."""
    order, itemsize, rest = tuple(range(ndim)), 0, list(codecs)
    if rest and rest[0]["name"] == "transpose":
        order = tuple(rest.pop(0)["configuration"]["order"])
    endian = rest[0].get("configuration", {}).get("endian", sys.byteorder) if rest else ""
    is_plain = bool(rest) and rest.pop(0)["name"] == "bytes" and endian == sys.byteorder
    if not is_plain or not dtype.isnative or dtype.hasobject:
        return None
    if rest and rest[0]["name"] == "numcodecs.shuffle":
        itemsize = int(rest.pop(0)["configuration"]["elementsize"])
    names = [codec["name"].removeprefix("numcodecs.") for codec in rest]
    if len(names) > 1 or not set(names) <= {"zstd", "lz4", "zlib", "gzip", "blosc"}:
        return None
    if itemsize and names == ["blosc"]:
        # Two shuffles of one block.
        return None
    return _Chain(order, itemsize, names[0] if names else "none")


def _frame_of(value: bytes, chain: _Chain, size: int) -> Frame | None:
    """The streams of an encoded chunk; None if it is not as its codec says."""
    name = chain.compressor
    if name == "blosc":
        frame = streams_of(value, size)
        if frame is None or not any(stream.codec == "zlib" for stream in frame.streams):
            return frame
        return frame._replace(streams=[_without_header(s, value) for s in frame.streams])
    shuffle = "byte" if chain.itemsize > 1 else "none"
    begin, end = _payload(value, name, size)
    if end < begin:
        return None
    codec = "deflate" if name in ("zlib", "gzip") else name
    stream = Stream(codec, begin, end - begin, 0, size)
    return Frame([stream], shuffle, chain.itemsize, max(size, 1))


def _without_header(stream: Stream, value: bytes) -> Stream:
    """A zlib stream as deflate."""
    if stream.codec != "zlib":
        return stream
    return stream._replace(
        codec="deflate", source=stream.source + 2, source_bytes=stream.source_bytes - 6
    )


def _payload(value: bytes, name: str, size: int) -> tuple[int, int]:
    """Where the compressed bytes begin and end without the header of a format; (1, 0) if it has
    another one than is expected.
    """
    count, refused = len(value), (1, 0)
    if name == "none":
        return (0, size) if count >= size else refused
    if name == "zstd":
        return (0, count) if value[:4] == b"\x28\xb5\x2f\xfd" else refused
    if name == "lz4":
        # numcodecs puts the decoded length before the block.
        is_sound = count > 4 and struct.unpack_from("<i", value)[0] == size
        return (4, count) if is_sound else refused
    if name == "zlib":
        is_sound = count > 6 and value[0] & 15 == 8 and not value[1] & 32
        return (2, count - 4) if is_sound else refused
    # One member, whose header has nothing optional.
    is_sound = count > 18 and value[:4] == b"\x1f\x8b\x08\0"
    return (10, count - 8) if is_sound and value[-4:] == struct.pack("<I", size) else refused
