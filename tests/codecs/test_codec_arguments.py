"""Codecs of v3 in every form that users pass them, at the top and inside shards."""

import json
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import (
    BloscCodec,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarrix.dtype import UInt8

SHUFFLES = {1: "bitshuffle", 2: "shuffle", 4: "shuffle", 8: "shuffle"}


def document_of(z: Any) -> Any:
    """The codecs in the stored document."""
    return json.loads(bytes(z.store["zarr.json"]))["codecs"]


def blosc(size: int, cname: str = "zstd", **changes: Any) -> dict[str, Any]:
    configuration = {"typesize": size, "cname": cname, "clevel": 5, "shuffle": SHUFFLES[size]}
    return {"name": "blosc", "configuration": {**configuration, "blocksize": 0, **changes}}


@pytest.mark.parametrize("codec", [BloscCodec(), "blosc", {"name": "blosc", "configuration": {}}])
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
def test_blosc_inside_a_shard_says_its_width_and_shuffle(codec: Any, dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    chain = [BytesCodec() if size > 1 else "bytes", codec]
    shard = ShardingCodec(chunk_shape=(2,), codecs=chain)
    nested = ShardingCodec(chunk_shape=(4,), codecs=[shard])
    for codecs, depth in (([shard], 1), ([nested], 2)):
        z = zarr.create_array({}, shape=8, chunks=8, dtype=dtype, serializer=codecs[0], **NONE)
        again = zarr.create(shape=8, chunks=8, dtype=dtype, codecs=codecs, store={})
        assert document_of(z) == document_of(again)
        found = document_of(z)
        for _ in range(depth):
            found = found[0]["configuration"]["codecs"]
        assert found[1] == blosc(size)
        z[...] = np.arange(8)
        assert z[...].tolist() == list(range(8))


NONE: dict[str, Any] = {"compressors": None, "filters": None}


def test_codecs_of_numcodecs_go_into_shards() -> None:
    chain = [
        numcodecs.Delta("<i4"),
        BytesCodec(),
        numcodecs.Shuffle(4),
        numcodecs.Blosc("lz4", shuffle=numcodecs.Blosc.AUTOSHUFFLE),
        "crc32c",
    ]
    shard = ShardingCodec(chunk_shape=(4,), codecs=chain)
    assert hash(shard) == hash(ShardingCodec(chunk_shape=(4,), codecs=chain))
    z = zarr.create_array({}, shape=16, chunks=16, dtype="i4", serializer=shard, **NONE)
    z[...] = np.arange(16) ** 2
    assert zarr.open_array(z.store, mode="r")[3:9].tolist() == [9, 16, 25, 36, 49, 64]
    assert document_of(z)[0]["configuration"]["codecs"] == [
        {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}},
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
        blosc(4, "lz4"),
        {"name": "crc32c"},
    ]


def test_filters_inside_a_shard_are_made_for_its_data_type() -> None:
    given = {"name": "numcodecs.quantize", "configuration": {"digits": 3}}
    shard = ShardingCodec(chunk_shape=(2,), codecs=[given, BytesCodec(), "numcodecs.shuffle"])
    z = zarr.create_array({}, shape=4, chunks=4, dtype="f4", serializer=shard, **NONE)
    chain = document_of(z)[0]["configuration"]["codecs"]
    assert chain[0]["configuration"] == {"digits": 3, "dtype": "float32"}
    assert chain[2]["configuration"] == {"elementsize": 4}


def test_blosc_behind_a_filter_is_made_for_what_the_filter_gives() -> None:
    narrow = numcodecs.AsType("<f4", "<f8")
    z = zarr.create_array({}, shape=4, dtype="f8", filters=narrow, compressors=BloscCodec())
    assert document_of(z)[-1] == blosc(4)


def test_bytes_of_elements_of_one_byte_name_no_order_in_shards_either() -> None:
    shard = ShardingCodec(chunk_shape=(2,), codecs=[BytesCodec(), ZstdCodec()])
    z = zarr.create_array({}, shape=4, chunks=4, dtype="i1", serializer=shard, **NONE)
    configuration = document_of(z)[0]["configuration"]
    assert configuration["codecs"][0] == {"name": "bytes"}
    assert configuration["index_codecs"][0] == {
        "name": "bytes",
        "configuration": {"endian": "little"},
    }


def test_a_shard_given_as_a_dict_gets_the_usual_index_codecs() -> None:
    inner = {"chunk_shape": [2], "codecs": ["bytes"]}
    shard = {"name": "sharding_indexed", "configuration": inner}
    z = zarr.create_array({}, shape=4, chunks=4, dtype="i1", serializer=shard, **NONE)
    index = document_of(z)[0]["configuration"]["index_codecs"]
    assert [one["name"] for one in index] == ["bytes", "crc32c"]


@pytest.mark.parametrize(
    ("codecs", "words"),
    [
        ([], "expected a list of codecs"),
        ([ZstdCodec()], "before a codec that gives them"),
        ([BytesCodec(), "never-heard-of"], "never-heard-of"),
        ([{"id": "never-heard-of"}], "never-heard-of"),
        ([5], "is not a v3 codec"),
    ],
)
def test_a_shard_of_what_is_no_chain_is_refused(codecs: Any, words: str) -> None:
    def make() -> None:
        shard = ShardingCodec(chunk_shape=(2,), codecs=codecs)
        zarr.create_array({}, shape=4, chunks=4, dtype="i1", serializer=shard, **NONE)

    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("shape", [0, (0, 5), (5, 0), (False, 5), (-1,)])
def test_inner_chunks_without_elements_are_refused_when_the_codec_is_made(shape: Any) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ShardingCodec(chunk_shape=shape)


@pytest.mark.parametrize("codec", [GzipCodec(), BloscCodec(), ZstdCodec(), "gzip"])
def test_the_index_of_a_shard_cannot_be_compressed(codec: Any) -> None:
    with pytest.raises(ValueError, match="no fixed length"):
        ShardingCodec(chunk_shape=(2,), index_codecs=(BytesCodec(), codec))


@pytest.mark.parametrize("name", ["offset", "scale"])
def test_offset_and_scale_are_numbers_or_texts(name: str) -> None:
    for wrong in ([1, 2], None, {}, np.zeros(2)):
        with pytest.raises(TypeError, match=f"{name} is"):
            ScaleOffset(**{name: wrong})
    for right in (1, 2.5, np.float32(1), "NaN"):
        assert getattr(ScaleOffset(**{name: right}), name) is right


@pytest.mark.parametrize("given", ["uint8", UInt8(), np.dtype("u1")])
def test_the_data_type_of_a_cast_is_an_object_too(given: Any) -> None:
    assert CastValue(data_type=given).dtype == UInt8()


def test_codecs_say_whether_the_length_of_their_output_is_fixed() -> None:
    for codec, length in (
        (BytesCodec(), 8),
        (TransposeCodec(order=(1, 0)), 8),
        (Crc32cCodec(), 12),
    ):
        assert codec.is_fixed_size
        assert codec.compute_encoded_size(8, None) == length
    assert not GzipCodec().is_fixed_size
    with pytest.raises(NotImplementedError):
        GzipCodec().compute_encoded_size(8, None)
