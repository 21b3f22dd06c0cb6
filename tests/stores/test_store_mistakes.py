"""What is said where a store is opened the wrong way: the name, and the way out."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from servers import Running
from zarrix import storage
from zarrix._errors import CorruptStoreError, ReadOnlyError


def test_a_scheme_that_nobody_knows_is_named() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(ValueError, match=r"knows no file system 'memroy'; did you mean 'memory'\?"):
        zarr.open("memroy://x", mode="r")


def test_what_is_no_file_system_and_what_is_one_but_no_store() -> None:
    fsspec = pytest.importorskip("fsspec")
    wrong: Any = "memory://x"
    with pytest.raises(TypeError, match=re.escape("FsspecStore.from_url(url)")):
        storage.FsspecStore(wrong)
    with pytest.raises(ValueError, match="is a file system; pass FsspecStore"):
        zarr.open(fsspec.filesystem("memory"), mode="r")


def test_a_database_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none'"):
        storage.SQLiteStore(tmp_path / "none" / "x.sqlite")
    with pytest.raises(OSError, match=r"'.*': unable to open database file"):
        storage.SQLiteStore(tmp_path)
    (tmp_path / "x.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(CorruptStoreError, match=r"x\.sqlite': file is not a database"):
        storage.SQLiteStore(tmp_path / "x.sqlite")


def test_a_value_that_is_too_long_for_a_document_is_named() -> None:
    pytest.importorskip("pymongo", reason="pip install 'zarrix[mongodb]'")
    store = storage.MongoDBStore(host="127.0.0.1", port=1, connect=False)
    with pytest.raises(ValueError, match=r"'a/0' has 17000000 bytes.*make the chunks smaller"):
        store["a/0"] = bytes(17_000_000)


def test_the_longest_value_of_a_document_is_stored(serve: Callable[[str], Running]) -> None:
    with storage.MongoDBStore(collection="long", **serve("mongodb").options) as store:
        longest = bytes((16 << 20) - (16 << 10))
        store["a" * 200] = longest
        assert len(store["a" * 200]) == len(longest)


def test_a_web_server_says_that_it_is_only_read() -> None:
    with pytest.raises(ReadOnlyError, match=r"http://127\.0\.0\.1:1/x: web servers are read-only"):
        storage.RemoteStore("http://127.0.0.1:1/x")["a"] = b"1"
    with pytest.raises(ReadOnlyError, match="web servers are read-only"):
        zarr.open("http://127.0.0.1:1/x", mode="w", shape=3, storage_options={"timeout": 1})


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("path", lambda folder: storage.DirectoryStore(folder / "a")),
        ("path", lambda folder: storage.LocalStore(folder / "a")),
        ("path", lambda folder: storage.FSStore(str(folder / "a"))),
        ("fs", lambda folder: storage.FSStore(str(folder / "a"))),
        ("mode", lambda folder: storage.FSStore(str(folder / "a"))),
        ("path", lambda folder: storage.ZipStore(folder / "a.zip", mode="w")),
        ("path", lambda folder: storage.SQLiteStore(folder / "a.sqlite")),
        ("path", lambda folder: storage.DBMStore(folder / "a.dbm")),
        ("_mutable_mapping", lambda folder: storage.KVStore({})),
        ("_store_dict", lambda folder: storage.MemoryStore(store_dict={})),
    ],
)
def test_where_a_store_is_cannot_be_changed_while_it_is_used(
    name: str, make: Any, tmp_path: Path
) -> None:
    """What it tells is where it reads and writes."""
    store = make(tmp_path)
    before = getattr(store, name)
    z = zarr.create(4, store=store)
    z[:] = 7
    with pytest.raises(AttributeError, match=f"{name} cannot be changed while the store is in use"):
        setattr(store, name, str(tmp_path / "other"))
    assert getattr(store, name) is before
    assert z[:].tolist() == [7] * 4
