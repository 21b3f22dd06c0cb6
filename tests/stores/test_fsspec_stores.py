"""`FSStore` and `FsspecStore`: any file system of fsspec."""

import contextlib
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from upath import UPath
from zarrix import storage
from zarrix._errors import InvalidKeyError, ReadOnlyError
from zarrix._stores.open import as_store

fsspec = pytest.importorskip("fsspec")

KINDS = ["2.18 memory", "2.18 local", "2.18 fs", "3 memory", "3 local", "3 from_url", "3 mapper"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    memory, local = fsspec.filesystem("memory"), fsspec.filesystem("file")
    made = {
        "2.18 memory": lambda: storage.FSStore("memory://zarrix-fs/s"),
        "2.18 local": lambda: storage.FSStore(str(tmp_path / "s")),
        "2.18 fs": lambda: storage.FSStore("/zarrix-fs/s", fs=memory),
        "3 memory": lambda: storage.FsspecStore(memory, path="/zarrix-fs/s"),
        "3 local": lambda: storage.FsspecStore(local, path=str(tmp_path / "s")),
        "3 from_url": lambda: storage.FsspecStore.from_url("memory://zarrix-fs/s"),
        "3 mapper": lambda: storage.FsspecStore.from_mapper(memory.get_mapper("/zarrix-fs/s")),
    }[request.param]()
    yield made
    if memory.exists("/zarrix-fs"):
        memory.rm("/zarrix-fs", recursive=True)


def test_it_is_a_mapping_with_the_methods_of_a_store(store: Any) -> None:
    for key, value in {"a": b"aaa", "c/d": b"ddd", "c/e/f": b"fff", "c/e/g": b"gggg"}.items():
        store[key] = value
    assert sorted(store) == ["a", "c/d", "c/e/f", "c/e/g"]
    assert (store["c/e/f"], "c/d" in store, "c" in store, "x" in store) == (
        b"fff",
        True,
        False,
        False,
    )
    assert store.getitems(["a", "x", "c/d"]) == {"a": b"aaa", "c/d": b"ddd"}
    assert store.listdir() == ["a", "c"]
    assert store.listdir("c") == ["d", "e"]
    assert store.listdir("a") == store.listdir("x") == []
    assert store.child_names("c") == ["e"]
    assert (store.getsize("a"), store.getsize("c/e"), store.getsize("x")) == (3, 7, 0)
    store.rename("c/e", "moved")
    store.rmdir("c")
    assert sorted(store) == ["a", "moved/f", "moved/g"]
    store.setitems({"n/1": b"1", "n/2": b"2"})
    store.delitems(["n/1", "n/3"])
    assert store.listdir("n") == ["2"]
    with pytest.raises(KeyError):
        del store["n/1"]
    with pytest.raises(InvalidKeyError):
        store["../a"] = b"1"


def test_arrays_and_groups_of_both_formats(store: Any) -> None:
    root = zarr.open_group(store, mode="a")
    z = root.create_dataset("x", shape=(10, 10), chunks=(4, 4), dtype="i4", fill_value=7)
    z[2:5, 3:9] = np.arange(18).reshape(3, 6)
    expected = np.full((10, 10), 7, "i4")
    expected[2:5, 3:9] = np.arange(18).reshape(3, 6)
    assert np.array_equal(zarr.open_group(store, mode="r")["x"][:], expected)
    twin = pickle.loads(pickle.dumps(store))
    assert twin == store
    assert np.array_equal(zarr.open_group(twin, mode="r")["x"][:], expected)


def test_shards_are_read_and_written_in_part(store: Any) -> None:
    shards = zarr.create_array(store, name="y", shape=64, chunks=4, shards=16, dtype="u2")
    shards[5:50] = 3
    assert np.array_equal(zarr.open_array(store, path="y")[:], [0] * 5 + [3] * 45 + [0] * 14)


def test_what_may_only_be_read_refuses_changes(store: Any) -> None:
    store["a"] = b"1"
    if isinstance(store, storage.FSStore):
        closed: Any = storage.FSStore(store.path, fs=store.fs, mode="r")
    else:
        closed = storage.FsspecStore(store.fs, read_only=True, path=store.path)
    assert closed["a"] == b"1"
    for change in (
        lambda: closed.__setitem__("b", b"2"),
        lambda: closed.__delitem__("a"),
        lambda: closed.rmdir(),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert sorted(store) == ["a"]


def test_the_separator_and_case_of_keys_are_the_stores(tmp_path: Path) -> None:
    store = storage.FSStore(str(tmp_path), key_separator="/", normalize_keys=True)
    zarr.zeros((4, 4), chunks=(2, 2), store=store, path="FOO")[:] = 1
    assert (tmp_path / "foo/0/1").is_file()
    assert store.dir_path("FOO") == f"{tmp_path}/foo"
    assert store.key_separator == "/"


def test_only_a_missing_file_is_a_missing_value() -> None:
    memory = fsspec.filesystem("memory")

    class Refusing(type(memory)):
        protocol = "refusing"

        def cat_file(self, path: str, *arguments: Any, **options: Any) -> Any:
            if path.endswith(".zarray"):
                return memory.cat_file(path)
            raise PermissionError(f"403 for {path}")

    z = zarr.full(8, 5, chunks=2, store=storage.FsspecStore(memory, path="/zarrix-refused"))
    z[:] = 6
    with pytest.raises(PermissionError, match="403"):
        zarr.open(storage.FsspecStore(Refusing(), path="/zarrix-refused"), mode="r")[:]
    memory.rm("/zarrix-refused/1")
    assert z[:].tolist() == [6, 6, 5, 5, 6, 6, 6, 6]
    memory.rm("/zarrix-refused", recursive=True)
    store = storage.FsspecStore(Refusing(), path="/zarrix-refused")
    with pytest.raises(PermissionError, match="403"):
        store["a"]
    lenient = storage.FSStore("/zarrix-refused", fs=Refusing(), exceptions=(PermissionError,))
    with pytest.raises(KeyError):
        lenient["a"]


def test_a_file_system_that_the_engine_knows_is_served_by_it() -> None:
    s3fs = pytest.importorskip("s3fs")
    where = {"key": "k", "secret": "s", "endpoint_url": "http://127.0.0.1:1"}
    fs = s3fs.S3FileSystem(**where, skip_instance_cache=True)
    store = storage.FsspecStore(fs, path="bucket/x")
    assert type(store._engine).__name__ == "ObjectStore"
    assert repr(store) == "<zarrix.storage.FsspecStore 's3://bucket/x'>"
    lenient = storage.FSStore("bucket/x", fs=fs, exceptions=(PermissionError,))
    assert type(lenient._engine).__name__ == "PythonStore"


def test_paths_of_universal_pathlib_are_stores(tmp_path: Path) -> None:
    values = np.arange(6).reshape(2, 3)
    for path, kind in (
        (UPath("memory://upaths/a.zarr"), storage.FSStore),
        (UPath(tmp_path / "b.zarr"), storage.DirectoryStore),
        (UPath(f"file://{tmp_path}/c.zarr"), storage.DirectoryStore),
    ):
        zarr.save(path, values)
        opened = zarr.open(path, mode="r")
        assert type(opened.store) is kind
        assert opened[:].tolist() == values.tolist()
        assert sorted(one.name for one in path.iterdir()) == sorted(opened.store)
    key = {"key": "one", "secret": "two", "endpoint_url": "http://127.0.0.1:1"}
    remote = as_store(UPath("s3://bucket/a b/c.zarr", **key))
    assert type(remote) is storage.RemoteStore
    assert remote.url == "s3://bucket/a b/c.zarr"
    with pytest.raises(ValueError, match="storage_options need a URL"):
        zarr.open(UPath("memory://upaths"), storage_options={"anon": True})


def test_arguments_that_contradict_each_other_are_refused() -> None:
    memory = fsspec.filesystem("memory")
    with pytest.raises(ValueError, match="fs= or storage_options, not both"):
        storage.FSStore("/x", fs=memory, anon=True)
    with pytest.raises(ValueError, match="mode is 'w' or 'r'"):
        storage.FSStore("memory://x", mode="q")


def test_without_fsspec_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError, match="pip install fsspec"):
        storage.FSStore("memory://x")


@pytest.mark.parametrize("handles", ["one url", "another depth", "file systems of their own"])
def test_threads_with_handles_of_their_own_lose_no_update(handles: str) -> None:
    """They had locks of their own, too, and the second writer put what the first had not."""
    memory = fsspec.filesystem("memory")
    both_have_read = threading.Barrier(2)

    class Meeting(type(memory)):
        protocol = "meeting"

        def cat_file(self, path: str, *arguments: Any, **options: Any) -> Any:
            value = super().cat_file(path, *arguments, **options)
            if path.endswith("/0"):
                # If a lock excludes the other writer, it does not arrive.
                with contextlib.suppress(threading.BrokenBarrierError):
                    both_have_read.wait(0.3)
            return value

    def opened(number: int) -> Any:
        fs = Meeting(skip_instance_cache=handles == "file systems of their own")
        if handles == "another depth" and number:
            return zarr.open_group(storage.FSStore("/zarrix-meeting", fs=fs), mode="r+")["deep/x"]
        return zarr.open_array(storage.FSStore("/zarrix-meeting/deep/x", fs=fs), mode="r+")

    root = zarr.open_group(storage.FSStore("/zarrix-meeting", fs=memory), mode="w")
    root.create_dataset("deep/x", shape=4, chunks=4, dtype="i4")[:] = 9
    threads = [
        threading.Thread(target=lambda at=at: opened(at).__setitem__(at, at + 1)) for at in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert root["deep/x"][:].tolist() == [1, 2, 9, 9]
    memory.rm("/zarrix-meeting", recursive=True)
