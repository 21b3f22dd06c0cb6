"""Imports beside what else does them: ``python -m benchmarks.convert``.

Interleaved rounds in one process, files in a folder of the caller. A row has the least seconds of
the rounds, processor time in brackets, and both as ratios: the other's over ours, so that above 1
ours is faster. On a machine that is busy otherwise only processor time means anything.

- HDF5 (deflate, shuffle) to Zarr with Blosc (the default: LZ4; and Zstandard, whose encoder takes
  most of the time of both), beside `zarrix.copy` (h5py decodes), and beside zarr-python, if it is
  installed, fed by h5py.
- HDF5 with its chunks kept, beside ``cp`` of the file.
- npy to Zarr, beside ``z[:] = memmap``.
- ``zarrix cp``, beside ``cp -r``, and beside rclone and zarrs_reencode, where they are installed.
- ``zarrix rechunk`` to another codec and to other chunks, beside zarrs_reencode, where it is
  installed. What both stored is compared first.

``--only`` runs the rows whose names begin so.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix import jobs

_SHAPE = (24, 3, 720, 1280)
_CHUNKS = (1, 3, 360, 640)
_REENCODE = "zarrs_reencode"

_only = [""]
"""How the names of the rows begin that are run."""


def frames() -> Any:
    """Pictures that compress about as video frames do: smooth, with noise."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: _SHAPE[2], : _SHAPE[3]]
    smooth = (np.sin(x / 97) + np.cos(y / 61)) * 50 + 120
    noise = rng.normal(0, 3, _SHAPE)
    return np.clip(smooth + noise, 0, 255).astype("u1")


def timed(function: Callable[[], object], made: Path) -> tuple[float, float]:
    """The seconds that a call takes, and those of processors, in this process and its children.

    What an earlier round has ``made`` is removed before, and what was written is on the disk.
    """
    shutil.rmtree(made, ignore_errors=True)
    made.unlink(missing_ok=True)
    os.sync()
    begun, used = time.perf_counter(), _used()
    function()
    return time.perf_counter() - begun, _used() - used


def _used() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def row(name: str, rounds: int, made: Path, **columns: Callable[[], object]) -> None:
    """Print the least of each column of a row; ``ours`` is the first."""
    if not name.startswith(tuple(_only)):
        return
    taken: dict[str, list[tuple[float, float]]] = {who: [] for who in columns}
    for number in range(rounds):
        calls = list(columns.items())
        for who, call in calls if number % 2 else reversed(calls):
            taken[who].append(timed(call, made))
    least = {
        who: [min(column) for column in zip(*each, strict=True)] for who, each in taken.items()
    }
    wall, processor = least.pop("ours")
    told = [f"{name:<24} ours {wall:6.3f} s ({processor:.3f})"]
    for who, (seconds, used) in least.items():
        ratios = f"{seconds / wall:.2f}x, {used / processor:.2f}x"
        told.append(f"{who} {seconds:6.3f} s ({used:.3f}): {ratios}")
    print("  ".join(told), flush=True)


def main() -> None:
    """Print all rows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--path", default=None)
    arguments.add_argument("--only", nargs="+", default=[""])
    asked = arguments.parse_args()
    _only[:] = asked.only
    with tempfile.TemporaryDirectory(dir=asked.path) as folder:
        run(Path(folder), asked.rounds)


def kinds() -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Values and chunks by name: pictures, what a sensor measures, and classes of pixels."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:512, :512]
    drift = np.cumsum(rng.normal(0, 0.05, 48))
    field = (20 + np.sin(x / 40) * np.cos(y / 55))[None] + drift[:, None, None]
    labels = np.zeros((24, 720, 1280), "i4")
    for i in range(24):
        labels[i] = (np.sin(np.mgrid[:720, :1280][1] / 90 + i) * 4).astype("i4") * 7
    return {
        "pictures, u1": (frames(), _CHUNKS),
        "sensor, i2": ((field * 200 + rng.normal(0, 2, field.shape)).astype("i2"), (4, 256, 256)),
        "sensor, f4": (field.round(2).astype("f4"), (4, 256, 256)),
        "labels, i4": (labels, (1, 360, 640)),
    }


def from_hdf5(folder: Path, rounds: int, codec: Any) -> None:
    """Rows of HDF5 with deflate and shuffle to Blosc, at the chunks of the source."""
    h5py = importlib.import_module("h5py")
    peer_shuffle = ("noshuffle", "shuffle", "bitshuffle")[codec.shuffle]
    source, dest = folder / "x.h5", folder / "dest.zarr"
    for name, (value, chunks) in kinds().items():
        with h5py.File(source, "w") as file:
            file.create_dataset("x", data=value, chunks=chunks, compression="gzip", shuffle=True)

        def convert(chunks: Any = chunks) -> None:
            zarr.import_(source, dest, chunks=chunks, compressor=codec)

        def copy(chunks: Any = chunks) -> None:
            with h5py.File(source) as file:
                group = zarr.open_group(dest, mode="w")
                zarr.copy(file["x"], group, compressor=codec, chunks=chunks)

        def by_zarr_python(value: Any = value, chunks: Any = chunks) -> None:
            peer = importlib.import_module("zarr")
            blosc = importlib.import_module("zarr.codecs").BloscCodec
            with h5py.File(source) as file:
                made = peer.create_array(
                    dest, shape=value.shape, dtype=value.dtype, chunks=chunks,
                    compressors=blosc(
                        cname=codec.cname, clevel=codec.clevel, shuffle=peer_shuffle
                    ),
                )  # fmt: skip
                for i in range(0, value.shape[0], chunks[0]):
                    made[i : i + chunks[0]] = file["x"][i : i + chunks[0]]

        columns = {"ours": convert, "zarr.copy": copy}
        if importlib.util.find_spec("zarr") is not None:
            columns["zarr-python"] = by_zarr_python
        row(f"HDF5 {name}, {codec.cname}", rounds, dest, **columns)


def run(folder: Path, rounds: int) -> None:
    """Write the sources, and measure."""
    h5py = importlib.import_module("h5py")
    codec = zarr.Blosc(cname="zstd", clevel=5, shuffle=zarr.Blosc.BITSHUFFLE)
    for one in (zarr.Blosc(), codec):
        from_hdf5(folder, rounds, one)
    value = frames()
    np.save(folder / "x.npy", value)
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=value, chunks=_CHUNKS, compression="gzip", shuffle=True)
    dest = folder / "dest.zarr"

    def keep() -> None:
        zarr.import_(folder / "x.h5", dest, keep_chunks=True)

    def cp_file() -> None:
        subprocess.run(["cp", folder / "x.h5", dest], check=True)

    row("HDF5, chunks kept", rounds, dest, ours=keep, cp=cp_file)

    def npy() -> None:
        zarr.import_(folder / "x.npy", dest, chunks=_CHUNKS, compressor=codec)

    def by_map() -> None:
        z = zarr.create_array(dest, shape=value.shape, dtype="u1", chunks=_CHUNKS, compressor=codec)
        z[:] = np.load(folder / "x.npy", mmap_mode="r")

    row("npy to Blosc", rounds, dest, ours=npy, memmap=by_map)
    of_stores(folder, rounds, value, codec)
    if shutil.which(_REENCODE):
        reencoded(folder, rounds, value)
    else:
        print(f"{_REENCODE} is not installed: its rows did not run")


def of_stores(folder: Path, rounds: int, value: Any, codec: Any) -> None:
    """Rows of copies of stores: one of 96 chunks, and one of 9600 small ones."""
    dest, copies = folder / "dest.zarr", {"96 chunks": _CHUNKS, "9600 chunks": (1, 1, 36, 64)}
    for name, chunks in copies.items():
        source = folder / f"{name.split()[0]}.zarr"
        part = value if chunks == _CHUNKS else value[:8]
        zarr.open(
            source, mode="w", shape=part.shape, dtype="u1", chunks=chunks, compressor=codec
        )[...] = part  # fmt: skip

        def ours(source: Path = source) -> None:
            zarr.copy_store(source, dest)

        def cp_r(source: Path = source) -> None:
            subprocess.run(["cp", "-r", source, dest], check=True)

        def rclone(source: Path = source) -> None:
            subprocess.run(["rclone", "copy", source, dest], check=True, capture_output=True)

        columns = {"ours": ours, "cp -r": cp_r}

        def reencode(source: Path = source) -> None:
            subprocess.run([_REENCODE, source, dest], check=True, capture_output=True)

        if shutil.which("rclone"):
            columns["rclone"] = rclone
        if shutil.which(_REENCODE):
            columns[_REENCODE] = reencode
        row(f"cp, {name}", rounds, dest, **columns)


def reencoded(folder: Path, rounds: int, value: Any) -> None:
    """Rows of one array to another codec, and to other chunks."""
    source, dest = folder / "zstd.zarr", folder / "dest.zarr"
    zarr.create_array(
        source, shape=value.shape, dtype="u1", chunks=_CHUNKS, compressors=zarr.Zstd(1)
    )[...] = value  # fmt: skip
    blosc = {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 1, "blocksize": 0}
    theirs = json.dumps([{"name": "blosc", "configuration": blosc}])
    ours = zarr.Blosc(cname="lz4", clevel=5, shuffle=zarr.Blosc.BITSHUFFLE)
    for name, chunks in {"same chunks": _CHUNKS, "planes": (1, 1, 720, 1280)}.items():

        def rechunk(chunks: Any = chunks) -> None:
            jobs.rechunk(source, dest, chunks=chunks, compressors=ours)

        def reencode(chunks: Any = chunks) -> None:
            shape = ",".join(map(str, chunks))
            command = [_REENCODE, "-c", shape, "--bytes-to-bytes-codecs", theirs, source, dest]
            subprocess.run(command, check=True, capture_output=True)

        columns: dict[str, Callable[[], object]] = {"ours": rechunk, _REENCODE: reencode}
        for who, call in columns.items():
            shutil.rmtree(dest, ignore_errors=True)
            call()
            if not np.array_equal(zarr.open_array(dest, mode="r")[...], value):
                raise AssertionError(f"{who} has stored other values")
        row(f"codec, {name}", rounds, dest, **columns)


if __name__ == "__main__":
    main()
