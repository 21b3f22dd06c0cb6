"""Pyramids of an image: `jobs.pyramid` beside ome-zarr-py and ngff-zarr.

    python -m benchmarks.pyramids [--rounds 3] [--side 8192] [--python PATH]

The image is side x side integers of two bytes, in chunks of 512 x 512 (v3, zstd), in a folder.
Each contender reads it and writes an OME-Zarr 0.5 group with that image and three smaller levels,
in the same chunks, each level the mean of blocks of 2 x 2. Rounds are interleaved, every run is a
process of its own, and imports are not counted. What the one before has written is on the disk
before the next begins. A row has the least seconds and the least processor
time of the rounds, how many times as long as ours each is, and the most memory of a run. It needs
the environment "ome" of tests/interop/setup, or another interpreter with these libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "tests" / "interop" / "envs" / "ome" / "bin" / "python"
CHUNK = 512
LEVELS = 4


def ours(source: str, dest: str) -> Any:
    """`jobs.pyramid` in one process."""
    from zarrix import jobs

    return lambda: jobs.pyramid(source, dest, levels=LEVELS, ome="0.5")


def ome_zarr(source: str, dest: str) -> Any:
    """`write_image` of ome-zarr-py, from a dask array."""
    import dask.array as da
    import zarr
    from ome_zarr.format import FormatV05
    from ome_zarr.scale import Methods
    from ome_zarr.writer import write_image

    def call() -> None:
        group = zarr.open_group(dest, mode="w", zarr_format=3)
        write_image(
            da.from_zarr(source),
            group,
            axes="yx",
            fmt=FormatV05(),
            scale_factors=[2, 4, 8],
            method=Methods.LOCAL_MEAN,
            storage_options={"chunks": (CHUNK, CHUNK)},
        )

    return call


def ngff_zarr(source: str, dest: str) -> Any:
    """`to_multiscales` and `to_ngff_zarr`, from a dask array."""
    import dask.array as da
    import ngff_zarr as nz

    def call() -> None:
        image = nz.to_ngff_image(da.from_zarr(source), dims=["y", "x"])
        scaled = nz.to_multiscales(
            image, scale_factors=[2, 4, 8], chunks=CHUNK, method=nz.Methods.DASK_BIN_SHRINK
        )
        nz.to_ngff_zarr(dest, scaled, version="0.5", chunks_per_shard=None)

    return call


CONTENDERS = {"zarrix": ours, "ome-zarr": ome_zarr, "ngff-zarr": ngff_zarr}


def run_one(name: str, source: str, dest: str) -> None:
    """Measure one contender, and print what was found."""
    call = CONTENDERS[name](source, dest)
    begun, before = time.perf_counter(), time.process_time()
    call()
    seconds, busy = time.perf_counter() - begun, time.process_time() - before
    # The peak of this program alone: that of getrusage has the one that started it, too.
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps({"seconds": seconds, "busy": busy, "MiB": peak}))


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--python", default=str(PYTHON))
    parser.add_argument("--one", nargs=3, metavar=("NAME", "SOURCE", "DEST"))
    arguments = parser.parse_args()
    if arguments.one:
        run_one(*arguments.one)
        return
    import zarrix as zarr

    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    with tempfile.TemporaryDirectory() as folder:
        source, side = f"{folder}/image", arguments.side
        y, x = np.mgrid[:side, :side].astype("f4")
        noise = np.random.default_rng(0).normal(0, 30, (side, side))
        values = (1000 + 500 * np.sin(x / 90) * np.cos(y / 70) + noise).astype("u2")
        zarr.create_array(source, data=values, chunks=(CHUNK, CHUNK))
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
        for _ in range(arguments.rounds):
            for name, found in runs.items():
                dest = f"{folder}/{name}"
                os.sync()
                command = [arguments.python, "-W", "ignore", "-m", "benchmarks.pyramids", "--one"]
                ran = subprocess.run(
                    [*command, name, source, dest],
                    cwd=ROOT,
                    env=environment,
                    stdout=subprocess.PIPE,
                    check=True,
                    text=True,
                )
                found.append(json.loads(ran.stdout.splitlines()[-1]))
                shutil.rmtree(dest)
    print(f"{side} x {side} uint16, {LEVELS} levels, {arguments.rounds} rounds, {sys.platform}")
    print("| | seconds | times ours | processor s | times ours | MiB |")
    print("|---|---|---|---|---|---|")
    least = {
        name: [min(one[what] for one in found) for what in ("seconds", "busy")]
        for name, found in runs.items()
    }
    for name, found in runs.items():
        cells = [
            f"{own:.2f} | {own / ours:.1f}"
            for own, ours in zip(least[name], least["zarrix"], strict=True)
        ]
        print(f"| {name} | {' | '.join(cells)} | {max(one['MiB'] for one in found):.0f} |")


if __name__ == "__main__":
    main()
