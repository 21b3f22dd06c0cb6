"""Inner chunks as they are encoded: moved between chunks and shards without decoding them.

Where two arrays differ only in how their chunks are put into stored values, their encoded chunks
are equal. A shard is then made of bytes that are copied, and of an index that is new.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._errors import CorruptChunkError
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_dumps
from zarrix._metadata.translate import same_fill
from zarrix._stores.keys import key_of
from zarrix._stores.memory import MemoryStore
from zarrix.jobs._operation import array_at
from zarrix.jobs._places import Place
from zarrix.jobs._tiling import keys_of

__all__ = ["Encoded", "is_encoded_alike", "move_values"]

_MISSING = 2**64 - 1
# Ranges of a shard with less than this between them are read as one.
_GAP = 64 << 10
_INDEX_CODECS = [
    {"name": "bytes", "configuration": {"endian": "little"}},
    {"name": "crc32c"},
]


def is_encoded_alike(source: ArrayMetadata, dest: ArrayMetadata) -> bool:
    """Whether the chunks (or inner chunks of shards) of two arrays have equal bytes."""
    if source.rectilinear is not None or dest.rectilinear is not None:
        return False
    if source.shape != dest.shape or source.inner_chunk_shape != dest.inner_chunk_shape:
        return False
    if source.dtype != dest.dtype or not same_fill(
        source.fill_value, dest.fill_value, source.dtype
    ):
        return False
    ours, theirs = _inner_codecs(source), _inner_codecs(dest)
    return ours is not None and ours == theirs


def _inner_codecs(metadata: ArrayMetadata) -> bytes | None:
    """The codecs of one chunk; None if its shards are within other codecs."""
    shard = metadata.shard_codec
    if shard is None:
        return json_dumps([dict(one) for one in metadata.codecs])
    return json_dumps(list(shard["codecs"])) if len(metadata.codecs) == 1 else None


class Encoded:
    """The stored values of an array, as chunks that are encoded.

    Parameters
    ----------
    array : Array
    """

    def __init__(self, array: Array) -> None:
        metadata = array._metadata
        self._store = array.chunk_store
        self._path = array._path
        self._grid = metadata.chunk_grid_shape
        self._encoding = (
            metadata.key_encoding[0],
            metadata.dimension_separator,
            metadata.key_suffix,
        )
        pairs = zip(metadata.chunk_shape, metadata.inner_chunk_shape, strict=True)
        # Chunks of a stored value along each axis, and of the array.
        self.per_value = tuple(outer // inner for outer, inner in pairs)
        self.counts = tuple(
            -(-n // inner)
            for n, inner in zip(metadata.shape, metadata.inner_chunk_shape, strict=True)
        )
        shard = metadata.shard_codec
        self._is_sharded = shard is not None
        self._at_start = shard is not None and shard.get("index_location") == "start"
        codecs = _INDEX_CODECS if shard is None else shard.get("index_codecs", _INDEX_CODECS)
        self._index_document = _index_document(self.per_value, codecs)
        self._syncs = self._store.syncs

    def key(self, coords: Sequence[int]) -> str:
        """The engine's key of a stored value."""
        name = next(keys_of(self._encoding, iter([tuple(coords)])))
        return self._store.engine_path(key_of(self._path, name))

    def chunks_of(self, coords: Sequence[int]) -> list[tuple[int, ...]]:
        """The chunks of a stored value that lie in the array, in C order."""
        axes = zip(coords, self.per_value, self.counts, strict=True)
        return list(
            itertools.product(
                *(range(at * per, min((at + 1) * per, count)) for at, per, count in axes)
            )
        )

    def read(self, places: Sequence[tuple[int, ...]]) -> list[bytes | None]:
        """The encoded chunks; None for one that is missing.

        Raises
        ------
        CorruptChunkError
            The index of a shard is damaged.
        """
        if not self._is_sharded:
            return self._store._engine.get_many([self.key(one) for one in places])
        found: dict[tuple[int, ...], bytes] = {}
        shards: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for place in places:
            shard = tuple(at // per for at, per in zip(place, self.per_value, strict=True))
            shards.setdefault(shard, []).append(place)
        for shard, inside in shards.items():
            found.update(self._of_shard(shard, inside))
        return [found.get(one) for one in places]

    def _of_shard(
        self, shard: tuple[int, ...], places: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], bytes]]:
        engine, key = self._store._engine, self.key(shard)
        length = _encoded_length(self._index_document)
        if self._at_start:
            stored = engine.get_slice(key, 0, length)
        else:
            stored = engine.get_last(key, length)
        if stored is None:
            return
        index = self._decoded(stored, length, key)
        size = engine.size(key) or 0
        # What is not decoded is not checked, except that it lies beside the index.
        allowed = (length, size) if self._at_start else (0, size - length)
        spans = []
        for place in places:
            at = tuple(n % per for n, per in zip(place, self.per_value, strict=True))
            begin, count = (int(n) for n in index[at])
            if begin == _MISSING:
                continue
            if not allowed[0] <= begin <= begin + count <= allowed[1]:
                raise CorruptChunkError(
                    f"the index of the shard {key!r} names bytes {begin} to {begin + count}, which "
                    f"are not in {allowed[0]} to {allowed[1]}"
                )
            spans.append((begin, begin + count, place))
        for run in _runs(sorted(spans)):
            begin, end = run[0][0], max(one[1] for one in run)
            data = engine.get_slice(key, begin, end)
            if data is None or len(data) != end - begin:
                raise CorruptChunkError(f"the shard {key!r} was replaced while it was read")
            for first, last, place in run:
                yield place, data[first - begin : last - begin]

    def _decoded(self, stored: bytes, length: int, key: str) -> Any:
        if len(stored) != length:
            raise CorruptChunkError(f"the shard {key!r} is shorter than its index")
        holder = _holder(self._index_document)
        holder._store._engine.put(_key_of_one(holder), stored)
        return holder[...]

    def write(self, coords: Sequence[int], chunks: Sequence[bytes | None]) -> int:
        """Store a value of these chunks, which are those of `chunks_of`; return its length.

        A value without any chunk is not stored.
        """
        if all(one is None for one in chunks):
            return 0
        if not self._is_sharded:
            (only,) = chunks
            assert only is not None
            value = only
        else:
            value = self._shard(coords, chunks)
        self._store._engine.put(self.key(coords), value, fsync=self._syncs)
        return len(value)

    def _shard(self, coords: Sequence[int], chunks: Sequence[bytes | None]) -> bytes:
        index: Any = np.full((*self.per_value, 2), _MISSING, np.uint64)
        position = _encoded_length(self._index_document) if self._at_start else 0
        for place, chunk in zip(self.chunks_of(coords), chunks, strict=True):
            if chunk is not None:
                at = tuple(n % per for n, per in zip(place, self.per_value, strict=True))
                index[at] = position, len(chunk)
                position += len(chunk)
        holder = _holder(self._index_document)
        holder[...] = index
        encoded = holder._store._engine.get(_key_of_one(holder))
        assert encoded is not None
        parts = [one for one in chunks if one is not None]
        return b"".join([encoded, *parts] if self._at_start else [*parts, encoded])


def move_values(source: Encoded, dest: Encoded, values: Iterator[tuple[int, ...]]) -> int:
    """Make stored values of ``dest`` from chunks of ``source``; return their bytes."""
    moved = 0
    for coords in values:
        places = dest.chunks_of(coords)
        moved += dest.write(coords, source.read(places))
    return moved


def _runs(spans: list[Any]) -> Iterator[list[Any]]:
    """Spans in the order of their begins, in lists that are read at once."""
    run: list[Any] = []
    end = 0
    for span in spans:
        if run and span[0] > end + _GAP:
            yield run
            run = []
        run.append(span)
        end = max(end, span[1]) if len(run) > 1 else span[1]
    if run:
        yield run


def _index_document(per_value: Sequence[int], codecs: Any) -> Mapping[str, Any]:
    shape = [*per_value, 2]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "uint64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": 0,
        "codecs": list(codecs),
        "attributes": {},
    }


def _holder(document: Mapping[str, Any]) -> Array:
    """An array in memory whose one chunk is the index of a shard."""
    return array_at(Place(MemoryStore(), ""), document, write_empty_chunks=True)


def _key_of_one(holder: Array) -> str:
    return ".".join("0" for _ in holder.shape)


_lengths: dict[bytes, int] = {}


def _encoded_length(document: Mapping[str, Any]) -> int:
    """The bytes of an encoded index, which do not depend on its content."""
    name = json_dumps(dict(document))
    if name not in _lengths:
        holder = _holder(document)
        holder[...] = 0
        _lengths[name] = holder._store._engine.size(_key_of_one(holder)) or 0
    return _lengths[name]
