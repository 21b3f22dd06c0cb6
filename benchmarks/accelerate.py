"""Arrays of zarr-python 3 on the engine: `accelerate` and the pipeline beside its own pipelines.

    python -m benchmarks.accelerate [--rounds 7] [--side 4096] [--only "one chunk"]

An array of side x side numbers of four bytes in chunks of 64 x 64 (zstd, v3), in a folder. In each
round each contender makes the same call; a row has how many times as long the default pipeline of
zarr-python takes: the median in wall time, the ratio of the least wall times of all rounds, and
that of the CPU time of the process. Other programs on the machine disturb the last two less. It
needs zarr-python 3.4 beside zarrix.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

PIPELINES = {
    "default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "pipeline": "zarrix.interop.Pipeline",
}
Call = Callable[[], Any]


def contenders(path: str) -> dict[str, tuple[Any, Callable[[], AbstractContextManager[Any]]]]:
    """An array each, and what is on while it is used."""
    import zarr
    import zarrix.interop

    assert zarrix.interop.Pipeline is not None  # registers it
    found: dict[str, Any] = {}
    for name, pipeline in PIPELINES.items():
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            found[name] = zarr.open_array(path, mode="r+"), nullcontext
    found["accelerate"] = zarr.open_array(path, mode="r+"), zarrix.interop.accelerate
    found["zarrix"] = zarrix.open_array(path, mode="r+"), nullcontext
    return found


def workloads(side: int, values: Any) -> dict[str, tuple[Callable[[Any], Any], int]]:
    """What is measured, and how often in a round."""
    half = side // 2
    one = (slice(64, 128), slice(64, 128))
    box = (slice(10, 300), slice(10, 300))
    every = (slice(None), slice(None))
    points = np.arange(0, side, 41)
    return {
        "read one chunk": (lambda z: z[one], 200),
        "read 25 chunks": (lambda z: z[box], 20),
        "read all chunks": (lambda z: z[every], 1),
        "read points": (lambda z: z.vindex[points, points], 5),
        "read rows": (lambda z: z.oindex[points[:9], slice(0, half)], 5),
        "write one chunk": (lambda z: z.__setitem__(one, values[one]), 20),
        "write 25 chunks": (lambda z: z.__setitem__(box, values[box]), 5),
        "write all chunks": (lambda z: z.__setitem__(every, values), 1),
    }


def seconds(call: Call, times: int) -> tuple[float, float]:
    """Wall time and CPU time of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        call()
    return (time.perf_counter() - wall) / times, (time.process_time() - cpu) / times


def measure(
    found: dict[str, Any], work: Callable[[Any], Any], times: int, rounds: int
) -> dict[str, tuple[float, float, float, float]]:
    """For each contender: ratios of the default's times to its own, and its seconds of a call.

    The ratios are the median of wall time, the one of the least wall times, and of all CPU time.
    """
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in found}
    for round_ in range(rounds + 1):
        for name, (array, context) in found.items():
            with context():
                taken = seconds(lambda array=array: work(array), times)
            if round_:
                measured[name].append(taken)
    rows = {}
    walls, cpus = (
        {name: [t[n] for t in taken] for name, taken in measured.items()} for n in (0, 1)
    )
    for name, wall in walls.items():
        middle = statistics.median(a / b for a, b in zip(walls["default"], wall, strict=True))
        least = min(walls["default"]) / min(wall)
        cpu = sum(cpus["default"]) / max(sum(cpus[name]), 1e-9)
        rows[name] = middle, least, cpu, min(wall)
    return rows


def main() -> None:
    import zarr

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--only", default="", help="rows whose names have this text")
    parser.add_argument("--folder", help="of the array (default: a temporary one)")
    arguments = parser.parse_args()
    side = arguments.side
    values = (np.arange(side * side, dtype="f4") // 64).reshape(side, side)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        array = zarr.create_array(folder, shape=values.shape, chunks=(64, 64), dtype="f4")
        array[...] = values
        found = contenders(folder)
        print(f"zarr-python {zarr.__version__}, {side} x {side}, {arguments.rounds} rounds")
        print("times as fast as its default pipeline: median, least, CPU (least microseconds)")
        for name, (work, times) in workloads(side, values).items():
            if arguments.only not in name:
                continue
            row = measure(found, work, times, arguments.rounds)
            parts = [
                f"{one} {wall:.1f} {least:.1f} {cpu:.1f} ({taken * 1e6:.0f})"
                for one, (wall, least, cpu, taken) in row.items()
            ]
            print(f"{name:17}", ", ".join(parts), flush=True)


if __name__ == "__main__":
    main()
