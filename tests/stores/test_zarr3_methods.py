"""What stores have for programs of zarr-python 3 only: buffers at once, parts, paths and moves."""

import asyncio
import io
import pickle
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage
from zarrix._errors import ArrayNotFoundError, ReadOnlyError
from zarrix._runtime.buffers import (
    Buffer,
    OffsetByteRequest,
    RangeByteRequest,
    SuffixByteRequest,
    slice_of,
)
from zarrix.storage import CacheStore

VALUE = b"0123456789"
PARTS = [
    RangeByteRequest(2, 4),
    RangeByteRequest(8, 20),
    RangeByteRequest(20, 30),
    OffsetByteRequest(3),
    OffsetByteRequest(12),
    SuffixByteRequest(3),
    SuffixByteRequest(30),
    SuffixByteRequest(0),
]
STORES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda folder: storage.MemoryStore(),
    "managed": lambda folder: storage.ManagedMemoryStore(path="a/b"),
    "local": lambda folder: storage.LocalStore(folder / "d"),
    "dict": lambda folder: storage.KVStore({}),
    "zip": lambda folder: storage.ZipStore(folder / "x.zip", mode="w"),
    "sqlite": lambda folder: storage.SQLiteStore(folder / "x.sqlite"),
    "wrapper": lambda folder: storage.WrapperStore(storage.LocalStore(folder / "w")),
    "cache": lambda folder: CacheStore(storage.MemoryStore(), cache_store={}),
}


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = STORES[request.param](tmp_path)
    made["k"] = VALUE
    return made


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_part_is_what_slicing_the_value_gives(store: Any, part: Any) -> None:
    expected = VALUE[slice_of(part)]
    assert store.get_sync("k", byte_range=part).to_bytes() == expected
    assert asyncio.run(store.get("k", byte_range=part)).to_bytes() == expected
    assert store.get_sync("none", byte_range=part) is None
    assert store.get_sync("../k", byte_range=part) is None


@pytest.mark.parametrize("gap", [0, 2, 1 << 20])
@pytest.mark.parametrize("parts", [[], PARTS[:2], PARTS[:3], PARTS, [None, PARTS[0]]], ids=len)
def test_parts_of_one_value_have_their_positions(store: Any, parts: Any, gap: int) -> None:
    async def awaited() -> list[Any]:
        found = store.get_ranges("k", parts, max_gap_bytes=gap)
        return [one async for batch in found for one in batch]

    expected = [(at, VALUE[slice_of(part)]) for at, part in enumerate(parts)]
    for found in (store.get_ranges_sync("k", parts, max_gap_bytes=gap), asyncio.run(awaited())):
        assert [(at, part.to_bytes()) for at, part in found] == expected
    with pytest.raises(BaseExceptionGroup) as caught:
        store.get_ranges_sync("none", parts)
    assert isinstance(caught.value.exceptions[0], FileNotFoundError)


def test_close_parts_are_read_without_the_rest_of_the_value() -> None:
    asked = []

    class Watched(storage.MemoryStore):
        def _part(self, key: str, byte_range: Any, part: slice) -> Any:
            asked.append((byte_range.start, byte_range.end))
            return super()._part(key, byte_range, part)

    store = Watched({"k": VALUE})
    found = store.get_ranges_sync("k", [RangeByteRequest(6, 8), RangeByteRequest(2, 3)])
    assert [part.to_bytes() for _, part in found] == [b"67", b"2"]
    assert asked == [(2, 8)]


def test_values_are_stored_and_deleted_at_once(store: Any) -> None:
    store.set_sync("a", Buffer.from_bytes(b"1"))
    assert store["a"] == b"1"
    store.delete_sync("a")
    store.delete_sync("a")
    assert "a" not in store
    reader = store.with_read_only(True)
    for change in (lambda: reader.set_sync("a", b"1"), lambda: reader.delete_sync("k")):
        with pytest.raises(ReadOnlyError):
            change()
    assert reader.get_sync("k").to_bytes() == VALUE


def test_a_size_that_is_awaited_tells_a_missing_value(store: Any) -> None:
    async def size(key: str) -> int:
        return int(await store.getsize(key))

    assert asyncio.run(size("k")) == len(VALUE) == store.getsize("k")
    assert store.getsize("none") == 0
    with pytest.raises(FileNotFoundError, match="none"):
        asyncio.run(size("none"))


def test_a_store_is_opened_once_and_closed() -> None:
    async def program() -> None:
        with await storage.MemoryStore.open() as store:
            with pytest.raises(ValueError, match="already open"):
                await store._open()
            assert not store.with_read_only(True)._is_open
        assert not store._is_open
        await store._ensure_open()
        assert store._is_open

    asyncio.run(program())


def test_a_copy_with_other_rights_outlives_the_store_it_was_made_of() -> None:
    for made in (storage.WrapperStore({"a": b"1"}), storage.LRUStoreCache({"a": b"1"}, None)):
        copy = made.with_read_only(True)
        del made
        assert copy["a"] == b"1"
        with pytest.raises(ReadOnlyError):
            copy["a"] = b"2"


def test_a_wrapper_opens_the_class_that_it_wraps(tmp_path: Path) -> None:
    store = asyncio.run(storage.WrapperStore.open(storage.LocalStore, tmp_path / "d"))
    assert isinstance(store._store, storage.LocalStore)
    assert store._is_open
    store.close()
    assert not store._is_open
    logged = asyncio.run(storage.LoggingStore.open(storage.MemoryStore, log_level="ERROR"))
    assert (type(logged._store), logged.log_level) == (storage.MemoryStore, "ERROR")
    # A store itself is wrapped, too.
    assert asyncio.run(storage.WrapperStore.open({"a": b"1"}))["a"] == b"1"


def test_a_path_in_a_store_has_the_calls_of_a_value() -> None:
    store = storage.MemoryStore({"g/a": b"[1]"})
    path = storage.StorePath(store, "g")

    async def program() -> None:
        assert await (path / "a").get_json() == [1]
        assert await (path / "b").get_json() is None
        assert not await path.is_empty()
        await (path / "a").set_if_not_exists(b"2")
        assert (path / "a").get_sync().to_bytes() == b"[1]"
        (path / "b").set_sync(b"3")
        (path / "a").delete_sync()
        assert list(store) == ["g/b"]
        with pytest.raises(FileExistsError):
            await storage.StorePath.open(store, "g", mode="w-")
        assert (await storage.StorePath.open(store, "/x//y/", mode="w-")).path == "x/y"
        assert (await storage.StorePath.open(store, "g", mode="r")).read_only
        with pytest.raises(ValueError, match="Invalid mode"):
            await storage.StorePath.open(store, "g", mode="x")
        with pytest.raises(ValueError, match="read-only"):
            await storage.StorePath.open(store.with_read_only(True), "g", mode="w")
        assert list(store) == ["g/b"]
        await path.delete_dir()
        assert await path.is_empty()

    asyncio.run(program())


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_is_open_follows_a_folder_that_moves(tmp_path: Path, zarr_format: Any) -> None:
    store = storage.LocalStore(tmp_path / "before")
    root = zarr.group(store=store, zarr_format=zarr_format)
    data = np.arange(20, dtype="i8").reshape(4, 5)
    z = root.create_dataset("z", data=data, chunks=(2, 5))
    other, seen, cast = root["z"], z.view(dtype="u8"), z.astype("f4")
    asyncio.run(store.move(tmp_path / "after"))
    assert not (tmp_path / "before").exists()
    assert np.array_equal(z.oindex[[0, 3], 1], data[[0, 3], 1])
    assert np.array_equal(seen[...], data)
    assert np.array_equal(cast[...], data)
    other[0] = 7
    other.append(data[:1])
    assert other[:, 0].tolist() == [7, 5, 10, 15, 0]
    assert root["z"][:, 0].tolist() == [7, 5, 10, 15, 0]
    z.attrs["unit"] = "m"
    assert dict(root["z"].attrs) == {"unit": "m"}
    assert not (tmp_path / "before").exists()
    del root["z"]
    with pytest.raises(ArrayNotFoundError):
        z[0]
    with pytest.raises(ArrayNotFoundError):
        z[0] = 1


def test_an_array_that_is_gone_does_not_stop_the_others_of_a_call(tmp_path: Path) -> None:
    moved, kept = storage.LocalStore(tmp_path / "before"), storage.LocalStore(tmp_path / "kept")
    x = zarr.ones(4, chunks=2, store=moved, path="x")
    y = zarr.zeros(4, chunks=2, store=kept, path="y")
    asyncio.run(moved.move(tmp_path / "after"))
    wanted = [(x, [[0]], [3]), (y, [[0]], [3])]
    assert [part.sum() for part in zarr.read_many(wanted)] == [3, 0]
    kept.rmdir("y")
    with pytest.raises(ArrayNotFoundError):
        zarr.read_many(wanted)


def test_an_archive_moves(tmp_path: Path) -> None:
    store = storage.ZipStore(tmp_path / "before.zip", mode="w")
    z = zarr.array(np.arange(4), chunks=2, store=store, path="z")
    (tmp_path / "taken.zip").write_bytes(b"")
    with pytest.raises(FileExistsError):
        asyncio.run(store.move(tmp_path / "taken.zip"))
    asyncio.run(store.move(tmp_path / "new" / "after.zip"))
    assert z[:].tolist() == [0, 1, 2, 3]
    zarr.open(store, path="z")[0] = 9
    store.close()
    assert not (tmp_path / "before.zip").exists()
    assert zarr.open(tmp_path / "new" / "after.zip", mode="r")["z"][:].tolist() == [9, 1, 2, 3]


def test_an_archive_may_be_in_a_file_object(tmp_path: Path) -> None:
    file = io.BytesIO()
    store = storage.ZipStore(file, mode="w")
    root = zarr.group(store=store, zarr_format=3)
    z = root.create_array("x", shape=8, chunks=4, dtype="i4")
    z[:] = np.arange(8)
    z[0] = 9
    z.attrs["a"] = 1
    store.close()
    store["later"] = b"1"
    store.close()
    (tmp_path / "x.zip").write_bytes(file.getvalue())
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            "later",
            "x/c/0",
            "x/c/1",
            "x/zarr.json",
            "zarr.json",
        ]
    reader = storage.ZipStore(io.BytesIO(file.getvalue()))
    assert isinstance(reader, storage.ZipStore)
    assert (reader.read_only, reader.path) == (True, None)
    # The engine's own reader of archives is the oracle.
    for one in (reader, storage.ZipStore(tmp_path / "x.zip", mode="r")):
        opened = zarr.open(one, mode="r")["x"]
        assert opened[:].tolist() == [9, 1, 2, 3, 4, 5, 6, 7]
        assert dict(opened.attrs) == {"a": 1}
    with pytest.raises(ReadOnlyError):
        reader["a"] = b"1"


def test_an_archive_in_a_file_object_says_what_it_cannot_do() -> None:
    file = io.BytesIO()
    store = storage.ZipStore(file, mode="w")
    store["a"] = b"1"
    with pytest.raises(io.UnsupportedOperation, match="deleted"):
        del store["a"]
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(store)
    with pytest.raises(NotImplementedError):
        asyncio.run(store.move("x.zip"))
    store.close()
    assert storage.ZipStore(file) == storage.ZipStore(file) != storage.ZipStore(io.BytesIO())
    with pytest.raises(zipfile.BadZipFile):
        list(storage.ZipStore(io.BytesIO(b"not an archive")))


def test_a_reader_that_is_no_file_of_io_may_have_an_archive(tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore")
    with storage.ZipStore(tmp_path / "x.zip", mode="w") as made:
        zarr.array(np.arange(100), chunks=10, store=made)
    folder = obstore.store.LocalStore(tmp_path)
    reader = obstore.open_reader(folder, "x.zip")
    assert zarr.open(storage.ZipStore(reader), mode="r")[:].tolist() == list(range(100))
    with pytest.raises(TypeError, match="reading"):
        storage.ZipStore(reader, mode="w")


def test_threads_share_an_archive_in_a_file_object() -> None:
    store = storage.ZipStore(io.BytesIO(), mode="w")
    z = zarr.zeros(64, chunks=8, dtype="i4", store=store)

    def write(start: int) -> None:
        for at in range(start, 64, 4):
            z[at] = at

    threads = [threading.Thread(target=write, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert z[:].tolist() == list(range(64))


def test_handles_of_a_name_share_values_and_lose_no_update() -> None:
    root = storage.ManagedMemoryStore("shared")
    z = zarr.zeros(64, chunks=64, dtype="i4", store=root, path="deep/z")
    below = zarr.open(storage.ManagedMemoryStore("shared", path="deep"), path="z", mode="r+")
    by_url = zarr.open("memory://shared/deep/z", mode="r+")

    def write(array: Any, start: int) -> None:
        for at in range(start, 64, 3):
            array[at] = at

    threads = [
        threading.Thread(target=write, args=(array, start))
        for start, array in enumerate((z, below, by_url))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert z[:].tolist() == list(range(64))
    assert root._store_dict is storage.ManagedMemoryStore("shared")._store_dict
    assert root._store_dict["deep/z/0"].to_bytes() == root["deep/z/0"]


def test_a_name_lasts_as_long_as_its_handles() -> None:
    store = storage.ManagedMemoryStore("short", path="a")
    store["k"] = b"1"
    assert pickle.loads(pickle.dumps(store))["k"] == b"1"
    text, pickled = str(store), pickle.dumps(store)
    assert text == "memory://short/a"
    assert storage.ManagedMemoryStore.from_url(text) == store
    del store
    with pytest.raises(ValueError, match="not found"):
        storage.ManagedMemoryStore.from_url(text)
    assert list(pickle.loads(pickled)) == []


def test_a_name_of_another_process_or_of_a_url_is_refused() -> None:
    store = storage.ManagedMemoryStore("elsewhere")
    kind, arguments, state = store.__reduce__()
    with pytest.raises(RuntimeError, match="process"):
        kind(*arguments).__setstate__({**state, "created_pid": -1})
    with pytest.raises(ValueError, match="'/'"):
        storage.ManagedMemoryStore("a/b")
    zarr.open("memory://of-a-url", mode="w", shape=1)
    with pytest.raises(ValueError, match="URL"):
        storage.ManagedMemoryStore("of-a-url")
    assert storage.ManagedMemoryStore() != storage.ManagedMemoryStore()


def test_two_names_have_two_identities() -> None:
    from zarrix._stores.identity import identity, is_in_one_process

    first, second = storage.ManagedMemoryStore("first"), storage.ManagedMemoryStore("second")
    assert identity(first) != identity(second)
    assert is_in_one_process(first)


def test_an_obstore_instance_is_given_back() -> None:
    obstore = pytest.importorskip("obstore.store")
    inner = obstore.MemoryStore()
    assert storage.ObjectStore(inner).store is inner


def test_a_pickle_has_no_credentials_of_an_obstore_instance(tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore.store")
    secret = obstore.S3Store("bucket", access_key_id="Alice", secret_access_key="very-secret")
    pickled = pickle.dumps(storage.ObjectStore(secret))
    assert b"very-secret" not in pickled
    with pytest.raises(AttributeError, match="credentials"):
        _ = pickle.loads(pickled).store
    local = storage.ObjectStore(obstore.LocalStore(tmp_path))
    assert type(pickle.loads(pickle.dumps(local)).store) is obstore.LocalStore


class TestCache:
    def test_values_come_from_the_cache_until_they_have_their_age(self) -> None:
        source, cached = {"a": b"old"}, {}
        store = CacheStore(source, cache_store=cached, max_age_seconds=3600)
        assert store["a"] == b"old"
        source["a"] = b"new"
        assert (store["a"], cached) == (b"old", {"a": b"old"})
        store._state.key_insert_times["a"] -= 3600
        assert store["a"] == b"new"
        assert store.cache_stats() == {
            "hits": 1,
            "misses": 2,
            "evictions": 0,
            "total_requests": 3,
            "hit_rate": 1 / 3,
        }

    def test_the_least_recently_used_values_are_evicted(self) -> None:
        cached: dict[str, bytes] = {}
        store = CacheStore({}, cache_store=cached, max_size=30)
        for key in "abc":
            store[key] = bytes(10)
        assert store["a"] == bytes(10)
        store["d"] = bytes(10)
        assert sorted(cached) == ["a", "c", "d"]
        store["e"] = bytes(31)
        assert sorted(cached) == ["a", "c", "d"]
        assert (store.cache_info()["current_size"], store.cache_stats()["evictions"]) == (30, 1)
        store["a"] = bytes(31)
        assert sorted(cached) == ["c", "d"]
        assert (store["a"], store["b"]) == (bytes(31), bytes(10))

    def test_a_cache_outlives_its_store_object(self, tmp_path: Path) -> None:
        source = {"a": b"1"}
        assert CacheStore(source, cache_store=tmp_path / "cache")["a"] == b"1"
        source.clear()
        assert CacheStore(source, cache_store=tmp_path / "cache")["a"] == b"1"

    def test_a_stale_value_never_loses_an_update(self) -> None:
        source = storage.MemoryStore()
        store = CacheStore(source, cache_store={})
        z = zarr.zeros(8, chunks=8, dtype="i4", store=store, path="z")
        direct = zarr.open(source, path="z", mode="r+")
        z[0] = 1
        assert z[:].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
        direct[1] = 2
        z[2] = 3
        assert direct[:].tolist() == z[:].tolist() == [1, 2, 3, 0, 0, 0, 0, 0]
        z.attrs["a"] = 1
        direct.attrs["b"] = 2
        z.attrs["c"] = 3
        assert dict(zarr.open(source, path="z").attrs) == {"a": 1, "b": 2, "c": 3}

    def test_what_is_deleted_and_moved_is_not_cached(self) -> None:
        cached: dict[str, bytes] = {}
        store = CacheStore(storage.MemoryStore(), cache_store=cached)
        for key in ("a/x", "a/y", "b", "c"):
            store[key] = b"1"
        store.rmdir("a")
        del store["b"]
        store.rename("c", "d")
        assert (sorted(store), sorted(cached), store["d"]) == (["d"], [], b"1")
        assert cached == {"d": b"1"}
        asyncio.run(store.clear_cache())
        assert cached == {}
        assert (store.cache_info()["current_size"], store["d"]) == (0, b"1")

    def test_written_values_need_not_be_cached(self) -> None:
        cached: dict[str, bytes] = {}
        store = CacheStore({}, cache_store=cached, cache_set_data=False)
        store["a"] = b"1"
        assert cached == {}
        assert (store["a"], cached) == (b"1", {"a": b"1"})

    def test_copies_share_the_cache_and_pickles_do_not_have_it(self) -> None:
        store = CacheStore(storage.MemoryStore({"a": b"1"}), cache_store=storage.MemoryStore())
        reader = store.with_read_only(True)
        assert (reader["a"], store["a"], store.cache_stats()["hits"]) == (b"1", b"1", 1)
        other = pickle.loads(pickle.dumps(store))
        assert (other["a"], other.cache_stats()["hits"]) == (b"1", 1)

    @pytest.mark.parametrize(
        "options", [{"max_age_seconds": "never"}, {"max_size": -1}], ids=["age", "size"]
    )
    def test_options_out_of_range_are_refused(self, options: Any) -> None:
        with pytest.raises(ValueError, match="is a number"):
            CacheStore({}, cache_store={}, **options)
