"""An import changes what its destination names, and nothing of anybody else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import write_n5
from zarrix.cli import main
from zarrix.errors import ContainsArrayError, ConversionError, OverlapError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("n.npy", np.arange(6))
    return tmp_path


def test_an_empty_destination_is_an_error(folder: Path, capsys: Any) -> None:
    assert main(["import", "n.npy", ""]) == 1
    assert "the destination is empty" in capsys.readouterr().err
    assert os.listdir(folder) == ["n.npy"]


@pytest.mark.parametrize("mine", ["notes.txt", "inside/0.0", "0", "c/0/1", "c"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_with_files_of_a_user_is_refused(mine: str, overwrite: bool, folder: Path) -> None:
    (folder / "mine" / mine).parent.mkdir(parents=True)
    (folder / "mine" / mine).write_text("mine")
    with pytest.raises(ValueError, match=mine.split("/")[0]):
        zarr.import_("n.npy", "mine", overwrite=overwrite)
    assert (folder / "mine" / mine).read_text() == "mine"
    assert sorted(os.listdir(folder / "mine")) == [mine.split("/")[0]]


def test_an_empty_folder_and_an_empty_path_of_a_hierarchy_are_free(folder: Path) -> None:
    (folder / "new").mkdir()
    zarr.import_("n.npy", "new")
    zarr.group("g.zarr")
    zarr.import_("n.npy", "g.zarr/a")
    assert zarr.open("new", mode="r")[...].tolist() == zarr.load("g.zarr/a").tolist() == [*range(6)]


def test_nothing_is_imported_below_an_array(folder: Path) -> None:
    zarr.save_array("x.zarr", np.arange(3))
    for overwrite in (False, True):
        with pytest.raises(ContainsArrayError, match=r"x\.zarr.* is an array"):
            zarr.import_("n.npy", "x.zarr/a/b", overwrite=overwrite)
    assert zarr.load("x.zarr").tolist() == [0, 1, 2]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_source_inside_of_the_destination_stays(overwrite: bool, folder: Path) -> None:
    zarr.group("x", attributes={"mine": 1})
    # The name of a chunk: everything that an array may have would be removed.
    np.arange(6.0).tofile("x/0")
    for source, options in (("x/0", {"format": "raw", "dtype": "f8"}),):
        with pytest.raises((OverlapError, FileExistsError)):
            zarr.import_(source, "x", overwrite=overwrite, **options)
    os.symlink("x", "link")
    with pytest.raises((OverlapError, FileExistsError)):
        zarr.import_("link/0", "x", overwrite=overwrite, format="raw", dtype="f8")
    assert np.fromfile("x/0").tolist() == [*range(6)]
    assert zarr.open("x", mode="r").attrs["mine"] == 1


@pytest.mark.parametrize("dest", ["s.n5", "s.n5/new.zarr", "s.n5/data/0"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_destination_inside_of_the_source_is_refused(
    dest: str, overwrite: bool, folder: Path
) -> None:
    value = np.arange(35, dtype="u2").reshape(7, 5)
    write_n5(folder / "s.n5", value, (4, 3))
    before = sorted(folder.rglob("*"))
    with pytest.raises(OverlapError, match="source"):
        zarr.import_("s.n5", dest, overwrite=overwrite)
    assert sorted(folder.rglob("*")) == before


def test_a_folder_of_images_is_not_imported_into_itself(folder: Path) -> None:
    image_of = pytest.importorskip("PIL.Image")
    (folder / "images").mkdir()
    image_of.fromarray(np.zeros((4, 5), "u1")).save("images/1.png")
    for dest in ("images", "images/x.zarr"):
        with pytest.raises(OverlapError):
            zarr.import_("images", dest, overwrite=True)
    assert os.listdir("images") == ["1.png"]


def interrupted(*args: Any, **options: Any) -> None:
    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zarr.import_(*args, memory="8 KiB", chunks=(100,), progress=stop, **options)


@pytest.mark.parametrize("mine", ["notes.txt", "mine/0", "mine/0.1", "c/0"])
@pytest.mark.parametrize("unfinished", [False, True])
def test_overwrite_removes_chunks_of_arrays_that_are_there_or_recorded(
    unfinished: bool, mine: str, folder: Path
) -> None:
    np.savez("s.npz", a=np.arange(1000), b=np.arange(1000))
    options: dict[str, Any] = {"memory": "8 KiB", "chunks": (100,)}
    if unfinished:
        interrupted("s.npz", "d.zarr")
    else:
        zarr.import_("s.npz", "d.zarr", **options)
    (folder / "d.zarr" / mine).parent.mkdir(exist_ok=True)
    (folder / "d.zarr" / mine).write_text("mine")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ConversionError, match=rf"holds '{mine}', which is not of an array"):
        zarr.import_("n.npy", "d.zarr", overwrite=True)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    # What was begun is not forgotten by that error.
    (folder / "d.zarr" / mine).unlink()
    if unfinished:
        assert zarr.import_("s.npz", "d.zarr", resume=True, **options).kept
    zarr.import_("n.npy", "d.zarr", overwrite=True)
    assert zarr.load("d.zarr").tolist() == [*range(6)]
    assert not (folder / "d.zarr" / "a").exists()


def test_an_overwrite_that_is_killed_while_it_removes_can_be_repeated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez("s.npz", a=np.arange(1000), b=np.arange(1000))
    interrupted("s.npz", "d.zarr")
    with monkeypatch.context() as patched:
        patched.setattr(zarr.DirectoryStore, "rmdir", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            zarr.import_("n.npy", "d.zarr", overwrite=True)
    zarr.import_("n.npy", "d.zarr", overwrite=True)
    assert zarr.load("d.zarr").tolist() == [*range(6)]


def test_an_import_does_not_continue_if_only_the_content_changed(folder: Path) -> None:
    np.save("s.npy", np.arange(1000))
    before = os.stat("s.npy")
    interrupted("s.npy", "d.zarr")
    np.save("s.npy", np.arange(1000) + 1)
    os.utime("s.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat("s.npy").st_mtime_ns == before.st_mtime_ns
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.import_("s.npy", "d.zarr", memory="8 KiB", chunks=(100,), resume=True)


def test_an_import_does_not_continue_with_another_sidecar(folder: Path) -> None:
    np.arange(1000, dtype="<i4").tofile("s.raw")
    (folder / "s.raw.json").write_text('{"dtype": "<i4"}')
    interrupted("s.raw", "d.zarr")
    (folder / "s.raw.json").write_text('{"dtype": "<f4"}')
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.import_("s.raw", "d.zarr", memory="8 KiB", chunks=(100,), resume=True)


def test_an_import_of_n5_does_not_continue_after_a_block_changed(folder: Path) -> None:
    value = np.arange(10_000, dtype="u2")
    write_n5(folder / "s.n5", value, (1000,))
    interrupted("s.n5", "d.zarr")
    block = folder / "s.n5/data/9"
    block.write_bytes(block.read_bytes()[:-2] + b"\xff\xff")
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.import_("s.n5", "d.zarr", memory="8 KiB", chunks=(100,), resume=True)


def test_an_import_does_not_continue_if_it_would_make_other_arrays(folder: Path) -> None:
    np.save("s.npy", np.arange(1000))
    zarr.group("g.zarr", zarr_format=3)
    interrupted("s.npy", "g.zarr/d")
    os.remove("g.zarr/zarr.json")
    zarr.group("g.zarr", zarr_format=2)
    with pytest.raises(ConversionError, match="other options"):
        zarr.import_("s.npy", "g.zarr/d", memory="8 KiB", chunks=(100,), resume=True)


def test_a_source_that_changes_during_the_import_is_an_error(folder: Path) -> None:
    np.savez_compressed("s.npz", a=np.arange(5000), b=np.arange(5000))

    def change(done: int, total: int) -> None:
        if done == 2:
            with open("s.npz", "ab") as file:
                file.write(b"more")

    with pytest.raises(ConversionError, match="has changed while it was read"):
        zarr.import_("s.npz", "d.zarr", memory="8 KiB", chunks=(100,), progress=change)
    with pytest.raises(FileNotFoundError):
        zarr.open("d.zarr", mode="r")
