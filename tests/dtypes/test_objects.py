"""Variable-length elements, in both formats, against NumPy and against the files of zarr-python.

`golden/objects` holds what zarr-python 2.18 and 3.4 wrote, and the script that made them write it.
"""

import base64
import importlib.util
import itertools
import json
import pickle
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix._array.access import io_of
from zarrix._codecs.objects import ElementCodec
from zarrix._dtypes.variable import as_elements
from zarrix.errors import CodecError, CorruptChunkError, MetadataError

GOLDEN = Path(__file__).parents[1] / "golden" / "objects"
_spec = importlib.util.spec_from_file_location("make_objects", GOLDEN / "make_objects.py")
assert _spec is not None
assert _spec.loader is not None
MAKE = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(MAKE)

STORED = {
    (path.stem, name): {key: base64.standard_b64decode(value) for key, value in files.items()}
    for path in GOLDEN.glob("*.json")
    for name, files in json.loads(path.read_text()).items()
}
STRING = np.dtypes.StringDType()
STRIP = np.frompyfunc(lambda one: one.tolist() if isinstance(one, np.ndarray) else one, 1, 1)


def listed(array: Any) -> Any:
    """Nested lists; elements that are arrays become lists too."""
    return np.asarray(STRIP(np.asarray(array, object)), object).tolist()


def create(name: str, store: Any) -> Any:
    """The array of a golden case, made by us."""
    case = MAKE.CASES[name]
    shape = MAKE.elements(case).shape
    if "v3" in case:
        return zarr.create_array(
            store=store, shape=shape, chunks=tuple(case["chunks"]), **case["v3"]
        )
    arguments = {"dtype": object, "allow_pickle": True, **case["v2"]}
    return zarr.create(shape=shape, chunks=case["chunks"] or True, store=store, **arguments)


# What zarr-python stored


@pytest.mark.parametrize(("writer", "name"), STORED)
def test_an_array_of_a_peer_reads_equal(writer: str, name: str) -> None:
    case = MAKE.CASES[name]
    z = zarr.open_array(dict(STORED[writer, name]), mode="r", allow_pickle=True)
    region, want = MAKE.region(case), MAKE.elements(case)
    assert z.shape == want.shape
    assert listed(z[region]) == listed(want[region])
    for index in np.ndindex(*want[region].shape):
        assert listed(z[index]) == listed(want[index])


@pytest.mark.parametrize(
    ("writer", "name"), [key for key in STORED if "2.18" in key[0] or "filled" in key[1]]
)
def test_what_we_store_is_what_a_peer_stored(writer: str, name: str) -> None:
    case, theirs, ours = MAKE.CASES[name], STORED[writer, name], {}
    z = create(name, ours)
    region, values = MAKE.region(case), MAKE.elements(case)
    z[region] = values[region] if values.shape else values[()]
    assert sorted(ours) == sorted(theirs)
    for key in theirs:
        if key == "zarr.json":
            assert json.loads(ours[key]) == json.loads(theirs[key])
        elif key.startswith(".z") or z.compressor is None:
            stored = theirs[key]
            if "2.18" in writer and name.startswith(("v2 text", "v2 bytes")):
                # zarr-python 3 reads this as the text "0".
                stored = stored.replace(b'"fill_value": 0', b'"fill_value": ""')
            assert ours[key] == stored, key


# Against NumPy

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
KINDS: dict[str, tuple[Any, Any, Any]] = {
    # The strategy of elements, what an array is made with, and what it reads where unwritten.
    "v2 text": (TEXTS, {"dtype": str, "fill_value": ""}, ""),
    "v2 bytes": (st.binary(max_size=20), {"dtype": bytes, "fill_value": b"\xff"}, b"\xff"),
    "v2 F": (TEXTS, {"dtype": str, "fill_value": "f", "order": "F"}, "f"),
    "v2 json": (JSONS, {"dtype": object, "object_codec": numcodecs.JSON()}, 0),
    "v2 pickle": (
        JSONS,
        {"dtype": object, "object_codec": numcodecs.Pickle(), "allow_pickle": True, "order": "F"},
        0,
    ),
    "v3 text": (TEXTS, {"dtype": "string", "zarr_format": 3, "fill_value": "é"}, "é"),
    "v3 bytes": (st.binary(max_size=20), {"dtype": bytes, "zarr_format": 3}, b""),
    "v3 F": (TEXTS, {"dtype": str, "zarr_format": 3, "order": "F"}, ""),
    "v3 shards": (TEXTS, {"dtype": str, "zarr_format": 3, "shards": (4, 6)}, ""),
}
SHAPE, CHUNKS = (7, 8), (2, 3)


@st.composite
def keys(draw: Any) -> Any:
    def axis(size: int) -> Any:
        bound = st.none() | st.integers(-size, size)
        ranges = st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, -1, -3]))
        return ranges | st.integers(-size, size - 1)

    return draw(st.tuples(axis(SHAPE[0]), axis(SHAPE[1])) | st.just(...))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(data=st.data())
def test_reads_and_writes_are_those_of_numpy(kind: str, data: Any) -> None:
    strategy, arguments, fill = KINDS[kind]
    empty = data.draw(st.booleans())
    z = zarr.create(SHAPE, chunks=CHUNKS, store={}, write_empty_chunks=empty, **arguments)
    model = np.full(SHAPE, fill, object)
    for _ in range(data.draw(st.integers(1, 4))):
        key = data.draw(keys())
        part = model[key]
        if isinstance(part, np.ndarray) and isinstance(key, tuple | type(...)):
            # A few values in turn: Hypothesis takes longer to draw one than the arrays to move it.
            few = itertools.cycle(data.draw(st.lists(strategy, min_size=1, max_size=7)))
            value = np.empty(part.shape, object)
            for index in np.ndindex(*part.shape):
                value[index] = next(few)
            z[key] = value
            model[key] = value
        else:
            element = data.draw(strategy)
            z[key] = element
            model[key] = element
        assert listed(z[...]) == model.tolist()
        look = data.draw(keys())
        assert listed(z[look]) == listed(model[look])
    again = zarr.open_array(z.store, mode="r", allow_pickle=True)
    assert listed(again[...]) == model.tolist()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_points_and_windows_move_text_too(zarr_format: int) -> None:
    z = zarr.create((40, 9), chunks=(7, 4), dtype=str, zarr_format=zarr_format)
    model = np.array([[f"{i},{j}" * (i % 5) for j in range(9)] for i in range(40)], object)
    z[...] = model
    rows, columns = np.array([39, 0, 0, 20, 7]), np.array([8, 0, 0, 4, 3])
    out: Any = np.empty(5, z.dtype)
    io_of(z).read_points([rows, columns], out)
    assert out.tolist() == model[rows, columns].tolist()
    io_of(z).write_points([rows, columns], np.array(list("abcde"), z.dtype))
    model[rows, columns] = list("abcde")
    out = np.empty((2, 5, 3), z.dtype)
    io_of(z).read_windows(np.array([[0, 0], [33, 6]]), out)
    assert out.tolist() == [model[:5, :3].tolist(), model[33:38, 6:].tolist()]
    out = np.empty((2, 3), z.dtype)
    io_of(z).read((np.array([38, 1]), np.array([8, 0, 8])), out)
    assert out.tolist() == model[np.ix_([38, 1], [8, 0, 8])].tolist()


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (str, ["a", "", "ccc"]),
        (bytes, [b"a\0", b"", b"\0"]),
        ("array:f4", [np.ones(2, "f4"), np.ones(0, "f4"), np.zeros(1, "f4")]),
    ],
)
def test_an_array_is_made_of_objects_as_they_are(dtype: Any, values: list[Any]) -> None:
    data = np.fromiter(values, object, 3)
    z = zarr.array(data, dtype=dtype)
    assert listed(z[...]) == listed(data)
    assert listed(zarr.array(z)[...]) == listed(data)
    data[1] = None
    assert listed(zarr.array(data, dtype=dtype)[1:2]) == listed(z[1:2])


def test_text_of_format_3_is_numpys_and_of_format_2_objects() -> None:
    words = ["", "short", "exactly fifteen", "sixteen letters.", "x" * 5000, "\0 \0", "日本語"]
    three = zarr.create_array(shape=7, dtype=str, chunks=3)
    three[...] = words
    assert three.dtype == STRING
    assert three[...].dtype == STRING
    assert three[...].tolist() == words
    assert three[4] == words[4]
    two = zarr.create(7, dtype=str, chunks=3)
    two[...] = three[...]
    assert two.dtype == object
    assert [type(one) for one in two[...]] == [str] * 7
    three[...] = two[::-1]
    assert three[...].tolist() == words[::-1]
    out = np.empty((7, 2), STRING)[:, 1]
    three.read(out=out)
    assert out.tolist() == words[::-1]
    three[2:] = "all"
    assert three[1:4].tolist() == [words[5], "all", "all"]


def test_the_report_says_what_goes_through_python() -> None:
    labels = numcodecs.Categorize(["a"], dtype=object)
    z = zarr.create(3, dtype=object, object_codec=labels)
    assert dict(z.info_items())["Not native"] == "Categorize (in Python)"
    assert "Not native" not in dict(zarr.create(3, dtype=str).info_items())


def test_data_types_have_the_names_of_zarr_python() -> None:
    for made, name, codec in (
        (zarr.dtype.VariableLengthUTF8(), "string", "vlen-utf8"),
        (zarr.dtype.VariableLengthBytes(), "variable_length_bytes", "vlen-bytes"),
    ):
        assert made.to_json(zarr_format=3) == name
        assert made.to_json(zarr_format=2) == {"name": "|O", "object_codec_id": codec}
        assert zarr.dtype.parse_dtype(name) == made
        assert zarr.create_array(shape=2, dtype=made).serializer.name == codec
        two = zarr.create_array(shape=2, dtype=made, zarr_format=2)
        assert [one.codec_id for one in two.filters] == [codec]


def test_a_stored_array_is_copied_resized_and_pickled() -> None:
    z = zarr.array(["a", "bb", "ccc", "d"], dtype=str, chunks=3)
    z.resize(2)
    z.resize(5)
    assert z[...].tolist() == ["a", "bb", "", "", ""]
    z.append(["e"])
    copy = zarr.array(z, chunks=2)
    assert copy.filters == [numcodecs.VLenUTF8()]
    assert copy[...].tolist() == ["a", "bb", "", "", "", "e"]
    assert pickle.loads(pickle.dumps(copy))[...].tolist() == copy[...].tolist()
    three = zarr.create_array(shape=3, dtype=bytes, fill_value=b"f")
    assert pickle.loads(pickle.dumps(three))[...].tolist() == [b"f"] * 3


@pytest.mark.parametrize(
    ("arguments", "unwritten", "beside"),
    [
        ({"dtype": str, "fill_value": None}, "", ""),
        ({"dtype": str}, "", ""),
        ({"dtype": str, "fill_value": "f"}, "f", "f"),
        ({"dtype": bytes}, b"", b""),
        ({"dtype": bytes, "fill_value": b"\xff"}, b"\xff", b"\xff"),
        ({"dtype": "array:i2", "fill_value": None}, None, []),
        ({"dtype": object, "object_codec": "json2", "fill_value": {"a": 1}}, {"a": 1}, {"a": 1}),
        ({"dtype": str, "zarr_format": 3}, "", ""),
    ],
)
def test_unwritten_elements_read_as_the_fill_value_which_is_empty_where_it_is_zero(
    arguments: Any, unwritten: Any, beside: Any
) -> None:
    z = zarr.create(4, chunks=2, store={}, **arguments)
    z[0] = {"dtype": [1]}.get(arguments["dtype"], beside if beside is not None else "x")
    assert listed(z[1:]) == [beside, unwritten, unwritten]


def test_chunks_of_nothing_but_fill_are_left_out_where_that_reads_the_same() -> None:
    for fill, kept in (("", ["1"]), (None, ["0", "1"])):
        store: dict[str, bytes] = {}
        z = zarr.create(
            4, chunks=2, dtype=str, fill_value=fill, store=store, write_empty_chunks=False
        )
        z[...] = ["", "", "a", ""]
        assert sorted(set(store) - {".zarray"}) == kept
        assert z[...].tolist() == ["", "", "a", ""]


# What cannot be stored


@pytest.mark.parametrize(
    ("arguments", "value", "error", "words"),
    [
        ({"dtype": str}, ["a", "b", 5], TypeError, "is a str, not int (5)"),
        ({"dtype": str}, b"a", TypeError, "is a str, not bytes"),
        ({"dtype": bytes}, "a", TypeError, "is a bytes, not str ('a')"),
        ({"dtype": str}, "\ud800", UnicodeEncodeError, "surrogates"),
        ({"dtype": str}, ["a", "b"], ValueError, "does not broadcast"),
        ({"dtype": "array:i2"}, [np.zeros((2, 2))] * 3, CodecError, "one axis"),
        ({"dtype": object, "object_codec": numcodecs.JSON()}, {1, 2}, CodecError, "set"),
    ],
)
def test_a_value_that_cannot_be_stored_changes_nothing(
    arguments: Any, value: Any, error: type[Exception], words: str
) -> None:
    z = zarr.create(3, store={}, fill_value=None, **arguments)
    before = dict(z.store)
    with pytest.raises(error) as caught:
        z[...] = np.array([value] * 3, object) if isinstance(value, set) else value
    assert words in str(caught.value)
    assert dict(z.store) == before


def test_pickles_are_loaded_only_where_the_caller_says_so(tmp_path: Path) -> None:
    codec = numcodecs.Pickle()
    with pytest.raises(MetadataError, match="allow_pickle=True"):
        zarr.create(3, dtype=object, object_codec=codec, store=str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()
    z = zarr.create(
        3, dtype=object, object_codec=codec, store=str(tmp_path / "x"), allow_pickle=True
    )
    z[1] = {1, 2}
    for opening in (zarr.open_array, zarr.open):
        with pytest.raises(MetadataError, match="allow_pickle=True"):
            opening(str(tmp_path / "x"), mode="r")
        assert opening(str(tmp_path / "x"), mode="r", allow_pickle=True)[1] == {1, 2}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"id": "json2", "encoding": "no such"}, "no such"),
        ({"id": "json2", "surprise": 1}, "surprise"),
        ({"id": "vlen-array"}, "lacks 'dtype'"),
        ({"id": "vlen-array", "dtype": "O"}, "need a fixed-size dtype"),
        ({"id": "categorize", "labels": 5}, "not a list of texts"),
        ({"id": "categorize", "labels": ["a"], "astype": "f8"}, "not of integers"),
        ({"id": "zstd"}, "begins with an object codec"),
    ],
)
def test_an_object_codec_that_makes_no_sense_is_refused(config: Any, words: str) -> None:
    with pytest.raises(MetadataError) as caught:
        ElementCodec(config, None, (3,), label="a/.zarray")
    assert words in str(caught.value)
    assert str(caught.value).startswith("a/.zarray: ")


# Hostile chunks


def vlen(*items: bytes, count: int | None = None) -> bytes:
    parts = [struct.pack("<I", len(items) if count is None else count)]
    for item in items:
        parts += [struct.pack("<I", len(item)), item]
    return b"".join(parts)


TEXT_DAMAGE = {
    "nothing": b"",
    "half a count": b"\x02\0",
    "count too high": vlen(b"a", b"b", count=3),
    "count too low": vlen(b"a", b"b", count=1),
    "count of billions": vlen(count=2**32 - 1),
    "too many items": vlen(b"a", b"b", b"c"),
    "cut item": vlen(b"a", b"bcd")[:-1],
    "length of billions": vlen(b"a")[:4] + b"\xff\xff\xff\xff" + b"a" * 20,
    "bytes after the end": vlen(b"a", b"b") + b"\0",
}
NO_TEXT = {"no UTF-8": vlen(b"a", b"\xff"), "half a letter": vlen(b"a", "é".encode()[:1])}
JSON_DAMAGE = {
    "no JSON": b"[1, 2",
    "no list": b"5",
    "no shape": b"[1, 2]",
    "shape of billions": b'[1, 2, "|O", [1000000000000]]',
    "negative shape": b'[1, 2, "|O", [-1, -2]]',
    "other shape": b'[1, 2, 3, "|O", [3]]',
    "too few items": b'[1, "|O", [2]]',
    "not nested": b'[1, 2, "|O", [2, 1]]',
    "too deep": b"[" * 100_000,
}
DAMAGED = [
    *(("str", name, data) for name, data in {**TEXT_DAMAGE, **NO_TEXT}.items()),
    *(("bytes", name, data) for name, data in TEXT_DAMAGE.items()),
    *(("array:i2", name, data) for name, data in TEXT_DAMAGE.items()),
    ("array:i2", "half an element", vlen(b"abc", b"")),
    *(("json2", name, data) for name, data in JSON_DAMAGE.items()),
    ("categorize", "unknown code", b"\x01\x07"),
    ("categorize", "too long", b"\x01\x01\x01"),
    ("pickle", "no pickle", b"junk"),
    ("pickle", "too few", pickle.dumps(np.zeros(1, object))),
]


@pytest.mark.parametrize(("kind", "name", "data"), DAMAGED, ids=[f"{k} {n}" for k, n, _ in DAMAGED])
def test_a_chunk_that_lies_is_an_error_that_names_it(kind: str, name: str, data: bytes) -> None:
    codecs = {
        "json2": {"id": "json2"},
        "pickle": {"id": "pickle"},
        "categorize": {"id": "categorize", "labels": ["a"], "dtype": "|O"},
    }
    store: dict[str, bytes] = {}
    z = zarr.create(
        4,
        chunks=2,
        dtype=object if kind in codecs else kind,
        object_codec=codecs.get(kind),
        compressor=None,
        store=store,
        allow_pickle=True,
    )
    store["1"] = data
    with pytest.raises(CorruptChunkError, match='chunk "1" is corrupt'):
        z[...]
    with pytest.raises(CorruptChunkError, match='chunk "1" is corrupt'):
        z[2] = "a" if kind in ("str", "categorize") else b"" if kind == "bytes" else []
    assert store["1"] == data
    z[2:] = np.array(["a", "a"] if kind in ("str", "categorize") else [None] * 2, object)
    z[...]


@pytest.mark.parametrize(("name", "data"), {**TEXT_DAMAGE, **NO_TEXT}.items())
def test_damage_in_a_shard_is_an_error_that_names_it(name: str, data: bytes) -> None:
    store: dict[str, bytes] = {}
    z = zarr.create_array(
        store=store, shape=8, chunks=2, shards=4, dtype=str, compressors=None, overwrite=True
    )
    z[...] = list("abcdefgh")
    shard = bytearray(store["c/1"])
    at = shard.index(vlen(b"g", b"h"))
    index = len(shard) - 36
    assert struct.unpack_from("<QQ", shard, index + 16) == (at, len(vlen(b"g", b"h")))
    shard[index:index] = data
    numbers = struct.pack("<QQ", index, len(data))
    body = shard[index + len(data) : -4]
    body[16:32] = numbers
    store["c/1"] = bytes(shard[: index + len(data)]) + bytes(body) + crc32c(bytes(body))
    assert z[:6].tolist() == list("abcdef")
    with pytest.raises(CorruptChunkError, match='"c/1"'):
        z[6:]


def crc32c(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def test_a_bomb_is_stopped_at_the_limit_of_the_configuration() -> None:
    bomb = vlen(b"\0" * 50_000_000, b"")
    with zarr.config(max_chunk_bytes=1_000_000):
        store: dict[str, bytes] = {}
        z = zarr.create(2, dtype=str, compressor=numcodecs.Zstd(), store=store)
        store["0"] = numcodecs.Zstd().encode(bomb)
        with pytest.raises(CorruptChunkError, match="more than 1000000 bytes"):
            z[...]


# Many writers


def test_threads_that_write_elements_of_one_chunk_keep_all_of_them() -> None:
    for arguments in ({"dtype": str}, {"dtype": object, "object_codec": numcodecs.JSON()}):
        z = zarr.create(64, chunks=64, store={}, **arguments)

        def work(first: int, z: Any = z) -> None:
            for i in range(first, 64, 8):
                z[i] = f"element {i}"

        threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert z[...].tolist() == [f"element {i}" for i in range(64)]


WRITER = """
import sys
import zarrix as zarr

path, first = sys.argv[1], int(sys.argv[2])
for name in ("two", "three", "json"):
    z = zarr.open_array(f"{path}/{name}", mode="r+")
    for i in range(first, 48, 4):
        z[i] = f"element {i}"
"""


def test_processes_that_write_elements_of_one_chunk_keep_all_of_them(tmp_path: Path) -> None:
    zarr.create(48, chunks=48, dtype=str, store=str(tmp_path / "two"))
    zarr.create_array(store=str(tmp_path / "three"), shape=48, chunks=12, shards=48, dtype=str)
    zarr.create(
        48, chunks=48, dtype=object, object_codec=numcodecs.JSON(), store=str(tmp_path / "json")
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(first)])
        for first in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0] * 4
    for name in ("two", "three", "json"):
        z = zarr.open_array(str(tmp_path / name), mode="r")
        assert z[...].tolist() == [f"element {i}" for i in range(48)]


# The codecs in Python


@pytest.mark.parametrize(
    "codec",
    [
        numcodecs.JSON(),
        numcodecs.JSON(encoding="utf-16", ensure_ascii=False, indent=2, sort_keys=False),
        numcodecs.VLenArray("<f4"),
        numcodecs.Categorize(["a", "b"], dtype=object, astype="i2"),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_object_codec_stores_what_numcodecs_stores(codec: Any, order: str) -> None:
    elements: Any = np.empty((2, 3), object)
    for position, index in enumerate(np.ndindex(2, 3)):
        elements[index] = {
            "json2": {"k": [position, "é"]},
            "vlen-array": np.arange(position, dtype="f4"),
            "categorize": "abc"[position % 3],
        }[codec.codec_id]
    ours = ElementCodec(codec.get_config(), None, (2, 3), order)
    stored = ours.encode(elements.reshape(-1, order=order))
    array = elements if order == "C" else np.asfortranarray(elements)
    assert stored == bytes(codec.encode(array))
    want = [one if one != "c" else "" for one in listed(elements.reshape(-1, order=order))]
    assert listed(ours.decode(stored, 6)) == want


@pytest.mark.parametrize(
    ("value", "shape", "want"),
    [
        ("ab", (2,), "ab"),
        (["ab", "c"], (2,), ["ab", "c"]),
        (np.array(["ab", "c"]), (2,), ["ab", "c"]),
        ([[1, 2], [3]], (2,), [[1, 2], [3]]),
        ([[1, 2], [3, 4]], (2,), [[1, 2], [3, 4]]),
        ([["a", "b"]], (1, 2), [["a", "b"]]),
        (["a", "b"], (3, 2), ["a", "b"]),
        ([1, 2], (), [1, 2]),
        ({"a": 1}, (2, 2), {"a": 1}),
        (np.int16(5), (2,), 5),
        (None, (2,), None),
    ],
)
def test_what_is_an_element_follows_from_the_shape_of_the_selection(
    value: Any, shape: tuple[int, ...], want: Any
) -> None:
    elements = as_elements(value, shape)
    assert elements.dtype == object
    assert elements.tolist() == want
    assert elements.ndim <= len(shape)
