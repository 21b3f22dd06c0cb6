"""Stores as users hold them: mappings with the methods of zarr 2.18's stores."""

import os
import pathlib
import pickle
import subprocess
import sys
import threading
from concurrent import futures

import numpy as np
import pytest
from zarrix import storage
from zarrix._errors import (
    ContainsArrayError,
    ContainsGroupError,
    FSPathExistNotDir,
    InvalidKeyError,
)
from zarrix._runtime.config import config
from zarrix._stores.open import as_store

KINDS = [
    "directory",
    "nested",
    "temporary",
    "memory",
    "zip",
    "dict",
    "store of a store",
    "subclass",
]


class Minimal(storage.Store):
    """What a user has to write for a store of their own."""

    def __init__(self):
        self.values_by_key = {}

    def __getitem__(self, key):
        return self.values_by_key[key]

    def __setitem__(self, key, value):
        self.values_by_key[key] = bytes(value)

    def __delitem__(self, key):
        del self.values_by_key[key]

    def __iter__(self):
        return iter(list(self.values_by_key))

    def __len__(self):
        return len(self.values_by_key)


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    return {
        "directory": lambda: storage.DirectoryStore(tmp_path / "d"),
        "nested": lambda: storage.NestedDirectoryStore(tmp_path / "d"),
        "temporary": storage.TempStore,
        "memory": storage.MemoryStore,
        "zip": lambda: storage.ZipStore(tmp_path / "s.zip"),
        "dict": lambda: storage.KVStore({}),
        "store of a store": lambda: storage.KVStore(storage.MemoryStore()),
        "subclass": Minimal,
    }[request.param]()


def fill(store):
    store["a"] = b"aaa"
    store["b"] = b"bbb"
    store["c/d"] = b"ddd"
    store["c/e/f"] = b"fff"
    store["c/e/g"] = b"ggg"
    return store


def test_a_store_is_a_mapping(store):
    assert len(store) == 0
    assert list(store) == []
    fill(store)
    assert len(store) == 5
    assert sorted(store) == sorted(store.keys()) == ["a", "b", "c/d", "c/e/f", "c/e/g"]
    assert sorted(store.values()) == [b"aaa", b"bbb", b"ddd", b"fff", b"ggg"]
    assert store["c/d"] == b"ddd"
    assert "c/d" in store
    assert "c" not in store
    assert "c/x" not in store
    assert 5 not in store
    assert store.get("x", b"other") == b"other"
    assert store.pop("a") == b"aaa"
    assert store.setdefault("b", b"no") == b"bbb"
    store.update({"n": b"1"})
    del store["n"]
    with pytest.raises(KeyError):
        store["n"]
    with pytest.raises(KeyError):
        del store["n"]
    with pytest.raises(KeyError):
        store["c"]
    store.clear()
    assert list(store) == []


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (b"xyz", b"xyz"),
        (bytearray(b"xyz"), b"xyz"),
        (memoryview(b"xyz"), b"xyz"),
        (memoryview(b"x-y-z")[::2], b"xyz"),
        (np.array([1, 2], ">i2"), b"\x00\x01\x00\x02"),
        (np.arange(6, dtype="u1").reshape(2, 3)[:, ::2], b"\x00\x02\x03\x05"),
        (np.array([1], "M8[ns]"), b"\x01" + b"\x00" * 7),
        (b"", b""),
    ],
)
def test_values_are_anything_with_bytes(store, value, stored):
    if isinstance(store, Minimal):
        pytest.skip("what it takes is up to the user")
    store["k"] = value
    assert store["k"] == stored
    assert type(store["k"]) is bytes


def test_a_value_without_bytes_is_refused(store):
    if isinstance(store, Minimal):
        pytest.skip("what it takes is up to the user")
    with pytest.raises(TypeError, match="bytes-like, not str"):
        store["k"] = "text"
    assert "k" not in store


@pytest.mark.parametrize("key", ["../a", "a/../../b", "/etc/passwd", "a//b", "", ".", "a\0b", 5])
def test_hostile_keys_are_refused_before_anything_happens(store, key):
    if isinstance(store, Minimal):
        pytest.skip("what it takes is up to the user")
    with pytest.raises(InvalidKeyError):
        store[key] = b"1"
    with pytest.raises(InvalidKeyError):
        store[key]
    assert key not in store
    assert list(store) == []


def test_listing_and_sizes(store):
    fill(store)
    assert store.listdir() == ["a", "b", "c"]
    assert store.listdir("c") == ["d", "e"]
    assert store.listdir("/c/e/") == ["f", "g"]
    assert store.listdir("c/d") == []
    assert store.listdir("x") == []
    assert store.getsize() == 6
    assert store.getsize("a") == 3
    assert store.getsize("c") == 3
    assert store.getsize("c/e") == 6
    assert store.getsize("x") == 0
    assert store.getitems(["a", "x", "c/d"]) == {"a": b"aaa", "c/d": b"ddd"}


@pytest.mark.parametrize("count", [15, 16, 127, 129, 1000])
def test_many_values_are_those_of_their_keys(tmp_path, count):
    store = storage.DirectoryStore(str(tmp_path / "a.zarr"))
    values = {f"v{i}/.zattrs": b"%d" % i for i in range(count) if i % 7}
    for key, value in values.items():
        store[key] = value
    keys = [f"v{i}/.zattrs" for i in range(count)]
    assert store.getitems(keys) == values
    assert list(store.getitems(reversed(keys))) == [*reversed(values)]


def test_a_part_of_a_value_ends_where_the_value_does(store):
    store["a"] = b"0123"
    engine = store._engine
    ends = [(0, 9), (2, 9), (1, 3), (7, 9), (1, None), (5, None), (3, 1)]
    found = [engine.get_slice("a", *end) for end in ends]
    assert found == [b"0123", b"23", b"12", b"", b"123", b"", b""]
    assert [engine.get_last("a", length) for length in (2, 9, 0)] == [b"23", b"0123", b""]
    assert (engine.get_slice("b", 1), engine.get_slice("b", 1, 2)) == (None, None)
    assert engine.get_last("b", 1) is None


def test_removing_and_renaming(store):
    fill(store)
    store.rename("c/e", "moved/here")
    assert sorted(store) == ["a", "b", "c/d", "moved/here/f", "moved/here/g"]
    store.rename("a", "moved/a")
    assert store["moved/a"] == b"aaa"
    store.rmdir("moved")
    assert sorted(store) == ["b", "c/d"]
    store.rmdir("x")
    store.rmdir()
    assert list(store) == []


def test_a_store_is_equal_to_its_pickle_and_keeps_its_content(store):
    if isinstance(store, Minimal):
        pytest.skip("what equality means is up to the user")
    fill(store)
    copy = pickle.loads(pickle.dumps(store))
    assert type(copy) is type(store)
    assert copy == store
    assert copy["c/e/f"] == b"fff"
    assert (copy == 5) is False


def test_a_store_is_a_context_and_says_what_it_can_do(store):
    with store as same:
        assert same is store
    assert store.is_readable()
    assert store.is_writeable()
    assert store.is_listable()
    assert store.is_erasable()


def test_updates_of_one_value_by_many_threads_are_all_kept(store):
    def add_one(old):
        return str(int(old or b"0") + 1).encode()

    def work():
        for _ in range(25):
            store.update_value("counter", add_one)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store["counter"] == b"100"


def test_an_update_that_returns_none_deletes(store):
    store["k"] = b"1"
    assert store.update_value("k", lambda old: None) is None
    assert "k" not in store


def test_durable_writes_store_the_same(store):
    with config(durability="fsync"):
        store["a/b"] = b"1"
    assert store["a/b"] == b"1"


def test_a_directory_store_keeps_values_as_files(tmp_path):
    store = storage.DirectoryStore(tmp_path / "s")
    assert not (tmp_path / "s").exists()
    store["a/b"] = b"1"
    assert (tmp_path / "s/a/b").read_bytes() == b"1"
    assert store.path == str(tmp_path / "s")
    assert store.dir_path("a") == str(tmp_path / "s/a")
    assert store.dir_path() == store.path
    assert repr(store) == f"<zarrix.storage.DirectoryStore {store.path!r}>"
    assert store == storage.DirectoryStore(str(tmp_path / "s"))
    assert store != storage.DirectoryStore(tmp_path)


def test_a_file_where_the_directory_should_be_is_named(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(FSPathExistNotDir) as caught:
        storage.DirectoryStore(tmp_path / "f")
    assert str(caught.value) == f"{str(tmp_path / 'f')!r} is a file; a store needs a directory"


def test_a_directory_that_another_process_creates_now_is_not_taken_for_a_file(tmp_path):
    path, ends = tmp_path / "x.zarr", threading.Event()

    def toggle():
        while not ends.is_set():
            path.mkdir()
            path.rmdir()

    with futures.ThreadPoolExecutor(1) as pool:
        toggling = pool.submit(toggle)
        try:
            for _ in range(20_000):
                storage.DirectoryStore(path)
        finally:
            ends.set()
        toggling.result()


def test_keys_in_lower_case_where_asked_for(tmp_path):
    store = storage.DirectoryStore(tmp_path, normalize_keys=True)
    store["Foo/BAR"] = b"1"
    assert list(store) == ["foo/bar"]
    assert "FOO/bar" in store
    assert store.listdir("FOO") == ["bar"]


def test_a_nested_store_lists_chunk_keys_whole(tmp_path):
    store = storage.NestedDirectoryStore(tmp_path)
    for key in [".zarray", ".zattrs", "0/0", "0/1", "1/10"]:
        store[f"a/{key}"] = b"1"
    assert store.listdir("a") == [".zarray", ".zattrs", "0/0", "0/1", "1/10"]
    with pytest.raises(ValueError, match="takes dimension_separator '/'"):
        storage.NestedDirectoryStore(tmp_path, dimension_separator=".")


def test_the_stored_bytes_of_a_directory_are_removed_with_a_temporary_store():
    script = (
        "import os; from zarrix.storage import TempStore; s = TempStore(prefix='zx-test-');"
        "s['a'] = b'1';\n"
        "if os.fork() == 0: raise SystemExit\n"
        "os.wait(); assert s['a'] == b'1'; print(s.path)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    path = done.stdout.strip()
    assert "zx-test-" in path
    assert not os.path.exists(path)


def test_a_memory_store_takes_and_gives_nested_mappings():
    store = storage.MemoryStore({"a": b"1", "b": {"c": {"d": b"2"}}, "e/f": b"3"})
    assert sorted(store) == ["a", "b/c/d", "e/f"]
    assert store.root == {"a": b"1", "b": {"c": {"d": b"2"}}, "e": {"f": b"3"}}
    assert store == storage.MemoryStore(store.root)
    assert store != storage.MemoryStore()


def test_the_old_name_of_the_memory_store_warns_as_in_2_18():
    with pytest.warns(DeprecationWarning, match="use MemoryStore"):
        store = storage.DictStore()
    assert isinstance(store, storage.MemoryStore)


def test_a_mapping_is_shared_not_copied():
    mapping = {}
    store = storage.KVStore(mapping)
    store["a"] = np.array([1], "u1")
    assert mapping == {"a": b"\x01"}
    mapping["b"] = b"2"
    assert store["b"] == b"2"


def test_errors_of_a_mapping_reach_the_user_as_they_are():
    class Broken(dict):
        def __getitem__(self, key):
            raise PermissionError(f"no access to {key}")

    with pytest.raises(PermissionError, match="no access to a"):
        storage.KVStore(Broken())["a"]


@pytest.mark.parametrize("form", [str, pathlib.Path])
def test_a_path_means_a_directory_store(tmp_path, form):
    assert as_store(form(tmp_path / "x")) == storage.DirectoryStore(tmp_path / "x")
    assert as_store(f"file://{tmp_path}/x") == storage.DirectoryStore(tmp_path / "x")


def test_other_things_that_mean_a_store():
    store = storage.MemoryStore()
    assert as_store(store) is store
    assert type(as_store(None)) is storage.MemoryStore
    assert as_store({"a": b"1"}) == storage.KVStore({"a": b"1"})
    assert storage.normalize_store_arg(store, mode="w") is store


@pytest.mark.parametrize(
    ("argument", "options", "words"),
    [
        (5, None, "5 (int) is not a store"),
        (b"x", None, "(bytes) is not a store"),
        ("x.n5", None, "N5 is not supported yet"),
        ("x.zarr", {"anon": True}, "storage_options need a URL"),
        ({}, {"anon": True}, "storage_options need a URL"),
    ],
)
def test_what_is_no_store_gets_one_clear_sentence(argument, options, words):
    with pytest.raises(ValueError) as caught:
        as_store(argument, options)
    assert words in str(caught.value)


def test_a_url_is_opened_with_fsspec():
    pytest.importorskip("fsspec")
    store = as_store("memory://zarrix-test-stores")
    store["a/b"] = b"1"
    assert as_store("memory://zarrix-test-stores")["a/b"] == b"1"
    store.rmdir()


def test_a_url_without_fsspec_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match="pip install fsspec"):
        as_store("ftp://host/x.zarr")


def test_init_array_stores_the_document_and_the_groups_above(store):
    storage.init_array(store, shape=(4, 4), dtype="i4", path="a/b")
    assert sorted(store) == [".zgroup", "a/.zgroup", "a/b/.zarray"]
    assert storage.contains_array(store, "a/b")
    assert not storage.contains_array(store, "a")
    assert storage.contains_group(store, "/a/")
    assert storage.contains_group(store)
    assert storage.listdir(store, "a") == [".zgroup", "b"]
    assert storage.getsize(store, "a/b/.zarray") == len(store["a/b/.zarray"])
    storage.rename(store, "a/b", "a/c")
    storage.rmdir(store, "a")
    assert sorted(store) == [".zgroup"]


def test_the_separator_of_a_nested_store_is_in_the_document_as_in_2_18(tmp_path):
    store = storage.NestedDirectoryStore(tmp_path)
    storage.init_array(store, shape=4, path="a")
    assert b'"dimension_separator": "/"' in store["a/.zarray"]
    storage.init_array(store, shape=4, path="b", dimension_separator=".")
    assert b'"dimension_separator": "."' in store["b/.zarray"]


def test_what_is_stored_is_not_replaced_unless_asked_to():
    store = {}
    storage.init_array(store, shape=4, path="a")
    storage.init_group(store, path="g")
    before = dict(store)
    with pytest.raises(ContainsArrayError, match="'/a' of the KVStore contains an array"):
        storage.init_array(store, shape=5, path="a")
    with pytest.raises(ContainsArrayError, match="'/a' of the KVStore is an array, so nothing"):
        storage.init_group(store, path="a/b/c")
    with pytest.raises(ContainsGroupError, match="'/g' of the KVStore contains a group"):
        storage.init_array(store, shape=5, path="g")
    with pytest.raises(ContainsGroupError):
        storage.init_group(store)
    with pytest.raises(ValueError, match="order must be"):
        storage.init_array(store, shape=5, path="a", order="X", overwrite=True)
    assert store == before


def test_overwriting_removes_what_was_there_and_nothing_above():
    store, chunks = {}, {"a/0": b"1", "b/0": b"1"}
    storage.init_array(store, shape=4, path="a")
    store["a/0"] = b"1"
    storage.init_array(store, shape=4, path="a", overwrite=True, chunk_store=chunks)
    assert sorted(store) == [".zgroup", "a/.zarray"]
    assert chunks == {"b/0": b"1"}
    with pytest.raises(ContainsArrayError, match="is an array, so nothing can be created below it"):
        storage.init_group(store, path="a/b", overwrite=True)
    assert sorted(store) == [".zgroup", "a/.zarray"]


def test_names_that_code_for_2_18_takes_from_the_module():
    assert (storage.array_meta_key, storage.group_meta_key, storage.attrs_key) == (
        ".zarray",
        ".zgroup",
        ".zattrs",
    )
    assert storage.default_compressor.get_config()["cname"] == "lz4"
    assert storage.init_store is storage.init_array
    for name in storage.__all__:
        assert getattr(storage, name) is not None
    with pytest.raises(AttributeError):
        storage.nothing  # noqa: B018


def test_removal_at_exit_takes_files_and_directories(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("x")
    storage.atexit_rmtree(str(tmp_path / "none"))
    storage.atexit_rmglob(str(tmp_path / "*"))
    assert list(tmp_path.iterdir()) == []
