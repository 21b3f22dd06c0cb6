"""The same array in an Icechunk repository and as plain Zarr, read by the engine.

    python -m benchmarks.icechunk [--rounds 7]

1024 chunks of 16 KiB (zstd) in local folders. Each round makes every read of both; a row has the
least wall and CPU time of all rounds, and the ratios of the repository to the plain array. It needs
Icechunk and zarr-python, which write the repository.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import zarrix

READS: dict[str, Callable[[Any], Any]] = {
    "all chunks": lambda z: z[:],
    "32 times one chunk": lambda z: [z[i : i + 64, 64:128] for i in range(0, 2048, 64)],
    "a column of 32 chunks": lambda z: z[:, :64],
}


def made(folder: str) -> dict[str, str]:
    """The two copies."""
    import icechunk
    import zarr

    values = np.random.default_rng(0).integers(0, 1000, (2048, 2048)).astype("f4")
    storage = icechunk.local_filesystem_storage(f"{folder}/icechunk")
    session = icechunk.Repository.create(storage).writable_session("main")
    for store in (session.store, f"{folder}/plain"):
        root = zarr.open_group(store, mode="a")
        root.create_array("a", shape=values.shape, chunks=(64, 64), dtype="f4")[:] = values
    session.commit("values")
    return {"plain": f"{folder}/plain", "icechunk": f"{folder}/icechunk"}


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU time in milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        paths = made(folder)
        best: dict[tuple[str, str], tuple[float, float]] = {}
        for _ in range(rounds):
            for place, path in paths.items():
                calls = {"open": lambda path=path: zarrix.open(path, mode="r")["a"]}
                z = calls["open"]()
                calls |= {name: lambda read=read, z=z: read(z) for name, read in READS.items()}
                for name, call in calls.items():
                    old = best.get((name, place), (float("inf"), float("inf")))
                    new = timed(call)
                    best[name, place] = (min(old[0], new[0]), min(old[1], new[1]))
        print(f"{'':24}{'plain ms':>10}{'icechunk':>10}{'ratio':>8}{'of CPU':>8}")
        for name in ("open", *READS):
            plain, ours = best[name, "plain"], best[name, "icechunk"]
            ratios = f"{ours[0] / plain[0]:8.2f}{ours[1] / plain[1]:8.2f}"
            print(f"{name:24}{plain[0]:10.2f}{ours[0]:10.2f}{ratios}")


if __name__ == "__main__":
    main()
