"""Puts under a condition, and listings in the order of keys, of stores on this machine."""

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix.errors import InvalidKeyError, NotAtomicError, ReadOnlyError

MAKERS: dict[str, Callable[[Path], Any]] = {
    "local": lambda folder: zarr.DirectoryStore(str(folder / "a.zarr")),
    "memory": lambda folder: zarr.MemoryStore(),
    "zip": lambda folder: zarr.ZipStore(str(folder / "a.zip"), mode="w"),
    "sqlite": lambda folder: zarr.SQLiteStore(str(folder / "a.sqlite")),
    "dict": lambda folder: zarr.storage.KVStore({}),
}
TAGGED = ["local", "memory", "zip"]


@pytest.fixture(params=list(MAKERS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return MAKERS[request.param](tmp_path)


@pytest.fixture(params=TAGGED)
def tagged(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return MAKERS[request.param](tmp_path)


def test_a_put_that_creates_happens_once(store: Any) -> None:
    assert store.put_if("a/b", b"1", None).is_stored
    assert store.put_if("a/b", b"2", None).result == "refused"
    assert store["a/b"] == b"1"
    assert store.put_if("a/b", b"3", "*").is_stored
    assert store["a/b"] == b"3"


def test_a_put_replaces_the_version_with_its_tag_and_no_other(tagged: Any) -> None:
    first = tagged.put_if("a", b"1", None)
    second = tagged.put_if("a", b"2", first.tag)
    assert second.is_stored
    assert second.tag != first.tag
    assert tagged.put_if("a", b"3", first.tag).result == "refused"
    assert tagged.put_if("b", b"3", first.tag).result == "refused"
    found = tagged.get_tagged("a")
    assert (found.value, found.tag) == (b"2", second.tag)
    assert tagged.head("a") == ("a", 1, second.tag)
    assert tagged.head("b") is None
    assert tagged.get_tagged("b") is None
    assert "b" not in tagged


def test_an_equal_value_has_another_tag_where_it_was_written_again(tagged: Any) -> None:
    first = tagged.put_if("a", b"1", None)
    assert tagged.put_if("a", b"1", "*").tag != first.tag


@pytest.mark.parametrize("maker", ["sqlite", "dict"])
def test_a_store_without_tags_refuses_one(maker: str, tmp_path: Path) -> None:
    store = MAKERS[maker](tmp_path)
    store["a"] = b"1"
    assert store.head("a") == ("a", 1, "")
    with pytest.raises(NotAtomicError, match="no tags"):
        store.put_if("a", b"2", "tag")
    assert store["a"] == b"1"


def test_who_is_alone_with_its_values(tmp_path: Path) -> None:
    keeps = {name: make(tmp_path).keeps_conditions("a") for name, make in MAKERS.items()}
    assert keeps == {"local": True, "memory": True, "zip": True, "sqlite": True, "dict": False}


def test_a_read_only_store_is_not_changed(tmp_path: Path) -> None:
    with zarr.ZipStore(str(tmp_path / "a.zip"), mode="w") as writable:
        writable["k"] = b"1"
    store = zarr.ZipStore(str(tmp_path / "a.zip"), mode="r")
    with pytest.raises(ReadOnlyError):
        store.put_if("k", b"2", "*")
    assert store["k"] == b"1"


def test_of_many_creators_and_of_many_who_replace_one_wins(tagged: Any) -> None:
    def together(condition: str | None) -> list[str]:
        barrier, results = threading.Barrier(8), []

        def put(number: int) -> None:
            barrier.wait()
            results.append(tagged.put_if("k", str(number).encode(), condition).result)

        threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(results)

    expected = ["refused"] * 7 + ["stored"]
    assert together(None) == expected
    assert together(tagged.head("k").tag) == expected


def test_the_tag_of_a_file_is_its_time_and_inode(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(str(tmp_path / "a"))
    store["c/0"] = b"123"
    found = os.stat(tmp_path / "a/c/0")
    assert store.head("c/0") == ("c/0", 3, f"{found.st_mtime_ns:x}-{found.st_ino:x}")


def keys_of(store: Any, prefix: str = "", after: str = "") -> list[str]:
    return [row.key for page in store.list_pages(prefix, after) for row in page]


def drawn_names(draw: random.Random) -> list[str]:
    letters = ["a", "b", "!", "-", ".", "0", "~", "\uffff", "\U00010000"]
    names = set()
    while len(names) < 400:
        parts = ["".join(draw.choices(letters, k=draw.randint(1, 3))) for _ in range(3)]
        names.add("/".join(parts[: draw.randint(1, 3)]))
    below = {name[:end] for name in names for end, one in enumerate(name) if one == "/"}
    return [name for name in names - below if not {".", ".."} & set(name.split("/"))]


@pytest.mark.parametrize("maker", TAGGED)
def test_keys_are_listed_in_the_order_of_their_bytes(maker: str, tmp_path: Path) -> None:
    draw = random.Random(1)
    store = MAKERS[maker](tmp_path)
    names = []
    for name in drawn_names(draw):
        try:
            store[name] = name.encode()
        except InvalidKeyError:
            continue
        names.append(name)
    expected = sorted(names, key=str.encode)
    assert len(expected) > 200
    assert keys_of(store) == expected
    for after in [*draw.sample(expected, 40), "a", "a-", "b/", "\uffff", "zz"]:
        behind = [name for name in expected if name.encode() > after.encode()]
        assert keys_of(store, after=after) == behind
    rows = [row for page in store.list_pages() for row in page]
    assert rows == [store.head(row.key) for row in rows]
    folders = {name.rpartition("/")[0] for name in expected} - {""}
    for folder in draw.sample(sorted(folders), 10):
        below = [name for name in expected if name.startswith(f"{folder}/")]
        assert keys_of(store, folder) == below
        assert keys_of(store, folder, below[0]) == below[1:]


def test_a_page_has_at_most_1000_rows(store: Any) -> None:
    names = [f"c/{one}" for one in range(2001)]
    for name in names:
        store[name] = b""
    pages = [[row.key for row in page] for page in store.list_pages("c")]
    assert [len(page) for page in pages] == [1000, 1000, 1]
    assert [key for page in pages for key in page] == sorted(names)
    assert keys_of(store, "none") == []


def test_a_listing_goes_on_from_the_key_after_which_it_ended(tagged: Any) -> None:
    for one in range(1500):
        tagged[f"{one % 7}/{one}"] = b""
    first = [row.key for row in next(tagged.list_pages())]
    assert first + keys_of(tagged, after=first[-1]) == keys_of(tagged)


def test_what_is_no_value_is_not_listed_and_links_end(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(str(tmp_path / "a"))
    store["b/c"] = b"1"
    store["b/d"] = b"2"
    folder = tmp_path / "a"
    (folder / "b/d.0123456789abcdef.partial").write_bytes(b"half")
    (folder / "b/again").symlink_to(folder / "b")
    (folder / "gone").symlink_to(folder / "nothing")
    (folder / "link").symlink_to(folder / "b/c")
    os.mkfifo(folder / "pipe")
    assert keys_of(store) == ["b/c", "b/d", "link"]
    assert keys_of(store) == sorted(store)


def test_a_file_that_is_deleted_during_the_listing_is_left_out(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(str(tmp_path / "a"))
    for one in range(1100):
        store[f"c/{one:04}"] = b""
    pages = store.list_pages()
    assert len(next(pages)) == 1000
    del store["c/1050"]
    assert len(next(pages)) == 99
    assert list(pages) == []


def test_a_put_under_a_condition_waits_for_the_writers_of_its_array(tmp_path: Path) -> None:
    array = zarr.create_array(str(tmp_path / "a"), shape=8, chunks=8, dtype="i4", fill_value=0)
    array[:] = 1
    store = zarr.DirectoryStore(str(tmp_path / "a"))
    row = store.head("c/0")
    array[0] = 5
    assert store.put_if("c/0", b"x", row.tag, anchor="zarr.json").result == "refused"
    assert array[0] == 5
