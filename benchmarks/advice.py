"""Advised layouts beside the best of a grid: ``python -m benchmarks.advice``.

Six made arrays and five accesses. A row prints how fast the advised layout is, as a part of the
best of all layouts that `advise` tried and of an exhaustive grid, from the least of interleaved
rounds; 1.00 is the best.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix.measure._access import accesses_of
from zarrix.measure._bench import compared

ACCESSES = ("crop", "frame", "series", "all", "points 20")
_LEAST_CHUNK = 16 * 2**10


def smooth(*shape: int) -> Any:
    """Waves along every axis."""
    grids = np.meshgrid(*(np.linspace(0, 7, n) for n in shape), indexing="ij", sparse=True)
    return sum(np.sin((i + 1) * grid) for i, grid in enumerate(grids))


def data() -> dict[str, Any]:
    """The arrays, by name."""
    rng = np.random.default_rng(11)
    return {
        "frames": (smooth(24, 3, 180, 320) * 40 + 128).astype("u1"),
        "volume": (smooth(64, 96, 128) * 1000).astype("i2"),
        "climate": smooth(365, 45, 90).astype("f4"),
        "table": rng.normal(size=(20_000, 12)),
        "signal": np.cumsum(rng.integers(-3, 4, 2_000_000)).astype("i4"),
        "masks": smooth(40, 200, 200) > 0,
    }


def words(access: str, value: Any) -> str:
    """The access, with the sides of a crop of this array."""
    if access == "crop":
        return "crop " + "x".join(str(max(1, n // 4)) for n in value.shape[-2:])
    return access


def row(name: str, value: Any, access: str, budget: float, folder: Path) -> float:
    """The part of the best speed that the advised layout has."""
    z = zarr.open(folder / "z.zarr", mode="w", shape=value.shape, dtype=value.dtype)
    z[...] = value
    text = words(access, value)
    advice = zarr.advise(z, access=text, budget=budget, seed=1)
    (one,) = accesses_of(text, value.shape)
    if advice.codec == "as it is":
        codec = z.compressor
    else:
        name_of = "lz4" if "lz4" in advice.codec else "zstd"
        codec = zarr.Blosc(cname=name_of, clevel=5, shuffle=1 if name_of == "lz4" else 2)
    grid = [sorted({n, max(1, n // 4), max(1, n // 16)}) for n in value.shape]
    mine = tuple(min(c, n) for c, n in zip(advice.chunks, value.shape, strict=True))
    tried = {tuple(min(c, n) for c, n in zip(one.chunks, value.shape, strict=True))
             for one in advice.trials}  # fmt: skip
    layouts = (
        {mine}
        | tried
        | {
            chunks
            for chunks in itertools.product(*grid)
            if math.prod(chunks) * value.dtype.itemsize >= _LEAST_CHUNK
        }
    )
    arrays = {}
    for number, chunks in enumerate(sorted(layouts)):
        made = zarr.open(
            folder / f"{number}.zarr", mode="w", shape=value.shape, dtype=value.dtype,
            chunks=chunks, compressor=codec,
        )  # fmt: skip
        made[...] = value
        arrays[chunks] = zarr.open(folder / f"{number}.zarr", mode="r")
    times = compared([*arrays.values()], [one], 0.05 * len(arrays), 7)
    seconds = dict(zip(arrays, times, strict=True))
    best = min(seconds, key=lambda chunks: seconds[chunks])
    part = seconds[best] / seconds[mine]
    print(f"{name:8} {access:10} {part:.2f}  advised {mine}, best {best}", flush=True)
    return part


def main() -> None:
    """Print all rows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--budget", type=float, default=4.0)
    arguments.add_argument("--threads", type=int, help="1 on a machine that is busy otherwise")
    arguments.add_argument("--only", nargs="+", help="such as table/crop climate/all")
    asked = arguments.parse_args()
    zarr.config.threads = asked.threads or zarr.config.threads
    found = []
    for name, value in data().items():
        for access in ACCESSES:
            if asked.only and f"{name}/{access.split()[0]}" not in asked.only:
                continue
            with tempfile.TemporaryDirectory() as folder:
                found.append(row(name, value, access, asked.budget, Path(folder)))
    for least in (0.9, 1 / 1.15):
        count = sum(part >= least for part in found)
        print(f"{count} of {len(found)} are at least {least:.2f} of the best")


if __name__ == "__main__":
    main()
