"""Imports beside what else does them: ``python -m benchmarks.convert``.

Interleaved rounds in one process, files in a folder of the caller. A row has the least seconds of
the rounds, processor time in brackets, and both as ratios: the other's over ours, so that above 1
ours is faster. On a machine that is busy otherwise only processor time means anything.

- HDF5 (deflate, shuffle) to Zarr with Blosc, beside `zarrix.copy` (h5py decodes), and beside
  zarr-python, if it is installed, fed by h5py.
- HDF5 with its chunks kept, beside ``cp`` of the file.
- npy to Zarr, beside ``z[:] = memmap``.
- ``zarrix cp``, beside ``cp -r``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

_SHAPE = (24, 3, 720, 1280)
_CHUNKS = (1, 3, 360, 640)


def frames() -> Any:
    """Pictures that compress about as video frames do: smooth, with noise."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: _SHAPE[2], : _SHAPE[3]]
    smooth = (np.sin(x / 97) + np.cos(y / 61)) * 50 + 120
    noise = rng.normal(0, 3, _SHAPE)
    return np.clip(smooth + noise, 0, 255).astype("u1")


def timed(function: Callable[[], object]) -> tuple[float, float]:
    """The seconds that a call takes, and those of processors, in this process and its children."""
    begun, used = time.perf_counter(), sum(os.times()[:4])
    function()
    return time.perf_counter() - begun, sum(os.times()[:4]) - used


def clear(*paths: Path) -> None:
    """Remove what a round has written."""
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def row(name: str, rounds: int, ours: Callable[[], object], **others: Callable[[], object]) -> None:
    """Print the least of each column of a row."""
    taken: dict[str, list[tuple[float, float]]] = {"ours": [], **{other: [] for other in others}}
    for number in range(rounds):
        calls = [("ours", ours), *others.items()]
        for who, call in calls if number % 2 else reversed(calls):
            taken[who].append(timed(call))
    least = {
        who: [min(column) for column in zip(*each, strict=True)] for who, each in taken.items()
    }
    wall, processor = least.pop("ours")
    told = [f"{name:<22} ours {wall:6.3f} s ({processor:.2f})"]
    for who, (seconds, used) in least.items():
        ratios = f"{seconds / wall:.2f}x, {used / max(processor, 0.01):.2f}x"
        told.append(f"{who} {seconds:6.3f} s ({used:.2f}): {ratios}")
    print("  ".join(told), flush=True)


def main() -> None:
    """Print all rows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--path", default=None)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.path) as folder:
        run(Path(folder), asked.rounds)


def run(folder: Path, rounds: int) -> None:
    """Write the sources, and measure."""
    h5py = importlib.import_module("h5py")
    value = frames()
    np.save(folder / "x.npy", value)
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=value, chunks=_CHUNKS, compression="gzip", shuffle=True)
    codec = zarr.Blosc(cname="zstd", clevel=5, shuffle=zarr.Blosc.BITSHUFFLE)
    a, b, c = folder / "a.zarr", folder / "b.zarr", folder / "c.zarr"

    def copy() -> None:
        clear(b)
        with h5py.File(folder / "x.h5") as file:
            group = zarr.open_group(b, mode="w")
            zarr.copy(file["x"], group, compressor=codec, chunks=_CHUNKS)

    def by_zarr_python() -> None:
        clear(c)
        peer = importlib.import_module("zarr")
        blosc = importlib.import_module("zarr.codecs").BloscCodec
        with h5py.File(folder / "x.h5") as file:
            made = peer.create_array(
                c, shape=value.shape, dtype="u1", chunks=_CHUNKS,
                compressors=blosc(cname="zstd", clevel=5, shuffle="bitshuffle"),
            )  # fmt: skip
            for i in range(value.shape[0]):
                made[i] = file["x"][i]

    def convert(**options: Any) -> None:
        clear(a)
        zarr.import_(folder / "x.h5", a, **options)

    others = {"zarr.copy": copy}
    if importlib.util.find_spec("zarr") is not None:
        others["zarr-python"] = by_zarr_python
    row("HDF5 to Blosc", rounds, lambda: convert(chunks=_CHUNKS, compressor=codec), **others)

    def cp_file() -> None:
        subprocess.run(["cp", folder / "x.h5", folder / "copy.h5"], check=True)

    row("HDF5, chunks kept", rounds, lambda: convert(keep_chunks=True), cp=cp_file)

    def by_map() -> None:
        clear(b)
        z = zarr.create_array(
            b, shape=value.shape, dtype="u1", chunks=_CHUNKS, compressor=codec, overwrite=True
        )
        z[:] = np.load(folder / "x.npy", mmap_mode="r")

    def npy() -> None:
        clear(a)
        zarr.import_(folder / "x.npy", a, chunks=_CHUNKS, compressor=codec)

    row("npy to Blosc", rounds, npy, memmap=by_map)

    def cp_r() -> None:
        clear(c)
        subprocess.run(["cp", "-r", a, c], check=True)

    def ours_cp() -> None:
        clear(b)
        zarr.copy_store(a, b)

    row("cp of a store", rounds, ours_cp, **{"cp -r": cp_r})


if __name__ == "__main__":
    main()
