"""Documents of v3: every bit of a fill value kept, extensions honoured or refused by name."""

import json
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._errors import MetadataError, UnknownCodecError
from zarrix._metadata import v3
from zarrix._runtime.config import config

WHERE = "x.zarr/foo/zarr.json"
CODECS = [{"name": "bytes", "configuration": {"endian": "little"}}]


def plain(**changes: Any) -> dict[str, Any]:
    """A valid document as a dict, with changes."""
    members = v3.new_array(shape=(10, 20), chunks=(5, 5), dtype="f4").to_dict()
    members.update(changes)
    return members


def parse(**changes: Any) -> Any:
    return v3.parse_array(json.dumps(plain(**changes)), WHERE)


def sharding(**changes: Any) -> list[dict[str, Any]]:
    configuration = {
        "chunk_shape": [5, 1],
        "codecs": CODECS,
        "index_codecs": [*CODECS, {"name": "crc32c"}],
        **changes,
    }
    return [{"name": "sharding_indexed", "configuration": configuration}]


HOSTILE: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"zarr_format": 2}, MetadataError, "'zarr_format' is 2; allowed: 3"),
    ({"node_type": "group"}, MetadataError, "'node_type' is 'group'; allowed: 'array'"),
    ({"shape": [-1, 20]}, MetadataError, "'shape' is [-1, 20]"),
    ({"shape": [2**63, 20]}, MetadataError, "2**63-1"),
    ({"shape": 3}, MetadataError, "'shape' is 3"),
    ({"data_type": "float33"}, MetadataError, "did you mean 'float32'"),
    ({"data_type": {"name": "numpy.datetime64"}}, MetadataError, "lacks 'unit'"),
    ({"data_type": "r12"}, MetadataError, "multiples of 8"),
    ({"fill_value": "zero"}, MetadataError, "'fill_value' is 'zero'"),
    ({"fill_value": None}, MetadataError, "'fill_value' is None"),
    (
        {"data_type": "uint8", "codecs": [{"name": "bytes"}], "fill_value": 300},
        MetadataError,
        "300",
    ),
    ({"data_type": "int32", "fill_value": 1.5}, MetadataError, "1.5"),
    ({"fill_value": "0x7fc0"}, MetadataError, "8 digits"),
    ({"chunk_grid": {"name": "hexagonal"}}, MetadataError, "'chunk_grid' is 'hexagonal'"),
    (
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 0]}}},
        MetadataError,
        "'chunk_grid.configuration.chunk_shape' is [5, 0]",
    ),
    (
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}}},
        MetadataError,
        "one length per axis",
    ),
    (
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**60, 1]}}},
        MetadataError,
        "config.max_chunk_bytes",
    ),
    ({"chunk_key_encoding": {"name": "spiral"}}, MetadataError, "'chunk_key_encoding' is 'spiral'"),
    (
        {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "-"}}},
        MetadataError,
        "'-'; allowed: '/' or '.'",
    ),
    ({"dimension_names": ["x"]}, MetadataError, "'dimension_names' is ['x']"),
    ({"attributes": [1]}, MetadataError, "'attributes' is [1]"),
    ({"storage_transformers": [{"name": "encrypt"}]}, MetadataError, "['encrypt']"),
    ({"codecs": []}, MetadataError, "'codecs' is []"),
    ({"codecs": [*CODECS, {"name": "squash"}]}, UnknownCodecError, "'squash'"),
    ({"codecs": [{"name": "gzip", "configuration": {"level": 1}}]}, MetadataError, "before"),
    ({"codecs": [*CODECS, *CODECS]}, MetadataError, "'bytes' after a codec that gives bytes"),
    ({"codecs": [{"name": "bytes"}]}, MetadataError, "no 'endian'"),
    (
        {"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}, *CODECS]},
        MetadataError,
        "order [0, 0]",
    ),
    ({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}]}, MetadataError, "no"),
    ({"codecs": sharding(chunk_shape=[5, 2])}, MetadataError, "does not divide the shard [5, 5]"),
    ({"codecs": sharding(chunk_shape=[5])}, MetadataError, "does not divide"),
    ({"codecs": sharding(index_location="middle")}, MetadataError, "'middle'"),
    ({"codecs": sharding(codecs=[])}, MetadataError, "'codecs' []"),
    ({"secret": {"name": "secret"}}, MetadataError, "'secret' is an extension"),
    ({"secret": 1}, MetadataError, "'must_understand': false"),
]


@pytest.mark.parametrize(("changes", "error", "words"), HOSTILE)
def test_a_document_that_contradicts_itself_names_key_value_and_what_is_allowed(
    changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        parse(**changes).layout()
    assert words in str(caught.value)
    assert WHERE in str(caught.value)


def test_a_document_without_a_key_says_which() -> None:
    members = plain()
    del members["codecs"]
    with pytest.raises(MetadataError, match="lacks the key 'codecs'"):
        v3.parse_array(json.dumps(members), WHERE)
    with pytest.raises(MetadataError, match="not JSON"):
        v3.parse_array(b"{", WHERE)


def test_a_large_shard_of_small_chunks_is_no_large_chunk() -> None:
    with config(max_chunk_bytes=4096):
        assert parse(
            shape=[1 << 40, 1],
            chunk_grid={"name": "regular", "configuration": {"chunk_shape": [1 << 14, 1]}},
            codecs=sharding(chunk_shape=[1 << 10, 1]),
        ).chunk_shape == (1 << 14, 1)
        with pytest.raises(MetadataError, match="max_chunk_bytes"):
            parse(
                shape=[1 << 40, 1],
                chunk_grid={"name": "regular", "configuration": {"chunk_shape": [1 << 14, 1]}},
                codecs=sharding(chunk_shape=[1, 1]),
            )


def test_unknown_parts_that_may_be_ignored_are_ignored_and_kept() -> None:
    store = zarr.MemoryStore()
    hint = {"name": "hint", "must_understand": False, "configuration": {"a": 1}}
    members = plain(shape=[4, 4], note=hint, codecs=[*CODECS, hint])
    store["zarr.json"] = json.dumps(members).encode()
    z = zarr.open_array(store)
    z[...] = 3
    z.attrs["unit"] = "mm"
    z.resize(6, 4)
    z.fill_value = 2
    stored = json.loads(store["zarr.json"])
    changed = {"attributes": {"unit": "mm"}, "shape": [6, 4], "fill_value": 2.0}
    assert stored == {**members, **changed}
    assert list(stored) == list(members)
    assert z[5, 0] == 2


SPELLINGS: list[tuple[Any, str]] = [
    ("r24", "V3"),
    ({"name": "int16"}, "i2"),
    ("complex_float32", "c8"),
    ({"name": "complex_float64"}, "c16"),
    ({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, "V3"),
    (
        {"name": "structured", "configuration": {"fields": [["a", "int8"], ["b", "r16"]]}},
        [("a", "i1"), ("b", "V2")],
    ),
    (
        {
            "name": "struct",
            "configuration": {
                "fields": [
                    {"name": "a", "data_type": "float64"},
                    {"name": "b", "data_type": "bool"},
                ]
            },
        },
        [("a", "f8"), ("b", "?")],
    ),
]


@pytest.mark.parametrize(("data_type", "dtype"), SPELLINGS)
def test_other_spellings_of_a_data_type_are_read_and_kept(data_type: Any, dtype: Any) -> None:
    item = np.dtype(dtype).itemsize
    store = zarr.MemoryStore()
    fill: Any = {"V3": "AAAA", "c8": [0, 0], "c16": [0, 0]}.get(str(dtype), 0)
    members = plain(data_type=data_type, fill_value=fill)
    store["zarr.json"] = json.dumps(members).encode()
    z = zarr.open_array(store)
    assert z.dtype == np.dtype(dtype)
    values = np.frombuffer(bytes(i % 2 for i in range(200 * item)), z.dtype).reshape(10, 20)
    z[...] = values
    z.attrs["a"] = 1
    assert z[...].tobytes() == values.tobytes()
    assert json.loads(store["zarr.json"])["data_type"] == data_type


@pytest.mark.parametrize(
    "part",
    [
        *("bfloat16", "float16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
        *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz"),
        *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    ],
)
def test_complex_numbers_that_numpy_lacks_are_refused_by_that_reason(part: str) -> None:
    store = zarr.MemoryStore()
    store["zarr.json"] = json.dumps(plain(data_type=f"complex_{part}", fill_value=[0, 0])).encode()
    with pytest.raises(zarr.errors.MetadataError, match=f"NumPy has no complex numbers of {part}"):
        zarr.open_array(store)


FILLS: list[tuple[str, Any, str, Any]] = [
    # data type, fill value in the document, its bits in hex, and how it is written anew
    ("float32", "0x7fc00001", "0100c07f", "0x7fc00001"),
    ("float32", "0x7fc00000", "0000c07f", "NaN"),
    ("float32", "NaN", "0000c07f", "NaN"),
    ("float32", "-Infinity", "000080ff", "-Infinity"),
    ("float32", "0xff800000", "000080ff", "-Infinity"),
    ("float64", -0.0, "0000000000000080", -0.0),
    ("float64", "0x7ff8000000000123", "230100000000f87f", "0x7ff8000000000123"),
    ("float16", "0x7e01", "017e", "0x7e01"),
    ("float64", 3, "0000000000000840", 3.0),
    ("complex64", ["0x7fc00001", "Infinity"], "0100c07f0000807f", ["0x7fc00001", "Infinity"]),
    ("int64", -(2**63), "0000000000000080", -(2**63)),
    ("uint64", 2**64 - 1, "ff" * 8, 2**64 - 1),
    ("bool", True, "01", True),
    ("r16", [1, 255], "01ff", "Af8="),
    ("r16", "Af8=", "01ff", "Af8="),
]


@pytest.mark.parametrize(("data_type", "fill", "bits", "anew"), FILLS)
def test_a_fill_value_keeps_every_bit(data_type: str, fill: Any, bits: str, anew: Any) -> None:
    codecs = [{"name": "bytes"}] if data_type in ("bool", "r16") else CODECS
    store = zarr.MemoryStore()
    members = plain(data_type=data_type, fill_value=fill, codecs=codecs)
    store["zarr.json"] = json.dumps(members).encode()
    z = zarr.open_array(store)
    assert z[0, 0].tobytes().hex() == bits
    z.resize(11, 20)
    assert json.loads(store["zarr.json"])["fill_value"] == fill
    made = zarr.create_array({}, shape=1, dtype=z.dtype, fill_value=z.fill_value)
    written = json.loads(made.store["zarr.json"])["fill_value"]
    assert written == anew
    assert str(written) == str(anew)
    assert made[0].tobytes().hex() == bits


def test_groups_and_arrays_are_told_apart_in_messages() -> None:
    store = zarr.MemoryStore()
    zarr.create_group(store).create_array("a", shape=3)
    with pytest.raises(zarr.errors.ContainsArrayError, match="an array"):
        zarr.open_group(store, path="a", mode="r+")
    with pytest.raises(zarr.errors.ArrayNotFoundError, match="is a group"):
        zarr.Array(store)
    with pytest.raises(zarr.errors.ContainsGroupError):
        zarr.create_array(store, shape=3)
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.create_group(store, path="a")
    with pytest.raises(zarr.errors.ContainsArrayError, match="an array"):
        zarr.create_array(store, name="a/b", shape=3)


def test_a_group_document_that_is_none_is_refused() -> None:
    for changes, words in (
        ({"zarr_format": 4}, "'zarr_format' is 4"),
        ({"attributes": 3}, "'attributes' is 3"),
        ({"more": 3}, "'more' is an extension"),
    ):
        members = {"attributes": {}, "zarr_format": 3, "node_type": "group", **changes}
        with pytest.raises(MetadataError) as caught:
            v3.parse_group(json.dumps(members), WHERE)
        assert words in str(caught.value)


def test_codecs_are_checked_where_they_are_made() -> None:
    for make, words in (
        (lambda: zarr.codecs.ZstdCodec(level=99), "99"),
        (lambda: zarr.codecs.BloscCodec(cname="lz5"), "'lz5'"),
        (lambda: zarr.codecs.BytesCodec(endian="middle"), "'middle'"),
        (lambda: zarr.codecs.ShardingCodec(chunk_shape=(1,), index_location="x"), "'x'"),
        (lambda: zarr.create_array({}, shape=4, compressors="nope"), "'nope'"),
        (lambda: zarr.create_array({}, shape=4, compressors=3), "3"),
        (lambda: zarr.create_array({}, shape=4, chunks=3, shards=4), "does not divide"),
        (
            lambda: zarr.create_array(
                {}, shape=4, serializer=zarr.codecs.BytesCodec(), filters=zarr.codecs.BytesCodec()
            ),
            "not several",
        ),
    ):
        with pytest.raises(ValueError) as caught:
            make()
        assert words in str(caught.value)
    assert zarr.codecs.BytesCodec(endian=zarr.codecs.Endian.big).endian == "big"
