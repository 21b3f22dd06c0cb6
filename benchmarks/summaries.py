"""Statistics of an array: `jobs.statistics` beside dask.

    python -m benchmarks.summaries [--rounds 3] [--mib 1024] [--python PATH]

The array is that of `benchmarks.jobs`: time steps of float32 in chunks of (4, 512, 512), lz4. Each
contender finds the least, the largest, the mean, the standard deviation, a histogram of 256 bins,
and three quantiles. Ours and dask's means and extremes are compared; dask's quantiles are
approximate, as ours. dask computes with its threads, in one pass over the array. The last row reads
the array, chunk by chunk, and does nothing with it. Rounds are interleaved, every run is a process
of its own, and imports are not counted. It needs an interpreter that has dask and zarr-python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.jobs import make

ROOT = Path(__file__).resolve().parents[1]
QUANTILES = (0.01, 0.5, 0.99)
Found = list[float]


def ours(source: str) -> Callable[[], Found]:
    """`jobs.statistics` in this process."""
    from zarrix import jobs

    def call() -> Found:
        found = jobs.statistics(source, bins=256, range=(-4, 1100), quantiles=QUANTILES)
        assert found.histogram is not None
        assert found.histogram.sum() == found.count
        return [found.min, found.max, found.mean, found.std, *map(found.quantile, QUANTILES)]

    return call


def with_dask(source: str) -> Callable[[], Found]:
    """Reductions, a histogram and approximate percentiles of dask, computed together."""
    import dask
    import dask.array as da

    def call() -> Found:
        x = da.from_zarr(source)
        histogram, _ = da.histogram(x, bins=256, range=(-4, 1100))
        quantiles = da.percentile(x.ravel(), [100 * one for one in QUANTILES])
        numbers = x.min(), x.max(), x.mean(dtype="f8"), x.std(dtype="f8")
        *found, counts, values = dask.compute(*numbers, histogram, quantiles)
        assert counts.sum() == x.size
        return [*map(float, found), *map(float, values)]

    return call


def plain(source: str) -> Callable[[], Found]:
    """A read of all chunks."""
    import zarrix as zarr

    def call() -> Found:
        z = zarr.open(source, mode="r")
        out = np.empty((32, *z.shape[1:]), z.dtype)
        for begin in range(0, len(z), 32):
            z.get_basic_selection(slice(begin, begin + 32), out=out)
        return []

    return call


CONTENDERS = {"zarrix": ours, "dask": with_dask, "read alone": plain}


def run_one(name: str, source: str) -> None:
    """Measure one contender, and print what was found."""
    call = CONTENDERS[name](source)
    begun, before = time.perf_counter(), time.process_time()
    found = call()
    seconds, busy = time.perf_counter() - begun, time.process_time() - before
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps({"seconds": seconds, "busy": busy, "MiB": peak, "found": found}))


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--python", default=sys.executable, help="has dask and zarr-python")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "SOURCE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(*options.one)
        return
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    answers: dict[str, Found] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        source = make(Path(folder), options.mib)
        for _ in range(options.rounds):
            for name, rounds in runs.items():
                command = [options.python, "-W", "ignore", "-m", "benchmarks.summaries", "--one"]
                ran = subprocess.run(
                    [*command, name, str(source)],
                    cwd=ROOT,
                    env=environment,
                    stdout=subprocess.PIPE,
                    check=True,
                    text=True,
                )
                one = json.loads(ran.stdout.splitlines()[-1])
                answers[name] = one.pop("found")
                rounds.append(one)
                print(name, one, file=sys.stderr, flush=True)
    np.testing.assert_allclose(answers["zarrix"][:4], answers["dask"][:4], rtol=1e-5)
    # Those of dask are off by a hundredth of the range.
    np.testing.assert_allclose(answers["zarrix"][4:], answers["dask"][4:], atol=0.01 * options.mib)
    least = {
        name: [min(one[what] for one in rounds) for what in ("seconds", "busy", "MiB")]
        for name, rounds in runs.items()
    }
    print(f"{options.mib} MiB of float32, {options.rounds} rounds, the least of each")
    print("| | seconds | times ours | processor s | times ours | MiB |")
    print("|---|---|---|---|---|---|")
    own = least["zarrix"]
    for name, (seconds, busy, peak) in least.items():
        print(
            f"| {name} | {seconds:.2f} | {seconds / own[0]:.2f} | {busy:.2f} | "
            f"{busy / own[1]:.2f} | {peak:.0f} |"
        )


if __name__ == "__main__":
    main()
