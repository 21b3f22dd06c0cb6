"""Codecs that users wrote for zarr-python 3 encode and decode chunks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarrix.registry import get_codec_class, register_codec

MODEL = np.arange(24, dtype="i4").reshape(4, 6)


@dataclass(frozen=True)
class Xor(BytesBytesCodec):
    key: int = 7
    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": "test.xor", "configuration": {"key": self.key}}

    async def _encode_single(self, chunk: Any, spec: Any) -> Any:
        return spec.prototype.buffer.from_array_like(chunk.as_numpy_array() ^ np.uint8(self.key))

    _decode_single = _encode_single

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length


@dataclass(frozen=True)
class Negated(ArrayArrayCodec):
    def to_dict(self) -> dict[str, Any]:
        return {"name": "test.negated"}

    def _encode_sync(self, chunk: Any, spec: Any) -> Any:
        return spec.prototype.nd_buffer.from_numpy_array(-chunk.as_numpy_array())

    _decode_sync = _encode_sync


@dataclass(frozen=True)
class Text(ArrayBytesCodec):
    def to_dict(self) -> dict[str, Any]:
        return {"name": "test.text"}

    async def _encode_single(self, chunk: Any, spec: Any) -> Any:
        words = " ".join(map(str, chunk.as_numpy_array().ravel()))
        return spec.prototype.buffer.from_bytes(words.encode())

    async def _decode_single(self, chunk: Any, spec: Any) -> Any:
        words = chunk.to_bytes().decode().split()
        values = np.array(words, spec.dtype.to_native_dtype()).reshape(spec.shape)
        return spec.prototype.nd_buffer.from_numpy_array(values)


@pytest.fixture(autouse=True)
def _registered() -> None:
    for name, kind in (("test.xor", Xor), ("test.negated", Negated), ("test.text", Text)):
        register_codec(name, kind)


@pytest.mark.parametrize("shards", [None, (4, 6)])
@pytest.mark.parametrize(
    "codecs",
    [
        {"compressors": [Xor()]},
        {"filters": [Negated()]},
        {"serializer": Text(), "compressors": None},
        {
            "serializer": Text(),
            "filters": [Negated()],
            "compressors": [Xor(3), zarr.codecs.GzipCodec()],
        },
    ],
    ids=["bytes to bytes", "array to array", "array to bytes", "all"],
)
def test_a_chain_with_codecs_of_a_user_reads_what_was_written(
    codecs: dict[str, Any], shards: Any
) -> None:
    store = zarr.MemoryStore()
    z = zarr.create_array(store, shape=(4, 6), chunks=(2, 3), shards=shards, dtype="i4", **codecs)
    z[:] = MODEL
    z[1, 2] = 99
    expected = MODEL.copy()
    expected[1, 2] = 99
    again = zarr.open_array(store)
    assert np.array_equal(again[:], expected)
    assert np.array_equal(again[1:3, ::2], expected[1:3, ::2])
    assert (again.filters, again.serializer) == (z.filters, z.serializer)


def test_the_stored_bytes_are_those_of_the_codec() -> None:
    store = zarr.MemoryStore()
    z = zarr.create_array(store, shape=3, dtype="u1", serializer=Text(), compressors=None)
    z[:] = [1, 2, 3]
    assert store["c/0"] == b"1 2 3"
    assert get_codec_class("test.text") is Text


def test_an_error_of_a_codec_reaches_the_caller() -> None:
    @dataclass(frozen=True)
    class Failing(BytesBytesCodec):
        def to_dict(self) -> dict[str, Any]:
            return {"name": "test.failing"}

        async def _encode_single(self, chunk: Any, spec: Any) -> Any:
            raise ValueError("too odd")

    register_codec("test.failing", Failing)
    z = zarr.create_array({}, shape=3, dtype="u1", compressors=[Failing()])
    with pytest.raises(zarr.errors.CodecError, match="too odd"):
        z[:] = 1


def test_the_codecs_of_this_package_are_of_their_kinds() -> None:
    z = zarr.create_array({}, shape=(4, 6), chunks=(2, 3), shards=(4, 6), dtype="i4")
    assert isinstance(z.compressors[0], BytesBytesCodec)
    assert isinstance(z.serializer, ArrayBytesCodec)
    shard = z.metadata.codecs[0]
    assert [codec.name for codec in shard.index_codecs] == ["bytes", "crc32c"]
    assert shard["name"] == "sharding_indexed"
