"""Whether two paths have values in common: by links, archives, wrappers and other clients, too."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from every_store import KINDS
from zarrix import errors, storage
from zarrix._stores.open import as_store
from zarrix._stores.overlap import refuse_overlap, relation

OPPOSITE = {"same": "same", "inside": "around", "around": "inside", "apart": "apart"}


def check(found: str, *arguments: Any) -> None:
    """The relation, and its opposite the other way round."""
    store, path, other, other_path = arguments
    assert relation(store, path, other, other_path) == found
    assert relation(other, other_path, store, path) == OPPOSITE[found]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.holds is None])
def test_paths_of_two_handles_are_compared_by_names(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    if kind.missing:
        pytest.skip(f"{kind.needs} is not installed: pip install {kind.needs}")
    one, other = map(as_store, kind.pair(tmp_path))
    around = storage.LRUStoreCache(storage.WrapperStore(other), 2**20)
    for another in (other, around, other.with_durability("fsync"), zarr.KVStore(other)):
        check("same", one, "a/b", another, "a/b")
        check("inside", one, "a/b", another, "a")
        check("around", one, "", another, "a")
        check("apart", one, "a", another, "a2")
        check("apart", one, "a/b", another, "b")


def test_directories_nest() -> None:
    outer, inner = zarr.DirectoryStore("data"), zarr.NestedDirectoryStore("data/a")
    check("same", inner, "b", outer, "a/b")
    check("inside", inner, "", outer, "")
    check("inside", inner, "b", outer, "a")
    check("apart", inner, "b", outer, "b")
    check("apart", zarr.DirectoryStore("data2"), "", outer, "")
    check("same", zarr.DirectoryStore("data", normalize_keys=True), "A", inner, "")


def test_links_are_followed_before_and_at_the_end(folder: Path) -> None:
    (folder / "real/a").mkdir(parents=True)
    (folder / "link").symlink_to("real")
    (folder / "dangling").symlink_to("real/new")
    real = zarr.DirectoryStore("real")
    check("same", zarr.DirectoryStore("link"), "a", real, "a")
    check("same", zarr.DirectoryStore("link/new"), "b", real, "new/b")
    check("same", "dangling", "", real, "new")
    check("inside", "link/out.npy", "", real, "")
    # Without the link, the values stay and the path is gone.
    check("inside", zarr.DirectoryStore("link"), "a", folder, "")
    (folder / "other").mkdir()
    (folder / "other/in").symlink_to("../link/a")
    check("inside", zarr.DirectoryStore("other/in"), "x", zarr.DirectoryStore("other"), "")
    check("inside", zarr.DirectoryStore("other/in"), "x", real, "a")
    check("apart", zarr.DirectoryStore("other"), "out", real, "a")
    os.symlink("loop", "loop")
    check("apart", "loop", "", real, "")


def test_links_that_lead_twice_to_the_one_before_take_no_time(folder: Path) -> None:
    (folder / "0").mkdir()
    for number in range(1, 40):
        above = folder / str(number)
        above.mkdir()
        (above / "up").symlink_to("..")
        (above / "both").symlink_to(
            f"../{number - 1}/both/up/{number - 1}/both" if number > 1 else "../0"
        )
    (folder / "0" / "up").symlink_to("..")
    started = time.perf_counter()
    check("inside", "39/both/x", "", folder, "")
    assert time.perf_counter() - started < 10


def test_two_names_of_one_file_are_the_same(folder: Path) -> None:
    Path("a.npy").write_bytes(b"1")
    os.link("a.npy", "b.npy")
    check("same", "a.npy", "", "b.npy", "")
    check("apart", "a.npy", "", "c.npy", "")


def test_a_directory_that_is_mounted_twice_is_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "disk/in").mkdir(parents=True)
    (folder / "mount").mkdir()
    stat = os.stat

    def mounted(path: Any, *args: Any, **options: Any) -> os.stat_result:
        told = os.fspath(path) if isinstance(path, str | os.PathLike) else path
        if isinstance(told, str):
            told = told.replace(f"{folder}/mount", f"{folder}/disk")
        return stat(told, *args, **options)

    monkeypatch.setattr(os, "stat", mounted)
    disk, mount = zarr.DirectoryStore("disk"), zarr.DirectoryStore("mount")
    check("same", mount, "", disk, "")
    check("same", mount, "new/a", disk, "new/a")
    check("inside", mount, "in/new", disk, "in")
    check("apart", mount, "new", disk, "new2")


def test_archives_and_databases_lie_in_their_folder(folder: Path) -> None:
    (folder / "x").mkdir()
    (folder / "link").symlink_to("x")
    outer = zarr.DirectoryStore("x")
    for one, other in (
        (zarr.ZipStore("x/a.zip"), zarr.ZipStore("link/a.zip")),
        (zarr.SQLiteStore("x/a.sqlite"), zarr.SQLiteStore("link/a.sqlite")),
        (zarr.DBMStore("x/a.dbm"), zarr.DBMStore("link/a.dbm")),
    ):
        check("same", one, "g", other, "g")
        check("inside", one, "g", other, "")
        check("inside", one, "g", outer, "")
        check("inside", one, "", outer, "")
        check("same", one, "", one.path, "")
        check("apart", one, "g", outer, "g")
        one.close()


def test_memory_is_compared_by_the_object() -> None:
    values: dict[str, bytes] = {}
    check("same", zarr.KVStore(values), "a", storage.MemoryStore(store_dict=values), "a")
    check("apart", zarr.KVStore({}), "a", zarr.KVStore({}), "a")
    check("apart", zarr.MemoryStore(), "", zarr.MemoryStore(), "")
    check("same", "memory://one/a", "", as_store("memory://one/a"), "")
    check("same", values, "a", zarr.KVStore(values), "a")


class Mapping(dict[str, bytes]):
    """A mapping of another package, which keeps its values in a folder."""

    def __init__(self, folder: str) -> None:
        self.directory = folder


def test_a_mapping_that_names_its_folder_is_there(folder: Path) -> None:
    (folder / "x").mkdir()
    there = zarr.KVStore(Mapping(str(folder / "x")))
    check("inside", there, "a", zarr.DirectoryStore("x"), "")
    check("apart", there, "a", zarr.DirectoryStore("x"), "b")
    check("same", there, "a", zarr.KVStore(Mapping(str(folder / "x"))), "a")


ANON = {"anon": True}


@pytest.mark.parametrize(
    ("found", "one", "other"),
    [
        ("inside", ("s3://b/x/y", ANON), ("s3://b/x", ANON)),
        ("apart", ("s3://b/xy", ANON), ("s3://b/x", ANON)),
        ("apart", ("s3://b2/x", ANON), ("s3://b/x", ANON)),
        ("same", ("s3a://b/x/", {"key": "k", "secret": "s"}), ("s3://b/x", ANON)),
        ("same", ("https://b.s3.eu-west-1.amazonaws.com/x", {}), ("s3://b/x", ANON)),
        ("same", ("https://s3.amazonaws.com/b/x", {}), ("s3://b/x", ANON)),
        (
            "same",
            ("s3://b/x", {**ANON, "endpoint_url": "http://localhost:9000"}),
            ("http://127.0.0.1:9000/b/x", {}),
        ),
        (
            "apart",
            ("s3://b/x", {**ANON, "endpoint_url": "http://mirror:9000"}),
            ("s3://b/x", {**ANON, "endpoint_url": "http://localhost:9000"}),
        ),
        ("same", ("gs://b/x", {"token": "anon"}), ("https://storage.googleapis.com/b/x", {})),
        (
            "same",
            ("abfs://c@me.dfs.core.windows.net/x", ANON),
            ("https://me.blob.core.windows.net/c/x", {}),
        ),
        ("apart", ("az://c/x", {"account_name": "me"}), ("az://c/x", {"account_name": "you"})),
        ("inside", ("hdfs://name:8020/a/b", {}), ("hdfs://name:8020/a", {})),
        ("same", ("HTTP://Host.org:80/a".lower(), {}), ("http://host.org/a", {})),
        ("inside", ("https://host.org/a/x.zip", {}), ("https://host.org/a", {})),
    ],
)
def test_servers_are_compared_by_what_they_serve(
    found: str, one: tuple[str, Any], other: tuple[str, Any]
) -> None:
    stores = [as_store(url, options) for url, options in (one, other)]
    check(found, stores[0], "q", stores[1], "q" if found == "same" else "")


def test_other_clients_of_the_same_values(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    zarr.save_array("x/a.zip", [1])
    local = zarr.DirectoryStore("x")
    for url in (f"file://{folder}/x", f"simplecache::file://{folder}/x"):
        check("same", storage.FSStore(url), "a", local, "a")
    inside = fsspec.filesystem("dir", path=str(folder), fs=fsspec.filesystem("file"))
    check("same", storage.FsspecStore(inside, path="x"), "a", local, "a")
    archive = storage.FSStore(f"zip://::file://{folder}/x/a.zip")
    check("same", archive, "g", zarr.ZipStore("x/a.zip"), "g")
    check("inside", archive, "g", local, "")
    check("around", storage.FSStore("memory://q"), "a", storage.FSStore("memory://q/a"), "b")
    check("apart", storage.FSStore("memory://q"), "a", storage.FSStore("memory://q2"), "a")


def test_a_client_of_s3_with_options_that_only_it_has() -> None:
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("s3fs")
    for options in ({}, {"requester_pays": True, "s3_additional_kwargs": {"ACL": "private"}}):
        files = fsspec.filesystem("s3", anon=True, endpoint_url="http://localhost:9", **options)
        there = storage.RemoteStore("s3://b/x/y", {**ANON, "endpoint_url": "http://localhost:9"})
        check("around", storage.FsspecStore(files, path="b/x"), "", there, "")
        check("apart", storage.FsspecStore(files, path="b/x"), "z", there, "")


def test_references_lie_where_they_lead(folder: Path) -> None:
    store = storage.ReferenceStore(
        {"version": 1, "refs": {"a/0": ["x/raw.bin", 0, 3], "b/0": "text", "c/0": ["ftp://h/x"]}}
    )
    check("inside", store, "a", zarr.DirectoryStore("x"), "")
    check("same", store, "a", "x/raw.bin", "")
    check("apart", store, "b", zarr.DirectoryStore("x"), "")
    check("apart", store, "c", zarr.DirectoryStore("x"), "")


def test_a_file_that_is_shown_as_a_store_is_that_file(folder: Path) -> None:
    import numpy as np

    np.save("a.npy", np.arange(3))
    check("inside", as_store("a.npy"), "", zarr.DirectoryStore("."), "")
    check("same", as_store("a.npy"), "", "a.npy", "")


def test_the_error_names_both_and_is_that_of_every_room() -> None:
    store, apart = zarr.DirectoryStore("data"), zarr.DirectoryStore("chunks")
    refuse_overlap("copy", (store, "b"), [(store, "a"), (store, "c", None)])
    refuse_overlap("copy", (store, "a/b"), [(store, "a")], allowed=["inside"])
    with pytest.raises(
        errors.OverlapError, match=r"cannot copy: .*data' contains .*data/a'"
    ) as told:
        refuse_overlap("copy", (store, ""), [(store, "a")])
    for kind in (errors.CopyError, errors.JobError, zarr.errors.ZarrixError, ValueError):
        assert isinstance(told.value, kind)
    assert "choose another destination" in str(told.value)
    with pytest.raises(errors.OverlapError, match="is inside"):
        refuse_overlap("export", "data/a.npy", [(store, "")])
    with pytest.raises(errors.OverlapError, match="is the source"):
        refuse_overlap("copy", (store, "a"), [(apart, "a", store)])


def test_many_files_overlap_as_each_alone_does(tmp_path: Path) -> None:
    photos, other = tmp_path / "photos", tmp_path / "other"
    for folder in (photos, other, photos / "z.zarr" / "inside"):
        folder.mkdir(parents=True)
        for number in range(20):
            (folder / f"{number}.jpg").touch()
    (photos / "z.zarr" / "a.jpg").touch()
    (photos / "into.jpg").symlink_to(photos / "z.zarr" / "a.jpg")
    (other / "same.jpg").symlink_to(photos / "3.jpg")
    (tmp_path / "again").symlink_to(photos)
    sources = {
        "photos": [str(photos / f"{number}.jpg") for number in range(20)],
        "other": [str(other / f"{number}.jpg") for number in range(20)],
        "inside": [str(photos / "z.zarr" / "inside" / f"{number}.jpg") for number in range(20)],
        "links": [str(photos / "into.jpg"), str(other / "same.jpg")] * 10,
        "gone": [str(photos / f"none {number}.jpg") for number in range(20)],
        "again": [str(tmp_path / "again" / f"{number}.jpg") for number in range(20)],
    }
    dests = [
        photos, other, photos / "z.zarr", photos / "new.zarr", photos / "3.jpg",
        photos / "none 3.jpg", tmp_path, tmp_path / "new.zarr", tmp_path / "again" / "new.zarr",
        tmp_path / "again" / "7.jpg" / "x", tmp_path / "again",
    ]  # fmt: skip

    def refused(dest: Path, files: list[str], plain: frozenset[str] = frozenset()) -> bool:
        try:
            refuse_overlap("import", str(dest), files, plain=plain)
        except errors.OverlapError:
            return True
        return False

    outcomes = set()
    for dest in dests:
        for name, files in sources.items():
            alone = any(refused(dest, [one]) for one in files)
            assert refused(dest, files) == alone, (dest, name)
            plain = frozenset(one for one in files if os.path.isfile(one) and name != "links")
            assert refused(dest, files, plain) == alone, (dest, name)
            outcomes.add(alone)
    assert outcomes == {True, False}
