"""What an export may replace, and what it leaves behind: nothing that the user did not name."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ContainsArrayError, ConversionError

VALUE = np.arange(24, dtype="u1").reshape(2, 3, 4)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder; links are not followed."""
    return {
        str(path.relative_to(folder)): os.readlink(path).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("format", ["npy", "npz", "raw", "text", "safetensors", "tar", "images"])
@pytest.mark.parametrize("through_link", [False, True])
def test_a_folder_that_no_export_made_is_never_replaced(
    format: str, through_link: bool, tmp_path: Path
) -> None:
    if format == "images":
        pytest.importorskip("PIL")
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/thesis.txt").write_text("years of work")
    (tmp_path / "a/000000.png").write_bytes(b"a picture of another program")
    name = tmp_path / "a"
    if through_link:
        name = tmp_path / "link"
        name.symlink_to("a")
    before = contents(tmp_path)
    with pytest.raises(ContainsArrayError, match=r"is a folder|is not replaced"):
        zarr.export(zarr.array(VALUE[0]), name, format=format, overwrite=True)
    assert contents(tmp_path) == before
    assert (tmp_path / "a/b").is_dir()


@pytest.mark.parametrize("format", ["npy", "images"])
def test_an_export_does_not_replace_its_own_source(format: str, tmp_path: Path) -> None:
    if format == "images":
        pytest.importorskip("PIL")
    path = tmp_path / "self"
    zarr.save(path, VALUE)
    before = contents(tmp_path)
    with pytest.raises((ContainsArrayError, ConversionError)):
        zarr.export(path, path, format=format, overwrite=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("format", ["npy", "raw", "npz", "images"])
def test_files_that_are_called_partial_stay(format: str, tmp_path: Path) -> None:
    if format == "images":
        pytest.importorskip("PIL")
    (tmp_path / "x.partial/inside").mkdir(parents=True)
    (tmp_path / "x.partial/inside/file").write_text("mine")
    (tmp_path / "x.json.partial").write_text("mine too")
    (tmp_path / "x.0123456789abcdef.partial").mkdir()
    (tmp_path / "x.0123456789abcdef.partial/data").write_text("not of an export: no note")
    before = contents(tmp_path)
    zarr.export(zarr.array(VALUE), tmp_path / "x", format=format)
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert not [name for name in {*after} - {*before} if "partial" in name]


@pytest.mark.parametrize("format", ["npy", "raw"])
def test_nothing_is_written_through_a_link(format: str, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere"
    secret.write_text("untouched")
    folder = tmp_path / "shared"
    folder.mkdir()
    for name in ("x.partial", "x.json.partial", "x.json.json.partial"):
        (folder / name).symlink_to(secret)
    zarr.export(zarr.array(VALUE), folder / "x", format=format)
    assert secret.read_text() == "untouched"
    (folder / "y").symlink_to(secret)
    with pytest.raises(ContainsArrayError):
        zarr.export(zarr.array(VALUE), folder / "y", format=format)
    zarr.export(zarr.array(VALUE), folder / "y", format=format, overwrite=True)
    assert secret.read_text() == "untouched"
    assert not (folder / "y").is_symlink()


def test_a_link_that_leads_nowhere_is_a_name_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "x.npy").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ContainsArrayError, match=r"x\.npy exists"):
        zarr.export(zarr.array(VALUE), tmp_path / "x.npy")
    assert not (tmp_path / "nowhere").exists()


def test_nobody_else_enters_the_folder_of_an_unfinished_export(tmp_path: Path) -> None:
    seen: list[int] = []

    def look(done: int, total: int) -> None:
        seen.extend(stat.S_IMODE(one.stat().st_mode) for one in tmp_path.glob("*.partial"))

    zarr.export(zarr.array(VALUE), tmp_path / "x.npy", progress=look)
    assert set(seen) == {0o700}
    mode = stat.S_IMODE((tmp_path / "x.npy").stat().st_mode)
    (tmp_path / "usual").touch()
    assert mode == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


@pytest.mark.parametrize("sidecar", ['{"my": "settings"}', "not JSON", "[]"])
def test_a_file_that_is_no_sidecar_of_an_export_stays(sidecar: str, tmp_path: Path) -> None:
    (tmp_path / "x.raw.json").write_text(sidecar)
    for overwrite in (False, True):
        with pytest.raises(ContainsArrayError, match=r"x\.raw\.json, which is written too"):
            zarr.export(zarr.array(VALUE), tmp_path / "x.raw", overwrite=overwrite)
    assert contents(tmp_path) == {"x.raw.json": sidecar.encode()}


def test_a_raw_file_and_its_sidecar_are_replaced_together(tmp_path: Path) -> None:
    zarr.export(zarr.array(VALUE), tmp_path / "x.raw")
    zarr.export(zarr.array(VALUE.astype("f4")), tmp_path / "x.raw", overwrite=True)
    zarr.import_(tmp_path / "x.raw", tmp_path / "x.zarr")
    assert np.array_equal(zarr.open(tmp_path / "x.zarr", mode="r")[...], VALUE.astype("f4"))
    assert sorted(os.listdir(tmp_path)) == ["x.raw", "x.raw.json", "x.zarr"]


def test_an_exported_folder_is_replaced_while_nothing_in_it_has_changed(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    one, other = zarr.array(VALUE), zarr.array(VALUE[:1] + 9)
    export: Any = lambda array: zarr.export(  # noqa: E731 - three calls of one kind
        array, tmp_path / "x", format="images", overwrite=True
    )
    export(one)
    export(other)
    assert os.listdir(tmp_path / "x") == ["000000.png"]
    (tmp_path / "x/notes.txt").write_text("mine")
    with pytest.raises(ContainsArrayError, match=r"notes\.txt in it was not made by an export"):
        export(one)
    (tmp_path / "x/notes.txt").unlink()
    picture = (tmp_path / "x/000000.png").read_bytes()
    (tmp_path / "x/000000.png").write_bytes(picture[:-1] + b"?")
    with pytest.raises(ContainsArrayError, match=r"000000\.png in it was changed"):
        export(one)
    (tmp_path / "x/000000.png").write_bytes(picture)
    (tmp_path / "x/link").symlink_to(tmp_path)
    with pytest.raises(ContainsArrayError, match="link in it was not made"):
        export(one)
    (tmp_path / "x/link").unlink()
    export(one)
    assert sorted(os.listdir(tmp_path / "x")) == ["000000.png", "000001.png"]
    assert sorted(os.listdir(tmp_path)) == [".x.zarrix-export.json", "x"]


def test_two_exports_of_one_name_do_not_share_a_file(tmp_path: Path) -> None:
    mine, theirs = zarr.array(VALUE, chunks=(1, 3, 4)), zarr.array(VALUE + 100, chunks=(1, 3, 4))
    target = tmp_path / "x.npy"

    def meanwhile(done: int, total: int) -> None:
        if not target.exists():
            zarr.export(theirs, target, resume=True, memory="48 B")

    with pytest.raises(ContainsArrayError, match="made by another program meanwhile"):
        zarr.export(mine, target, memory="48 B", progress=meanwhile)
    assert np.array_equal(np.load(target), VALUE + 100)
    target.unlink()
    zarr.export(mine, target, overwrite=True, memory="48 B", progress=meanwhile)
    assert np.array_equal(np.load(target), VALUE)
    zarr.export(mine, target, overwrite=True)
    assert os.listdir(tmp_path) == ["x.npy"]


@pytest.mark.parametrize("length", [200, 250, 255])
def test_a_name_may_be_as_long_as_the_system_allows(length: int, tmp_path: Path) -> None:
    target = tmp_path / ("x" * (length - 4) + ".npy")
    zarr.export(zarr.array(VALUE), target)
    assert os.listdir(tmp_path) == [target.name]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConversionError):
        zarr.export(zarr.array(np.array([b"a"], "S1")), tmp_path / "x.csv")
    with pytest.raises(FileNotFoundError, match=r"nodir"):
        zarr.export(zarr.array(VALUE), tmp_path / "nodir/x.npy")
    assert os.listdir(tmp_path) == []


def test_a_device_or_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("the system has no pipes with names")
    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(ContainsArrayError, match="is not a regular file"):
        zarr.export(zarr.array(VALUE), tmp_path / "x.npy", overwrite=True)
    assert stat.S_ISFIFO((tmp_path / "x.npy").stat().st_mode)
