"""An export that is killed, or whose disk is full, leaves what was there before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr

if not hasattr(os, "fork"):
    pytest.skip("the system has no fork", allow_module_level=True)

# Forks a process for each line of the modules that write files, and kills it there.
KILLED = """
import json, os, shutil, signal, sys, zarrix as zarr
from zarrix._runtime import new_files
from zarrix.convert import _export_job, _npy, _raw, _unfinished, formats
from zarrix.convert._formats import converter
folder, name, format, overwrite, two_renames, stride = json.loads(sys.argv[1])
if two_renames:
    new_files.exchange = lambda one, other: False
watched = {one.__file__ for one in (new_files, _export_job, _unfinished, converter(format))}
new, before = os.path.join(folder, "new.zarr"), os.path.join(folder, "before")
call = lambda at: zarr.export(
    new, os.path.join(at, name), format=format, overwrite=overwrite, memory="64 B"
)
zarr.convert.export(new, os.path.join(folder, "whole", name), format=format)
call_again = lambda at: zarr.export(
    new, os.path.join(at, name), format=format, overwrite=True, memory="64 B"
)

def contents(at):
    found = {}
    for folder_of, _, files in os.walk(at):
        for file in files:
            path = os.path.join(folder_of, file)
            with open(path, "rb") as opened:
                found[os.path.relpath(path, at)] = opened.read()
    return found

def killed(at, line):
    left = line
    def local(frame, event, arg):
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return local
    def trace(frame, event, arg):
        return local if frame.f_code.co_filename in watched else None
    pid = os.fork()
    if pid == 0:
        sys.settrace(trace)
        try:
            call(at)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

old, whole = contents(before), contents(os.path.join(folder, "whole"))
line, kills, states = 1, 0, set()
while True:
    at = os.path.join(folder, f"at{line}")
    shutil.copytree(before, at)
    ended = killed(at, line)
    assert ended in (0, -signal.SIGKILL), (line, ended)
    kills += ended != 0
    partial = [one for one in os.listdir(at) if one.endswith(".partial")]
    assert len(partial) <= 1, (line, partial)
    seen = {k: v for k, v in contents(at).items() if k.split(os.sep)[0] not in partial}
    main = {k: v for k, v in seen.items() if k.split(os.sep)[0] == name}
    of = lambda one: {k: v for k, v in one.items() if k.split(os.sep)[0] == name}
    state = "old" if main == of(old) else "new" if main == of(whole) else "mixed"
    if two_renames and not main:
        state = "between"
    assert state != "mixed", (line, sorted(seen))
    assert {*seen} <= {*old, *whole}, (line, sorted(seen))
    if state in ("old", "new") and format == "raw" and name + ".json" in seen:
        # A sidecar is never that of another file.
        assert seen[name + ".json"] == (old if state == "old" else whole).get(name + ".json"), line
    states.add(state)
    call_again(at)
    assert contents(at) == whole, (line, sorted(contents(at)))
    shutil.rmtree(at)
    if ended == 0:
        break
    line += stride
print(json.dumps([kills, sorted(states)]))
"""
OLD, NEW = np.arange(12, dtype="u1").reshape(2, 2, 3), np.arange(36, dtype="i4").reshape(3, 4, 3)
CASES = {
    "npy": ("x.npy", "npy", False), "raw": ("x.raw", "raw", False),
    "csv": ("x.csv", "text", False), "images": ("x", "images", False),
    "images by two renames": ("x", "images", True),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_kill_at_any_line_leaves_the_old_file_or_the_new_one(
    case: str, overwrite: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    name, format, two_renames = CASES[case]
    if two_renames and not overwrite:
        pytest.skip("nothing is replaced")
    if format == "images":
        pytest.importorskip("PIL")
    old, new = (OLD, NEW.astype("u1")) if format == "images" else (OLD, NEW)
    if format == "text":
        old, new = old[0], new[0]
    zarr.create_array(tmp_path / "new.zarr", data=new, chunks=(1, *new.shape[1:]))
    (tmp_path / "before").mkdir()
    (tmp_path / "whole").mkdir()
    if overwrite:
        zarr.export(zarr.array(old), tmp_path / "before" / name, format=format)
    stride = 1 if request.config.getoption("--long") else 7
    told = json.dumps([str(tmp_path), name, format, overwrite, two_renames, stride])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, told],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    kills, states = json.loads(ran.stdout)
    assert kills > 100 / stride
    assert {"new", "old"} <= {*states}


# Limits the length of files in a forked process: each write that would exceed it fails.
FULL = """
import json, os, resource, signal, sys, zarrix as zarr
folder, name, format, limits = json.loads(sys.argv[1])
at = os.path.join(folder, "at")
target = os.path.join(at, name)
before = open(target, "rb").read()
# What an export imports is imported once, and not in each child.
os.mkdir(os.path.join(folder, "first"))
zarr.export(os.path.join(folder, "x.zarr"), os.path.join(folder, "first", name), format=format)
for limit in limits:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        told = "none"
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            zarr.export(os.path.join(folder, "x.zarr"), target, format=format, overwrite=True)
        except BaseException as error:
            told = type(error).__name__
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 100).decode()
    os.close(reader)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert ended == 0, (limit, ended)
    assert told == "OSError", (limit, told)
    assert open(target, "rb").read() == before, limit
    left = [one for one in os.listdir(at) if one != name and not one.endswith(".json")]
    assert all(one.endswith(".partial") for one in left), left
    assert format in ("npy", "raw") or not left, (limit, left)
zarr.export(os.path.join(folder, "x.zarr"), target, format=format, overwrite=True)
assert open(target, "rb").read() != before
assert [one for one in os.listdir(at) if one.endswith(".partial")] == []
"""
FULL_CASES = {
    "npy": "x.npy", "npz": "x.npz", "raw": "x.raw", "text": "x.csv", "hdf5": "x.h5",
    "netcdf": "x.nc", "safetensors": "x.safetensors", "tiff": "x.tif", "images": "x.png",
    "tar": "x.tar",
}  # fmt: skip


@pytest.mark.parametrize("format", FULL_CASES)
def test_a_full_disk_is_an_error_that_leaves_the_old_file(format: str, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    needs = {"hdf5": "h5py", "netcdf": "h5py", "tiff": "tifffile", "images": "PIL"}
    pytest.importorskip(needs.get(format, "numpy"))
    name = FULL_CASES[format]
    value = np.random.default_rng(1).integers(0, 99, (300, 200)).astype("u1")
    zarr.create_array(tmp_path / "x.zarr", data=value, chunks=(20, 200))
    (tmp_path / "at").mkdir()
    zarr.export(zarr.array(value[:40, :40]), tmp_path / "at" / name, format=format)
    told = json.dumps([str(tmp_path), name, format, [0, 10, 300, 4096, 20_000]])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FULL, told],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
