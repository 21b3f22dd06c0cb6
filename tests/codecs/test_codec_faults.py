"""A stored document whose codecs cannot be right is refused when opened, with what is wrong."""

import json
from typing import Any

import pytest
import zarrix as zarr
from zarrix._metadata import v3
from zarrix.errors import MetadataError, UnknownCodecError

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BLOSC = {"typesize": 4, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}
SHARD = {"chunk_shape": [2, 2], "codecs": [LITTLE], "index_codecs": [LITTLE, {"name": "crc32c"}]}


def named(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def blosc(**changes: Any) -> dict[str, Any]:
    return named("blosc", **{**BLOSC, **changes})


def shard(**changes: Any) -> dict[str, Any]:
    return named("sharding_indexed", **{**SHARD, **changes})


def document(**changes: Any) -> dict[str, Any]:
    """A v3 document with changes."""
    store: dict[str, Any] = {}
    zarr.create_array(store, shape=(4, 6), chunks=(4, 6), dtype="f4")
    return {**json.loads(bytes(store["zarr.json"])), **changes}


def opened(document: dict[str, Any]) -> Any:
    return zarr.open_array({"zarr.json": json.dumps(document).encode()}, mode="r")[...]


FAULTS: list[tuple[list[Any], str, str]] = [
    # Behind the codecs before: the codecs, and two parts of the message.
    ([], "expected a list of codecs", "[]"),
    ([LITTLE, 5], "expected an object with 'name' and 'configuration'", "5"),
    ([LITTLE, {"configuration": {}}], "expected an object", "'name'"),
    ([LITTLE, {"name": "gzip", "configuration": []}], "expected an object", "gzip"),
    ([LITTLE, named("gzib")], "which this version does not know", "'gzib'"),
    ([LITTLE, named("gzip", level=10)], '"gzip"', "level 10 is outside 0..=9"),
    ([LITTLE, named("gzip", level="5")], '"gzip"', 'level is "5"'),
    ([LITTLE, named("gzip", lvl=5)], '"gzip"', 'unknown key "lvl"'),
    ([LITTLE, named("zstd", level=99)], '"zstd"', "99"),
    ([LITTLE, named("zstd", level=3, checksum=1)], '"zstd"', "checksum is 1"),
    ([LITTLE, blosc(cname="lz5")], '"blosc"', 'cname is "lz5", allowed: one of blosclz'),
    ([LITTLE, blosc(clevel=10)], '"blosc"', "clevel is 10, allowed: 0 to 9"),
    ([LITTLE, blosc(shuffle="shuffled")], '"blosc"', 'shuffle is "shuffled"'),
    ([LITTLE, blosc(typesize=-1)], '"blosc"', "typesize is -1"),
    ([LITTLE, blosc(blocksize=2**31)], '"blosc"', "blocksize is 2147483648"),
    ([LITTLE, named("crc32c", location="start")], '"crc32c"', 'unknown key "location"'),
    ([named("bytes", endian="middle")], "codec 'bytes' has the endian 'middle'", "'big'"),
    ([{"name": "bytes"}], "codec 'bytes' has no 'endian'", "float32"),
    ([named("transpose", order=[0, 0]), LITTLE], "'transpose' has the order [0, 0]", "2 axes"),
    ([named("transpose", order=[0]), LITTLE], "'transpose' has the order [0]", "2 axes"),
    ([named("transpose", order="K"), LITTLE], "'transpose' has the order 'K'", "not a list"),
    ([named("transpose"), LITTLE], "'transpose' has the order None", "not a list"),
    ([LITTLE, named("transpose", order=[1, 0])], "after a codec that gives bytes", "transpose"),
    ([named("gzip", level=1), LITTLE], "before a codec that gives them", "'gzip'"),
    ([named("transpose", order=[1, 0])], "no codec that turns the array into bytes", "'bytes'"),
    ([LITTLE, LITTLE], "'bytes' after a codec that gives bytes", "key 'codecs'"),
    ([named("vlen-utf8")], "'vlen-utf8' is not for elements of float32", "key 'codecs'"),
    ([named("bitround", keepbits=0), LITTLE], '"bitround"', "keepbits is 0"),
    ([named("bitround"), LITTLE], '"bitround"', "keepbits is null"),
    (
        [named("packbits", first_bit=40)],
        '"packbits"',
        "bits 40 to 31 of <f4, which has bits 0 to 31",
    ),
    ([named("packbits", padding_encoding="both")], '"packbits"', 'padding_encoding is "both"'),
    ([named("pcodec", level=13)], '"pcodec"', "level is 13, allowed: 0 to 12"),
    ([named("cast_value"), LITTLE], "'cast_value'", "lacks 'data_type'"),
    ([named("cast_value", data_type="text"), LITTLE], "'cast_value'", "'text'"),
    ([named("cast_value", data_type="int8", rounding="up"), LITTLE], '"cast_value"', '"up"'),
    ([named("scale_offset", scale=0), LITTLE], '"scale_offset"', "scale is 0"),
    ([named("scale_offset", offset="x"), LITTLE], "'scale_offset'", "'x'"),
    ([shard(chunk_shape=[3, 2])], "'chunk_shape' [3, 2]", "does not divide the shard [4, 6]"),
    ([shard(chunk_shape=[2])], "'chunk_shape' [2]", "does not divide"),
    ([shard(chunk_shape=[0, 2])], "'chunk_shape' [0, 2]", "at least 1"),
    ([shard(chunk_shape=None)], "'chunk_shape' None", "at least 1"),
    ([shard(index_location="middle")], "index_location 'middle'", "'start' and 'end'"),
    ([shard(codecs=[])], "sharding_indexed has the 'codecs' []", "expected a list of codecs"),
    ([shard(codecs=None)], "sharding_indexed has the 'codecs' None", "list of codecs"),
    ([shard(index_codecs=[named("gzip")])], "index_codecs", "before a codec that gives them"),
    ([shard(index_codecs=[LITTLE, named("gzip", level=1)])], "'index_codecs'", "no fixed length"),
    ([shard(codecs=[LITTLE, blosc(clevel=11)])], "[sharding_indexed]", "clevel is 11"),
    ([shard(codecs=[shard(chunk_shape=[4, 4])])], "[sharding_indexed]", "does not divide"),
    ([named("sharding_indexed")], "'chunk_shape' None", "key 'codecs'"),
    ([LITTLE, named("numcodecs.zlib", level="x")], "'zlib'", "'level' = 'x'"),
    ([LITTLE, named("numcodecs.bz2", level=0)], "'bz2'", "'level' = 0; allowed are 1 to 9"),
    ([LITTLE, named("numcodecs.lzma", check=3)], '"numcodecs.lzma"', "check is 3"),
    ([named("numcodecs.delta"), LITTLE], "'delta'", "lacks 'dtype'"),
    ([named("numcodecs.delta", dtype="<i3"), LITTLE], "'delta'", "<i3"),
    ([named("numcodecs.quantize", digits=1), LITTLE], "'quantize'", "lacks 'dtype'"),
    ([named("numcodecs.pickle"), LITTLE], "'numcodecs.pickle'", "before a codec that gives them"),
]


# What is said of options that only an encoder uses, which a new array is refused.
OF_ENCODERS = (
    *("level 10", 'level is "5"', "99", "checksum is 1", 'cname is "lz5"', "clevel is 10"),
    *('shuffle is "shuffled"', "typesize is -1", "blocksize is 2147483648", "keepbits is 0"),
    *(
        "keepbits is null",
        "level is 13",
        "clevel is 11",
        "'level' = 'x'",
        "'level' = 0",
        "check is 3",
    ),
)


@pytest.mark.parametrize(("codecs", "what", "value"), FAULTS)
def test_a_document_says_which_codec_is_wrong_and_how(
    codecs: list[Any], what: str, value: str
) -> None:
    given = document(codecs=codecs)
    if value.startswith(OF_ENCODERS):
        assert opened(given).shape == (4, 6)
    else:
        with pytest.raises((MetadataError, UnknownCodecError)):
            opened(given)
    with pytest.raises((MetadataError, UnknownCodecError)) as caught:
        v3.parse_array(json.dumps(given), "zarr.json").layout(new=True)
    message = str(caught.value)
    assert message.startswith("zarr.json: ")
    assert "key 'codecs'" in message
    assert what in message
    assert value in message


def test_a_codec_that_need_not_be_understood_is_left_out() -> None:
    codecs = [LITTLE, {"name": "never-heard-of", "must_understand": False}]
    assert opened(document(codecs=codecs)).shape == (4, 6)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"shape": [-4, 6]}, "key 'shape' is [-4, 6]"),
        ({"chunk_grid": named("regular", chunk_shape=[2**60, 1])}, "chunk_shape"),
        ({"fill_value": "text"}, "key 'fill_value'"),
        ({"fill_value": [0, 0]}, "key 'fill_value'"),
        ({"data_type": "int8", "fill_value": 300}, "key 'fill_value'"),
        ({"data_type": "bool", "fill_value": 2}, "key 'fill_value'"),
        ({"data_type": "uint8", "fill_value": -1}, "key 'fill_value'"),
        ({"data_type": "complex64", "fill_value": 0}, "key 'fill_value'"),
    ],
)
def test_a_document_that_contradicts_itself_names_the_key(
    changes: dict[str, Any], what: str
) -> None:
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    with pytest.raises(MetadataError) as caught:
        opened(document(**{"codecs": codecs, **changes}))
    assert str(caught.value).startswith("zarr.json: ")
    assert what in str(caught.value)


FAULTS_2: list[tuple[dict[str, Any], str]] = [
    ({"compressor": {"id": "lzma", "format": 4}}, "key 'compressor': codec 'lzma' has"),
    ({"compressor": {"id": "nope"}}, "key 'compressor': codec 'nope' is neither native nor"),
    ({"compressor": {"id": "crc32", "location": 5}}, "key 'compressor': codec 'crc32'"),
    ({"filters": [{"id": "delta"}]}, "key 'filters': codec 'delta'"),
    ({"filters": [{"id": "nope"}]}, "key 'filters': codec 'nope' is neither native nor"),
    ({"filters": [{"id": "nope"}], "compressor": None}, "key 'filters': codec 'nope'"),
]


@pytest.mark.parametrize(("changes", "words"), FAULTS_2)
def test_a_document_of_format_2_says_whether_its_filters_or_its_compressor_are_wrong(
    changes: dict[str, Any], words: str
) -> None:
    store: dict[str, Any] = {}
    zarr.create(store=store, shape=4, chunks=2, dtype="f4")
    changed = {**json.loads(bytes(store[".zarray"])), **changes}
    with pytest.raises((MetadataError, UnknownCodecError)) as caught:
        zarr.open_array({".zarray": json.dumps(changed).encode()}, mode="r")
    assert str(caught.value).startswith(f".zarray: {words}")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_members_that_are_not_known_are_kept_when_others_change(zarr_format: int) -> None:
    store: dict[str, Any] = {}
    zarr.create(store=store, shape=4, chunks=2, dtype="f4", zarr_format=zarr_format)
    key = ".zarray" if zarr_format == 2 else "zarr.json"
    mine = {"must_understand": False, "x": [1, None]}
    store[key] = json.dumps({**json.loads(bytes(store[key])), "mine": mine}).encode()
    z = zarr.open_array(store, mode="r+")
    z.attrs["k"] = 1
    z.attrs.update(m=[2])
    z.resize(6)
    z.append([1.0, 2.0])
    stored = json.loads(bytes(store[key]))
    assert (stored["mine"], stored["shape"]) == (mine, [8])
    assert dict(zarr.open_array(store, mode="r").attrs) == {"k": 1, "m": [2]}
