"""What the quick start and the user guide of zarr-python 3 do, done with zarrix under its name."""

import io
from pathlib import Path
from pprint import pprint
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs.numcodecs import LZMA, Delta
from zarrix.core.group import GroupMetadata
from zarrix.storage import LocalStore, MemoryStore


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The guide stores below ``data`` in the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def rows(info: Any) -> dict[str, str]:
    lines = str(info).splitlines()
    return {name.strip(): value.strip() for name, _, value in (one.partition(":") for one in lines)}


def test_the_quick_start_creates_writes_and_reports_an_array() -> None:
    values = np.random.RandomState(0).random((100, 100)).astype("f4")
    z = zarr.create_array(
        store="data/example-1.zarr", shape=(100, 100), chunks=(10, 10), dtype="f4"
    )
    z[:, :] = values
    found = rows(z.info)
    assert found["Zarr format"] == "3"
    assert found["Chunk shape"] == "(10, 10)"
    assert found["Serializer"] == "BytesCodec(endian='little')"
    assert found["Compressors"] == "ZstdCodec(level=0, checksum=True)"
    assert found["Chunks initialized"] == "100/100"
    np.testing.assert_array_equal(zarr.open("data/example-1.zarr", mode="r")[:], values)


def test_the_quick_start_compresses_with_blosc() -> None:
    z = zarr.create_array(
        store="data/example-2.zarr",
        shape=(100, 100),
        chunks=(10, 10),
        dtype="f4",
        compressors=zarr.codecs.BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"),
    )
    z[:, :] = 1.5
    assert z.compressors == (
        zarr.codecs.BloscCodec(typesize=4, cname="zstd", clevel=3, shuffle="shuffle"),
    )
    assert zarr.open_array("data/example-2.zarr", mode="r")[99, 99] == 1.5


@pytest.mark.parametrize("zarr_format", [None, 3])
def test_the_quick_start_nests_groups_and_copies_a_hierarchy(zarr_format: int | None) -> None:
    root = zarr.group("data/example-3.zarr", attributes={"name": "root"}, zarr_format=zarr_format)
    foo = root.create_group(name="foo")
    bar = root.create_array(name="bar", shape=(100, 10), chunks=(10, 10), dtype="f4")
    spam = foo.create_array(name="spam", shape=(10,), dtype="i4")
    bar[:, :] = 2
    spam[:] = np.arange(10)
    bar.attrs["unit"] = "mm"
    drawn = "/ ├── bar (100, 10) float32 └── foo └── spam (10,) int32"
    assert " ".join(str(root.tree()).split()) == drawn
    nodes = {"": root.metadata} | {name: node.metadata for name, node in root.members()}
    pprint(nodes, stream=io.StringIO(), width=60, depth=3)
    made = dict(zarr.create_hierarchy(store=zarr.storage.MemoryStore(), nodes=nodes))
    assert made[""].attrs == root.attrs
    assert made["bar"].shape == (100, 10)
    assert dict(made["bar"].attrs) == {"unit": "mm"}
    assert made[""].zarr_format == root.zarr_format == (zarr_format or 2)


def test_arrays_are_created_in_memory_filled_and_read() -> None:
    z = zarr.create_array(
        store="memory://arrays-demo", shape=(1000, 1000), chunks=(100, 100), dtype="int32"
    )
    z[:] = 42
    z[0, :] = np.arange(1000)
    z[:, 0] = np.arange(1000)
    assert (z[0, 0], z[-1, -1]) == (0, 42)
    np.testing.assert_array_equal(z[0, :], np.arange(1000))
    again = zarr.open_array("memory://arrays-demo", mode="r")
    np.testing.assert_array_equal(again[:], z[:])


def test_arrays_are_saved_resized_and_appended_to() -> None:
    zarr.save("data/example-2.zarr", np.arange(10))
    np.testing.assert_array_equal(zarr.load("data/example-2.zarr"), np.arange(10))
    z = zarr.create_array("data/example-3.zarr", shape=(100, 100), dtype="int32", chunks=(10, 10))
    z[:] = 42
    z.resize((200, 100))
    assert z.shape == (200, 100)
    a = np.arange(10000, dtype="int32").reshape(100, 100)
    z = zarr.create_array("data/example-4.zarr", shape=a.shape, dtype=a.dtype, chunks=(10, 10))
    z[:] = a
    z.append(a)
    z.append(np.vstack([a, a]), axis=1)
    assert z.shape == (200, 200)
    np.testing.assert_array_equal(z[:], np.tile(a, (2, 2)))


def test_an_array_is_seen_with_another_config() -> None:
    z = zarr.create_array({}, shape=(10,), dtype="int8", config={"write_empty_chunks": True})
    assert z.config.write_empty_chunks
    assert z.with_config({"order": "F"}).config.write_empty_chunks
    sparing = z.with_config({"write_empty_chunks": False})
    sparing[:] = 0
    assert z.nchunks_initialized == 0
    z[:] = 0
    assert z.nchunks_initialized == 1
    with pytest.raises(TypeError, match="did you mean 'write_empty_chunks'"):
        z.with_config({"write_empty_chunk": False})


@pytest.mark.parametrize(
    ("compressors", "shown"),
    [
        (None, []),
        (zarr.codecs.GzipCodec(level=1), ["GzipCodec(level=1)"]),
        (LZMA(preset=1), ["Codec('numcodecs.lzma', preset=1)"]),
        (
            {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1}},
            ["BloscCodec(typesize=4, cname='lz4', clevel=1, shuffle='shuffle', blocksize=0)"],
        ),
    ],
)
def test_compressors_of_all_kinds_are_passed_and_shown(compressors: Any, shown: list[str]) -> None:
    data = np.arange(10000, dtype="int32").reshape(100, 100)
    z = zarr.create_array(
        store="data/example-6.zarr",
        shape=data.shape,
        dtype=data.dtype,
        chunks=(10, 10),
        compressors=compressors,
    )
    z[:] = data
    assert [repr(codec) for codec in z.compressors] == shown
    np.testing.assert_array_equal(zarr.open_array("data/example-6.zarr")[:], data)


def test_a_filter_goes_before_the_compressor() -> None:
    data = np.arange(10000, dtype="int32").reshape(100, 100)
    z = zarr.create_array(
        store="data/example-9.zarr",
        shape=data.shape,
        dtype=data.dtype,
        chunks=(10, 10),
        filters=[Delta(dtype="int32")],
        compressors=zarr.codecs.BloscCodec(cname="zstd", clevel=1, shuffle="shuffle"),
    )
    z[:] = data
    assert [codec.name for codec in z.filters] == ["numcodecs.delta"]
    assert rows(z.info_complete())["Chunks initialized"] == "100/100"
    np.testing.assert_array_equal(z[:], data)


def test_shards_hold_many_chunks_under_one_key(data: Path) -> None:
    z = zarr.create_array(
        "data/example-20.zarr", shape=(1000, 1000), shards=(100, 100), chunks=(10, 10), dtype="u1"
    )
    values = np.random.RandomState(1).randint(0, 255, (1000, 1000)).astype("u1")
    z[:] = values
    assert (z.shards, z.chunks) == ((100, 100), (10, 10))
    assert z.nchunks == z.nchunks_initialized == 10000
    assert len(list((data / "example-20.zarr" / "c").rglob("*/*"))) == 100
    assert rows(z.info)["Shard shape"] == "(100, 100)"
    np.testing.assert_array_equal(z[5:995:7, 3], values[5:995:7, 3])


def test_chunks_and_shards_are_found_or_given_in_bytes() -> None:
    z = zarr.create_array({}, shape=(4000, 4000), dtype="f4", chunks="1 MiB", shards="16 MiB")
    assert (z.chunks, z.shards) == ((500, 500), (2000, 2000))
    z = zarr.create_array({}, shape=(4000, 4000), dtype="f4", shards="auto")
    assert z.shards is not None
    assert all(n % m == 0 for n, m in zip(z.shards, z.chunks, strict=True))
    z = zarr.create_array({}, shape=(100, 90), dtype="f4", chunks="auto", shards=(50, 45))
    assert z.chunks == (50, 45)


def test_groups_hold_groups_and_arrays() -> None:
    root = zarr.create_group(store=zarr.storage.MemoryStore())
    bar = root.create_group("foo").create_group("bar")
    z = bar.create_array(name="baz", shape=(100, 100), chunks=(10, 10), dtype="int32")
    assert root["foo/bar/baz"] == z
    assert root["foo/bar"] == bar
    assert [name for name, _ in root.members()] == ["foo"]
    assert [name for name, _ in root.members(max_depth=None)] == ["foo", "foo/bar", "foo/bar/baz"]
    assert (root.nmembers(), root.nmembers(None)) == (1, 3)
    assert list(bar.array_values()) == [z]
    assert [group.path for group in root.group_values()] == ["foo"]
    assert root.get_array("foo/bar/baz") == z
    assert root.get_group("foo") == root["foo"]
    with pytest.raises(zarr.errors.ArrayNotFoundError, match="'foo'"):
        root.get_array("foo")
    with pytest.raises(zarr.errors.GroupNotFoundError, match="'no'"):
        root.get_group("no")
    assert root.update_attributes({"a": 1}).attrs.asdict() == {"a": 1}
    assert root.require_array("foo/bar/baz", shape=(100, 100), dtype="int32") == z
    with pytest.raises(TypeError, match="shape"):
        root.require_array("foo/bar/baz", shape=3)
    assert root.info_complete().items


def test_missing_groups_of_a_hierarchy_are_made() -> None:
    made = dict(
        zarr.create_hierarchy(store=LocalStore(root="data"), nodes={"a/b/c": GroupMetadata()})
    )
    assert list(made) == ["a/b/c"]
    root = zarr.open_group("data", mode="r")
    assert [name for name, _ in root.members(None)] == ["a", "a/b", "a/b/c"]
    assert root.metadata.zarr_format == 3


def test_attributes_belong_to_groups_and_arrays() -> None:
    root = zarr.create_group({}, attributes={"foo": "bar"})
    z = root.create_array("zzz", shape=(10,), dtype="int32", attributes={"baz": 42})
    z.attrs["qux"] = [1, 4, 7, 12]
    assert sorted(z.attrs) == ["baz", "qux"]
    assert "foo" in root.attrs
    assert root.attrs["foo"] == "bar"
    assert root["zzz"].attrs.asdict() == {"baz": 42, "qux": [1, 4, 7, 12]}
    assert z.update_attributes({"new": None}).attrs["new"] is None


def test_consolidated_metadata_is_in_the_group() -> None:
    group = zarr.create_group("memory://consolidated-metadata-demo")
    for name, shape in (("a", (1,)), ("b", (2, 2)), ("c", (3, 3, 3))):
        group.create_array(shape=shape, name=name, dtype="float64")
    group.create_group("child", attributes={"kind": "child"}).create_group("grand")
    zarr.consolidate_metadata("memory://consolidated-metadata-demo")
    opened = zarr.open_group("memory://consolidated-metadata-demo")
    found = opened.metadata.consolidated_metadata.metadata
    assert sorted(found) == ["a", "b", "c", "child"]
    assert found["b"].shape == (2, 2)
    assert found["child"].attributes == {"kind": "child"}
    assert list(found["child"].consolidated_metadata.metadata) == ["grand"]
    through = zarr.open_consolidated("memory://consolidated-metadata-demo")
    assert list(through["child"].metadata.consolidated_metadata.metadata) == ["grand"]


def test_data_types_have_names_and_objects() -> None:
    assert zarr.dtype.parse_dtype("int32").to_json(zarr_format=3) == "int32"
    z = zarr.create_array({}, shape=3, dtype=zarr.dtype.DateTime64(unit="s", scale_factor=10))
    assert z.dtype == "M8[10s]"
    assert np.isnat(z[0])
    assert zarr.create_array({}, shape=3, dtype="float32").dtype == "f4"
    stored = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}
    assert zarr.create_array({}, shape=3, dtype=stored).dtype == "U2"
    assert zarr.dtype.FixedLengthUTF32(length=2).to_json() == stored
    record = zarr.dtype.parse_dtype(np.dtype([("a", "i4"), ("b", "f8")]))
    assert [name for name, _ in record.fields] == ["a", "b"]


def test_settings_are_read_and_set_for_a_while() -> None:
    with zarr.config.set({"array.write_empty_chunks": True, "default_zarr_format": 3}):
        z = zarr.zeros(4, chunks=2)
        z[:] = 0
        assert z.zarr_format == 3
        assert z.nchunks_initialized == 2
        assert zarr.config.get("array.write_empty_chunks") is True
    assert zarr.config.get("default_zarr_format") is None
    before = zarr.config.get("async.concurrency")
    with zarr.config.set({"async.concurrency": 99}):
        assert zarr.config.get("async.concurrency") == 99
    assert zarr.config.get("async.concurrency") == before


def test_stores_of_both_generations_are_opened_and_refuse_writing() -> None:
    store = LocalStore("data/store.zarr")
    zarr.create_array(store, name="z", shape=2, dtype="i4")[:] = 7
    closed = LocalStore("data/store.zarr", read_only=True)
    z = zarr.open_array(closed, mode="r+", path="z")
    assert z.read_only
    assert z[0] == 7
    for change in (
        lambda: z.__setitem__(0, 1),
        lambda: closed.__setitem__("x", b""),
        lambda: zarr.create_array(closed, name="a", shape=3),
        lambda: z.attrs.update(a=1),
    ):
        with pytest.raises(PermissionError):
            change()
    kept = MemoryStore(store_dict={"zarr.json": zarr.create_group().store["zarr.json"]})
    assert list(zarr.open_group(kept, mode="r")) == []
    assert MemoryStore({"a": b"1"}) == MemoryStore(store_dict={"a": b"1"})


def test_an_array_becomes_one_of_another_kind() -> None:
    source = zarr.create_array(
        {},
        data=np.arange(24).reshape(4, 6),
        chunks=(2, 3),
        shards=(4, 6),
        dimension_names=["y", "x"],
    )
    source.attrs["unit"] = "mm"
    kept = zarr.from_array({}, data=source)
    assert (kept.chunks, kept.shards, kept.metadata.dimension_names) == ((2, 3), (4, 6), ("y", "x"))
    assert kept.attrs.asdict() == {"unit": "mm"}
    older = zarr.from_array({}, data=source, zarr_format=2, chunks=(4, 3))
    assert (older.zarr_format, older.chunks, older.attrs.asdict()) == (2, (4, 3), {"unit": "mm"})
    for one in (kept, older, zarr.from_array({}, data=np.arange(24).reshape(4, 6))):
        np.testing.assert_array_equal(one[:], source[:])
    empty = zarr.from_array({}, data=source, write_data=False)
    assert empty.nchunks_initialized == 0
    like = zarr.zeros_like(source)
    assert (like.zarr_format, like.shards, like.chunks) == (3, (4, 6), (2, 3))


def test_children_follow_their_parent_and_words_of_format_3_ask_for_it() -> None:
    root = zarr.group()
    assert root.create_array("a", shape=3, compressors=zarr.codecs.GzipCodec()).zarr_format == 2
    assert root["a"].compressor.codec_id == "gzip"
    with pytest.raises(ValueError, match="zarr_format=3"):
        root.create_array("b", shape=4, chunks=2, shards=4)
    with pytest.raises(ValueError, match=r"dimension_names=.*zarr_format=3"):
        root.create("b", shape=4, dimension_names=["x"])
    with pytest.raises(ValueError, match="v2"):
        zarr.create_array(root.store, name="b", shape=4, zarr_format=3)
    assert list(root) == ["a"]
    for made in (
        zarr.create(4, chunks=2, shards=4),
        zarr.zeros(4, dimension_names=["x"]),
        zarr.open_array({}, "w", shape=4, codecs=[zarr.codecs.BytesCodec()]),
        zarr.create(4, chunk_shape=(2,), chunk_key_encoding=("v2", ".")),
        zarr.create_group().create_dataset("a", shape=4, compressor=zarr.Blosc()),
        zarr.create_group().zeros("a/b", shape=4),
        zarr.open_group({}, zarr_format=3).require_dataset("a", shape=4),
    ):
        assert made.zarr_format == 3
        made[...] = 1
        assert made[...].sum() == 4
    assert zarr.create(4).zarr_format == 2
