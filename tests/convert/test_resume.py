"""Imports and exports that are interrupted or killed continue, and their memory is bounded."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import write_mat, write_n5
from zarrix.errors import ContainsArrayError, ConversionError

VALUE = np.random.default_rng(5).integers(0, 9, (64, 40, 10)).astype("i4")


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


def interrupting(at: int) -> Any:
    def tell(done: int, total: int) -> None:
        if done == at:
            raise Interrupted

    return tell


def source(folder: Path, format: str) -> Path:
    file = folder / f"x.{format}"
    zarr.export(zarr.array(VALUE, chunks=(5, 40, 10)), file)
    return file


def values(path: Path, format: str) -> Any:
    node = zarr.open(path, mode="r")
    return (node["data"] if format == "h5" else node)[...]


@pytest.mark.parametrize("format", ["npy", "h5", "tif"])
def test_an_interrupted_import_leaves_no_array_and_continues(format: str, tmp_path: Path) -> None:
    pytest.importorskip({"npy": "numpy", "h5": "h5py", "tif": "tifffile"}[format])
    file, dest = source(tmp_path, format), tmp_path / "x.zarr"
    options: Any = {"memory": "32 KiB", "chunks": (4, 20, 10)}
    with pytest.raises(Interrupted):
        zarr.import_(file, dest, progress=interrupting(3), **options)
    with pytest.raises(FileNotFoundError):
        zarr.open(dest, mode="r")
    with pytest.raises(ConversionError, match=r"unfinished import .* resume=True"):
        zarr.import_(file, dest, **options)
    with pytest.raises(ConversionError, match="another source or other options"):
        zarr.import_(file, dest, resume=True, memory="32 KiB", chunks=(8, 20, 10))
    done = zarr.import_(file, dest, resume=True, **options)
    assert done.kept == 3
    assert np.array_equal(values(dest, format), VALUE)
    with pytest.raises(ContainsArrayError, match="exists, and no import into it is unfinished"):
        zarr.import_(file, dest, resume=True, **options)
    whole = tmp_path / "whole.zarr"
    zarr.import_(file, whole, **options)
    assert dict(zarr.DirectoryStore(str(dest))) == dict(zarr.DirectoryStore(str(whole)))


def test_an_import_does_not_continue_with_another_source(tmp_path: Path) -> None:
    file, dest = source(tmp_path, "npy"), tmp_path / "x.zarr"
    with pytest.raises(Interrupted):
        zarr.import_(file, dest, chunks=(4, 40, 10), memory="32 KiB", progress=interrupting(3))
    np.save(file, VALUE + 1)
    os.utime(file, ns=(1, 1))
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.import_(file, dest, chunks=(4, 40, 10), memory="32 KiB", resume=True)
    zarr.import_(file, dest, overwrite=True)
    assert np.array_equal(zarr.open(dest, mode="r")[...], VALUE + 1)


def test_an_interrupted_export_leaves_no_file_and_continues(tmp_path: Path) -> None:
    z = zarr.array(VALUE, chunks=(4, 40, 10))
    with pytest.raises(Interrupted):
        zarr.export(z, tmp_path / "x.npy", memory="32 KiB", progress=interrupting(5))
    assert not (tmp_path / "x.npy").exists()
    done = zarr.export(z, tmp_path / "x.npy", memory="32 KiB", resume=True)
    assert done.kept >= 4
    assert np.array_equal(np.load(tmp_path / "x.npy"), VALUE)
    assert os.listdir(tmp_path) == ["x.npy"]


# By format: the file, what it holds, chunks of 64 regions, and options of the import.
KILLED_FORMATS: dict[str, tuple[str, Any, Any, dict[str, Any]]] = {
    "npy": ("x.npy", VALUE, (1, 40, 10), {}),
    "npz": ("x.npz", {"data": VALUE}, (1, 40, 10), {}),
    "raw": ("x.raw", VALUE, (1, 40, 10), {"dtype": "<i4", "shape": VALUE.shape}),
    "text": ("x.csv", VALUE.reshape(640, 40), (10, 40), {}),
    "safetensors": ("x.safetensors", {"data": VALUE}, (1, 40, 10), {}),
    "hdf5": ("x.h5", {"data": VALUE}, (1, 40, 10), {}),
    "netcdf": ("x.nc", {"data": VALUE}, (1, 40, 10), {}),
    "tiff": ("x.tif", VALUE, (1, 40, 10), {}),
    "images": ("images", VALUE.astype("u1"), "1 KiB", {}),
    "video": ("x.mkv", np.stack([VALUE.astype("u1")] * 3, 3), "1200 B", {}),
    "mat": ("x.mat", VALUE, (1, 40, 10), {}),
    "n5": ("x.n5", VALUE, (1, 40, 10), {}),
    "tar": ("x.tar", {"npy": VALUE}, "1600 B", {}),
}
NEEDS = {
    "hdf5": "h5py", "netcdf": "h5py", "tiff": "tifffile", "images": "PIL", "video": "av",
    "mat": "h5py", "n5": "numcodecs",
}  # fmt: skip
WRITERS: dict[str, Any] = {"mat": write_mat, "n5": write_n5}
# Forks a process for each kill; each ends when it has done so many regions, or kept so many chunks.
KILLED = """
import json, os, signal, sys, zarrix as zarr
from zarrix.convert import _encoded
import zarrix.convert._import
source, dest, options, counts = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:5])
if "shape" in options:
    options["shape"] = tuple(options["shape"])
call = zarr.export if dest.endswith(".npy") else zarr.import_
for number, count in enumerate(counts):
    pid = os.fork()
    if pid == 0:
        left = count
        def at(done):
            if done >= count:
                os.kill(os.getpid(), signal.SIGKILL)
        def key_in(*args, given=_encoded.key_in):
            global left
            left -= 1
            at(count - left)
            return given(*args)
        if options.get("keep_chunks"):
            _encoded.key_in = key_in
        try:
            call(source, dest, resume=number > 0, progress=lambda done, total: at(done), **options)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if ended != -signal.SIGKILL:
        sys.exit(f"process {number}, of {count} regions, ended with {ended}")
"""


def killed(file: Path, dest: Path, options: dict[str, Any], counts: list[int]) -> None:
    told = [json.dumps({**options, "memory": "8 KiB"}), json.dumps(counts)]
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, file, dest, *told],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def killed_source(format: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    pytest.importorskip(NEEDS.get(format, "numpy"))
    name, value, chunks, options = KILLED_FORMATS[format]
    if format in WRITERS:
        WRITERS[format](folder / name, value, (5, *value.shape[1:]))
        return folder / name, {**options, "chunks": chunks}
    if isinstance(value, dict):
        node: Any = zarr.group()
        for one, array in value.items():
            node.create_dataset(one, data=array, chunks=(5, *array.shape[1:]))
    else:
        node = zarr.array(value, chunks=(5, *value.shape[1:]))
    zarr.export(node, folder / name, **({"format": "images"} if format == "images" else {}))
    return folder / name, {**options, "chunks": chunks}


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("format", "times"),
    [("npy", 2), ("hdf5", 2), *(pytest.param(one, 20, marks=LONG) for one in KILLED_FORMATS)],
)
def test_kills_and_a_resume_give_what_one_import_gives(
    format: str, times: int, tmp_path: Path
) -> None:
    file, options = killed_source(format, tmp_path)
    totals: list[int] = []
    zarr.import_(
        file, tmp_path / "y.zarr", memory="8 KiB",
        progress=lambda done, total: totals.append(total), **options,
    )  # fmt: skip
    counts = np.random.default_rng(times).integers(1, totals[-1], times).tolist()
    killed(file, tmp_path / "x.zarr", options, counts)
    done = zarr.import_(file, tmp_path / "x.zarr", memory="8 KiB", resume=True, **options)
    assert done.kept >= max(counts) - 1
    one, other = (zarr.DirectoryStore(str(tmp_path / name)) for name in ("x.zarr", "y.zarr"))
    assert dict(one) == dict(other)


# Each import is killed at a moment that is drawn from the time that a whole one takes.
KILLED_AT_A_MOMENT = """
import json, os, random, signal, sys, time, zarrix as zarr
source, dest, options, times = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:5])
if "shape" in options:
    options["shape"] = tuple(options["shape"])
def begun(path):
    pid = os.fork()
    if pid == 0:
        try:
            zarr.import_(source, path, **options)
        finally:
            os._exit(0)
    return pid
began = time.perf_counter()
os.waitpid(begun(dest + "whole"), 0)
takes, drawn, killed = time.perf_counter() - began, random.Random(times), 0
for number in range(times):
    pid = begun(f"{dest}{number}")
    time.sleep(drawn.uniform(0, takes))
    os.kill(pid, signal.SIGKILL)
    killed += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
print(killed)
"""


@pytest.mark.long
@pytest.mark.parametrize("format", KILLED_FORMATS)
def test_an_import_killed_at_any_moment_continues(format: str, tmp_path: Path) -> None:
    file, options = killed_source(format, tmp_path)
    options["memory"] = "8 KiB"
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED_AT_A_MOMENT, file, tmp_path / "x",
         json.dumps(options), "20"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) >= 10, "most imports ended before they were killed"
    whole = dict(zarr.DirectoryStore(str(tmp_path / "xwhole")))
    for number in range(20):
        dest = tmp_path / f"x{number}"
        # Where the kill came after the end of the import, there is nothing to continue.
        with contextlib.suppress(ContainsArrayError):
            zarr.import_(file, dest, resume=True, **options)
        assert dict(zarr.DirectoryStore(str(dest))) == whole


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=LONG)])
def test_kills_while_chunks_are_kept(times: int, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=VALUE, chunks=(1, 40, 10), compression="gzip")
    options = {"keep_chunks": True}
    # Each process stores chunks that the one before it had not stored.
    counts = [1] * times
    killed(tmp_path / "x.h5", tmp_path / "x.zarr", options, counts)
    zarr.import_(tmp_path / "x.h5", tmp_path / "x.zarr", resume=True, memory="8 KiB", **options)
    zarr.import_(tmp_path / "x.h5", tmp_path / "y.zarr", memory="8 KiB", **options)
    one, other = (zarr.DirectoryStore(str(tmp_path / name)) for name in ("x.zarr", "y.zarr"))
    assert dict(one) == dict(other)


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=LONG)])
def test_kills_of_an_export_and_a_resume(times: int, tmp_path: Path) -> None:
    path = tmp_path / "x.zarr"
    zarr.open(path, mode="w", shape=VALUE.shape, chunks=(2, 40, 10), dtype="i4")[...] = VALUE
    totals: list[int] = []
    zarr.export(
        tmp_path / "x.zarr", tmp_path / "z.npy", memory="8 KiB",
        progress=lambda done, total: totals.append(total),
    )  # fmt: skip
    # Each process is killed after regions that the one before it had not written.
    every = np.arange(1, totals[-1])
    counts = sorted(np.random.default_rng(times).choice(every, times, replace=False).tolist())
    killed(tmp_path / "x.zarr", tmp_path / "x.npy", {}, counts)
    zarr.export(tmp_path / "x.zarr", tmp_path / "x.npy", memory="8 KiB", resume=True)
    np.save(tmp_path / "y.npy", VALUE)
    assert (tmp_path / "x.npy").read_bytes() == (tmp_path / "y.npy").read_bytes()


MEMORY = """
import json, sys, threading, zarrix as zarr
zarr.config.threads = 2
def told(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) // 1024
anonymous, is_over = [], threading.Event()
def sample():
    while not is_over.wait(0.001):
        anonymous.append(told("RssAnon"))
sampling = threading.Thread(target=sample)
sampling.start()
source, dest, again, more = sys.argv[1:5]
more = json.loads(more)
zarr.import_(source, dest, memory="4 MiB", **more)
path = {"path": "image"} if more else {}
zarr.export(dest, again, memory="4 MiB", **more, **path)
is_over.set()
sampling.join()
# tifffile decodes a page of more than 64 MiB into a mapped file, which the system may drop.
# The peak of resource.getrusage has the memory of the parent before exec.
print(max(anonymous) if source.endswith(".tif") else told("VmHWM"))
"""


@pytest.mark.parametrize(
    "format",
    [
        "npy",
        *(
            pytest.param(one, marks=LONG)
            for one in (
                "h5",
                "npz",
                "tif",
                "csv",
                "raw",
                "nc",
                "safetensors",
                "images",
                "mkv",
                "mat",
                "n5",
                "tar",
            )
        ),
    ],
)
def test_memory_does_not_grow_with_the_source(format: str, tmp_path: Path) -> None:
    needs = {
        "h5": "h5py",
        "tif": "tifffile",
        "nc": "h5py",
        "images": "PIL",
        "mkv": "av",
        "mat": "h5py",
        "n5": "numcodecs",
    }
    pytest.importorskip(needs.get(format, "numpy"))
    frames = format in ("images", "mkv")
    shape = (66, 640, 640, 3) if frames else (4000, 2600)
    z = zarr.open(
        tmp_path / "z.zarr", mode="w", shape=shape, chunks=(shape[0] // 40, *shape[1:]),
        dtype="u1" if frames else "f8",
    )  # fmt: skip
    for start in range(0, shape[0], shape[0] // 10):
        part = np.random.default_rng(start).normal(size=z[start : start + shape[0] // 10].shape)
        z[start : start + shape[0] // 10] = part * 9 + 99 if frames else part.round(3)
    more: dict[str, Any] = {"format": "images"} if format == "images" else {}
    if format in WRITERS:
        WRITERS[format](tmp_path / f"x.{format}", z[...], z.chunks)
    else:
        zarr.export(z, tmp_path / f"x.{format}", **more)
    # MATLAB's files and N5 are not written.
    again = tmp_path / ("y.npz" if format in WRITERS else f"y.{format}")
    ran = subprocess.run(
        [
            sys.executable, "-c", MEMORY, tmp_path / f"x.{format}", tmp_path / "x.zarr", again,
            json.dumps(more),
        ],
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    # Twenty times the memory that the import may take.
    assert z.nbytes >= 19 * 4 * 2**20
    assert int(ran.stdout) <= 4 + 150
