"""A loader of data on a server beside the same data on disk: ``python -m benchmarks.loader_far``.

The server is the tests' S3 server behind a proxy of 20 ms (`benchmarks.latency`). Epoch 1 fills the
cache on disk; epoch 2 and later ones use it, with ``frozen=True`` and without. Rounds are
interleaved with epochs of the local data; the least time of each counts, and processor time too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import zarrix as zarr
from zarrix import ml

from benchmarks.latency import behind
from benchmarks.loader_data import SEED, make_rows

ROOT = Path(__file__).parents[1]


def processor_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def epoch(loader: ml.Loader) -> tuple[float, float, float]:
    """Seconds until the first batch, of the whole epoch, and of the processor."""
    cpu, begun = processor_s(), time.perf_counter()
    batches = iter(loader)
    next(batches)
    first_s = time.perf_counter() - begun
    for _ in batches:
        pass
    return first_s, time.perf_counter() - begun, processor_s() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description="A loader of data on a server.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=20.0, help="milliseconds")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from servers.faulty import FaultyServer

    os.environ["NO_PROXY"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as made, FaultyServer() as server:
        folder = Path(made)
        make_rows(folder / "rows.zarr", 20_000)
        for path in (folder / "rows.zarr").rglob("*"):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                server.values[name] = path.read_bytes(), {}
        port = int(server.options["endpoint_url"].rpartition(":")[2])
        with behind(port, options.latency) as address:
            far = {**server.options, "endpoint_url": address, "cache": str(folder / "cache")}
            far["timeout"] = 120
            z = zarr.open_array("s3://bucket/rows.zarr", mode="r", storage_options=far)
            near = zarr.open_array(folder / "rows.zarr", mode="r")
            measure(server, {"far": z, "near": near}, options.rounds)


def measure(server: Any, arrays: dict[str, Any], rounds: int) -> None:
    def made(name: str, **more: Any) -> ml.Loader:
        return ml.Loader(ml.Rows({"x": arrays[name]}), 256, shuffle="block", seed=SEED, **more)

    loaders = {
        "local": made("near"),
        "far, frozen": made("far", frozen=True),
        "far": made("far"),
    }
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in loaders}
    asked: dict[str, list[int]] = {name: [] for name in loaders}
    for _ in range(rounds + 1):
        for name, loader in loaders.items():
            server.requests.clear()
            found[name].append(epoch(loader))
            asked[name].append(len(server.requests))
    local = min(one[1] for one in found["local"][1:])
    for name, times in found.items():
        first_s, epoch_s, cpu_s = (min(column) for column in zip(*times[1:], strict=True))
        line = {
            "loader": name,
            "epoch 1 s": times[0][1],
            "epoch 2 s": epoch_s,
            "first batch s": first_s,
            "cpu s": cpu_s,
            "of local speed": local / epoch_s,
            "requests in epoch 1": asked[name][0],
            "requests in epoch 2": asked[name][1],
        }
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()}))


if __name__ == "__main__":
    main()
