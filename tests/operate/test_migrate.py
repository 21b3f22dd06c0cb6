"""Migration changes only the documents, and is atomic."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CorruptChunkError, GroupNotFoundError, MetadataError

CASES: dict[str, dict[str, Any]] = {
    "plain": {"dtype": "f4"},
    "big-endian": {"dtype": ">f8"},
    "text": {"dtype": "<U3"},
    "big-endian text": {"dtype": ">U3"},
    "times": {"dtype": "<M8[ns]", "fill_value": None},
    "not a number": {"dtype": "f4", "fill_value": np.nan},
    "truth": {"dtype": "?", "filters": [numcodecs.PackBits()], "compressor": None},
    "fortran": {"dtype": "i2", "order": "F"},
    "slashes": {"dtype": "i2", "dimension_separator": "/"},
    "delta": {"dtype": "<i4", "filters": [numcodecs.Delta("<i4")]},
    "big-endian delta": {"dtype": ">i4", "filters": [numcodecs.Delta(">i4", "<i8")]},
    "shuffle": {"dtype": "<i4", "filters": [numcodecs.Shuffle(4)], "compressor": numcodecs.LZ4()},
    "checksum": {"dtype": "<i4", "filters": [numcodecs.Fletcher32()], "compressor": None},
    "zstd": {"dtype": "<i4", "compressor": numcodecs.Zstd(3)},
    "gzip": {"dtype": "<i4", "compressor": numcodecs.GZip(3)},
    "blosc bits": {"dtype": "u1", "compressor": numcodecs.Blosc("zstd", 1, -1)},
    "scaled, big-endian": {
        "dtype": ">i2",
        "filters": [numcodecs.FixedScaleOffset(offset=0, scale=1, dtype=">i2", astype=">i4")],
    },
    "bz2": {"dtype": "<i4", "compressor": numcodecs.BZ2()},
    "record": {"dtype": [("a", "<i2"), ("b", "S3")]},
    "raw": {"dtype": "V3"},
    "texts": {"dtype": str},
    "texts, compressed twice": {
        "dtype": str,
        "filters": [numcodecs.Shuffle(2)],
        "compressor": numcodecs.Zstd(1),
        "fill_value": "-",
    },
    "texts, fortran": {"dtype": str, "order": "F", "compressor": None, "fill_value": None},
    "lines of bytes": {"dtype": bytes, "fill_value": b"x"},
}


def values_of(dtype: Any) -> Any:
    if dtype in (str, bytes):
        texts = [f"{'é' * (i % 4)}{i}" for i in range(20)]
        elements = texts if dtype is str else [text.encode() for text in texts]
        return np.array(elements, dtype=object).reshape(5, 4)
    dtype = np.dtype(dtype)
    if dtype.kind == "U":
        return np.full((5, 4), "éx", dtype)
    if dtype.kind == "b":
        return np.arange(20).reshape(5, 4) % 3 == 0
    return np.frombuffer(np.random.RandomState(1).bytes(20 * dtype.itemsize), dtype).reshape(5, 4)


def hierarchy(store: Any, zarr_format: int = 2, **keywords: Any) -> dict[str, Any]:
    root = zarr.open_group(store, mode="w", zarr_format=zarr_format, attributes={"r": [1]})
    values = values_of(keywords.get("dtype", "i4"))
    inner = root.create_group("g", attributes={"g": 1})
    z = inner.create("z", shape=(5, 4), chunks=(3, 2), **keywords)
    z[...] = values
    z.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    z.attrs["unit"] = "mm"
    root.zeros("empty", shape=7, chunks=2, dtype="u1")
    return {key: bytes(value) for key, value in root.store.items()}


def chunks_of(content: dict[str, bytes]) -> dict[str, bytes]:
    def is_chunk(key: str) -> bool:
        name = key.rsplit("/", 1)[-1]
        return not name.startswith(".z") and name != "zarr.json"

    return {key: value for key, value in content.items() if is_chunk(key)}


@pytest.mark.parametrize("name", CASES)
def test_there_and_back_everything_reads_the_same_and_chunks_stay(name: str) -> None:
    store = zarr.MemoryStore()
    before = hierarchy(store, **CASES[name])
    values = zarr.open(store)["g/z"][...]
    report = zarr.migrate(store, to=3)
    assert (report.arrays, report.groups) == (("empty", "g/z"), ("", "g"))
    after = {key: bytes(value) for key, value in store.items()}
    assert chunks_of(after) == chunks_of(before)
    assert not [key for key in after if key.rsplit("/", 1)[-1].startswith(".z")]
    root = zarr.open(store)
    z = root["g/z"]
    assert (root.zarr_format, z.zarr_format) == (3, 3)
    assert same(z[...], values)
    assert z.metadata.dimension_names == ("y", "x")
    assert (root.attrs["r"], root["g"].attrs["g"], dict(z.attrs)) == ([1], 1, {"unit": "mm"})
    z.resize(6, 4)
    z.resize(5, 4)
    zarr.migrate(store, to=2)
    again = {key: bytes(value) for key, value in store.items()}
    assert chunks_of(again).keys() == chunks_of(before).keys()
    assert not [key for key in again if key.endswith("zarr.json")]
    z = zarr.open(store)["g/z"]
    assert z.zarr_format == 2
    # Delta gives little-endian bytes there, and in v3 that is all that is said of order.
    stays = name != "big-endian delta"
    assert z.dtype == (values.dtype if stays else values.dtype.newbyteorder("<"))
    assert same(z[...], values)
    assert z.attrs.asdict() == {"_ARRAY_DIMENSIONS": ["y", "x"], "unit": "mm"}


def same(found: Any, values: Any) -> bool:
    """Whether these are the same elements, to the bit."""
    if values.dtype.hasobject:
        return bool(np.asarray(found, object).tolist() == values.tolist())
    return bool(found.astype(values.dtype).tobytes() == values.tobytes())


OBSTACLES: dict[str, tuple[int, Callable[[Any], Any], str]] = {
    "sub-arrays": (
        3,
        lambda root: root.create("x", shape=3, dtype=[("a", "f4", (2,))]),
        "field 'a' is an array",
    ),
    "both byte orders": (
        3,
        lambda root: root.create("x", shape=3, dtype=[("a", "<f4"), ("b", ">f4")]),
        "both byte orders",
    ),
    "filters in a mixed order": (
        3,
        lambda root: root.create(
            "x", shape=3, dtype="<i4", filters=[numcodecs.Shuffle(4), numcodecs.Delta("<i4")]
        ),
        "follows one on bytes",
    ),
    "shards": (
        2,
        lambda root: root.create_array("x", shape=4, chunks=2, shards=4),
        "in shards, which v2 does not have; rewrite=True",
    ),
    "shards under v2 keys": (
        2,
        lambda root: root.create_array(
            "x", shape=4, chunks=2, shards=4, chunk_key_encoding={"name": "v2", "separator": "."}
        ),
        "keys of its shards are those that its chunks would have",
    ),
    "shards in shards": (
        2,
        lambda root: root.create_array(
            "x",
            shape=8,
            chunks=4,
            shards=8,
            serializer=zarr.codecs.ShardingCodec(chunk_shape=(2,)),
        ),
        "'sharding_indexed'",
    ),
    "objects": (
        3,
        lambda root: root.create("x", shape=4, dtype=object, object_codec=numcodecs.JSON()),
        "no data type for objects of the codec 'json2'",
    ),
    "ragged": (3, lambda root: root.create("x", shape=4, dtype="array:f4"), "'vlen-array'"),
    "a fill value that is not text": (
        3,
        lambda root: root.create("x", shape=4, dtype=str, fill_value=7),
        "cannot represent its fill value, 7",
    ),
    "keys": (2, lambda root: root.create_array("x", shape=4), "begin with 'c'"),
    "a v3 codec": (
        2,
        lambda root: root.create_array(
            "x", shape=4, dtype="f4", filters=zarr.codecs.ScaleOffset(offset=1, scale=2)
        ),
        "no codec 'scale_offset'",
    ),
    "another order": (
        2,
        lambda root: root.create_array(
            "x",
            shape=(2, 3, 4),
            chunk_key_encoding="v2",
            filters=zarr.codecs.TransposeCodec(order=(1, 0, 2)),
        ),
        "(1, 0, 2)",
    ),
    "a fill value of other bits": (
        2,
        lambda root: root.create_array(
            "x",
            shape=2,
            dtype="f4",
            chunk_key_encoding="v2",
            fill_value=np.array([0x7FC00001], "u4").view("f4")[0],
        ),
        "to the bit",
    ),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_one_array_in_the_way_and_nothing_is_changed(name: str) -> None:
    to, make, words = OBSTACLES[name]
    store = zarr.MemoryStore()
    root = zarr.open_group(store, zarr_format=5 - to)
    make(root)
    before = dict(store.items())
    report = zarr.migrate(store, to=to, dry_run=True)
    assert list(report.obstacles) == ["x"]
    assert words in report.obstacles["x"]
    assert "would migrate" in str(report)
    with pytest.raises(MetadataError, match="nothing was migrated"):
        zarr.migrate(store, to=to)
    assert dict(store.items()) == before


class Killed(BaseException):
    """As if the process had ended."""


class Mortal(dict[str, Any]):
    """A mapping that dies at a write."""

    left = 10**9

    def count(self) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1

    def __setitem__(self, key: str, value: Any) -> None:
        self.count()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self.count()
        super().__delitem__(key)


@pytest.mark.parametrize("to", [2, 3])
def test_killed_at_any_write_the_hierarchy_is_whole_and_the_next_call_completes_it(to: int) -> None:
    content = hierarchy(zarr.MemoryStore(), 2)
    if to == 2:
        store = zarr.MemoryStore(content)
        zarr.migrate(store, to=3)
        content = {key: bytes(value) for key, value in store.items()}
    expected = zarr.open({**content})["g/z"][...]
    survived = 0
    for left in range(100):
        mapping = Mortal(content)
        mapping.left = left
        try:
            zarr.migrate(mapping, to=to)
        except Killed:
            survived += 1
        finished = mapping.left > 0
        mapping.left = 10**9
        root = zarr.open_group(mapping, mode="r")
        assert sorted(name for name, _ in root.members(None)) == ["empty", "g", "g/z"]
        np.testing.assert_array_equal(root["g/z"][...], expected)
        assert (root.attrs["r"], root["g/z"].attrs["unit"]) == ([1], "mm")
        zarr.migrate(mapping, to=to)
        assert zarr.open_group(mapping, mode="r").zarr_format == to
        old = (".zgroup", ".zarray", ".zattrs") if to == 3 else ("zarr.json",)
        assert not [key for key in mapping if key.endswith(old)]
        if finished:
            break
    assert survived > 8


@pytest.mark.parametrize("to", [2, 3])
def test_consolidated_metadata_is_migrated_too(to: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store)
    zarr.consolidate_metadata(store)
    zarr.migrate(store, to=3)
    assert ".zmetadata" not in store
    if to == 2:
        zarr.migrate(store, to=2)
        assert "g/z/.zarray" in json.loads(store[".zmetadata"])["metadata"]
    root = zarr.open_consolidated(store)
    assert root.zarr_format == to
    assert root["g/z"].shape == (5, 4)


def test_an_array_alone_is_migrated_and_what_is_no_root_is_not() -> None:
    store: dict[str, Any] = {}
    zarr.save(store, np.arange(10))
    assert "would migrate 1 array " in str(zarr.migrate(store, to=3, dry_run=True))
    assert zarr.open(store).zarr_format == 2
    zarr.migrate(store)
    assert zarr.open(store).zarr_format == 3
    np.testing.assert_array_equal(zarr.open(store)[:], np.arange(10))
    nested = zarr.MemoryStore()
    hierarchy(nested)
    with pytest.raises(ValueError, match="inside a group"):
        zarr.migrate(nested, path="g")
    with pytest.raises(GroupNotFoundError, match="nothing to migrate"):
        zarr.migrate({})
    with pytest.raises(ValueError, match="2 or 3"):
        zarr.migrate(nested, to=4)


@pytest.mark.parametrize("to", [3, 2])
def test_arrays_below_a_folder_that_is_not_a_group_are_migrated_too(to: Any) -> None:
    """They were left as they were, not named, and no longer found from the root."""
    store = zarr.MemoryStore()
    root = zarr.open_group(store, zarr_format=5 - to)
    root.create_dataset("p/q/z", data=np.arange(10), chunks=5)
    for folder in ("p", "p/q"):
        del store[f"{folder}/{'.zgroup' if to == 3 else 'zarr.json'}"]
    assert zarr.migrate(store, to=to, dry_run=True, rewrite=True).arrays == ("p/q/z",)
    assert zarr.migrate(store, to=to, rewrite=True).arrays == ("p/q/z",)
    assert zarr.open_group(store)["p/q/z"].zarr_format == to
    np.testing.assert_array_equal(zarr.open_group(store)["p/q/z"][:], np.arange(10))


REWRITTEN: dict[str, dict[str, Any]] = {
    "slashes": {},
    "dots": {"chunk_key_encoding": {"name": "default", "separator": "."}},
    "shards": {"shards": (4, 4)},
    "shards, turned": {
        "shards": (4, 4),
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
        "compressors": [zarr.codecs.GzipCodec(level=1)],
    },
    "shards of texts": {"shards": (4, 4), "dtype": str},
    "texts": {"dtype": str},
    "big-endian": {"serializer": zarr.codecs.BytesCodec(endian="big")},
}


def to_rewrite(store: Any, **keywords: Any) -> Any:
    root = zarr.create_group(store, attributes={"r": [1]})
    options = {"dtype": "i4", "dimension_names": ["y", "x"], **keywords}
    z = root.create_array("g/z", shape=(7, 6), chunks=(2, 2), **options)
    values = np.arange(42).reshape(7, 6).astype(object if options["dtype"] is str else "i4")
    if options["dtype"] is str:
        values = np.array([f"v{one}" for one in values.ravel()], object).reshape(7, 6)
    values[:2, 2:4] = "" if options["dtype"] is str else 0
    z[...] = values
    root.create_array("scalar", shape=(), dtype="i4")[()] = 3
    root.create_array("empty", shape=9, chunks=2, dtype="u1")
    stays = root.create_array(
        "stays", shape=4, chunks=2, chunk_key_encoding=("v2", "."), compressors=None
    )
    stays[:] = 1.5
    return values


@pytest.mark.parametrize("name", REWRITTEN)
def test_chunks_that_cannot_stay_are_rewritten_where_that_is_asked_for(name: str) -> None:
    store = zarr.MemoryStore()
    values = to_rewrite(store, **REWRITTEN[name])
    before = {key: bytes(value) for key, value in store.items()}
    report = zarr.migrate(store, to=2, rewrite=True, dry_run=True)
    assert report.rewritten == ("empty", "g/z", "scalar")
    assert "array /g/z, and rewrites its chunks\n" in str(report)
    assert "array /stays\n" in str(report)
    assert before == {key: bytes(value) for key, value in store.items()}
    done = zarr.migrate(store, to=2, rewrite=True)
    assert (done.done, done.rewritten) == (True, report.rewritten)
    root = zarr.open_group(store, mode="r")
    z = root["g/z"]
    assert (root.zarr_format, z.chunks, z.shards) == (2, (2, 2), None)
    assert same(z[...], values)
    assert (root["scalar"][()], root["stays"][:].tolist()) == (3, [1.5] * 4)
    # The chunk of nothing but fill is not stored, as before, and nothing of v3 is left.
    assert z.nchunks_initialized == 11
    names = {key.rsplit("/", 1)[-1] for key in store}
    assert "zarr.json" not in names
    assert not [key for key in store if "/c/" in f"/{key}" or "/c." in f"/{key}"]
    assert z.attrs["_ARRAY_DIMENSIONS"] == ["y", "x"]
    if "shards" not in name:
        assert {before[key] for key in before if key.startswith("g/z/c")} == {
            bytes(store[f"g/z/{i}{z.metadata.dimension_separator}{j}"])
            for i in range(4)
            for j in range(3)
            if (i, j) != (0, 1)
        }
    zarr.migrate(store, to=3)
    assert same(zarr.open(store)["g/z"][...], values)


@pytest.mark.parametrize("name", ["slashes", "shards"])
def test_killed_at_any_write_while_chunks_are_rewritten_it_is_one_or_the_other(name: str) -> None:
    content = zarr.MemoryStore()
    values = to_rewrite(content, **REWRITTEN[name])
    survived = 0
    for left in range(200):
        mapping = Mortal({key: bytes(value) for key, value in content.items()})
        mapping.left = left
        try:
            zarr.migrate(mapping, to=2, rewrite=True)
        except Killed:
            survived += 1
        finished = mapping.left > 0
        mapping.left = 10**9
        root = zarr.open_group(mapping, mode="r")
        found = sorted(path for path, _ in root.members(None))
        assert found == ["empty", "g", "g/z", "scalar", "stays"]
        assert same(root["g/z"][...], values)
        # By its own path, too.
        assert same(zarr.open_array(mapping, mode="r", path="g/z")[...], values)
        assert root["scalar"][()] == 3
        if root.zarr_format == 3 and not finished:
            # Life goes on in the old format, and what the dead one left does not come back.
            writer = zarr.open_group(mapping, mode="r+")
            writer["g/z"][:2, :2] = 0
            expected = values.copy()
            expected[:2, :2] = 0
        else:
            expected = values
        zarr.migrate(mapping, to=2, rewrite=True)
        again = zarr.open_group(mapping, mode="r")
        assert again.zarr_format == 2
        assert same(again["g/z"][...], expected)
        assert not [key for key in mapping if "/c/" in key or key.endswith("zarr.json")]
        if finished:
            break
    assert survived > 30


def test_a_chunk_that_cannot_be_read_stops_it_and_leaves_everything() -> None:
    store = zarr.MemoryStore()
    to_rewrite(store, shards=(4, 4))
    store["g/z/c/1/1"] = store["g/z/c/1/1"][:-9]
    before = {key: bytes(value) for key, value in store.items()}
    with pytest.raises(CorruptChunkError, match="g/z/c/1/1"):
        zarr.migrate(store, to=2, rewrite=True)
    assert before == {key: bytes(value) for key, value in store.items()}


PROGRAM = """
import sys, zarrix as zarr
to = int(sys.argv[2])
for _ in range(500):
    zarr.migrate(sys.argv[1], to=to, rewrite=True)
    print(to, flush=True)
    to = 5 - to
"""


def test_processes_that_are_killed_leave_files_of_one_format_or_the_other(
    tmp_path: Path, is_long: bool
) -> None:
    path = tmp_path / "x.zarr"
    values = to_rewrite(str(path), shards=(4, 4))
    random = np.random.RandomState(5)
    to = 2
    for _ in range(12 if is_long else 5):
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path), str(to)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random.random() * 0.03)
        child.kill()
        child.wait()
        child.stdout.close()
        root = zarr.open_group(str(path), mode="r")
        assert same(root["g/z"][...], values)
        assert root["scalar"][()] == 3
        assert sorted(path for path, _ in root.members(None)) == [
            "empty",
            "g",
            "g/z",
            "scalar",
            "stays",
        ]
        to = 5 - root.zarr_format
