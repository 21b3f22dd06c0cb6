"""Restoring a version: one commit, regardless of what has happened to the hierarchy since."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits import steps
from power_loss import needs_strace, recorded
from zarrix.cli import main
from zarrix.versions import Restored

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="commits need flock")


@pytest.fixture(params=(2, 3))
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Step 1 is the version ``v1``, and step 2 is there now."""
    made = tmp_path / "x.zarr"
    steps.make(made, request.param)
    steps.commit(made, 1)
    zarr.snapshot(made, "v1")
    steps.commit(made, 2)
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def is_step(path: Path, step: int) -> None:
    assert steps.version_of(zarr.open_consolidated(path)) == step
    assert steps.version_of(zarr.open_group(path)) == step
    steps.is_clean(path)


def test_everything_is_as_it_was_and_the_version_stays(path: Path) -> None:
    history, folder = zarr.Versions(path), path.parent / "x.zarr.versions"
    version = files(folder / "v1")
    planned = history.restore("v1", dry_run=True)
    is_step(path, 2)
    assert history.restore("v1", keep="v2", message="back") == planned
    assert planned == Restored(
        "v1", ["a", "deep/b", "mask", "swap", "time"], ["new/1"], ["new/2"], [""]
    )
    is_step(path, 1)
    assert files(folder / "v1") == version
    if history["v1"].how == "link":
        assert not history.restore("v1")
    assert history.restore("v2").created == ["new/2"]
    is_step(path, 2)
    history.restore("v1")
    # What is written afterwards is in no version.
    steps.commit(path, 2)
    is_step(path, 2)
    assert history.verify().ok
    assert files(folder / "v1") == version
    assert [one.message for one in history] == ["", "before back"]


@pytest.mark.parametrize("how", ["link", "copy"])
def test_restored_chunks_are_guarded_against_writers_in_place(tmp_path: Path, how: Any) -> None:
    path = tmp_path / "x.zarr"
    z = zarr.create_group(path).create_array("a", shape=(4, 4), chunks=2, dtype="i4")
    z[:] = 1
    zarr.snapshot(path, "v1", how=how)
    z[:2] = 2
    zarr.Versions(path).restore("v1")
    assert (zarr.open_array(path, path="a")[:] == 1).all()
    for file in (path / "a").rglob("*"):
        if file.is_file() and file.name != "zarr.json" and file.stat().st_nlink > 1:
            assert not file.stat().st_mode & 0o222
    # A writer in place that ignores the guard, as the superuser can, is found.
    zarr.open_array(path, path="a")[:] = 3
    assert (zarr.open(path, version="v1")["a"][:] == 1).all()
    assert zarr.Versions(path).verify().ok


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_death_at_any_change_leaves_the_old_state_or_the_new_one(
    zarr_format: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    made, folder = tmp_path / "made", tmp_path / "x"
    made.mkdir()
    steps.make(made / "x.zarr", zarr_format)
    steps.commit(made / "x.zarr", 1)
    zarr.snapshot(made / "x.zarr", "v1")
    steps.commit(made / "x.zarr", 2)
    path = folder / "x.zarr"
    seen: list[int] = []
    number = 0
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        # Also that two names are one file.
        assert os.system(f"cp -a '{made}' '{folder}'") == 0
        died = steps.dies_at(number, lambda: zarr.Versions(path).restore("v1"))
        seen.append(steps.version_of(zarr.open_consolidated(path)))
        if not died:
            break
        zarr.recover(path)
        is_step(path, seen[-1])
        assert zarr.Versions(path).verify().ok
        zarr.Versions(path).restore("v1")
        is_step(path, 1)
        number += 1 if pytestconfig.getoption("--long") else 13
    assert number > 40
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {1, 2}


def test_an_open_array_has_the_old_content_until_it_is_swept(path: Path) -> None:
    held = zarr.open_array(path, path="swap")
    zarr.Versions(path).restore("v1")
    assert np.array_equal(held[:], np.full((3, 2), 2))
    zarr.sweep(path, now=True)
    assert np.array_equal(held[:], np.full((2, 2), 1))


def test_other_arrays_layouts_and_replaced_nodes(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    root = zarr.create_group(path)
    for name in ("layout", "dtype", "same", "gone/deep", "empty"):
        root.create_dataset(name, data=np.arange(12.0).reshape(3, 4), chunks=(2, 2))
    root.create_dataset("scalar", data=np.int64(7))
    same = (path / "same/zarr.json").stat().st_ino
    zarr.snapshot(path, "v1")
    root.create_dataset("layout", data=np.ones((5, 2)), chunks=(5, 1), overwrite=True)
    root.create_dataset("dtype", data=np.ones((2, 2, 2), "u1"), chunks=(1, 2, 2), overwrite=True)
    del root["gone"]
    root["empty"].resize(0, 4)
    root["scalar"][...] = 8
    root.create_group("later/deep")
    zarr.consolidate_metadata(path)
    done = zarr.Versions(path).restore("v1")
    assert done.replaced == ["dtype", "empty", "layout", "scalar"]
    assert done.created == ["gone", "gone/deep"]
    assert done.deleted == ["later", "later/deep"]
    for root in (zarr.open_group(path), zarr.open_consolidated(path)):
        for name in ("layout", "dtype", "same", "gone/deep", "empty"):
            assert np.array_equal(root[name][:], np.arange(12.0).reshape(3, 4))
        assert root["scalar"][()] == 7
        assert "later" not in root
    assert (path / "same/zarr.json").stat().st_ino == same


def test_paths_and_what_is_above_them(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    root = zarr.create_group(path)
    for name in ("a", "g/b", "g/c"):
        root.create_dataset(name, data=np.zeros((4, 2)), chunks=2)
    zarr.snapshot(path, "v1")
    root["a"][:] = 1
    del root["g"]
    root.create_group("new")
    history = zarr.Versions(path)
    assert history.restore("v1", paths=["g/b"]).created == ["g", "g/b"]
    assert sorted(zarr.open_group(path)["g"]) == ["b"]
    assert (zarr.open_group(path)["a"][:] == 1).all()
    assert history.restore("v1", paths=["new", "/g/"]).deleted == ["new"]
    assert sorted(zarr.open_group(path)) == ["a", "g"]
    with pytest.raises(zarr.errors.PathNotFoundError, match="nothing"):
        history.restore("v1", paths=["nothing"])
    with pytest.raises(TypeError, match="list of paths"):
        history.restore("v1", paths="a")
    with pytest.raises(zarr.errors.VersionNotFoundError):
        history.restore("v2")


def test_files_of_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    root = zarr.create_group(path)
    root.create_dataset("a", data=np.zeros((4, 2)), chunks=2)
    (path / "README").write_text("old")
    zarr.snapshot(path, "v1")
    (path / "README").write_text("new")
    (path / "a/note.txt").write_text("mine")
    root["a"][:] = 1
    root.create_dataset("b", data=np.zeros(2))
    (path / "b/note.txt").write_text("mine")
    before = files(path)
    with pytest.raises(ValueError, match=r"/b' is not in the version.*'note.txt'"):
        zarr.Versions(path).restore("v1")
    assert files(path) == before
    (path / "b/note.txt").unlink()
    zarr.Versions(path).restore("v1")
    assert (zarr.open_group(path)["a"][:] == 0).all()
    assert (path / "README").read_text() == "new"
    assert (path / "a/note.txt").read_text() == "mine"
    assert not (path / "b").exists()


def test_a_hierarchy_that_is_gone_is_made_again(path: Path) -> None:
    shutil.rmtree(path)
    history = zarr.Versions(path)
    with pytest.raises(zarr.errors.PathNotFoundError, match="no place"):
        history.restore("v1", paths=["a"])
    assert "mask" in history.restore("v1", dry_run=True).created
    assert not path.exists()
    # What others have in its place stays.
    path.mkdir()
    (path / "README").write_text("mine")
    with pytest.raises(OSError, match=r"x\.zarr"):
        history.restore("v1")
    assert files(path) == {"README": b"mine"}
    assert [one.name for one in path.parent.iterdir() if one.name.endswith(".partial")] == []
    shutil.rmtree(path)
    assert "mask" in history.restore("v1").created
    is_step(path, 1)
    steps.commit(path, 2)
    assert history.verify().ok


def test_what_cannot_become_visible_at_once_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    root = zarr.create_group(path)
    root.create_group("g")
    root.create_dataset("a", data=np.zeros((2, 2)))
    zarr.snapshot(path, "v1")
    root["a"][:] = 1
    del root["g"]
    root.create_dataset("g", data=np.zeros(2))
    before = files(path)
    with pytest.raises(zarr.errors.NotAtomicError, match=r"is an array, and was a group in 'v1'"):
        zarr.Versions(path).restore("v1")
    assert files(path) == before
    shutil.rmtree(path)
    zarr.open_group(path, mode="w", zarr_format=2)
    with pytest.raises(zarr.errors.NotAtomicError, match=r"is Zarr v3, and .* is v2; copy it"):
        zarr.Versions(path).restore("v1")


def test_a_root_that_is_an_array(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    z = zarr.open(path, mode="w", shape=(4, 2), chunks=2, dtype="i4", zarr_format=3)
    z[:] = 1
    z.attrs["unit"] = "K"
    zarr.snapshot(path, "v1")
    z.append(np.full((3, 2), 2))
    z[0] = 5
    z.attrs["unit"] = "C"
    assert zarr.Versions(path).restore("v1").replaced == [""]
    found = zarr.open_array(path)
    assert found.attrs["unit"] == "K"
    assert np.array_equal(found[:], np.ones((4, 2)))


def test_the_command_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", str(path), "v1", "-n", "--path", "mask", "--path", "new"]) == 0
    assert capsys.readouterr().out == "replaced /mask\ncreated /new/1\ndeleted /new/2\n"
    is_step(path, 2)
    assert main(["restore", str(path), "v1", "--keep", "v2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["created"] == ["new/1"]
    is_step(path, 1)
    assert main(["restore", str(path), "v3"]) == 1
    assert "no version 'v3'" in capsys.readouterr().err
    assert main(["restore", str(path), "v2"]) == 0
    is_step(path, 2)


@needs_strace
@pytest.mark.parametrize("verb", ["restore", "snapshot"])
def test_the_command_line_makes_changes_durable(path: Path, verb: str) -> None:
    run = "import sys; from zarrix.cli import main; assert main([*{!r}, '--durability', {!r}]) == 0"
    for durability in ("process", "fsync"):
        words = [verb, str(path), "v1" if verb == "restore" else f"by-{durability}"]
        calls = recorded(run.format(words, durability), path.parent)
        syncs = [call for call in calls if call.name in ("fsync", "syncfs")]
        assert bool(syncs) == (durability == "fsync")


def test_texts_of_v2_that_have_grown_since_are_shorter_again(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=2)
    root.create_dataset("names", data=np.array(["first name", ""], object), dtype=str, chunks=2)
    zarr.snapshot(path, "v1")
    root["names"].append(np.array(["x", "y"], object))
    zarr.Versions(path).restore("v1")
    assert zarr.open(path)["names"][:].tolist() == ["first name", ""]
