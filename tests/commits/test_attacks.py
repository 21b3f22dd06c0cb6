"""Commits under attack: intents of others, forks, processes that stop, and many at once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits import steps
from zarrix.commits import _recover, _sweep
from zarrix.errors import CommitBusyError, MetadataError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

INTENT = ".zarrix-commit.json"


def files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.fixture(params=(2, 3))
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "in/x.zarr"
    steps.make(made, request.param)
    steps.commit(made, 1)
    return made


def intent(**members: Any) -> dict[str, Any]:
    return {
        "zarrix_commit": 1,
        "id": "0",
        "root": "",
        "zarr_format": 3,
        "holder": "",
        "message": "",
        "grows": {},
        "flips": {},
        "creates": [],
        "deletes": [],
        "documents": None,
        **members,
    }


HUGE = 10**30
WRONG: list[dict[str, Any]] = [
    {"creates": ["../outside"]},
    {"creates": ["/outside"]},
    {"creates": ["a/../../outside"]},
    {"creates": ["a\0"]},
    {"creates": "mask"},
    {"creates": [["mask"]]},
    {"deletes": ["../outside"]},
    {"deletes": {"mask": 1}},
    {"flips": {"../outside": {"from": "default/", "to": "v2/"}}},
    {"flips": {"mask": {"from": "default/", "to": 5}}},
    {"flips": {"mask": "v2/"}},
    {"flips": [["mask", "v2/"]]},
    {"grows": {"../outside": {"from": [1], "to": [2]}}},
    {"grows": {"mask": {"from": [0, 0], "to": [HUGE, 4]}}},
    {"grows": {"mask": {"from": [-1, 0], "to": [5, 4]}}},
    {"grows": {"mask": {"from": [1.5, 0], "to": [5, 4]}}},
    {"grows": {"mask": {"from": [True, 0], "to": [5, 4]}}},
    {"documents": {"../zarr.json": [None, {}]}},
    {"documents": {"README": [None, {}]}},
    {"documents": {"mask/c/0/0": [None, {}]}},
    {"documents": {"mask/zarr.json": [None]}},
    {"documents": {"mask/zarr.json": [None, 5]}},
    {"documents": [1]},
    {"root": "../x"},
    {"root": 5},
    {"root": "deep", "creates": ["mask"]},
    {"zarr_format": 4},
    {"zarr_format": HUGE},
    {"zarrix_commit": 2},
    {"id": None},
]


@pytest.mark.parametrize("members", WRONG, ids=lambda one: json.dumps(one)[:40])
def test_an_intent_that_no_commit_writes_is_an_error_and_nothing_changes(
    members: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "in/x.zarr"
    root = zarr.create_group(path)
    for name in ("mask", "deep/b"):
        root.create_dataset(name, data=np.ones((5, 4), "i4"), chunks=(2, 3))
    outside = tmp_path / "in/outside/c"
    outside.mkdir(parents=True)
    (outside / "0").write_text("mine")
    (path / INTENT).write_text(json.dumps(intent(**members)))
    before = files(tmp_path)
    for call in (zarr.recover, commit_nothing, zarr.sweep, lambda p: zarr.snapshot(p, "v1")):
        with pytest.raises(MetadataError, match="delete the file"):
            call(path)
    assert {k: v for k, v in files(tmp_path).items() if ".versions" not in k} == before
    assert (zarr.open_group(path)["mask"][:] == 1).all()


def commit_nothing(path: Path) -> None:
    with zarr.commit(path):
        pass


# Intents that a commit could have written, of which the documents say that it did not happen.
LIES: list[dict[str, Any]] = [
    {"creates": ["mask", "a", "deep/b", "new/1"]},
    {"deletes": ["mask", "deep"]},
    {"flips": {"mask": {"from": "v2/", "to": "default/"}, "a": {"from": "", "to": ""}}},
    {"flips": {"deep": {"from": "default/", "to": "v2/"}}},
    {"grows": {"mask": {"from": [0, 0], "to": [5, 4]}, "a": {"from": [0], "to": [2]}}},
    {"grows": {"mask": {"from": [5, 4], "to": [1, 4]}, "no": {"from": [0], "to": [2**60]}}},
    {"creates": ["deep", ""], "deletes": [""], "root": ""},
    {"deletes": ["mask"], "documents": {"mask/NAME": [{"shape": [1]}, None]}},
]


@pytest.mark.parametrize("members", LIES, ids=lambda one: json.dumps(one)[:40])
def test_an_intent_that_lies_removes_nothing_that_a_document_names(
    members: dict[str, Any], path: Path
) -> None:
    steps.commit(path, 2)
    zarr.sweep(path, now=True)
    zarr_format = zarr.open_group(path).metadata.zarr_format
    (path / "README").write_text("mine")
    (path / "mask/0.txt").write_text("mine")
    document = json.dumps(intent(zarr_format=zarr_format, **members))
    name = {2: ".zarray", 3: "zarr.json"}[zarr_format]
    (path / INTENT).write_text(document.replace("NAME", name))
    assert zarr.recover(path).direction == "back"
    for file in ("README", "mask/0.txt"):
        assert (path / file).read_text() == "mine"
        (path / file).unlink()
    assert steps.version_of(zarr.open_group(path)) == 2
    steps.is_clean(path)


def test_a_link_in_the_hierarchy_does_not_lead_a_recovery_out_of_it(tmp_path: Path) -> None:
    path, outside = tmp_path / "x.zarr", tmp_path / "outside"
    zarr.create_group(path).create_group("g")
    for name in ("0", "c/0", "deep/1", "deep/c.0"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text("mine")
    (path / "own").mkdir()
    for link in ("link", "g/link", "own/c"):
        (path / link).symlink_to(outside, target_is_directory=True)
    before = files(outside)
    creates = ["link", "link/deep", "g/link", "g/link/deep", "g", "g/new", "own"]
    (path / INTENT).write_text(json.dumps(intent(creates=creates)))
    assert zarr.recover(path).direction == "back"
    assert files(outside) == before
    assert (path / "link").is_symlink()


def test_an_intent_that_is_a_link_or_no_file_is_not_followed(tmp_path: Path) -> None:
    path, target = tmp_path / "x.zarr", tmp_path / "target"
    zarr.create_group(path)
    target.write_text("mine")
    (path / INTENT).symlink_to(target)
    with pytest.raises(OSError, match=INTENT):
        commit_nothing(path)
    assert target.read_text() == "mine"
    (path / INTENT).unlink()
    (path / INTENT).mkdir()
    with pytest.raises(OSError, match=INTENT):
        commit_nothing(path)


def forked(call: Callable[[], Any]) -> int:
    """The exit status of a call in a child: 0, or 1 after an error."""
    child = os.fork()
    if not child:
        try:
            call()
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_that_is_forked_in_a_commit_cannot_change_or_end_it(path: Path) -> None:
    with zarr.commit(path) as root:
        root["a"].append(steps.values(2))

        def misuse() -> None:
            for change in (
                lambda: root["a"].append(steps.values(3)),
                lambda: root["mask"].__setitem__(0, 3),
                lambda: root.attrs.put({"step": 3}),
                lambda: root.create_group("x"),
            ):
                with pytest.raises(zarr.errors.ReadOnlyError, match="forked"):
                    change()
            with pytest.raises(CommitBusyError, match=f"process {os.getppid()} "):
                zarr.commit(path, wait=0).__enter__()

        assert forked(misuse) == 0
        # An error that leaves the block in the child ends nothing of the parent's.
        assert forked(lambda: sys.exit(3)) == 1
        assert (path / INTENT).exists()
        assert len(zarr.open_group(path)["a"]) == steps.ROWS
        for name in ("deep/b", "time"):
            root[name].append(steps.values(2) if name == "deep/b" else np.full(steps.ROWS, 2))
        root["time"].attrs["step"] = 2
        root["mask"][1:3] = root["mask"].vindex[[0, 4], [0, 3]] = 2
        data = np.full((3, 2), 2)
        root.create_dataset("swap", data=data, chunks=(2, 1), overwrite=True)
        root.create_dataset("new/2", data=np.full(3, 2), chunks=2)
        del root["new/1"]
        root.attrs["step"] = 2
    steps.is_clean(path)
    assert steps.version_of(zarr.open_group(path)) == 2


def test_a_committer_that_is_stopped_keeps_its_lock_and_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (_recover, _sweep):
        monkeypatch.setattr(module, "WAIT", 0.05)
    child = os.fork()
    if not child:
        try:
            with zarr.commit(path) as root:
                steps.change(root, 2)
                os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(0)
    try:
        assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
        for call in (
            zarr.recover,
            zarr.sweep,
            lambda p: zarr.commit(p, wait=0.05).__enter__(),
            lambda p: zarr.open_group(p)["a"].append(steps.values(9)),
        ):
            with pytest.raises(CommitBusyError, match=f"process {child} "):
                call(path)
        assert steps.version_of(zarr.open_consolidated(path)) == 1
    finally:
        os.kill(child, signal.SIGCONT)
        os.waitpid(child, 0)
    steps.is_clean(path)
    assert steps.version_of(zarr.open_group(path)) == 2


COMMITTER = """
import sys, numpy as np, zarrix as zarr
from zarrix.commits import _left
_left.PROMISED = 0.0
path, own, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for number in range(count):
    with zarr.commit(path) as root:
        for name in ("a", "b"):
            root[name].append(np.full((3, 2), own * 100 + number, "i4"))
        root["own"][own] = number + 1
        root.attrs[f"count {own}"] = number + 1
"""


@pytest.mark.parametrize("how", ["processes", "namespaces"])
def test_two_committers_at_once_make_one_history(how: str, tmp_path: Path) -> None:
    before: list[str] = []
    if how == "namespaces":
        before = ["unshare", "--pid", "--fork", "--mount-proc"]
        if not shutil.which("unshare") or subprocess.run([*before, "true"], check=False).returncode:
            pytest.skip("this user cannot make a PID namespace")
    path = tmp_path / "x.zarr"
    root = zarr.create_group(path)
    for name in ("a", "b"):
        root.create_array(name, shape=(0, 2), chunks=(4, 2), dtype="i4")
    root.create_array("own", shape=2, chunks=1, dtype="i4")
    zarr.consolidate_metadata(path)
    count = 4
    command = [*before, sys.executable, "-c", COMMITTER, str(path)]
    both = [subprocess.Popen([*command, str(own), str(count)]) for own in (0, 1)]
    assert [one.wait() for one in both] == [0, 0]
    root = zarr.open_consolidated(path)
    assert np.array_equal(root["a"][:], root["b"][:])
    blocks = root["a"][:].reshape(-1, 6)
    assert len(blocks) == 2 * count
    assert (blocks == blocks[:, :1]).all()
    for own in (0, 1):
        mine = [value for value in blocks[:, 0] if value // 100 == own]
        assert mine == [own * 100 + number for number in range(count)]
        assert root.attrs[f"count {own}"] == root["own"][own] == count
    assert not list(path.rglob("*.partial"))
    assert not (path / INTENT).exists()


def test_a_commit_that_others_made_costs_a_reader_nothing(path: Path) -> None:
    def calls() -> list[str]:
        found: list[str] = []

        def profile(_: Any, event: str, function: Any) -> None:
            if event == "c_call" and (
                function.__module__ in ("posix", "_io") or "Store" in repr(function)
            ):
                found.append(function.__name__)

        sys.setprofile(profile)
        root = zarr.open_consolidated(path)
        for name in ("a", "mask", "time"):
            root[name][:]
        sys.setprofile(None)
        return found

    # The first call imports modules.
    calls()
    quiet = calls()
    assert quiet
    with zarr.commit(path) as root:
        steps.change(root, 2)
        assert calls() == quiet
    after = calls()
    assert after == quiet
