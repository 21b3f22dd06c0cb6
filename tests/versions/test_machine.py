"""Versions, commits and restores in any order, against a model of dictionaries."""

import os
import shutil
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from zarrix.commits import _left

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="commits need flock")

ARRAYS = ("a", "g/b", "g/c")
names = st.sampled_from(ARRAYS)
values = st.integers(1, 99)


class Machine(RuleBasedStateMachine):
    """The model: per state, the elements of each array and the attributes of the root."""

    zarr_format = 3

    @initialize()
    def make(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="zarrix-machine-"))
        self.path = self.folder / "x.zarr"
        root = zarr.create_group(self.path, zarr_format=self.zarr_format)
        self.now: dict[str, Any] = {"attrs": {}, "arrays": {}}
        self.kept: dict[str, dict[str, Any]] = {}
        self.number = 0
        root.require_group("g")
        self._create(root, self.now, "a", 1)
        zarr.consolidate_metadata(self.path)

    def _create(self, root: Any, state: dict[str, Any], name: str, value: int) -> None:
        data = np.full((3 + value % 3, 3), value, "i4")
        root.create_dataset(name, data=data, chunks=(2, 2), overwrite=True)
        state["arrays"][name] = data

    def _change(self, root: Any, state: dict[str, Any], kind: str, name: str, value: int) -> None:
        if kind == "attribute":
            root.attrs[name] = value
            state["attrs"][name] = value
        elif kind == "create" or name not in state["arrays"]:
            self._create(root, state, name, value)
        elif kind == "append":
            rows = np.full((value % 4, 3), value, "i4")
            root[name].append(rows)
            state["arrays"][name] = np.concatenate([state["arrays"][name], rows])
        elif kind == "write":
            at = value % len(state["arrays"][name])
            root[name][at, :2] = value
            state["arrays"][name] = state["arrays"][name].copy()
            state["arrays"][name][at, :2] = value
        else:
            del root[name]
            del state["arrays"][name]

    changes = st.tuples(
        st.sampled_from(["attribute", "create", "append", "write", "write", "delete"]),
        names,
        values,
    )

    @rule(change=changes)
    def plain(self, change: tuple[str, str, int]) -> None:
        self._change(zarr.open_group(self.path), self.now, *change)

    @rule(changes=st.lists(changes, min_size=1, max_size=4), fails=st.booleans())
    def commit(self, changes: list[tuple[str, str, int]], fails: bool) -> None:
        after = deepcopy(self.now)
        try:
            with zarr.commit(self.path) as root:
                for change in changes:
                    self._change(root, after, *change)
                if fails:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            return
        self.now = after

    @rule(how=st.sampled_from(["auto", "link", "copy"]))
    def snapshot(self, how: Any) -> None:
        self.number += 1
        zarr.snapshot(self.path, f"v{self.number}", how=how)
        self.kept[f"v{self.number}"] = deepcopy(self.now)

    @precondition(lambda self: self.kept)
    @rule(data=st.data(), keeps=st.booleans())
    def restore(self, data: st.DataObject, keeps: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.kept)))
        before = deepcopy(self.now)
        self.number += 1
        keep = f"v{self.number}" if keeps else None
        zarr.Versions(self.path).restore(name, keep=keep)
        if keep is not None:
            self.kept[keep] = before
        self.now = deepcopy(self.kept[name])

    @precondition(lambda self: self.kept)
    @rule(count=st.integers(1, 2))
    def expire(self, count: int) -> None:
        newest = list(self.kept)[-count:]
        gone = zarr.Versions(self.path).expire(keep_last=count)
        assert gone == [name for name in self.kept if name not in newest]
        self.kept = {name: self.kept[name] for name in newest}

    @rule(now=st.booleans())
    def sweep(self, now: bool) -> None:
        zarr.sweep(self.path, now=now)

    @rule()
    def remove(self) -> None:
        if self.kept:
            shutil.rmtree(self.path)
            name = list(self.kept)[-1]
            zarr.Versions(self.path).restore(name)
            self.now = deepcopy(self.kept[name])

    @invariant()
    def is_as_the_model_says(self) -> None:
        if not hasattr(self, "path"):
            return
        for root in (zarr.open_group(self.path), zarr.open_consolidated(self.path)):
            self._compare(root, self.now)
        history = zarr.Versions(self.path)
        assert [version.name for version in history] == list(self.kept)
        for name, state in self.kept.items():
            self._compare(zarr.open_group(self.path, version=name), state)
        assert history.verify().ok
        assert zarr.recover(self.path).direction == "nothing"

    def _compare(self, root: Any, state: dict[str, Any]) -> None:
        assert dict(root.attrs) == state["attrs"]
        found = {one.path for _, one in root.members(None) if isinstance(one, zarr.Array)}
        assert found == set(state["arrays"])
        for name, data in state["arrays"].items():
            assert np.array_equal(root[name][:], data)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_any_order_of_versions_commits_and_restores(
    zarr_format: int, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    # Otherwise the second rewriting of an array of v2 would wait for ten seconds.
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    examples = 300 if pytestconfig.getoption("--long") else 5
    machine = type("Machine", (Machine,), {"zarr_format": zarr_format})
    limits = settings(max_examples=examples, stateful_step_count=16, deadline=None)
    run_state_machine_as_test(machine, settings=limits)
