"""Commits that append, create and set attributes: what readers see, and what is refused."""
# A commit is a block, and raises at its end.
# ruff: noqa: PT012, SIM117

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits import steps
from zarrix.errors import (
    CommitBusyError,
    CommitConflictError,
    ContainsArrayError,
    MetadataError,
    NotAtomicError,
    PathNotFoundError,
    ReadOnlyError,
)

FORMATS = (2, 3)


@pytest.fixture(params=FORMATS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    steps.make(tmp_path / "x.zarr", request.param)
    return tmp_path / "x.zarr"


def test_nothing_is_visible_before_the_end_and_all_after_it(path: Path) -> None:
    with zarr.commit(path) as root:
        steps.change(root, 1)
        assert steps.version_of(root) == 1
        assert steps.version_of(zarr.open_group(path, mode="r")) == 0
        assert steps.version_of(zarr.open_consolidated(path)) == 0
    steps.is_clean(path)
    assert steps.version_of(zarr.open_group(path, mode="r")) == 1


def test_an_error_in_the_block_leaves_everything_as_it_was(path: Path) -> None:
    steps.commit(path, 1)
    zarr.sweep(path, now=True)
    before = {key: zarr.DirectoryStore(path)[key] for key in zarr.DirectoryStore(path)}
    with pytest.raises(ZeroDivisionError), zarr.commit(path) as root:
        steps.change(root, 2)
        raise ZeroDivisionError
    store = zarr.DirectoryStore(path)
    assert {key: store[key] for key in store if key in before} == before
    steps.is_clean(path)
    # Neither do its rows come back when the arrays grow.
    z = zarr.open_group(path)["a"]
    z.resize(12, 4)
    assert not z[steps.ROWS :].any()


def test_an_empty_block_changes_no_file(path: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}
    with zarr.commit(path):
        pass
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()} == before


def test_a_second_commit_waits_for_the_first_and_begins_from_it(path: Path) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def first() -> None:
        with zarr.commit(path) as root:
            steps.change(root, 1)
            has_begun.set()
            may_end.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    has_begun.wait(60)
    with pytest.raises(CommitBusyError, match=r"process [0-9]+ on "), zarr.commit(path, wait=0):
        raise AssertionError
    may_end.set()
    steps.commit(path, 2)
    thread.join()
    steps.is_clean(path)
    assert steps.version_of(zarr.open_group(path)) == 2


def test_a_commit_in_a_commit_of_the_same_thread_does_not_wait(path: Path) -> None:
    with zarr.commit(path) as root:
        with pytest.raises(CommitBusyError, match="this thread"), zarr.commit(path):
            raise AssertionError
        with pytest.raises(NotAtomicError, match="inside"), zarr.commit(root):
            raise AssertionError
        with pytest.raises(CommitBusyError, match="this thread"):
            zarr.open_group(path)["a"].append(steps.values(1))


def test_commits_of_parts_of_a_hierarchy_exclude_each_other(path: Path) -> None:
    with zarr.commit(path / "deep") as inner:
        inner["b"].append(steps.values(9))
        assert (path / ".zarrix-commit.json").exists()
        with pytest.raises(CommitBusyError), zarr.commit(path, wait=0):
            raise AssertionError
    assert zarr.open_consolidated(path)["deep/b"].shape == (3, 4)


def test_an_array_and_the_arrays_of_a_group_commit_without_a_group(tmp_path: Path) -> None:
    for zarr_format in FORMATS:
        place = tmp_path / f"{zarr_format}.zarr"
        z = zarr.open_array(place, mode="w", shape=2, chunks=4, dtype="i4", zarr_format=zarr_format)
        with zarr.commit(place) as new:
            new.append([7, 8])
            new.attrs["unit"] = "K"
            assert z.shape == (2,)
        z = zarr.open_array(place)
        assert z[:].tolist() == [0, 0, 7, 8]
        assert dict(z.attrs) == {"unit": "K"}
        assert not (place / ".zmetadata").exists()


def test_a_commit_writes_consolidated_metadata_where_there_is_none(tmp_path: Path) -> None:
    for zarr_format in FORMATS:
        root = zarr.open_group(tmp_path / f"{zarr_format}", mode="w", zarr_format=zarr_format)
        root.create_dataset("a", data=[1, 2])
        root.create_dataset("b", shape=0, dtype="i4")
        with zarr.commit(root) as new:
            new["b"].append([1])
        consolidated = zarr.open_consolidated(tmp_path / f"{zarr_format}")
        assert consolidated["a"][:].tolist() == [1, 2]
        assert consolidated["b"][:].tolist() == [1]


def test_the_commit_that_wrote_consolidated_metadata_stays_in_it(path: Path) -> None:
    steps.commit(path, 1)
    name = ".zmetadata" if (path / ".zmetadata").exists() else "zarr.json"

    def member() -> Any:
        document = json.loads((path / name).read_bytes())
        return document.get("consolidated_metadata", document)["zarrix_commit"]

    first = member()
    assert first["message"] == "step 1"
    root = zarr.open_group(path)
    root.attrs["other"] = 1
    root["a"].attrs["other"] = 1
    root["a"].append(steps.values(1))
    root.create_dataset("z", data=[1])
    del root["z"]
    assert member() == first
    zarr.consolidate_metadata(path)
    assert member() == first


# Others write meanwhile


def test_changes_of_others_during_the_block_are_kept(path: Path) -> None:
    with zarr.commit(path) as root:
        steps.change(root, 1)
        other = zarr.open_group(path)
        other["time"].attrs["unit"] = "h"
        other["a"].attrs["unit"] = "K"
        other.attrs["title"] = "x"
        other.create_dataset("more", data=[1, 2])
    for found in (zarr.open_group(path), zarr.open_consolidated(path)):
        assert steps.version_of(found) == 1
        assert dict(found["time"].attrs) == {"step": 1, "unit": "h"}
        assert dict(found["a"].attrs) == {"unit": "K"}
        assert found.attrs["title"] == "x"
        assert found["more"][:].tolist() == [1, 2]


@pytest.mark.parametrize("node", ["", "time"])
def test_the_same_attribute_is_a_conflict_and_nothing_is_visible(path: Path, node: str) -> None:
    with pytest.raises(CommitConflictError, match="attribute step") as caught:
        with zarr.commit(path) as root:
            steps.change(root, 1)
            other = zarr.open_group(path)
            (other[node] if node else other).attrs["step"] = 7
    assert caught.value.path == node
    assert caught.value.what == "attribute step"
    found = zarr.open_group(path)
    assert (found[node] if node else found).attrs["step"] == 7
    assert found["a"].shape == (0, 4)
    assert "new/1" not in found
    assert not list(path.rglob(".zarrix-commit*"))
    (found[node] if node else found).attrs["step"] = 0
    steps.is_clean(path)


def test_the_same_new_node_is_a_conflict(path: Path) -> None:
    with pytest.raises(CommitConflictError, match="array"), zarr.commit(path) as root:
        root.create_dataset("x", data=[1, 2])
        # Two groups become one.
        root.create_group("both", attributes={"ours": 1})
        other = zarr.open_group(path)
        other.create_group("both", attributes={"mine": 1})
        with pytest.raises(ContainsArrayError):
            other.create_dataset("x", data=[3, 4])
        other.create_dataset("x", data=[3, 4], overwrite=True)
    assert zarr.open_group(path)["x"][:].tolist() == [3, 4]
    assert dict(zarr.open_group(path)["both"].attrs) == {"mine": 1}


def test_a_node_that_is_deleted_meanwhile_is_a_conflict(path: Path) -> None:
    with pytest.raises(CommitConflictError), zarr.commit(path) as root:
        steps.change(root, 1)
        del zarr.open_group(path)["a"]
    found = zarr.open_group(path)
    assert "a" not in found
    assert found["deep/b"].shape == (0, 4)


def test_an_append_outside_waits_for_the_commit_and_gets_its_own_rows(path: Path) -> None:
    has_begun = threading.Event()
    done: list[Any] = []

    def append() -> None:
        has_begun.set()
        done.append(zarr.open_group(path)["a"].append(steps.values(2)))

    with zarr.commit(path) as root:
        steps.change(root, 1)
        thread = threading.Thread(target=append)
        thread.start()
        has_begun.wait(60)
        assert done == []
    thread.join()
    z = zarr.open_group(path)["a"]
    assert done == [(6, 4)]
    assert np.array_equal(z[:, 0], [1, 1, 1, 2, 2, 2])


def test_a_commit_waits_for_a_writer_of_the_array(path: Path) -> None:
    with zarr.open_group(path)["a"].writer() as writer:
        writer.append(steps.values(1))
        with pytest.raises(CommitBusyError, match="'/a'"), zarr.commit(path, wait=0) as root:
            root["a"].append(steps.values(1))
    assert zarr.open_group(path)["a"].shape == (3, 4)
    with zarr.commit(path) as root:
        root["a"].append(steps.values(2))
    assert zarr.open_consolidated(path)["a"].shape == (6, 4)


def test_a_stream_writer_in_a_commit_is_part_of_it(path: Path) -> None:
    with zarr.commit(path) as root:
        with root["a"].writer() as writer:
            for step in (1, 2):
                writer.append(steps.values(step))
        assert root["a"].shape == (6, 4)
        assert zarr.open_group(path)["a"].shape == (0, 4)
    assert zarr.open_consolidated(path)["a"][:, 1].tolist() == [1, 1, 1, 2, 2, 2]


# What is refused


def test_what_readers_would_see_is_refused_before_anything_is_stored(path: Path) -> None:
    steps.commit(path, 1)
    refusals = {
        "a move": lambda root: root.move("a", "c"),
        "a group for an array": lambda root: root.create_group("a", overwrite=True),
        "a key": lambda root: root.store.__setitem__("a/x", b"1"),
    }
    for what, refused in refusals.items():
        with pytest.raises(NotAtomicError), zarr.commit(path) as root:
            steps.change(root, 2)
            refused(root)
        steps.is_clean(path)
        assert steps.version_of(zarr.open_group(path)) == 1, what


def test_the_group_is_read_only_after_the_block(path: Path) -> None:
    with zarr.commit(path) as root:
        z = root["a"]
        z.append(steps.values(1))
    assert z.shape == (3, 4)
    assert z[:].sum() == 12
    for write in (lambda: z.append(steps.values(2)), lambda: root.attrs.update(x=1)):
        with pytest.raises(ReadOnlyError, match="open it again"):
            write()


def test_stores_without_commits_say_so(tmp_path: Path) -> None:
    with pytest.raises(NotAtomicError, match="local"), zarr.commit(zarr.group()):
        raise AssertionError
    with pytest.raises(PathNotFoundError), zarr.commit(tmp_path / "none.zarr"):
        raise AssertionError
    zarr.open_group(tmp_path / "x.zarr", mode="w")
    read_only = zarr.open_group(tmp_path / "x.zarr", mode="r")
    with pytest.raises(ReadOnlyError), zarr.commit(read_only):
        raise AssertionError
    assert [file.name for file in (tmp_path / "x.zarr").iterdir()] == [".zgroup"]


def test_a_file_that_is_no_intent_is_an_error_that_names_it(path: Path) -> None:
    root = zarr.open_group(path)
    for text in (b"{}", b"no", b'{"zarrix_commit": 2}', b"[1]"):
        (path / ".zarrix-commit.json").write_bytes(text)
        for call in (
            lambda: zarr.commit(path).__enter__(),
            lambda: zarr.recover(path),
            lambda: root["a"].append(steps.values(1)),
        ):
            with pytest.raises(MetadataError, match=r"zarrix-commit\.json"):
                call()
        # Reads and attributes do not need it.
        assert steps.version_of(zarr.open_group(path)) == 0
        root.attrs["x"] = 1
    (path / ".zarrix-commit.json").unlink()
    steps.commit(path, 1)
