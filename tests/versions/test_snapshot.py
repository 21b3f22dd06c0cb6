"""Versions on disk: what they have, and what does not change them."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import _engine
from zarrix._errors import (
    PathNotFoundError,
    ReadOnlyError,
    StoreBusyError,
    VersionExistsError,
    VersionNotFoundError,
)
from zarrix.versions import _snapshot

WRITES = 0o222
HOWS = ("auto", "link", "copy")


def hierarchy(path: Path, zarr_format: int = 3, values: int = 1) -> Any:
    root = zarr.open_group(str(path), mode="w", zarr_format=zarr_format, attributes={"n": values})
    a = root.create_dataset("a", shape=(6, 4), chunks=(2, 2), dtype="i4")
    a[:] = values
    b = root.require_group("g").create_dataset("b", shape=9, chunks=3, dtype="f8")
    b[:] = values
    return root


def contents(root: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"": dict(root.attrs)}
    root.visititems(lambda path, node: found.update({path: node_contents(node)}))
    return found


def node_contents(node: Any) -> Any:
    values = node[:].tolist() if isinstance(node, zarr.Array) else None
    return dict(node.attrs), values


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("how", HOWS)
def test_a_version_stays_as_it_was(tmp_path: Path, how: Any, zarr_format: int) -> None:
    root = hierarchy(tmp_path / "x.zarr", zarr_format)
    before = contents(root)
    version = zarr.snapshot(root.store, "v1", message="first", how=how)
    assert (version.name, version.message, version.parent) == ("v1", "first", None)
    assert version.zarr_format == zarr_format
    root["a"][:] = 7
    root["g/b"].append(np.zeros(3))
    root.attrs["n"] = 8
    root.create_dataset("new", shape=3)
    old = zarr.open_group(tmp_path / "x.zarr", version="v1")
    assert contents(old) == before
    assert contents(zarr.Versions(root.store).open("V1")) == before
    # As any library opens it.
    assert contents(zarr.open_group(str(tmp_path / "x.zarr.versions/v1"), mode="r")) == before
    del root["g"]
    zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    assert contents(zarr.open_group(tmp_path / "x.zarr", version="v1")) == before
    assert zarr.Versions(tmp_path / "x.zarr").verify().ok


def test_open_takes_versions_everywhere(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.consolidate_metadata(root.store)
    zarr.snapshot(root.store, "v1")
    root["a"][:] = 2
    path = str(tmp_path / "x.zarr")
    assert zarr.open(path, version="v1")["a"][0, 0] == 1
    assert zarr.open(f"{path}/a", version="v1")[0, 0] == 1
    assert zarr.open(path, version="v1", path="g/b")[0] == 1
    assert zarr.open_array(path, version="v1", path="a")[0, 0] == 1
    assert zarr.open_array(f"{path}/g/b", version="v1")[0] == 1
    assert zarr.open_consolidated(path, version="v1")["a"][0, 0] == 1
    assert zarr.open_group(root, version="v1")["a"][0, 0] == 1
    with pytest.raises(VersionNotFoundError, match="it has 'v1'"):
        zarr.open(path, version="v2")


def test_a_version_is_not_written(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.snapshot(root.store, "v1")
    before = tree(tmp_path / "x.zarr.versions")
    old = zarr.open(root.store, version="v1")
    for change in (
        lambda: old["a"].__setitem__(0, 1),
        lambda: old.attrs.update(x=1),
        lambda: old.create_dataset("z", shape=1),
        lambda: old["a"].resize(1, 1),
        lambda: zarr.open(root.store, mode="w", version="v1"),
        lambda: zarr.open_group(root.store, mode="w-", version="v1"),
        lambda: zarr.open_array(root.store, mode="w", path="a", shape=1, version="v1"),
        lambda: zarr.open_consolidated(root.store, version="v1").attrs.update(x=1),
    ):
        with pytest.raises((ReadOnlyError, PathNotFoundError)) as raised:
            change()
        assert raised.type is ReadOnlyError or "consolidated" in str(raised.value)
    assert tree(tmp_path / "x.zarr.versions") == before


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_documents_and_pages_are_as_specified(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    version = zarr.snapshot(root.store, "v1", how="link")
    folder = tmp_path / "x.zarr.versions"
    assert (folder / "versions.json").read_bytes() == b'{"zarrix_versions":1,"of":"x.zarr"}'
    text = (folder / "v1.version.json").read_text()
    document = json.loads(text)
    assert text == json.dumps(document, separators=(",", ":"))
    assert " ".join(document) == (
        "zarrix_version name created how message parent format spaces keys bytes digests pages"
    )
    assert document["keys"] == version.keys == 6 + 3 + 4
    ((first, digest, rows, size),) = document["pages"]
    assert (first, rows, size) == ("a/c/0/0", document["keys"], document["bytes"])
    packed = (folder / "pages" / digest[:2] / f"{digest}.jsonl.gz").read_bytes()
    # Without the time, so that equal pages are equal files.
    assert packed[4:8] == b"\0\0\0\0"
    import gzip
    import hashlib

    lines = gzip.decompress(packed)
    assert hashlib.sha256(lines).hexdigest() == digest
    keys = [json.loads(line)[0] for line in lines.splitlines()]
    assert keys == sorted(keys, key=str.encode)
    status = (tmp_path / "x.zarr/a/c/0/0").stat()
    row = ["a/c/0/0", status.st_size, f"{status.st_mtime_ns:x}-{status.st_ino:x}"]
    assert lines.splitlines()[0].decode() == json.dumps(row, separators=(",", ":"))


def test_linked_chunks_are_guarded_and_documents_are_not_linked(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    before = stat.S_IMODE((tmp_path / "x.zarr/a/c/0/0").stat().st_mode)
    zarr.snapshot(root.store, "v1", how="link")
    zarr.snapshot(root.store, "v2", how="link")
    for path in (tmp_path / "x.zarr").rglob("*"):
        copied = tmp_path / "x.zarr.versions/v1" / path.relative_to(tmp_path / "x.zarr")
        if path.name == "zarr.json":
            assert path.stat().st_nlink == 1
            assert path.stat().st_mode & WRITES
        elif path.is_file():
            assert copied.samefile(path)
            assert path.stat().st_mode & WRITES == 0
    history = zarr.Versions(root.store)
    history.delete("v1")
    assert (tmp_path / "x.zarr/a/c/0/0").stat().st_mode & WRITES == 0
    root["g/b"][0] = 5
    history.delete("v2")
    assert stat.S_IMODE((tmp_path / "x.zarr/a/c/0/0").stat().st_mode) == before
    assert contents(root)["g/b"][1][0] == 5


@pytest.mark.parametrize("how", ["link", "copy"])
def test_a_folder_of_many_chunks_is_carried_as_one_of_few(tmp_path: Path, how: Any) -> None:
    path = tmp_path / "x.zarr"
    z = zarr.create_array(
        path, shape=(60, 2), chunks=(1, 2), dtype="i4",
        chunk_key_encoding={"name": "default", "separator": "."},
    )  # fmt: skip
    z[:] = np.arange(120).reshape(60, 2)
    read_only, linked = path / "c.7.0", path / "c.9.0"
    read_only.chmod(0o440)
    linked.unlink()
    linked.symlink_to("c.8.0")
    (path / "notes.txt").write_text("ours")
    before = z[:].tolist()
    version = zarr.snapshot(path, "v1", how=how)
    kept = tmp_path / "x.zarr.versions/v1"
    assert version.keys == 62
    for chunk in path.glob("c.*"):
        copy = kept / chunk.name
        assert copy.is_file()
        assert not copy.is_symlink()
        assert copy.samefile(chunk) == (how == "link" and chunk != linked)
        assert how == "copy" or copy.stat().st_mode & WRITES == 0 or chunk == linked
    assert not (kept / "notes.txt").samefile(path / "notes.txt")
    assert how == "copy" or stat.S_IMODE(read_only.stat().st_mode) == 0o440
    z[:] = 0
    assert zarr.open(path, version="v1")[:].tolist() == before
    assert zarr.Versions(path).verify().ok


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_only_the_key_space_of_the_document_is_taken(tmp_path: Path, zarr_format: int) -> None:
    root = hierarchy(tmp_path / "x.zarr", zarr_format)
    folder = tmp_path / "x.zarr/a"
    others = {2: ("0/0", "c/0/0", "c.0.0"), 3: ("0/1", "0.1", "c.0.1")}[zarr_format]
    for key in others:
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"another space")
    (folder / "notes").mkdir()
    (folder / "notes/README.md").write_text("ours")
    version = zarr.snapshot(root.store, "v1", how="link")
    kept = tmp_path / "x.zarr.versions/v1/a"
    assert not any((kept / key).exists() for key in others)
    # A file of others is kept, and never linked, since its program may write in place.
    assert (kept / "notes/README.md").read_text() == "ours"
    assert (folder / "notes/README.md").stat().st_nlink == 1
    rows = [row for page in version.pages for row in _rows(tmp_path / "x.zarr.versions", page)]
    chunks = [key for key, *_ in rows if key.startswith("a/c/")]
    assert chunks == [f"a/c/{i}/{j}" for i in range(3) for j in range(2)]


def _rows(folder: Path, page: Any) -> Any:
    from zarrix.versions._pages import read_rows

    return read_rows(zarr.DirectoryStore(str(folder)), page)


@pytest.mark.parametrize(
    "name",
    ["", ".hidden", "a/b", "../x", "pages", "PAGES", "live", "a.json", "x.partial", "é", "x" * 101,
     "a b", "-v", "end."],
)  # fmt: skip
def test_a_name_that_could_be_something_else_is_refused(tmp_path: Path, name: str) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    with pytest.raises(ValueError, match="name of a version"):
        zarr.snapshot(root.store, name)
    assert not (tmp_path / "x.zarr.versions").exists()


def test_names_differ_by_more_than_their_case(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.snapshot(root.store, "Release-1.0")
    with pytest.raises(VersionExistsError, match=r"Release-1\.0"):
        zarr.snapshot(root.store, "release-1.0")
    assert [version.name for version in zarr.Versions(root.store)] == ["Release-1.0"]


def test_paths_inside_are_refused_with_the_root(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    for inner in (tmp_path / "x.zarr/g", root["g"], root["a"]):
        with pytest.raises(ValueError, match=r"root, '.*x\.zarr'"):
            zarr.snapshot(inner, "v1")
    with pytest.raises(PathNotFoundError):
        zarr.snapshot(tmp_path / "nothing.zarr", "v1")
    with pytest.raises(ValueError, match="copy_store"):
        zarr.snapshot(zarr.MemoryStore(), "v1")
    with pytest.raises(ValueError, match=r"contains|in itself|inside|overlap"):
        zarr.snapshot(root.store, "v1", versions=tmp_path / "x.zarr/g/versions")
    assert not (tmp_path / "nothing.zarr.versions").exists()


def test_a_root_that_is_an_array_has_versions(tmp_path: Path) -> None:
    z = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=4, chunks=2, dtype="i4")
    z[:] = 1
    zarr.snapshot(z, "v1")
    z[:] = 2
    assert zarr.open(tmp_path / "x.zarr", version="v1")[:].tolist() == [1] * 4


def test_another_folder_and_another_device(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.snapshot(root.store, "v1", versions=tmp_path / "kept")
    assert "v1" in zarr.Versions(root.store, versions=tmp_path / "kept")
    assert "v1" not in zarr.Versions(root.store)
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs another file system")
    folder = memory / f"zarrix-versions-{os.getpid()}"
    try:
        assert zarr.snapshot(root.store, "v1", versions=folder).how == "copy"
        with pytest.raises(OSError, match="cross-device"):
            zarr.snapshot(root.store, "v2", how="link", versions=folder)
        assert sorted(one.name for one in folder.iterdir()) == [
            "pages", "v1", "v1.version.json", "versions.json",
        ]  # fmt: skip
    finally:
        import shutil

        shutil.rmtree(folder)


def test_links_are_followed_inside_the_hierarchy_only(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    chunk = tmp_path / "x.zarr/a/c/0/0"
    (tmp_path / "x.zarr/a/c/0/1").unlink()
    (tmp_path / "x.zarr/a/c/0/1").symlink_to(chunk)
    (tmp_path / "x.zarr/a/c/2").rename(tmp_path / "x.zarr/g/row")
    (tmp_path / "x.zarr/a/c/2").symlink_to("../../g/row")
    (tmp_path / "x.zarr/g/loop").symlink_to("..")
    (tmp_path / "x.zarr/g/nowhere").symlink_to("missing")
    before = root["a"][:].tolist()
    zarr.snapshot(root.store, "v1", how="link")
    kept = tmp_path / "x.zarr.versions/v1"
    assert not any(path.is_symlink() for path in kept.rglob("*"))
    root["a"][:] = 9
    assert zarr.open(root.store, version="v1")["a"][:].tolist() == before
    (tmp_path / "secret").write_text("not yours")
    (tmp_path / "x.zarr/a/c/1/0").unlink()
    (tmp_path / "x.zarr/a/c/1/0").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="leads out of the hierarchy"):
        zarr.snapshot(root.store, "v2")
    assert [version.name for version in zarr.Versions(root.store)] == ["v1"]
    assert leftovers(tmp_path) == []


def leftovers(folder: Path) -> list[str]:
    return [one.name for one in (folder / "x.zarr.versions").iterdir() if "partial" in one.name]


def act_before_a_walk(monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]) -> None:
    """Do something when the first documents were read, and before anything is carried."""
    real, begun = _engine.CarriedTree, []

    class Watched:
        def __init__(self, *args: Any, **keywords: Any) -> None:
            self._tree = real(*args, **keywords)

        def take(self, *args: Any) -> None:
            if not begun:
                begun.append(True)
                action()
            self._tree.take(*args)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._tree, name)

    monkeypatch.setattr(_engine, "CarriedTree", Watched)


def test_a_document_that_changes_meanwhile_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = hierarchy(tmp_path / "x.zarr")

    def change() -> None:
        root["g/b"].resize(6)
        root["a"].attrs["unit"] = "m"
        root.create_dataset("late", shape=4, chunks=2, dtype="i4")[:] = 3
        del root["g/b"]

    act_before_a_walk(monkeypatch, change)
    zarr.snapshot(root.store, "v1", how="link")
    assert contents(zarr.open(root.store, version="v1")) == contents(root)
    assert zarr.Versions(root.store).verify().ok
    assert not zarr.Versions(root.store).diff("v1", "live")


@pytest.mark.parametrize("is_aborted", [False, True])
def test_a_commit_during_the_walk_is_in_the_version_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_aborted: bool
) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.consolidate_metadata(root.store)

    def commit() -> None:
        with contextlib.suppress(InterruptedError), zarr.commit(root.store) as new:
            new["g/b"].append(np.ones(3))
            new.create_array("late", shape=4, dtype="i4")[:] = 1
            if is_aborted:
                raise InterruptedError

    act_before_a_walk(monkeypatch, commit)
    zarr.snapshot(root.store, "v1", how="link")
    version = zarr.open_consolidated(root.store, version="v1")
    assert version["g/b"].shape == ((9,) if is_aborted else (12,))
    assert ("late" in version) != is_aborted
    assert not zarr.Versions(root.store).diff("v1", "live")


def test_documents_that_change_again_and_again_end_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    read = _snapshot.read_documents

    def changing(store: Any) -> Any:
        root["a"].attrs["n"] = root["a"].attrs.get("n", 0) + 1
        return read(store)

    monkeypatch.setattr(_snapshot, "read_documents", changing)
    with pytest.raises(StoreBusyError, match="three times"):
        zarr.snapshot(root.store, "v1")
    assert len(zarr.Versions(root.store)) == 0
    assert leftovers(tmp_path) == []


def test_quiesce_takes_what_was_written_before_the_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    read, calls = _snapshot.read_documents, []

    def writing(store: Any) -> Any:
        calls.append(store)
        if len(calls) == 2:
            # All is carried, and no lock is held yet.
            root["a"][:] = 5
            root["g/b"][3:6] = 0
            os.unlink(tmp_path / "x.zarr/g/b/c/0")
        return read(store)

    monkeypatch.setattr(_snapshot, "read_documents", writing)
    zarr.snapshot(root.store, "v1", quiesce=True)
    assert contents(zarr.open(root.store, version="v1")) == contents(root)
    assert not (tmp_path / "x.zarr.versions/v1/g/b/c/0").exists()
    assert zarr.Versions(root.store).verify().ok


def test_a_commit_that_is_open_is_waited_for(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.consolidate_metadata(root.store)
    with zarr.commit(root.store) as new:
        new["g/b"].append(np.ones(3))
        with pytest.raises(TimeoutError, match="commit"):
            zarr.snapshot(root.store, "v1")
    zarr.snapshot(root.store, "v1")
    assert zarr.open(root.store, version="v1")["g/b"].shape == (12,)
    assert not (tmp_path / "x.zarr/.zarrix-commit.json").exists()


def test_digests_find_what_times_do_not(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.snapshot(root.store, "v1", how="copy", digests=True)
    zarr.snapshot(root.store, "v2", how="copy")
    for name in ("v1", "v2"):
        path = tmp_path / "x.zarr.versions" / name / "a/c/0/0"
        status = path.stat()
        path.write_bytes(bytes(reversed(path.read_bytes())))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    problems = zarr.Versions(root.store).verify().problems
    assert [str(problem) for problem in problems] == ["v1: changed a/c/0/0"]
    assert zarr.Versions(root.store)["v1"].has_digests
    # The digests of the version are compared with the values that are there now.
    assert not zarr.Versions(root.store).diff("v1", "live")


def test_verify_names_what_is_lost_changed_added_and_broken(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    for name in ("v1", "v2", "v3"):
        root.attrs["n"] = name
        zarr.snapshot(root.store, name, how="copy")
    folder = tmp_path / "x.zarr.versions"
    (folder / "v1/a/c/0/0").unlink()
    (folder / "v1/a/c/0/1").write_bytes(b"changed")
    (folder / "v1/g/more").write_bytes(b"more")
    (folder / "v2.version.json").write_bytes(b'{"zarrix_version":1}')
    page = zarr.Versions(root.store)["v3"].pages[0].digest
    (folder / "pages" / page[:2] / f"{page}.jsonl.gz").unlink()
    problems = [str(one) for one in zarr.Versions(root.store).verify().problems]
    assert problems == [
        "v1: lost a/c/0/0",
        "v1: changed a/c/0/1",
        "v1: added g/more",
        "v2: broken v2.version.json",
        "v3: lost the rows from 'a/c/0/0' on",
    ]


def test_no_space_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = hierarchy(tmp_path / "x.zarr")
    zarr.snapshot(root.store, "v1")
    before = tree(tmp_path / "x.zarr.versions")
    real = _engine.CarriedTree

    class Full:
        def __new__(cls, *args: Any, **keywords: Any) -> Any:
            tree = real(*args, **keywords)
            tree.take("", [])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(_engine, "CarriedTree", Full)
    with pytest.raises(OSError, match="space"):
        zarr.snapshot(root.store, "v2")
    assert tree(tmp_path / "x.zarr.versions") == before


def test_many_directories_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = str(tmp_path / "x.zarr")
    z = zarr.create((1100, 1), chunks=(1, 1), dtype="i1", store=store, zarr_format=3, fill_value=0)
    z[:] = 1
    blocks = os.stat(tmp_path / "x.zarr/c").st_blocks
    if not blocks:
        pytest.skip("directories take no blocks here")
    with pytest.warns(UserWarning, match="shards"):
        zarr.snapshot(store, "v1")


def test_nothing_is_stored_after_the_document_of_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full by then would give an error for a version that is there."""
    path = str(tmp_path / "a.zarr")
    zarr.save(path, np.arange(3))
    folder = tmp_path / "a.zarr.versions"
    before: list[set[str]] = []
    store_version = _snapshot.store_version

    def stored(*arguments: Any) -> None:
        store_version(*arguments)
        before.append({entry.name for entry in folder.iterdir()})

    monkeypatch.setattr(_snapshot, "store_version", stored)
    zarr.snapshot(path, "v1")
    assert before == [{entry.name for entry in folder.iterdir()}]
    assert "versions.json" in before[0]
