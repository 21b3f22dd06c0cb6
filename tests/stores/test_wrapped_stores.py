"""`WrapperStore`, `LoggingStore` and `LRUStoreCache`: other stores with something around them."""

import logging
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage
from zarrix._errors import InvalidKeyError, ReadOnlyError

AROUND = {
    "wrapper": storage.WrapperStore,
    "logging": lambda store: storage.LoggingStore(store, log_handler=logging.NullHandler()),
    "cache": lambda store: storage.LRUStoreCache(store, max_size=2**20),
}
INSIDE = {
    "memory": lambda path: storage.MemoryStore(),
    "directory": lambda path: storage.DirectoryStore(path / "d"),
    "zip": lambda path: storage.ZipStore(path / "x.zip"),
    "dict": lambda path: {},
    "wrapper": lambda path: storage.WrapperStore(storage.DirectoryStore(path / "d")),
}


@pytest.fixture(params=list(AROUND))
def around(request: pytest.FixtureRequest) -> Any:
    return AROUND[request.param]


@pytest.fixture(params=list(INSIDE))
def store(request: pytest.FixtureRequest, around: Any, tmp_path: Path) -> Any:
    return around(INSIDE[request.param](tmp_path))


def test_it_is_a_mapping_with_the_methods_of_a_store(store: Any) -> None:
    for key, value in {"a": b"aaa", "c/d": b"ddd", "c/e/f": b"fff", "c/e/g": b"gggg"}.items():
        store[key] = value
    assert sorted(store) == ["a", "c/d", "c/e/f", "c/e/g"]
    assert (store["c/e/f"], store["c/e/f"], "c/d" in store, "c" in store) == (
        b"fff",
        b"fff",
        True,
        False,
    )
    assert store.getitems(["a", "x", "c/d"]) == {"a": b"aaa", "c/d": b"ddd"}
    assert (store.listdir(), store.listdir("c")) == (["a", "c"], ["d", "e"])
    assert (store.getsize("a"), store.getsize("c/e"), store.getsize("x")) == (3, 7, 0)
    store["a"] = b"new"
    assert store["a"] == b"new"
    store.rename("c/e", "moved")
    assert (sorted(store), store["moved/f"]) == (["a", "c/d", "moved/f", "moved/g"], b"fff")
    with pytest.raises(KeyError):
        store["c/e/f"]
    store.rmdir("c")
    del store["a"]
    assert sorted(store) == ["moved/f", "moved/g"]
    with pytest.raises(KeyError):
        store["a"]
    with pytest.raises(InvalidKeyError):
        store["../a"] = b"1"
    store.clear()
    assert list(store) == []


def test_arrays_and_shards(store: Any) -> None:
    z = zarr.open_group(store, mode="a").create_dataset(
        "x", shape=(9, 9), chunks=(4, 4), dtype="i4"
    )
    expected = np.zeros((9, 9), "i4")
    for low in (0, 2, 5):
        z[low : low + 3, low:9] = low + 1
        expected[low : low + 3, low:9] = low + 1
        assert np.array_equal(zarr.open_group(store, mode="r")["x"][:], expected)
    store.clear()
    shards = zarr.create_array(store, shape=64, chunks=4, shards=16, dtype="u2")
    shards[5:50] = 3
    wanted = [0] * 5 + [3] * 45 + [0] * 14
    assert [shards[position] for position in range(64)] == wanted
    assert np.array_equal(zarr.open_array(store)[:], wanted)


def test_what_is_inside_may_only_be_read(around: Any, tmp_path: Path) -> None:
    storage.DirectoryStore(tmp_path)["a"] = b"1"
    store = around(storage.LocalStore(tmp_path, read_only=True))
    assert (store["a"], store.read_only) == (b"1", True)
    with pytest.raises(ReadOnlyError):
        store["a"] = b"2"


def test_a_pickle_opens_what_is_inside(around: Any, tmp_path: Path) -> None:
    store = around(storage.DirectoryStore(tmp_path))
    store["a"] = b"1"
    copy = pickle.loads(pickle.dumps(store))
    assert type(copy) is type(store)
    assert copy == store
    assert copy["a"] == b"1"


def test_writers_with_and_without_a_wrapper_keep_each_others_elements(
    around: Any, tmp_path: Path
) -> None:
    """In two processes; a cache must not give the writer the chunk of yesterday."""
    inner = storage.DirectoryStore(tmp_path)
    z = zarr.create(60, chunks=60, dtype="i4", store=inner)
    mine = zarr.open_array(around(inner), mode="r+")
    child = os.fork()
    if child == 0:
        try:
            for position in range(0, 60, 2):
                z[position] = position + 1
            os._exit(0)
        except BaseException:
            os._exit(1)
    for position in range(1, 60, 2):
        mine[position] = position + 1
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert z[:].tolist() == list(range(1, 61))


def test_a_write_starts_from_what_is_stored_and_not_from_what_is_cached() -> None:
    inner = storage.MemoryStore()
    cached = zarr.create(4, chunks=4, dtype="i4", store=storage.LRUStoreCache(inner, None))
    cached[:] = 1
    assert cached[:].tolist() == [1, 1, 1, 1]
    zarr.open_array(inner, mode="r+")[0] = 5
    assert cached[:].tolist() == [1, 1, 1, 1]
    cached[3] = 7
    assert cached[:].tolist() == [5, 1, 1, 7]


def test_a_cache_counts_and_forgets() -> None:
    inner = storage.MemoryStore({"a": b"x" * 10, "b": b"y" * 10, "c": b"z" * 10})
    cache = storage.LRUStoreCache(inner, max_size=25)
    assert (cache["a"], cache["b"], cache["a"]) == (b"x" * 10, b"y" * 10, b"x" * 10)
    assert (cache.hits, cache.misses) == (1, 2)
    assert cache["c"] == b"z" * 10
    assert (cache["a"], cache.hits, cache.misses) == (b"x" * 10, 2, 3)
    assert (cache["b"], cache.hits, cache.misses) == (b"y" * 10, 2, 4)
    assert cache._current_size == 20
    inner["a"] = b"another"
    inner["d"] = b"new"
    assert cache["a"] == b"x" * 10
    cache.invalidate_values()
    assert (cache["a"], cache._current_size) == (b"another", 7)
    assert sorted(cache) == ["a", "b", "c", "d"]
    inner["e"] = b"newer"
    assert len(cache) == 4
    cache.invalidate_keys()
    assert len(cache) == 5
    cache["e"] = b"1"
    assert (cache["e"], inner["e"]) == (b"1", b"1")
    cache.invalidate()
    assert (cache._current_size, cache["e"]) == (0, b"1")
    with pytest.raises(ValueError, match="max_size"):
        storage.LRUStoreCache(inner, -1)


def test_a_value_that_is_longer_than_the_cache_is_not_kept() -> None:
    cache = storage.LRUStoreCache({"a": b"12345"}, max_size=4)
    assert (cache["a"], cache["a"], cache.hits, cache._current_size) == (b"12345", b"12345", 0, 0)


def test_what_was_read_before_a_change_is_not_kept_after_it() -> None:
    reading, changed = threading.Event(), threading.Event()

    class Slow(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            value = super().__getitem__(key)
            if not changed.is_set():
                reading.set()
                assert changed.wait(60)
            return value

    cache = storage.LRUStoreCache(Slow(a=b"old"), max_size=None)
    found = []
    reader = threading.Thread(target=lambda: found.append(cache["a"]))
    reader.start()
    assert reading.wait(60)
    cache["a"] = b"new"
    changed.set()
    reader.join()
    assert found == [b"old"]
    assert cache["a"] == b"new"


def test_a_logging_store_logs_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    store = storage.LoggingStore(storage.MemoryStore())
    store["a"] = b"1"
    assert store["a"] == b"1"
    store.listdir()
    del store["a"]
    assert dict(store.counter) == {"set": 1, "get": 1, "list_dir": 1, "delete": 1}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert "DEBUG - Calling set a" in lines[0]
    assert "DEBUG - Finished set a [" in lines[1]
    quiet = storage.LoggingStore(storage.MemoryStore(), log_level="WARNING")
    quiet["a"] = b"1"
    assert (capsys.readouterr().out, quiet.counter["set"]) == ("", 1)
