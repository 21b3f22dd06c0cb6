"""Documents of v2: written as zarr 2.18 writes them, read as tolerantly, and not more."""

import importlib.util
import json
import math
import pathlib
import pickle

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from documents import as_written
from zarrix import meta
from zarrix._array.access import metadata_of
from zarrix._errors import MetadataError
from zarrix._metadata import v2
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._runtime.config import config

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "metadata_v2"
WHERE = "x.zarr/foo/.zarray"


def load_cases():
    spec = importlib.util.spec_from_file_location("golden_cases", GOLDEN / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.cases())


CASES = load_cases()
DOCUMENTS = json.loads((GOLDEN / "documents.json").read_text())


def plain(**changes):
    """A valid document as a dict, with changes."""
    members = json.loads(
        v2.array_document(v2.new_array(shape=(10, 20), chunks=(5, 5), dtype="<f4"))
    )
    members.update(changes)
    return members


def parse(**changes):
    return v2.parse_array(json.dumps(plain(**changes)), WHERE)


def test_every_case_has_its_golden_document():
    assert list(CASES) == list(DOCUMENTS)
    assert len(CASES) > 200


@pytest.mark.parametrize("name", CASES)
def test_a_new_array_is_written_byte_for_byte_as_zarr_2_18_writes_it(name):
    written = v2.array_document(v2.new_array(**CASES[name])).decode()
    expected = as_written(DOCUMENTS[name])
    if name.endswith("fill -0.0"):
        # 2.18 stores a zero without its sign, which would be that of all elements never written.
        expected = expected.replace('"fill_value": 0.0', '"fill_value": -0.0')
    assert written == expected


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_zarr_2_18_is_read_and_written_back_unchanged(name):
    metadata = v2.parse_array(DOCUMENTS[name].encode(), WHERE)
    assert v2.array_document(metadata).decode() == as_written(DOCUMENTS[name])
    again = meta.encode_array_metadata(meta.decode_array_metadata(DOCUMENTS[name]))
    assert again.decode() == as_written(DOCUMENTS[name])


def test_only_bytes_and_zstd_are_spelled_otherwise_than_zarr_2_18_does():
    other = [name for name in DOCUMENTS if as_written(DOCUMENTS[name]) != DOCUMENTS[name]]
    dtypes = {json.loads(DOCUMENTS[name])["dtype"][:2] for name in other}
    assert dtypes == {"<f", "|S"}
    assert all("zstd" in DOCUMENTS[n].lower() for n in other if '"|S' not in DOCUMENTS[n])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_gives_a_layout(name):
    metadata = v2.parse_array(DOCUMENTS[name], WHERE)
    layout, foreign, _ = metadata.layout()
    members = json.loads(layout)
    assert members["item_bytes"] == metadata.dtype.itemsize
    assert members["shape"] == list(metadata.shape)
    slots = [c for c in members["codecs"] if c["name"] == "zarrix.foreign"]
    assert len(slots) == len(foreign)


def test_a_layout_says_everything_the_engine_needs():
    metadata = v2.new_array(
        shape=(10, 20),
        chunks=(5, 4),
        dtype=">i2",
        fill_value=-2,
        order="F",
        dimension_separator="/",
        filters=[numcodecs.Delta(">i2"), numcodecs.AsType("<c8", ">i2")],
        compressor=numcodecs.BZ2(),
    )
    layout, foreign, _ = metadata.layout(write_empty_chunks=False)
    assert json.loads(layout) == {
        "shape": [10, 20],
        "chunk_grid": [5, 4],
        "item_bytes": 2,
        "fill_value": "fffe",
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}},
        "chunk_key_suffix": "",
        "codecs": [
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes"},
            {"name": "numcodecs.delta", "configuration": {"dtype": ">i2", "astype": ">i2"}},
            {
                "name": "zarrix.foreign",
                "configuration": {"slot": 0, "name": "astype", "encoded_bytes": 160},
            },
            {"name": "numcodecs.bz2", "configuration": {"level": 1}},
        ],
        "metadata_key": ".zarray",
        "write_empty_chunks": False,
    }
    assert metadata.foreign_codecs == ("astype",)
    assert len(foreign) == 1


def test_a_layout_is_made_once():
    metadata = v2.new_array(shape=3)
    assert metadata.layout() is metadata.layout()
    assert metadata.layout() is not metadata.layout(write_empty_chunks=False)


def test_equal_documents_share_what_is_made_of_them_and_keep_their_names(tmp_path):
    root = zarr.open_group(tmp_path, mode="w")
    for name in ("a", "b"):
        root.create_dataset(name, shape=3, fill_value=7)
    a, b = (metadata_of(root[name]) for name in ("a", "b"))
    assert a.layout() is b.layout()
    assert (a.where, b.where) == (f"{tmp_path}/a/.zarray", f"{tmp_path}/b/.zarray")
    assert a == b
    root["a"].resize(5)
    assert root["b"].shape == (3,)
    assert pickle.loads(pickle.dumps(b)) == b


def test_a_codec_that_is_registered_anew_is_used_by_what_is_opened_then():
    class Offset(numcodecs.abc.Codec):
        codec_id = "test-offset"
        by = 1

        def encode(self, buf):
            return (numcodecs.compat.ensure_ndarray(buf).view("u1") + self.by).tobytes()

        def decode(self, buf, out=None):
            data = numcodecs.compat.ensure_ndarray(buf).view("u1") - np.uint8(self.by)
            return numcodecs.compat.ndarray_copy(data, out)

    class Corrected(Offset):
        by = 2

    store = zarr.MemoryStore()
    numcodecs.register_codec(Offset)
    zarr.create(store=store, shape=3, dtype="u1", compressor=Offset())[:] = 5
    numcodecs.register_codec(Corrected)
    assert zarr.open_array(store, mode="r")[:].tolist() == [4, 4, 4]


@pytest.mark.parametrize("shape", [(), (5,)])
def test_order_f_transposes_nothing_below_two_axes(shape):
    metadata = v2.new_array(shape=shape, order="F")
    assert metadata.order == "F"
    names = [codec["name"] for codec in json.loads(metadata.layout()[0])["codecs"]]
    assert "transpose" not in names


def test_the_views_of_format_2_are_what_was_asked_for():
    metadata = v2.new_array(
        shape=(4, 4), order="F", filters=[numcodecs.Zlib(2)], compressor=None, fill_value=None
    )
    assert metadata.order == "F"
    assert metadata.filters == ({"id": "zlib", "level": 2},)
    assert metadata.compressor is None
    assert metadata.dimension_separator == "."
    metadata = v2.new_array(shape=(4, 4), compressor=numcodecs.Zlib(2))
    assert metadata.filters is None
    assert metadata.compressor == {"id": "zlib", "level": 2}


def test_unknown_members_are_kept_and_written_back():
    document = json.dumps(plain(zzz={"b": [1, None]}, _nczarr_array="x"))
    metadata = v2.parse_array(document, WHERE)
    assert metadata.extra == {"zzz": {"b": [1, None]}, "_nczarr_array": "x"}
    written = json.loads(v2.array_document(metadata.with_shape((11, 20))))
    assert written == plain(zzz={"b": [1, None]}, _nczarr_array="x", shape=[11, 20])


def test_the_separator_of_the_store_stands_in_where_the_document_names_none():
    document = json.dumps(plain())
    metadata = v2.parse_array(document, WHERE, default_separator="/")
    assert metadata.dimension_separator == "/"
    assert v2.parse_array(document, WHERE).dimension_separator == "."
    named = v2.parse_array(json.dumps(plain(dimension_separator=".")), WHERE, default_separator="/")
    assert named.dimension_separator == "."


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_a_document_may_be_any_bytes_text_or_parsed_mapping(form):
    expected = v2.parse_array(json.dumps(plain()), WHERE)
    assert v2.parse_array(form(json.dumps(plain()).encode()), WHERE) == expected
    assert v2.parse_array(plain(), WHERE) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"filters": []},
        {"dimension_separator": None},
        {"dtype": "float32"},
        {"fill_value": math.nan},
        {"fill_value": "NaN"},
        {"fill_value": 0},
        {"shape": [0, 20], "chunks": [0, 5]},
    ],
)
def test_what_zarr_2_18_tolerates_is_read(changes):
    assert isinstance(parse(**changes), ArrayMetadata)


HOSTILE = [
    ({"shape": [-1, 20]}, "key 'shape' is [-1, 20]; allowed: whole numbers from 0 to 2**63-1"),
    ({"shape": [1.5, 20]}, "key 'shape' is [1.5, 20]; allowed: whole numbers"),
    ({"shape": [True, 20]}, "key 'shape' is [True, 20]"),
    ({"shape": [2**63, 20]}, "whole numbers from 0 to 2**63-1"),
    ({"shape": 10}, "key 'shape' is 10; allowed: a list of whole numbers"),
    ({"shape": None}, "key 'shape' is None"),
    ({"shape": [1] * 65, "chunks": [1] * 65}, "at most 64 axes"),
    ({"chunks": [0, 5]}, "key 'chunks' is (0, 5); allowed: at least 1 on axis 0"),
    ({"chunks": [5]}, "key 'chunks' is (5,); allowed: one length per axis of the shape (10, 20)"),
    ({"chunks": [5, 5, 5]}, "one length per axis"),
    ({"chunks": [-5, 5]}, "key 'chunks' is [-5, 5]"),
    ({"chunks": ["5", 5]}, "key 'chunks'"),
    ({"chunks": [2**40, 2**40]}, "config.max_chunk_bytes"),
    ({"dtype": "|O"}, "begins with an object codec: vlen-utf8"),
    ({"dtype": "<q9"}, "key 'dtype' is '<q9'"),
    ({"fill_value": "abc"}, "key 'fill_value' is 'abc', which does not fit dtype '<f4'"),
    ({"fill_value": [1, 2]}, "key 'fill_value'"),
    ({"order": "A"}, "key 'order' is 'A'; allowed: 'C' or 'F'"),
    ({"order": ["C"]}, "key 'order'"),
    ({"filters": "zlib"}, "key 'filters' is 'zlib'; allowed: a list of codecs or null"),
    ({"filters": [None]}, "key 'filters' is None"),
    ({"filters": [{"level": 1}]}, "the codec's name under 'id'"),
    ({"compressor": "zlib"}, "key 'compressor' is 'zlib'"),
    ({"compressor": {"id": 5}}, "key 'compressor' is {'id': 5}"),
    ({"dimension_separator": "../"}, "key 'dimension_separator' is '../'; allowed: '.' or '/'"),
    ({"dimension_separator": ""}, "key 'dimension_separator'"),
    ({"dimension_separator": 1}, "key 'dimension_separator'"),
    ({"dimension_separator": ["/"]}, "key 'dimension_separator'"),
    ({"zarr_format": 3}, "key 'zarr_format' is 3; allowed: 2"),
    ({"zarr_format": "2"}, "key 'zarr_format' is '2'; allowed: 2"),
]


@pytest.mark.parametrize(("changes", "words"), HOSTILE)
def test_a_document_that_contradicts_itself_names_key_value_and_what_is_allowed(changes, words):
    with pytest.raises(MetadataError) as caught:
        parse(**changes)
    assert str(caught.value).startswith(WHERE + ": key")
    assert words in str(caught.value)


@pytest.mark.parametrize("key", sorted(plain()))
def test_a_missing_key_is_named(key):
    members = plain()
    del members[key]
    with pytest.raises(MetadataError) as caught:
        v2.parse_array(json.dumps(members), WHERE)
    assert str(caught.value).startswith(f"{WHERE}: lacks the key {key!r}; a v2 array has")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b'{"zarr_format": 2', "not JSON"),
        (b"[1]", "expected a JSON object"),
        (b"2", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b'{"a":' * 200_000, "nested too deep"),
        (b"[" * 200_000, "nested too deep"),
        (b'{"shape": [1' + b"0" * 5000 + b"]}", "not JSON"),
    ],
)
@pytest.mark.parametrize("read", [v2.parse_array, v2.parse_group, v2.parse_attributes])
def test_a_document_that_is_no_json_object_is_refused_whole(read, text, words):
    with pytest.raises(MetadataError) as caught:
        read(text, "x.zarr/.z")
    assert str(caught.value).startswith("x.zarr/.z: ")
    assert words in str(caught.value)


def test_a_document_that_is_not_json_is_the_decode_error_of_json():
    text = b'{\n  "shape": [3],\n  oops}'
    with pytest.raises(json.JSONDecodeError, match=r"^x\.zarr/\.z: not JSON") as caught:
        v2.parse_array(text, "x.zarr/.z")
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, MetadataError)
    assert (error.lineno, error.colno, error.doc) == (3, 3, text.decode())
    with pytest.raises(json.JSONDecodeError) as not_text:
        v2.parse_array(b"\xff\xfe\x00", "x.zarr/.z")
    assert (not_text.value.doc, not_text.value.pos) == ("", 0)


def test_a_dtype_nested_without_end_is_refused():
    document: object = "<f4"
    for _ in range(900):
        document = [["a", document]]
    with pytest.raises(MetadataError) as caught:
        v2.parse_array(plain(dtype=document), WHERE)
    assert "more than 64 deep" in str(caught.value)


def test_the_limit_of_a_chunk_can_be_moved():
    with config(max_chunk_bytes=99), pytest.raises(MetadataError, match=r"max_chunk_bytes"):
        parse()
    with config(max_chunk_bytes=100):
        assert parse().chunk_shape == (5, 5)


def test_another_shape_keeps_everything_else():
    metadata = v2.new_array(shape=(10, 20), chunks=(3, 7), dtype="i4", fill_value=5)
    larger = metadata.with_shape((11, 21))
    assert larger.shape == (11, 21)
    assert larger.chunk_grid_shape == (4, 3)
    assert metadata.shape == (10, 20)
    assert json.loads(larger.layout()[0])["shape"] == [11, 21]


@pytest.mark.parametrize("shape", [(10,), (10, 20, 30), (-1, 20)])
def test_a_shape_that_cannot_replace_the_old_one_is_refused(shape):
    with pytest.raises(MetadataError, match="expected 2 lengths of at least 0"):
        v2.new_array(shape=(10, 20)).with_shape(shape)


def test_an_empty_axis_with_empty_chunks_cannot_grow():
    metadata = v2.new_array(shape=(0,), chunks=False)
    assert metadata.chunk_shape == (0,)
    with pytest.raises(MetadataError, match="needs chunks"):
        metadata.with_shape((1,))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"shape": -1}, ValueError, "allowed are 0 to 2**63-1"),
        ({"shape": "abc"}, TypeError, "shape contains 'a'"),
        ({"shape": None}, TypeError, "shape is missing"),
        ({"shape": (2.5,)}, TypeError, "shape contains 2.5"),
        ({"shape": 5, "chunks": 0}, ValueError, "allowed are 1 or more"),
        ({"shape": 5, "chunks": (1, 1)}, ValueError, "too many dimensions in chunks"),
        ({"shape": 5, "chunks": "big"}, TypeError, "chunks is 'big'"),
        ({"shape": 5, "chunks": -2}, ValueError, "has a length of -2"),
        ({"shape": 5, "order": "X"}, ValueError, "order must be either 'C' or 'F'"),
        ({"shape": 5, "dtype": "M8"}, ValueError, "generic units"),
        ({"shape": 5, "dtype": object}, ValueError, "missing object_codec"),
        ({"shape": 5, "dtype": object, "object_codec": 1}, ValueError, "object_codec"),
        ({"shape": 5, "dimension_separator": "x"}, ValueError, "either '.' or '/'"),
        ({"shape": 5, "filters": 3}, ValueError, "neither a codec nor a list"),
        ({"shape": 5, "filters": ["vlen-utf8"]}, ValueError, "variable-length"),
        ({"shape": 2**40, "chunks": False}, ValueError, "config.max_chunk_bytes"),
    ],
)
def test_arguments_that_describe_no_array_are_refused(arguments, error, words):
    with pytest.raises(error) as caught:
        v2.new_array(**arguments)
    assert words in str(caught.value)


def test_a_group_keeps_what_it_does_not_know():
    group = v2.parse_group(b'{"zarr_format": 2, "_nczarr": {"a": 1}}')
    assert group == GroupMetadata(zarr_format=2, extra={"_nczarr": {"a": 1}})
    assert json.loads(v2.group_document(group)) == {"zarr_format": 2, "_nczarr": {"a": 1}}
    assert v2.group_document() == b'{\n    "zarr_format": 2\n}'


@pytest.mark.parametrize("text", [b"{}", b'{"zarr_format": 1}', b'{"zarr_format": true}'])
def test_a_group_of_another_format_is_refused(text):
    with pytest.raises(MetadataError, match=r"^a/\.zgroup: .*zarr_format"):
        v2.parse_group(text, "a/.zgroup")


def test_attributes_are_written_as_zarr_2_18_writes_them():
    attributes = {
        "b": [1, {"z": None, "a": True}],
        "a": "\u00e9",
        "c": np.float32(0.5),
        "i": np.int8(3),
    }
    assert v2.attributes_document(attributes) == (
        b'{\n    "a": "\\u00e9",\n    "b": [\n        1,\n        {\n            "a": true,\n'
        b'            "z": null\n        }\n    ],\n    "c": 0.5,\n    "i": 3\n}'
    )


def test_attributes_may_hold_numpy_bools_and_arrays():
    attributes = {"flag": np.True_, "offset": np.array([[1.5, 2], [3, 4]])}
    document = v2.attributes_document(attributes)
    assert v2.parse_attributes(document) == {"flag": True, "offset": [[1.5, 2.0], [3.0, 4.0]]}


def test_attributes_keep_nan_as_zarr_2_18_does():
    assert v2.attributes_document({"a": math.nan}) == b'{\n    "a": NaN\n}'
    assert math.isnan(v2.parse_attributes(b'{"a": NaN}')["a"])


def test_an_attribute_that_json_does_not_have_is_named():
    with pytest.raises(TypeError, match=r"a/\.zattrs: attribute 'bad' is a set"):
        v2.attributes_document({"good": 1, "bad": {1}}, "a/.zattrs")


def test_attribute_keys_that_are_no_strings_become_strings_with_a_warning():
    with pytest.warns(DeprecationWarning, match="stored as strings"):
        assert v2.parse_attributes(v2.attributes_document({1: "one"})) == {"1": "one"}
