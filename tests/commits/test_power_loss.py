"""A loss of power in a commit, a snapshot or a restore: the old state is there, or the new one.

With ``durability="fsync"`` a call that has returned is there. The states are those of
`power_loss.Disk`: names and contents that were not synced are missing in any combination.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits import steps
from power_loss import losses, needs_strace

pytestmark = needs_strace

FORMATS = (2, 3)
BEGIN = """
import sys
from pathlib import Path
import zarrix as zarr
from commits import steps
path = Path(sys.argv[1]) / "x.zarr"
"""
COMMIT = BEGIN + 'steps.commit(path, 2, durability="{}")'
REPLACING = (
    BEGIN
    + """
with zarr.replacing(zarr.open_group(path, durability="fsync")["a"], how="{}") as new:
    new[:] = 2
"""
)
SNAPSHOT = BEGIN + 'zarr.snapshot(path, "v2", how="{}", digests=True, durability="fsync")'
RESTORE = BEGIN + 'zarr.Versions(path).restore("v1", keep={}, durability="fsync")'


@pytest.fixture
def scale(pytestconfig: pytest.Config) -> dict[str, int]:
    """After how many calls power is lost, and how often."""
    is_long = pytestconfig.getoption("--long")
    return {"times": 5, "step": 1} if is_long else {"times": 1, "step": 13}


def version_at(path: Path) -> int:
    """The step after a loss of power and a recovery, which readers saw before the recovery, too."""
    before = steps.version_of(zarr.open_consolidated(path))
    zarr.recover(path)
    steps.is_clean(path)
    assert steps.version_of(zarr.open_group(path)) == before
    return before


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_commit_is_there_or_not(zarr_format: int, tmp_path: Path, scale: Any) -> None:
    path = tmp_path / "in/x.zarr"
    steps.make(path, zarr_format)
    steps.commit(path, 1)
    seen: list[int] = []
    for left, is_over in losses(tmp_path / "in", COMMIT.format("fsync"), **scale):
        seen.append(version_at(left / "x.zarr"))
        assert not is_over or seen[-1] == 2
    assert set(seen) == {1, 2}


def test_without_syncs_it_is_broken(tmp_path: Path) -> None:
    # Otherwise the tests above would show nothing.
    path = tmp_path / "in/x.zarr"
    steps.make(path, 3)
    steps.commit(path, 1)
    broken = 0
    for left, is_over in losses(tmp_path / "in", COMMIT.format("process"), times=1, step=1000):
        try:
            assert version_at(left / "x.zarr") == 2 or not is_over
        except Exception:
            broken += 1
    assert broken


@pytest.mark.parametrize("how", ["keys", "exchange"])
def test_a_replaced_array_has_one_of_its_contents(how: str, tmp_path: Path, scale: Any) -> None:
    root = zarr.create_group(tmp_path / "in/x.zarr")
    root.create_dataset("a", data=np.ones((4, 2), "i4"), chunks=(1, 2))
    zarr.consolidate_metadata(root.store)
    seen: set[int] = set()
    for left, is_over in losses(tmp_path / "in", REPLACING.format(how), **scale):
        zarr.recover(left / "x.zarr")
        values = set(zarr.open_group(left / "x.zarr")["a"][:].flat)
        assert values in ({1}, {2})
        assert not is_over or values == {2}
        seen |= values
    assert seen == {1, 2}


def make_versions(path: Path) -> None:
    """A hierarchy at step 3, with one version of step 1."""
    steps.make(path, 3)
    steps.commit(path, 1)
    zarr.snapshot(path, "v1", digests=True)
    for step in (2, 3):
        steps.commit(path, step)


def versions_at(path: Path) -> dict[str, int]:
    """The steps of all versions, of which each has to be complete."""
    history = zarr.Versions(path)
    # By their digests; times are not kept by what makes the states.
    assert history.verify().ok, str(history.verify())
    return {
        version.name: steps.version_of(zarr.open_group(path, version=version.name))
        for version in history
    }


@pytest.mark.parametrize("how", ["link", "copy"])
def test_a_snapshot_is_there_or_not(how: str, tmp_path: Path, scale: Any) -> None:
    path = tmp_path / "in/x.zarr"
    make_versions(path)
    if how == "copy":
        # The first version makes the folder of versions, too.
        shutil.rmtree(tmp_path / "in/x.zarr.versions")
    known = {} if how == "copy" else {"v1": 1}
    seen: list[dict[str, int]] = []
    for left, is_over in losses(tmp_path / "in", SNAPSHOT.format(how), **scale):
        path = left / "x.zarr"
        seen.append(versions_at(path))
        assert seen[-1] in (known, {**known, "v2": 3})
        assert not is_over or "v2" in seen[-1]
        zarr.snapshot(path, "again", digests=True)
        assert versions_at(path) == {**seen[-1], "again": 3}
        assert steps.version_of(zarr.open_group(path)) == 3
    assert {len(one) for one in seen} == {len(known), len(known) + 1}


def test_a_restore_is_there_or_not(tmp_path: Path, scale: Any) -> None:
    make_versions(tmp_path / "in/x.zarr")
    seen: list[int] = []
    for left, is_over in losses(tmp_path / "in", RESTORE.format("None"), **scale):
        path = left / "x.zarr"
        seen.append(version_at(path))
        assert versions_at(path) == {"v1": 1}
        assert not is_over or seen[-1] == 1
    assert set(seen) == {3, 1}


def test_a_restore_of_what_was_deleted_is_there_or_not(tmp_path: Path, scale: Any) -> None:
    make_versions(tmp_path / "in/x.zarr")
    shutil.rmtree(tmp_path / "in/x.zarr")
    seen: list[bool] = []
    for left, is_over in losses(tmp_path / "in", RESTORE.format("None"), **scale):
        path = left / "x.zarr"
        assert versions_at(path) == {"v1": 1}
        seen.append(path.exists())
        assert not seen[-1] or version_at(path) == 1
        assert not is_over or seen[-1]
    assert set(seen) == {True, False}
