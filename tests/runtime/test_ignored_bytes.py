"""Bytes behind the compressed data of a chunk, as z5py wrote them: the chunk reads as elsewhere.

numcodecs is the reference: what it ignores is ignored, and what it refuses is refused.
"""

import bz2
import gzip
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer
from zarrix.errors import CorruptChunkError

TAIL = bytes(range(200, 216))
SIDE = 100
VALUES = np.random.default_rng(5).integers(0, 400, (2 * SIDE, 2 * SIDE), "i4")
CHUNK = (SIDE, SIDE)
KEYS = {
    "all": np.s_[:],
    "one element": np.s_[3, 5],
    "rows": np.s_[SIDE - 50 : SIDE + 60],
    "columns": np.s_[:, 3::7],
}
FRAMES = {
    "lz4": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.SHUFFLE),
    "zstd": numcodecs.Blosc("zstd", 1, numcodecs.Blosc.BITSHUFFLE),
    "small blocks": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.NOSHUFFLE, blocksize=4096),
    "stored": numcodecs.Blosc("lz4", 0, numcodecs.Blosc.NOSHUFFLE),
}


def pieces() -> dict[tuple[int, int], bytes]:
    """The elements of each chunk, by its coordinates."""
    return {
        (row, column): VALUES[
            row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE
        ].tobytes()
        for row in range(2)
        for column in range(2)
    }


def filled(store: Any, encode: Callable[[bytes], bytes], **options: Any) -> zarr.Array:
    """An array of `VALUES` whose chunks are what ``encode`` makes of their elements."""
    z = zarr.open_array(store, mode="w", shape=VALUES.shape, chunks=CHUNK, dtype="i4", **options)
    name = "{}.{}" if z.metadata.zarr_format == 2 else "c/{}/{}"
    for coords, elements in pieces().items():
        z.chunk_store[name.format(*coords)] = encode(elements)
    return z


def elements_of(data: bytes) -> np.ndarray[Any, Any]:
    return np.frombuffer(data, "i4")


def with_tail(codec: Any) -> Callable[[bytes], bytes]:
    return lambda data: bytes(codec.encode(elements_of(data))) + TAIL


def check(z: zarr.Array) -> None:
    for key in KEYS.values():
        np.testing.assert_array_equal(z[key], VALUES[key])
    rows, columns = [1, SIDE + 50, 2 * SIDE - 1], [2 * SIDE - 1, 2, SIDE + 1]
    np.testing.assert_array_equal(z.vindex[rows, columns], VALUES[rows, columns])


@pytest.fixture(params=["directory", "memory", "mapping", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Stores that the engine reads in parts, whole, through Python, and in batches."""
    if request.param == "server":
        with FaultyServer() as server:
            url = f"{server.url}/z"
            yield zarr.open_group(url, mode="w", storage_options=server.options).store
    elif request.param == "directory":
        yield str(tmp_path / "z")
    else:
        yield zarr.MemoryStore() if request.param == "memory" else {}


@pytest.mark.parametrize("frame", FRAMES)
def test_bytes_behind_a_blosc_frame_are_ignored(store: Any, frame: str) -> None:
    codec = FRAMES[frame]
    check(filled(store, with_tail(codec), compressor=codec))


@pytest.mark.parametrize("frame", FRAMES)
def test_bytes_behind_a_blosc_frame_are_ignored_where_chunks_are_cached(
    tmp_path: Path, frame: str
) -> None:
    codec = FRAMES[frame]
    filled(str(tmp_path / "z"), with_tail(codec), compressor=codec)
    for file in tmp_path.glob("z/*.*"):
        # A file that has just changed is not cached.
        os.utime(file, (1e9, 1e9))
    with zarr.config(chunk_cache_bytes=64 << 20):
        z = zarr.open_array(str(tmp_path / "z"), mode="r")
        for _ in range(3):
            check(z)


def test_bytes_behind_a_blosc_frame_are_ignored_where_chunks_are_read_together(
    tmp_path: Path,
) -> None:
    shape, codec = (300, 400, 20), FRAMES["small blocks"]
    values = np.arange(np.prod(shape), dtype="i8").reshape(shape)
    z = zarr.open_array(
        str(tmp_path / "z"),
        mode="w",
        shape=shape,
        chunks=(300, 400, 1),
        dtype="i8",
        compressor=codec,
    )
    for plane in range(shape[2]):
        data = np.ascontiguousarray(values[..., plane])
        z.chunk_store[f"0.0.{plane}"] = bytes(codec.encode(data)) + TAIL
    for key in (np.s_[...], np.s_[:, 3:397], np.s_[2:299:2, ::3], np.s_[..., 1:19]):
        np.testing.assert_array_equal(z[key], values[key])


def test_bytes_behind_a_blosc_frame_are_ignored_in_format_3_and_in_shards(store: Any) -> None:
    codec = FRAMES["small blocks"]
    blosc = {
        "name": "blosc",
        "configuration": {
            "cname": "lz4",
            "clevel": 5,
            "shuffle": "noshuffle",
            "typesize": 4,
            "blocksize": 4096,
        },
    }
    serial = {"name": "bytes", "configuration": {"endian": "little"}}
    inner = [SIDE, SIDE // 2]
    shard = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": inner,
            "codecs": [serial, blosc],
            "index_codecs": [serial],
        },
    }

    def shard_of(data: bytes) -> bytes:
        square = elements_of(data).reshape(CHUNK)
        halves = [
            with_tail(codec)(np.ascontiguousarray(half).tobytes())
            for half in (square[:, : SIDE // 2], square[:, SIDE // 2 :])
        ]
        index = struct.pack("<4Q", 0, len(halves[0]), len(halves[0]), len(halves[1]))
        return b"".join(halves) + index

    for codecs, encode in (([serial, blosc], with_tail(codec)), ([shard], shard_of)):
        z = filled(store, encode, zarr_format=3)
        document = json.loads(bytes(z.store["zarr.json"]))
        z.store["zarr.json"] = json.dumps({**document, "codecs": codecs}).encode()
        z = zarr.open_array(z.store, mode="r+")
        check(z)
        assert zarr.verify(z.store).ignored == {
            f"c/{row}/{column}": len(TAIL) * (2 if codecs == [shard] else 1)
            for row in range(2)
            for column in range(2)
        }


def test_a_checksum_over_frame_and_what_is_behind_it_must_hold(store: Any) -> None:
    frame, checksum = FRAMES["small blocks"], numcodecs.CRC32()
    z = filled(
        store,
        lambda data: bytes(checksum.encode(np.frombuffer(with_tail(frame)(data), "u1"))),
        filters=[frame],
        compressor=checksum,
    )
    check(z)
    z.chunk_store["0.0"] = bytes(z.chunk_store["0.0"])[:-1] + b"\0"
    for key in (np.s_[:], np.s_[3, 5]):
        with pytest.raises(CorruptChunkError, match=r'"0\.0"'):
            z[key]


def test_bytes_behind_a_frame_inside_of_another_codec_are_ignored(store: Any) -> None:
    frame = FRAMES["lz4"]
    z = filled(
        store,
        lambda data: zlib.compress(with_tail(frame)(data)),
        filters=[frame],
        compressor=numcodecs.Zlib(1),
    )
    check(z)


def test_a_chunk_with_bytes_behind_its_frame_takes_writes(store: Any) -> None:
    codec = FRAMES["lz4"]
    z = filled(store, with_tail(codec), compressor=codec)
    z[3, 5] = -7
    changed = VALUES.copy()
    changed[3, 5] = -7
    np.testing.assert_array_equal(z[:], changed)
    assert zarr.verify(z.store).ignored.keys() == {"0.1", "1.0", "1.1"}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_shorter_than_its_header_says_is_refused(store: Any, frame: str) -> None:
    codec = FRAMES[frame]
    z = filled(store, lambda data: bytes(codec.encode(elements_of(data)))[:-1], compressor=codec)
    for key in KEYS.values():
        with pytest.raises(CorruptChunkError):
            z[key]


def test_more_bytes_behind_a_frame_than_a_chunk_can_have_are_refused(tmp_path: Path) -> None:
    codec = FRAMES["small blocks"]
    z = filled(str(tmp_path / "z"), with_tail(codec), compressor=codec)
    os.truncate(tmp_path / "z" / "0.0", 1 << 40)
    for key in KEYS.values():
        with pytest.raises(CorruptChunkError, match=r'"0\.0"'):
            z[key]


def test_verify_notes_ignored_bytes_and_repair_leaves_the_chunks(store: Any) -> None:
    codec = FRAMES["lz4"]
    z = filled(store, with_tail(codec), compressor=codec)
    found = zarr.verify(z.store)
    assert found.ok
    assert found.ignored == {f"{row}.{column}": 16 for row in range(2) for column in range(2)}
    assert (
        "note: 16 bytes behind the compressed data of 0.0 and of 3 other chunks are ignored"
        in str(found).splitlines()
    )
    assert json.loads(found.to_json())["ignored"]["1.1"] == 16
    repaired = zarr.repair(z.store)
    assert (repaired.set_aside, repaired.kept) == ({}, [])
    check(z)


STREAMS: dict[str, tuple[Any, Callable[[bytes], bytes], bytes]] = {
    "zlib, anything": (numcodecs.Zlib(1), zlib.compress, TAIL),
    "bz2, anything": (numcodecs.BZ2(1), bz2.compress, TAIL),
    "gzip, zeros": (numcodecs.GZip(1), gzip.compress, bytes(16)),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_what_numcodecs_ignores_behind_other_streams_is_ignored_and_noted(
    store: Any, stream: str
) -> None:
    codec, encode, tail = STREAMS[stream]
    some = pieces()[0, 0]
    assert bytes(codec.decode(encode(some) + tail)) == some
    z = filled(store, lambda data: encode(data) + tail, compressor=codec)
    check(z)
    assert set(zarr.verify(z.store).ignored.values()) == {16}


REFUSED: dict[str, tuple[Any, bytes]] = {
    "gzip, anything": (numcodecs.GZip(1), TAIL),
    "bz2, half a stream": (numcodecs.BZ2(1), bz2.compress(b"more")[:9]),
    "zstd, zeros": (numcodecs.Zstd(1), bytes(16)),
    "lz4, zeros": (numcodecs.LZ4(), bytes(16)),
}


@pytest.mark.parametrize("stream", REFUSED)
def test_what_numcodecs_refuses_behind_a_stream_is_refused(store: Any, stream: str) -> None:
    codec, tail = REFUSED[stream]

    def encode(data: bytes) -> bytes:
        return bytes(codec.encode(elements_of(data))) + tail

    # numcodecs raises what the library of the format does.
    with pytest.raises(Exception, match=r"(?i)gzip|stream|zstd|lz4"):
        codec.decode(encode(pieces()[0, 0]))
    z = filled(store, encode, compressor=codec)
    with pytest.raises(CorruptChunkError):
        z[:]
