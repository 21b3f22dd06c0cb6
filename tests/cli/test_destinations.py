"""What `cp`, `mv` and `rm` leave as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._hierarchy import copy_store
from zarrix.cli import main


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def told(code: int, words: str, *arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The verb ends with this code, and an error that has the words."""
    assert main(list(arguments)) == code
    assert words in capsys.readouterr().err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_suffix(".cache")))
    zarr.save("arr.zarr", np.arange(3))
    group = zarr.open_group("group.zarr", mode="w", zarr_format=3)
    group["a"] = np.arange(4)
    group["g/b"] = np.arange(2)
    (tmp_path / "link.zarr").symlink_to("group.zarr")
    return tmp_path


def test_cp_does_not_write_into_a_node_that_is_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(folder)
    for dest in ("group.zarr", "link.zarr", "group.zarr/g", "group.zarr/a"):
        told(1, "already; -f replaces it", "cp", "arr.zarr", dest, capsys=capsys)
        told(1, "mixed", "cp", "--resume", "arr.zarr", dest, capsys=capsys)
    told(1, "is a v3 group", "cp", "arr.zarr", "group.zarr/new", capsys=capsys)
    told(1, "is an array", "cp", "group.zarr/g/b", "group.zarr/a/new", capsys=capsys)
    for dest in ("group.zarr/g/new", "link.zarr/g", "group.zarr/new/new", "link.zarr"):
        told(1, "cannot copy", "cp", "-f", "group.zarr", dest, capsys=capsys)
    told(1, "contains the source", "cp", "-f", "group.zarr/g/b", "link.zarr/g", capsys=capsys)
    (folder / "group.zarr/g/notes.txt").write_text("mine")
    told(1, "holds 'notes.txt'", "cp", "-f", "group.zarr/a", "group.zarr/g", capsys=capsys)
    (folder / "group.zarr/g/notes.txt").unlink()
    assert main(["cp", "-f", "-n", "group.zarr/a", "group.zarr/g"]) == 0
    assert state(folder) == before
    assert main(["cp", "-f", "group.zarr/a", "group.zarr/g"]) == 0
    assert zarr.open("group.zarr")["g"][:].tolist() == [0, 1, 2, 3]


class Stopped(Exception):
    """The disk is full, or the user has had enough."""


@pytest.mark.parametrize("dest", ["group.zarr", "group.zarr/g", "link.zarr", "link.zarr/g"])
@pytest.mark.parametrize("stops", ["never", "before the source is read", "in the copy"])
def test_cp_f_keeps_what_is_there_until_the_copy_is_complete(
    stops: str, dest: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = zarr.open_group("new.zarr", mode="w", zarr_format=3)
    new["x"] = np.arange(6)
    new["y"] = np.arange(7)
    before = state(folder)
    if stops == "in the copy":
        monkeypatch.setattr(copy_store, "copied", stop_after_one(copy_store.copied))
        with pytest.raises(Stopped):
            main(["cp", "-f", "new.zarr", dest])
    elif stops != "never":
        with pytest.raises(SystemExit):
            main(["cp", "-f", "--exclude", "(", "new.zarr", dest])
        assert main(["cp", "-f", "new.zarr/z", dest]) != 0
    if stops != "never":
        assert state(folder) == before
        return
    assert main(["cp", "-f", "new.zarr", dest]) == 0
    assert (folder / "link.zarr").is_symlink()
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["arr.zarr", "group.zarr", "link.zarr", "new.zarr"]
    assert sorted(zarr.open_group(dest, mode="r")) == ["x", "y"]
    assert not list(folder.rglob("*.partial"))


def stop_after_one(copied: Any) -> Any:
    def stopping(*args: Any, **options: Any) -> Iterator[tuple[int, int]]:
        yield next(copied(*args, **options))
        raise Stopped

    return stopping


def test_cp_f_keeps_a_file_that_came_during_the_copy(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(folder)
    whole = copy_store.copied

    def meanwhile(*args: Any, **options: Any) -> Iterator[tuple[int, int]]:
        (folder / "group.zarr/g/notes.txt").write_text("mine")
        yield from whole(*args, **options)

    monkeypatch.setattr(copy_store, "copied", meanwhile)
    assert main(["cp", "-f", "group.zarr/a", "group.zarr/g"]) != 0
    (folder / "group.zarr/g/notes.txt").unlink()
    assert state(folder) == before


def test_cp_resume_copies_what_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cp", "arr.zarr", "copy.zarr"]) == 0
    assert main(["cp", "--resume", "arr.zarr", "copy.zarr"]) == 0
    assert "copied 0 values, 0 bytes, 2 were there" in capsys.readouterr().out


def test_cp_resume_gives_the_values_that_the_source_has_now(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chunks of an older source were kept, or an error."""
    for zarr_format in (2, 3):
        kept = {"compressor": None} if zarr_format == 2 else {"codecs": [{"name": "bytes"}]}
        source = zarr.create(
            6, chunks=2, dtype="u1", store=f"{zarr_format}.zarr", zarr_format=zarr_format,
            fill_value=0, write_empty_chunks=False, **kept,
        )  # fmt: skip
        source[:] = [1, 2, 3, 4, 5, 6]
        main(["cp", f"{zarr_format}.zarr", "copy.zarr", "-f"])
        # Other values of the same length, a chunk that is missing now, and attributes.
        zarr.open("copy.zarr").attrs["old"] = 1
        source[:] = [7, 8, 0, 0, 5, 6]
        assert main(["cp", "--resume", f"{zarr_format}.zarr", "copy.zarr"]) == 0
        assert zarr.load("copy.zarr").tolist() == [7, 8, 0, 0, 5, 6]
        assert dict(zarr.open("copy.zarr").attrs) == {}
        assert state(folder / "copy.zarr") == state(folder / f"{zarr_format}.zarr")


def test_mv_goes_nowhere_below_itself_or_an_array(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(folder)
    told(1, "is inside", "mv", "group.zarr", "link.zarr/new", capsys=capsys)
    told(1, "is an array", "mv", "arr.zarr", "group.zarr/a/new", capsys=capsys)
    told(1, "is a v3 group", "mv", "arr.zarr", "group.zarr/new", capsys=capsys)
    told(1, "is inside", "mv", "group.zarr/g", "group.zarr/g/b/new", capsys=capsys)
    assert state(folder) == before


def test_rm_removes_what_is_named_and_part_of_zarr(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "group.zarr/g/notes.txt").write_text("mine")
    before = state(folder)
    told(1, "holds 'notes.txt'", "rm", "-r", "group.zarr/g", capsys=capsys)
    told(1, "holds 'notes.txt'", "rm", "-r", "arr.zarr", "group.zarr/g", capsys=capsys)
    told(1, "notes.txt'", "rm", "-r", "group.zarr", capsys=capsys)
    assert state(folder) == before
    assert main(["rm", "-r", "-n", "link.zarr"]) == 0
    assert (folder / "link.zarr").is_symlink()
    assert main(["rm", "-r", "link.zarr"]) == 0
    assert not (folder / "link.zarr").is_symlink()
    assert state(folder / "group.zarr") == {
        name.removeprefix("group.zarr/"): value
        for name, value in before.items()
        if name.startswith("group.zarr/")
    }
