"""A process that is killed at each change of what a commit stores, and while it recovers."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from commits import steps

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

FORMATS = (2, 3)


def append_outside(path: Path) -> None:
    """Growth over the rows of a dead commit; then the length is made even again."""
    root = zarr.open_group(path, mode="r+")
    # It has as many rows as the commit had made, or not.
    length = root["a"].append(steps.values(-1))[0] - steps.ROWS
    assert (root["a"][length:] == -1).all()
    assert (root["a"][:length] > 0).all()
    root["a"].resize(length, 4)


def commit_nothing(path: Path) -> None:
    with zarr.commit(path):
        pass


RECOVERIES: tuple[Callable[[Path], Any], ...] = (zarr.recover, commit_nothing, append_outside)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_death_at_any_change_leaves_the_old_state_or_the_new_one(
    zarr_format: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    made = tmp_path / "made.zarr"
    steps.make(made, zarr_format)
    steps.commit(made, 1)
    path = tmp_path / "x.zarr"
    seen: list[int] = []
    number = 0
    while True:
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(made, path)
        died = steps.dies_at(number, lambda: steps.commit(path, 2))
        # Readers of consolidated metadata see one state before anything is recovered.
        before = steps.version_of(zarr.open_consolidated(path))
        seen.append(before)
        if not died:
            break
        RECOVERIES[number % len(RECOVERIES)](path)
        steps.is_clean(path)
        assert steps.version_of(zarr.open_group(path)) == before
        steps.commit(path, before + 1)
        steps.is_clean(path)
        # With --long at every one.
        number += 1 if pytestconfig.getoption("--long") else 5
    assert number > 60
    # There is one moment at which the commit happens.
    assert seen == sorted(seen)
    assert set(seen) == {1, 2}


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_death_in_a_recovery_is_recovered(
    zarr_format: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    made = tmp_path / "made.zarr"
    steps.make(made, zarr_format)
    steps.commit(made, 1)
    path = tmp_path / "x.zarr"
    number = 0
    while True:
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(made, path)
        if not steps.dies_at(number, lambda: steps.commit(path, 2)):
            break
        before = steps.version_of(zarr.open_consolidated(path))
        # Twice, at other changes of the recovery.
        for again in (number % 5, number % 11):
            steps.dies_at(again, lambda: zarr.recover(path))
            assert steps.version_of(zarr.open_consolidated(path)) == before
        zarr.recover(path)
        steps.is_clean(path)
        assert steps.version_of(zarr.open_group(path)) == before
        number += 1 if pytestconfig.getoption("--long") else 11
