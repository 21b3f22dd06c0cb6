"""A batch of aligned crops of three arrays: one call of `read_many` beside what people write today.

    python -m benchmarks.many [--rounds 15]

The batch has 16 crops of 256 pixels of 8-bit RGB, and the same places of two half-precision arrays
of half the resolution. Rounds are interleaved; each round has other crops, the same for all. Times
are medians; the ratio is the median of the rounds' ratios to the loop, in time and in processor
time, which says the same on a busy machine. Every batch is compared with that of the loop first.
TensorStore takes part where it is installed; all its reads of a batch are in flight at once.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import zarrix as zarr

BATCH, CROP, ROWS, COLUMNS, FRAMES = 16, 256, 1080, 1920, 8
CHUNK = (360, 640)
SCALED = {"dtype": "float32", "scale": 1 / 255}


def make(folder: str) -> None:
    """Frames that compress as photographs do: smooth, with noise."""
    random = np.random.default_rng(0)
    codec = zarr.Blosc(cname="zstd", clevel=5, shuffle=zarr.Blosc.BITSHUFFLE)
    root = zarr.open_group(folder, mode="w")
    for name, channels, scale, dtype in (
        ("rgb", 3, 1, "u1"),
        ("flow", 2, 2, "f2"),
        ("depth", 1, 2, "f2"),
    ):
        rows, columns = np.mgrid[0:ROWS:scale, 0:COLUMNS:scale]
        smooth = np.sin(rows / 37) * np.cos(columns / 53) * 100 + 120
        shape = (FRAMES, channels, *rows.shape)
        z = root.create_dataset(
            name, shape=shape, chunks=(1, channels, *CHUNK), dtype=dtype, compressor=codec
        )
        for number in range(FRAMES):
            noise = random.normal(0, 2, (channels, *rows.shape))
            z[number] = (smooth + noise).astype(dtype)


def starts_of(number: int) -> tuple[Any, Any]:
    random = np.random.default_rng(number)
    fine = np.zeros((BATCH, 4), np.int64)
    fine[:, 0] = random.integers(0, FRAMES, BATCH)
    for axis, size in ((2, ROWS), (3, COLUMNS)):
        fine[:, axis] = 2 * random.integers(0, (size - CROP) // 2, BATCH)
    return fine, fine // [1, 1, 2, 2]


SHAPES = {"rgb": (1, 3, CROP, CROP), "flow": (1, 2, CROP // 2, CROP // 2)}
SHAPES["depth"] = (1, 1, CROP // 2, CROP // 2)


def contenders(folder: str) -> dict[str, Callable[[int, Any, Any], None]]:
    """Each fills a batch as stored, or in single precision if that is not None."""
    root = zarr.open_group(folder, mode="r")
    arrays = {name: root[name] for name in SHAPES}

    def places(number: int) -> dict[str, Any]:
        fine, coarse = starts_of(number)
        return {"rgb": fine, "flow": coarse, "depth": coarse}

    def box(name: str, start: Any) -> tuple[slice, ...]:
        ends = start + SHAPES[name]
        return tuple(slice(int(a), int(b)) for a, b in zip(start, ends, strict=True))

    def loop(number: int, out: Any, floats: Any) -> None:
        for name, starts in places(number).items():
            for index, start in enumerate(starts):
                out[name][index] = arrays[name][box(name, start)]
        as_floats(out, floats)

    def windows(number: int, out: Any, floats: Any) -> None:
        for name, starts in places(number).items():
            arrays[name].read_windows(starts, SHAPES[name], out[name])
        as_floats(out, floats)

    def many(number: int, out: Any, floats: Any) -> None:
        into = out if floats is None else floats
        entries = [(arrays[n], s, SHAPES[n], into[n]) for n, s in places(number).items()]
        convert = None if floats is None else [SCALED, "float32", "float32"]
        zarr.read_many(entries, convert=convert)

    found: dict[str, Callable[[int, Any, Any], None]]
    found = {"loop of z[...]": loop, "read_windows, 3 calls": windows, "read_many": many}
    if importlib.util.find_spec("tensorstore"):
        found["TensorStore"] = of_tensorstore(folder, places, box)
    return found


def of_tensorstore(folder: str, places: Any, box: Any) -> Callable[[int, Any, Any], None]:
    # Optional: a peer.
    import tensorstore

    opened = {
        name: tensorstore.open(
            {"driver": "zarr", "kvstore": f"file://{folder}/{name}"}, read=True
        ).result()
        for name in SHAPES
    }

    def read(number: int, out: Any, floats: Any) -> None:
        waiting = [
            (out[name][index], opened[name][box(name, start)].read())
            for name, starts in places(number).items()
            for index, start in enumerate(starts)
        ]
        for window, future in waiting:
            window[...] = future.result()
        as_floats(out, floats)

    return read


def as_floats(out: Any, floats: Any) -> None:
    if floats is not None:
        np.multiply(out["rgb"], np.float32(1 / 255), out=floats["rgb"])
        floats["flow"][...] = out["flow"]
        floats["depth"][...] = out["depth"]


def measure(calls: dict[str, Callable[[int, Any, Any], None]], rounds: int, title: str) -> None:
    out = {n: np.zeros((BATCH, *s), "u1" if n == "rgb" else "f2") for n, s in SHAPES.items()}
    floats = (
        {n: np.zeros((BATCH, *s), "f4") for n, s in SHAPES.items()} if "float" in title else None
    )
    filled = out if floats is None else floats
    wanted: dict[str, Any] = {}
    for name, call in calls.items():
        call(0, out, floats)
        wanted = wanted or {n: values.copy() for n, values in filled.items()}
        if not all(np.allclose(filled[n], wanted[n], rtol=1e-6) for n in SHAPES):
            raise AssertionError(f"{name} and the loop read different windows")
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(1, rounds + 1):
        for name in sorted(calls, key=lambda name: hash((name, number))):
            began, spent = time.perf_counter(), time.process_time()
            calls[name](number, out, floats)
            took[name].append((time.perf_counter() - began, time.process_time() - spent))
    base = next(iter(took.values()))
    for name, times in took.items():
        seconds = statistics.median(one for one, _ in times)
        ratio, less = (
            statistics.median(a[which] / b[which] for a, b in zip(base, times, strict=True))
            for which in (0, 1)
        )
        print(f"{title:>10} {name:>24} {seconds * 1e3:9.2f} {ratio:6.2f} {less:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'':>10} {'':>24} {'batch ms':>9} {'ratio':>6} {'processor':>9}")
    with tempfile.TemporaryDirectory() as folder:
        make(folder)
        calls = contenders(folder)
        measure(calls, rounds, "as stored")
        measure(calls, rounds, "as floats")


if __name__ == "__main__":
    main()
