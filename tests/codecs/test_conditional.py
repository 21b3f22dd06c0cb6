"""The registered codec ``conditional``: a bit for each codec, which other writers set freely."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CorruptChunkError, MetadataError, UnknownCodecError

SHAPE = (4, 50)
GZIP = {"name": "gzip", "configuration": {"level": 1}}
SHUFFLE = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}
CRC = {"name": "crc32c"}


def conditional(codecs: list[Any], **options: Any) -> dict[str, Any]:
    return {"name": "conditional", "configuration": {"codecs": codecs, **options}}


def array(store: Any, *codecs: Any) -> zarr.Array:
    return zarr.create_array(store, shape=SHAPE, chunks=SHAPE, dtype="<i4", compressors=[*codecs])


def shuffled(raw: bytes) -> bytes:
    return np.frombuffer(raw, "u1").reshape(-1, 4).T.tobytes()


def regular() -> Any:
    return np.arange(200, dtype="i4").reshape(SHAPE)


@pytest.mark.parametrize("header_bits", [None, 8, 16, 64])
@pytest.mark.parametrize("mask", [0, 1, 2, 3])
def test_chunks_of_other_writers_are_read(mask: int, header_bits: int | None) -> None:
    options = {} if header_bits is None else {"header_bits": header_bits}
    store = zarr.MemoryStore()
    z = array(store, conditional([SHUFFLE, GZIP], **options))
    stored = regular().tobytes()
    if mask & 1:
        stored = shuffled(stored)
    if mask & 2:
        stored = gzip.compress(stored)
    store["c/0/0"] = mask.to_bytes((header_bits or 8) // 8, "little") + stored
    assert np.array_equal(z[:], regular())
    assert np.array_equal(z[1, 3:7], regular()[1, 3:7])


@pytest.mark.parametrize("header_bits", [None, 24])
def test_ours_applies_all_codecs_where_that_is_shorter(header_bits: int | None) -> None:
    options = {} if header_bits is None else {"header_bits": header_bits}
    store = zarr.MemoryStore()
    z = array(store, conditional([SHUFFLE, GZIP], **options))
    header = (header_bits or 8) // 8
    z[:] = regular()
    stored = bytes(store["c/0/0"])
    assert stored[:header] == (3).to_bytes(header, "little")
    assert gzip.decompress(stored[header:]) == shuffled(regular().tobytes())
    noise = np.random.default_rng(0).integers(-(2**31), 2**31, SHAPE, dtype="i4")
    z[:] = noise
    assert bytes(store["c/0/0"]) == bytes(header) + noise.tobytes()
    z[0, 0] = 7
    noise[0, 0] = 7
    assert np.array_equal(z[:], noise)


@pytest.mark.parametrize("mask", [0, 1])
def test_codecs_before_and_after_it(mask: int) -> None:
    store = zarr.MemoryStore()
    z = array(store, GZIP, conditional([{"name": "zstd", "configuration": {"level": 1}}]), CRC)
    z[:] = regular()
    assert np.array_equal(zarr.open_array(store)[:], regular())
    stored = bytes(store["c/0/0"])
    assert stored[0] in (0, 1)
    if mask:
        store["c/0/0"] = stored[:-1] + bytes([stored[-1] ^ 1])
        with pytest.raises(CorruptChunkError):
            z[:]


def test_in_a_shard() -> None:
    store = zarr.MemoryStore()
    z = zarr.create_array(
        store, shape=(8, 100), chunks=SHAPE, shards=(8, 100), dtype="<i4",
        compressors=[conditional([GZIP])],
    )  # fmt: skip
    z[:] = 5
    z[3, 30:60] = 6
    assert z[3, 30:60].tolist() == [6] * 30
    assert z[7, 99] == 5


DAMAGED = {
    "empty": b"",
    "only a header": b"\x00",
    "a bit of no codec": b"\x04" + b"x" * 800,
    "not gzip": b"\x02" + b"x" * 100,
    "too short": b"\x00" + b"x" * 799,
    "too long": b"\x00" + b"x" * 801,
    "a bomb": b"\x02" + gzip.compress(bytes(1 << 24)),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_chunk_is_an_error(name: str) -> None:
    store = zarr.MemoryStore()
    z = array(store, conditional([SHUFFLE, GZIP]))
    store["c/0/0"] = DAMAGED[name]
    with pytest.raises(CorruptChunkError):
        z[:]


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({}, "expected a list of codecs"),
        ({"codecs": []}, "expected a list of codecs"),
        ({"codecs": [GZIP], "header_bits": 12}, "multiple of 8"),
        ({"codecs": [GZIP] * 9, "header_bits": 8}, "multiple of 8"),
        ({"codecs": [GZIP], "header_bits": 1 << 30}, "multiple of 8"),
        ({"codecs": [GZIP], "bits": 8}, "unknown key"),
        ({"codecs": [{"name": "bytes"}]}, "after a codec that gives bytes"),
        ({"codecs": [{"name": "nothing", "must_understand": False}]}, "does not know"),
        ({"codecs": [conditional([GZIP])]}, "native codecs on bytes"),
        ({"codecs": [{"name": "gzip", "configuration": {"level": 99}}]}, "level"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(
    configuration: dict[str, Any], message: str
) -> None:
    with pytest.raises((MetadataError, UnknownCodecError), match=message) as caught:
        array({}, {"name": "conditional", "configuration": configuration})
    assert "conditional" in str(caught.value) or "codec" in str(caught.value)


def test_the_document_is_stored_as_it_was_given() -> None:
    store = zarr.MemoryStore()
    given = conditional([SHUFFLE, GZIP], header_bits=16)
    array(store, given)
    assert json.loads(bytes(store["zarr.json"]))["codecs"][-1] == given
