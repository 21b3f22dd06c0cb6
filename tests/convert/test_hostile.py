"""Truncated and hostile files end in one error that says what is wrong, within 64 MiB."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import free_threading
import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.errors import ConversionError, ZarrixError


def npy(shape: Any, descr: str = "<f8", data: bytes = b"") -> bytes:
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def bomb() -> bytes:
    """A small archive of a large array whose header says that it is small."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy((4,)) + bytes(2**25))
    return out.getvalue()


def tar(name: str, value: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(value)
        archive.addfile(member, io.BytesIO(value))
    return out.getvalue()


def tensors(header: Any) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


HOSTILE: dict[str, tuple[str, bytes]] = {
    "npy, cut": ("x.npy", npy((1000,))),
    "npy, of 2**60 elements": ("x.npy", npy((2**60,))),
    "npy, of a negative shape": ("x.npy", npy((-1,))),
    "npy, of objects": ("x.npy", npy((1,), "|O", b"x" * 8)),
    "npy, no header": ("x.npy", b"\x93NUMPY\x01\x00\xff\xff{"),
    "npy, nested": ("x.npy", b"\x93NUMPY\x01\x00\x40\x9c" + b"[" * 40000),
    "npy, version 9": ("x.npy", b"\x93NUMPY\x09\x00" + bytes(100)),
    "empty": ("x.npy", b""),
    "npz, a bomb": ("x.npz", bomb()),
    "npz, not a zip": ("x.npz", b"PK\x03\x04" + bytes(60)),
    "hdf5, cut": ("x.h5", b"\x89HDF\r\n\x1a\n" + bytes(40)),
    "hdf5, noise": ("x.h5", bytes(range(256)) * 8),
    "netcdf, cut": ("x.nc", b"CDF\x01" + bytes(4)),
    "netcdf, 2**31 dimensions": ("x.nc", b"CDF\x01" + struct.pack(">iii", 0, 10, 2**31 - 1)),
    "safetensors, a header of 2**62": ("x.safetensors", struct.pack("<Q", 2**62)),
    "safetensors, outside": (
        "x.safetensors",
        tensors({"a": {"dtype": "F32", "shape": [4], "data_offsets": [2**40, 2**40 + 16]}}),
    ),
    "safetensors, upwards": (
        "x.safetensors",
        tensors({"../a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}),
    ),
    "tiff, noise": ("x.tif", b"II*\x00" + b"\xff" * 64),
    "tiff, a loop": ("x.tif", b"II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00"),
    "png, noise": ("x.png", b"\x89PNG\r\n\x1a\n" + bytes(64)),
    "png, of 2**31 pixels a side": (
        "x.png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 2**31 - 1, 2**31 - 1) + bytes(13),
    ),
    "tar, noise": ("x.tar", bytes(range(256)) * 8),
    "tar, upwards": ("x.tar", tar("../../etc/x.npy", b"x")),
    "text, a line without end": ("x.csv", b"1," * 2**24),
    "text, rows of two lengths": ("x.csv", b"1,2\n3\n"),
    "text, not UTF-8": ("x.txt", b"\xff\xfe\x00"),
    "pickle": ("x.pkl", b"cos\nsystem\n(S'touch hacked'\ntR."),
    "raw, half an element": ("x.raw", b"123"),
    "video, noise": ("x.mkv", bytes(range(256)) * 8),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_sentence_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    file, value = HOSTILE[name]
    needs = {".h5": "h5py", ".tif": "tifffile", ".png": "PIL", ".mkv": "av"}
    pytest.importorskip(needs.get(Path(file).suffix, "numpy"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_bytes(value)
    options = ["--option", "dtype=f4"] if file == "x.raw" else []
    assert main(["import", file, "x.zarr", *options]) == 1
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.startswith("zarrix: ")
    assert told.err.rstrip("\n").count("\n") == 0
    assert sorted(os.listdir(tmp_path)) == [file]


def test_hostile_files_take_little_memory(tmp_path: Path) -> None:
    for index, (file, value) in enumerate(HOSTILE.values()):
        if not file.endswith((".tif", ".png", ".mkv", ".h5")):
            (tmp_path / f"{index}{Path(file).suffix}").write_bytes(value)
    code = """
import pathlib, sys, zarrix as zarr
from zarrix import convert
import numpy as np
np.save("warm.npy", np.zeros(3)); zarr.import_("warm.npy", "warm.zarr")
import zipfile, tarfile, numcodecs.blosc
def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1])
before = peak()
for file in sorted(pathlib.Path(".").iterdir()):
    if file.suffix in (".zarr",) or file.name == "warm.npy":
        continue
    try:
        zarr.import_(file, "x.zarr", **({"dtype": "f4"} if file.suffix == ".raw" else {}))
    except (ValueError, OSError) as error:
        pass
    else:
        sys.exit(f"{file} was imported")
print((peak() - before) // 1024)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=300,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) <= 64 * free_threading.MEMORY


@pytest.mark.parametrize("format", ["npy", "npz", "safetensors", "h5", "csv"])
def test_every_truncation_is_an_error_or_what_was_written(format: str, tmp_path: Path) -> None:
    if format == "h5":
        pytest.importorskip("h5py")
    value = np.arange(600, dtype="f8").reshape(20, 30)
    group = zarr.group()
    group["x"] = value
    one = format in ("npy", "csv")
    source = tmp_path / f"x.{format}"
    zarr.export(group["x"] if one else group, source)
    whole = source.read_bytes()
    rng = np.random.default_rng(1)
    for length in sorted({*rng.integers(0, len(whole), 25).tolist()}):
        source.write_bytes(whole[:length])
        try:
            zarr.import_(source, tmp_path / "y.zarr", overwrite=True)
        except (ZarrixError, OSError):
            continue
        if format == "csv":
            continue
        found = zarr.open(tmp_path / "y.zarr", mode="r")
        assert np.array_equal((found if one else found["x"])[...], value)


def test_a_destination_that_exists_stays(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    zarr.save(tmp_path / "x.zarr", np.arange(5))
    with pytest.raises(ValueError, match="exists; replace it with overwrite=True"):
        zarr.import_(tmp_path / "x.npy", tmp_path / "x.zarr")
    assert zarr.load(tmp_path / "x.zarr").tolist() == [0, 1, 2, 3, 4]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"notes\.txt"):
        zarr.import_(tmp_path / "x.npy", tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    (tmp_path / "y.npy").write_bytes(b"")
    with pytest.raises(ValueError, match=r"y\.npy exists"):
        zarr.export(tmp_path / "x.zarr", tmp_path / "y.npy")


def test_options_that_a_format_does_not_have_are_errors_with_a_suggestion(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    with pytest.raises(TypeError, match="did you mean 'allow_pickle'"):
        zarr.import_(tmp_path / "x.npy", tmp_path / "x.zarr", allow_pickles=True)
    with pytest.raises(ConversionError, match="did you mean 'npy'"):
        zarr.import_(tmp_path / "x.npy", tmp_path / "x.zarr", format="nppy")


def test_a_pickle_is_imported_if_the_caller_insists(tmp_path: Path) -> None:
    # Import: only this test makes a pickle.
    import pickle

    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"a": np.arange(3)}))
    zarr.import_(tmp_path / "x.pkl", tmp_path / "x.zarr", allow_pickle=True)
    assert zarr.open(tmp_path / "x.zarr", mode="r")["a"][...].tolist() == [0, 1, 2]
