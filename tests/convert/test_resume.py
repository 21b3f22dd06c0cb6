"""Imports and exports that are interrupted or killed continue, and their memory is bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ConversionError

VALUE = np.random.default_rng(5).integers(0, 9, (64, 40, 10)).astype("i4")
# Ends the process when it has done so many regions.
KILLED = """
import os, signal, sys, zarrix as zarr
source, dest, count, resume = sys.argv[1:5]
def tell(done, total):
    if done == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
call = zarr.import_ if dest.endswith(".zarr") else zarr.export
more = {"chunks": (1, 40, 10)} if dest.endswith(".zarr") else {}
call(source, dest, memory="8 KiB", resume=resume == "1", progress=tell, **more)
"""


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


def killed_until_done(file: Path, dest: Path, counts: list[int]) -> None:
    for number, count in enumerate(counts):
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, file, dest, str(count), "01"[number > 0]],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert ran.returncode == -9, ran.stderr


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.long)])
def test_kills_and_a_resume_give_what_one_import_gives(times: int, tmp_path: Path) -> None:
    file = source(tmp_path, "npy")
    counts = sorted(np.random.default_rng(times).integers(1, 60, times).tolist())
    killed_until_done(file, tmp_path / "x.zarr", counts)
    zarr.import_(file, tmp_path / "x.zarr", memory="8 KiB", chunks=(1, 40, 10), resume=True)
    zarr.import_(file, tmp_path / "y.zarr", memory="8 KiB", chunks=(1, 40, 10))
    one, other = (zarr.DirectoryStore(str(tmp_path / name)) for name in ("x.zarr", "y.zarr"))
    assert dict(one) == dict(other)
    killed_until_done(tmp_path / "y.zarr", tmp_path / "y.npy", counts[:2])
    zarr.export(tmp_path / "y.zarr", tmp_path / "y.npy", memory="8 KiB", resume=True)
    assert (tmp_path / "y.npy").read_bytes() == file.read_bytes()


MEMORY = """
import sys, zarrix as zarr
zarr.config.threads = 2
source, dest = sys.argv[1:3]
zarr.import_(source, dest, memory="4 MiB")
zarr.export(dest, sys.argv[3], memory="4 MiB")
# That of resource.getrusage has the memory of the parent before exec.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024)
"""
LONG = pytest.mark.long


@pytest.mark.parametrize(
    "format",
    ["npy", *(pytest.param(one, marks=LONG) for one in ("h5", "npz", "tif", "csv", "raw", "nc"))],
)
def test_memory_does_not_grow_with_the_source(format: str, tmp_path: Path) -> None:
    pytest.importorskip({"h5": "h5py", "tif": "tifffile", "nc": "h5py"}.get(format, "numpy"))
    z = zarr.open(tmp_path / "z.zarr", mode="w", shape=(4000, 2600), chunks=(100, 2600), dtype="f8")
    for start in range(0, 4000, 400):
        z[start : start + 400] = np.random.default_rng(start).normal(size=(400, 2600)).round(3)
    zarr.export(z, tmp_path / f"x.{format}")
    again = tmp_path / f"y.{format}"
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, tmp_path / f"x.{format}", tmp_path / "x.zarr", again],
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    # Twenty times the memory that the import may take.
    assert z.nbytes >= 19 * 4 * 2**20
    assert int(ran.stdout) <= 4 + 150
