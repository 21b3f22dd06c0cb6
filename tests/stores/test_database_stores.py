"""Stores in databases: a mapping, arrays, pickles, forks, and no update lost between processes."""

import importlib.util
import pickle
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from database_values import check_filled, check_fork, fill
from waiting import PATIENCE_S
from zarrix import storage
from zarrix._errors import InvalidKeyError, ReadOnlyError
from zarrix.testing import check_store

KINDS = ["sqlite", "dbm", "lmdb"]


def opened(kind: str, folder: Path | str) -> Any:
    if kind == "lmdb" and importlib.util.find_spec("lmdb") is None:
        pytest.skip("lmdb is not installed: pip install lmdb")
    return {
        "sqlite": lambda: storage.SQLiteStore(f"{folder}/x.sqlite"),
        "dbm": lambda: storage.DBMStore(f"{folder}/x.dbm"),
        "lmdb": lambda: storage.LMDBStore(f"{folder}/x.lmdb", map_size=2**28),
    }[kind]()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Any:
    with opened(kind, tmp_path) as made:
        yield made


def test_it_is_a_mapping_with_the_methods_of_a_store(store: Any) -> None:
    assert list(store) == []
    fill(store)
    check_filled(store)
    store.rename("c/e", "moved")
    assert sorted(store) == ["a", "c/d", "c0", "moved/f", "moved/g"]
    store.rename("a", "b")
    store.rmdir("c")
    assert dict(store.items()) == {
        "b": b"aaa",
        "c0": b"behind c/",
        "moved/f": b"fff",
        "moved/g": b"gggg",
    }
    with pytest.raises(KeyError):
        del store["a"]
    with pytest.raises(InvalidKeyError):
        store["../a"] = b"1"
    store.clear()
    assert list(store) == []


def test_arrays_groups_and_shards(store: Any) -> None:
    z = zarr.open_group(store, mode="a").create_dataset(
        "x", shape=(9, 9), chunks=(4, 4), dtype="i4"
    )
    z[2:5, 3:9] = np.arange(18).reshape(3, 6)
    expected = np.zeros((9, 9), "i4")
    expected[2:5, 3:9] = np.arange(18).reshape(3, 6)
    assert np.array_equal(zarr.open_group(store, mode="r")["x"][:], expected)
    del zarr.open_group(store)["x"]
    assert sorted(store) == [".zgroup"]
    store.clear()
    shards = zarr.create_array(store, shape=64, chunks=4, shards=16, dtype="u2")
    shards[5:50] = 3
    assert np.array_equal(zarr.open_array(store)[:], [0] * 5 + [3] * 45 + [0] * 14)


def test_another_handle_and_a_pickle_have_what_was_stored(store: Any, kind: str) -> None:
    fill(store)
    with pickle.loads(pickle.dumps(store)) as twin:
        assert twin == store
        assert twin["c/e/f"] == b"fff"
        twin["new"] = b"1"
    assert store["new"] == b"1"
    store.flush()
    store.close()
    assert store["new"] == b"1"
    durable = store.with_durability("fsync")
    durable["sure"] = b"2"
    del durable
    assert store["sure"] == b"2"


def test_updates_by_threads_are_all_kept(store: Any) -> None:
    def work() -> None:
        for _ in range(10):
            store.update_value("counter", lambda old: str(int(old or b"0") + 1).encode())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store["counter"] == b"40"


WRITER = """
import sys
import zarrix as zarr
from zarrix import storage

make, path, first, step = sys.argv[1:]
with getattr(storage, make)(path) as store:
    z = zarr.open_array(store, mode="r+")
    print("ready", flush=True)
    sys.stdin.readline()
    for position in range(int(first), z.shape[0], int(step)):
        z[position] = position + 1
"""


def test_processes_that_write_parts_of_one_chunk_all_keep_them(store: Any) -> None:
    z = zarr.create(48, chunks=48, dtype="i4", store=store)
    command = [sys.executable, "-c", WRITER, type(store).__name__, store.path]
    writers = [
        subprocess.Popen(
            [*command, str(first), "4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for first in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=300)
    assert [writer.returncode for writer in writers] == [0] * 4
    assert z[:].tolist() == list(range(1, 49))


def test_a_forked_child_and_its_parent_both_go_on(store: Any) -> None:
    check_fork(store)


def test_the_table_of_sqlite_is_that_of_2_18(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)")
        connection.execute("INSERT INTO zarr VALUES ('a/b', x'3132')")
    connection.close()
    with storage.SQLiteStore(path) as store:
        assert dict(store.items()) == {"a/b": b"12"}
    with storage.SQLiteStore(":memory:") as store:
        store["a"] = b"1"
        assert (list(store), repr(store)) == (["a"], "<zarrix.storage.SQLiteStore ':memory:'>")


def test_two_names_of_one_file_have_one_set_of_locks(tmp_path: Path) -> None:
    with storage.SQLiteStore(tmp_path / "x.sqlite") as store:
        (tmp_path / "link.sqlite").symlink_to("x.sqlite")
        with storage.SQLiteStore(tmp_path / "link.sqlite") as twin:
            check_store(store, twin)
    assert sorted(place.name for place in tmp_path.iterdir()) == [
        "link.sqlite",
        "x.sqlite",
        "x.sqlite.locks",
    ]


def test_garbage_collection_may_close_an_environment_while_another_one_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = opened("lmdb", tmp_path)
    other["a"] = b"1"
    import lmdb

    really_open = lmdb.open

    def open_and_collect(*arguments: Any, **options: Any) -> Any:
        other.close()
        return really_open(*arguments, **options)

    monkeypatch.setattr(lmdb, "open", open_and_collect)
    opening = threading.Thread(
        target=lambda: storage.LMDBStore(tmp_path / "y.lmdb", map_size=2**24).close(), daemon=True
    )
    opening.start()
    opening.join(PATIENCE_S)
    assert not opening.is_alive()


def test_a_database_that_may_only_be_read_refuses_changes(tmp_path: Path) -> None:
    with storage.DBMStore(tmp_path / "x") as store:
        store["a"] = b"1"
    with storage.DBMStore(tmp_path / "x", flag="r") as store:
        assert store["a"] == b"1"
        with pytest.raises(ReadOnlyError):
            store["b"] = b"2"
    with storage.DBMStore(tmp_path / "x", flag="n") as store:
        assert list(store) == []
        store["c"] = b"3"
        assert list(store) == ["c"]
    with pytest.raises(ValueError, match="flag is 'c'"):
        storage.DBMStore(tmp_path / "x", flag="q")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(ImportError, match=r"pip install 'zarrix\[lmdb\]'"):
        storage.LMDBStore(tmp_path / "x")
