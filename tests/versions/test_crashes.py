"""Processes that die at any step of a snapshot, a deletion or an expiry, and other writers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")

CHANGES = {
    "mkdir", "rename", "take", "put", "delete", "update", "sync", "fsync", "release_tree",
    "remove_leftover", "unlink", "ftruncate",
}  # fmt: skip
WRITES = 0o222


def dies_at(number: int, call: Callable[[], Any]) -> bool:
    """Make a call in a process that is killed at its ``number``th change; whether it was."""
    child = os.fork()
    if child == 0:
        left = number

        def profile(_: FrameType, event: str, function: Any) -> None:
            nonlocal left
            if event == "c_call" and function.__name__ in CHANGES:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.setprofile(profile)
            call()
            sys.setprofile(None)
        except BaseException as error:
            sys.setprofile(None)
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), status
    return status == signal.SIGKILL


def make(path: Path) -> Any:
    root = zarr.open_group(str(path), mode="w", zarr_format=3)
    root.create_dataset("a", shape=(6, 2), chunks=(2, 2), dtype="i4")[:] = 0
    zarr.consolidate_metadata(root.store)
    return root


def write(path: Path, value: int) -> None:
    root = zarr.open_group(str(path))
    root["a"][:4] = value
    root.attrs["value"] = value


def check(path: Path, known: dict[str, int]) -> None:
    """Every version that exists is complete, and has the values of its name."""
    history = zarr.Versions(path)
    assert {version.name for version in history} == set(known)
    found = history.verify()
    assert found.ok, str(found)
    for name, value in known.items():
        root = zarr.open_group(path, version=name)
        assert root.attrs.get("value", 0) == value
        assert (root["a"][:4] == value).all()


@pytest.mark.parametrize("durability", ["process", "fsync"])
def test_a_snapshot_that_dies_is_there_or_not(tmp_path: Path, durability: Any) -> None:
    made = tmp_path / "made"
    make(made / "x.zarr")
    zarr.snapshot(made / "x.zarr", "v0")
    write(made / "x.zarr", 1)
    number = 0
    while True:
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
        path = folder / "x.zarr"
        if not dies_at(number, partial(zarr.snapshot, path, "v1", durability=durability)):
            break
        exists = (folder / "x.zarr.versions/v1.version.json").exists()
        check(path, {"v0": 0, **({"v1": 1} if exists else {})})
        write(path, 2)
        check(path, {"v0": 0, **({"v1": 1} if exists else {})})
        if not exists:
            # The same call again does what it says.
            zarr.snapshot(path, "v1")
        zarr.snapshot(path, "v2")
        check(path, {"v0": 0, "v1": 1 if exists else 2, "v2": 2})
        assert not (path / ".zarrix-commit.json").exists()
        number += 1
    assert number >= 8


@pytest.mark.parametrize("is_expiry", [False, True])
def test_a_deletion_that_dies_changes_no_other_version(tmp_path: Path, is_expiry: bool) -> None:
    made = tmp_path / "made"
    make(made / "x.zarr")
    number = 0
    while True:
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
        path = folder / "x.zarr"
        for value in range(3):
            write(path, value)
            zarr.snapshot(path, f"v{value}", how="link")
        history = zarr.Versions(path)
        call = partial(history.expire, keep_last=1) if is_expiry else partial(history.delete, "v1")
        if not dies_at(number, call):
            break
        left = {
            name: value
            for value in range(3)
            if (folder / f"x.zarr.versions/{(name := f'v{value}')}.version.json").exists()
        }
        assert "v2" in left
        check(path, left)
        for name in list(left):
            history.delete(name)
        # What the dead call has left, as if it was an hour ago.
        for one in (folder / "x.zarr.versions").iterdir():
            if one.name.endswith(".partial"):
                os.utime(one, (0, 0))
        history.verify(clean=True)
        assert sorted(os.listdir(folder / "x.zarr.versions")) in (
            ["pages", "versions.json"], ["versions.json"], ["pages", "v0", "versions.json"],
            ["pages", "v1", "versions.json"],
        )  # fmt: skip
        number += 1
    assert number >= 4


def test_two_snapshots_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    make(path)
    errors: list[Exception] = []

    def snapshot(name: str) -> None:
        try:
            zarr.snapshot(path, name)
        except FileExistsError as error:
            errors.append(error)

    threads = [
        threading.Thread(target=snapshot, args=(name,)) for name in ("v1", "same", "SAME", "same")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    names = [version.name for version in zarr.Versions(path)]
    assert (len(errors), len(names)) == (2, 2)
    assert sorted(name.lower() for name in names) == ["same", "v1"]
    assert zarr.Versions(path).verify().ok
    assert not [name for name in os.listdir(tmp_path / "x.zarr.versions") if "partial" in name]


def test_writers_beside_a_snapshot_tear_no_chunk(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    root = zarr.open_group(str(path), mode="w", zarr_format=3)
    z = root.create_dataset("a", shape=(64, 256), chunks=(1, 256), dtype="i4", compressor=None)
    z[:] = 0
    stop = threading.Event()

    def write() -> None:
        value = 0
        while not stop.is_set():
            value += 1
            z[value % 64] = value

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            zarr.snapshot(path, f"v{number}", how=("link", "copy")[number % 2])
    finally:
        stop.set()
        writer.join(60)
    found = zarr.Versions(path).verify()
    assert found.ok, str(found)
    for number in range(5):
        rows = zarr.open(path, version=f"v{number}")["a"][:]
        assert (rows == rows[:, :1]).all()


IN_PLACE = """
import os, sys
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    with open(sys.argv[1], "r+b") as file:
        file.write(b"changed in place")
    print("written")
except PermissionError:
    print("refused")
"""


@pytest.mark.parametrize("how", ["link", "copy"])
def test_a_program_that_writes_in_place_does_not_change_a_version(how: Any) -> None:
    # Below /tmp itself: another user has to reach it.
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="zarrix-guard-"))
    try:
        folder.chmod(0o755)
        path = folder / "x.zarr"
        make(path)
        write(path, 1)
        if os.geteuid() == 0:
            for one in [folder, *folder.rglob("*")]:
                os.chown(one, 65534, 65534)
        zarr.snapshot(path, "v1", how=how)
        chunk = str(path / "a/c/0/0")
        ran = subprocess.run(
            [sys.executable, "-c", IN_PLACE, chunk], capture_output=True, text=True, check=True
        )
        assert ran.stdout.strip() == ("refused" if how == "link" else "written")
        assert (zarr.open(path, version="v1")["a"][:4] == 1).all()
        assert zarr.Versions(path).verify().ok
        zarr.Versions(path).delete("v1")
        again = subprocess.run(
            [sys.executable, "-c", IN_PLACE, chunk], capture_output=True, text=True, check=True
        )
        assert again.stdout.strip() == "written"
    finally:
        shutil.rmtree(folder)


def test_a_change_in_place_past_the_guard_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    make(path)
    write(path, 1)
    zarr.snapshot(path, "v1", how="link")
    chunk = path / "a/c/0/0"
    chunk.chmod(0o644)
    os.utime(chunk, (1, 1))
    assert [str(one) for one in zarr.Versions(path).verify().problems] == ["v1: changed a/c/0/0"]


def test_values_stay_under_random_writes(tmp_path: Path) -> None:
    """Versions against copies in memory, over random changes, deletions and expiries."""
    rng = np.random.default_rng(39)
    path = tmp_path / "x.zarr"
    root = make(path)
    model: dict[str, Any] = {}
    history = zarr.Versions(path)
    for step in range(60):
        act = rng.integers(6)
        if act <= 2:
            low, high = sorted(rng.integers(0, root["a"].shape[0] + 1, 2))
            root["a"][int(low) : int(high)] = step
        elif act == 3:
            root["a"].resize(int(rng.integers(3, 9)), 2)
        elif act == 4 or not model:
            name = f"v{step}"
            zarr.snapshot(path, name, how=str(rng.choice(["auto", "link", "copy"])))
            model[name] = root["a"][:]
        elif rng.integers(2):
            name = str(rng.choice(sorted(model)))
            history.delete(name)
            del model[name]
        else:
            for name in history.expire(keep_last=int(rng.integers(1, 5))):
                del model[name]
        assert [version.name for version in history] == list(model)
    for name, values in model.items():
        np.testing.assert_array_equal(zarr.open(path, version=name)["a"][:], values)
    assert history.verify().ok
    for name in list(model):
        history.delete(name)
    assert all(
        one.stat().st_mode & WRITES and one.stat().st_nlink == 1
        for one in path.rglob("*")
        if one.is_file()
    )
