"""xarray and dask on zarrix beside xarray and dask on zarr-python, in interleaved rounds.

    python -m benchmarks.with_xarray --rounds 15

It needs an environment with xarray, dask, zarr-python 3 and zarrix. Each row is one operation on
one dataset: our median time, that of ``engine="zarr"``, the median of their ratios in all rounds
with its quartiles, the ratio of the least times of all rounds, and that of the CPU time of all
threads. Other programs on the machine disturb the last two less.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

VARIABLES = 33


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="rows whose names have this text")
    parser.add_argument("--formats", type=int, nargs="*", default=[3, 2])
    parser.add_argument("--mib", type=int, default=64, help="decoded size of the large variable")
    given = parser.parse_args()
    # zarr-python names data types without a specification, and consolidated metadata of v3.
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for zarr_format in given.formats:
            path = make(Path(folder), zarr_format, given.mib)
            print(f"v{zarr_format}: {VARIABLES} variables, chunks (8, 64, 64), {versions()}")
            for row, (ours, theirs) in operations(path).items():
                if given.only not in row:
                    continue
                print(f"  {row:34} {compared(ours, theirs, given.rounds)}", flush=True)


def versions() -> str:
    """The releases that are compared."""
    import dask
    import xarray
    import zarr

    return f"zarr {zarr.__version__}, xarray {xarray.__version__}, dask {dask.__version__}"


def make(folder: Path, zarr_format: int, mib: int) -> str:
    """A dataset of 30 variables on 3 coordinates, one of which is large; by zarr-python."""
    import xarray as xr

    random = np.random.default_rng(0)
    times = max(16, mib * 2**20 // (256 * 256 * 4))
    coordinates = {"t": np.arange(times), "y": np.linspace(0, 1, 256), "x": np.linspace(0, 1, 256)}
    smooth = np.cumsum(random.standard_normal((times, 256, 256), dtype="f4"), axis=0)
    data = {"large": (("t", "y", "x"), smooth)}
    for number in range(VARIABLES - 4):
        data[f"v{number}"] = (("t", "b", "a"), smooth[:, :64, :64] * number)
    path = str(folder / f"v{zarr_format}.zarr")
    dataset = xr.Dataset(data, coordinates)
    chunks = {name: {"chunks": (8, 64, 64)} for name in dataset.data_vars}
    dataset.to_zarr(path, zarr_format=zarr_format, encoding=chunks)
    return path


def operations(path: str) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """What is measured, by row: ours and theirs."""
    import dask
    import dask.array
    import xarray as xr
    import zarrix.dask
    from zarrix.xarray._backend import ZarrixBackend

    dask.config.set(scheduler="threads")
    engines: tuple[Any, Any] = (ZarrixBackend, "zarr")
    opened = [xr.open_dataset(path, engine=one, cache=False) for one in engines]
    random = np.random.default_rng(1)
    sizes = opened[0]["large"].shape
    points = {
        name: xr.DataArray(random.integers(0, length, 1000), dims="p")
        for name, length in zip("tyx", sizes, strict=True)
    }

    def each(operation: Callable[[Any, Any], Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
        return tuple(  # type: ignore[return-value]
            (lambda d=dataset, e=engine: operation(d, e))
            for dataset, engine in zip(opened, engines, strict=True)
        )

    return {
        f"open {VARIABLES} variables": each(lambda _, e: xr.open_dataset(path, engine=e)),
        f"open and load {VARIABLES}": each(lambda _, e: xr.open_dataset(path, engine=e).load()),
        "load all, opened": each(lambda d, _: d.compute()),
        "point series": each(lambda d, _: d["large"].isel(y=100, x=77).values),
        "one point": each(lambda d, _: d["large"].isel(t=3, y=100, x=77).values),
        "box (8, 100, 100)": each(
            lambda d, _: d["large"].isel(t=slice(3, 11), y=slice(50, 150), x=slice(20, 120)).values
        ),
        "1000 points": each(lambda d, _: d["large"].isel(points).values),
        "dask from_zarr(...).mean()": (
            lambda: zarrix.dask.from_array(path, path="large").mean().compute(),
            lambda: dask.array.from_zarr(path, component="large").mean().compute(),
        ),
        "dask mean, same blocks": (
            lambda: zarrix.dask.from_array(path, (8, 64, 64), path="large").mean().compute(),
            lambda: dask.array.from_zarr(path, component="large").mean().compute(),
        ),
        "xarray chunks={} mean": each(
            lambda _, e: xr.open_dataset(path, engine=e, chunks={})["large"].mean().compute()
        ),
    }


def compared(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> str:
    """Medians of interleaved rounds; each side is called once before."""
    taken: tuple[list[float], list[float]] = ([], [])
    cpu = [0.0, 0.0]
    for function in (ours, theirs):
        function()
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        for side in order:
            gc.collect()
            began, began_cpu = time.perf_counter(), time.process_time()
            (ours, theirs)[side]()
            taken[side].append(time.perf_counter() - began)
            cpu[side] += time.process_time() - began_cpu
    mine, other = map(statistics.median, taken)
    ratios = sorted(b / a for a, b in zip(*taken, strict=True))
    middle = statistics.median(ratios)
    low, high = ratios[len(ratios) // 4], ratios[-len(ratios) // 4 - 1]
    return (
        f"{mine * 1e3:9.2f} ms {other * 1e3:9.2f} ms   {middle:5.2f} times ({low:.2f}-{high:.2f})"
        f"   least {min(taken[1]) / min(taken[0]):5.2f}   CPU {cpu[1] / cpu[0]:5.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
