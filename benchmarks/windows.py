"""Crops: one call of `read_windows` beside a loop over ``z[crop]``, ours against ours.

    python -m benchmarks.windows [--rounds 15]

Rounds are interleaved, and each ratio is the median of the rounds' ratios: how many times faster
the one call is, and in the last column how many times less processor time it takes, which says the
same on a busy machine. Random crops overlap, so that the loop decodes most blocks again and again;
crops on a grid do not, and then the call must not cost more than the loop. Both fill the same
buffer.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

CROP = 256
FRAME = 960


def picture(seed: int, channels: int = 1) -> Any:
    """Something that compresses as a photograph does: smooth, with noise."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:FRAME, 0:FRAME]
    smooth = np.sin(rows / 37) * np.cos(columns / 53) * 900 + 2000
    return (smooth + random.normal(0, 20, (channels, FRAME, FRAME))).astype("u2")


def frames(folder: Path, chunks: tuple[int, ...]) -> Any:
    z = zarr.open(str(folder), mode="w", shape=(2, 3, FRAME, FRAME), chunks=chunks, dtype="u2")
    for number in range(2):
        z[number] = picture(number, 3)
    return zarr.open(str(folder), mode="r")


def random_starts(count: int) -> Any:
    random = np.random.default_rng(3)
    starts = np.zeros((count, 4), np.int64)
    starts[:, 2:] = random.integers(0, FRAME - CROP, (count, 2))
    return starts


def grid_starts() -> Any:
    corners = range(0, FRAME - CROP + 1, CROP)
    return np.array([(0, 0, row, column) for row in corners for column in corners])


def loop(z: Any, starts: Any, out: Any) -> None:
    for number, (frame, _, row, column) in enumerate(starts.tolist()):
        z.read(
            (
                slice(frame, frame + 1),
                slice(None),
                slice(row, row + CROP),
                slice(column, column + CROP),
            ),
            out=out[number],
        )


def compare(z: Any, starts: Any, rounds: int) -> tuple[float, float, float, float]:
    """Seconds of the loop and of the call (best of all rounds), and the median ratios of both."""
    shape = (1, 3, CROP, CROP)
    out = np.zeros((len(starts), *shape), "u2")
    calls: list[Callable[[], Any]] = [
        lambda: loop(z, starts, out),
        lambda: z.read_windows(starts, shape, out),
    ]
    calls[0]()
    wanted = out.copy()
    calls[1]()
    if not np.array_equal(out, wanted):
        raise AssertionError("the call and the loop read different windows")
    seconds: list[list[float]] = [[], []]
    processor: list[list[float]] = [[], []]
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            began, spent = time.perf_counter(), time.process_time()
            calls[which]()
            seconds[which].append(time.perf_counter() - began)
            processor[which].append(time.process_time() - spent)
    ratio, less = (
        statistics.median(a / b for a, b in zip(*rows, strict=True))
        for rows in (seconds, processor)
    )
    return min(seconds[0]), min(seconds[1]), ratio, less


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(
        f"{'chunks':>20} {'crops':>18} {'loop ms':>9} {'call ms':>9} {'ratio':>6} {'processor':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for chunks in ((1, 3, FRAME, FRAME), (1, 1, FRAME, FRAME), (1, 3, CROP, CROP)):
            z = frames(Path(folder) / "x".join(map(str, chunks)), chunks)
            kinds = {"32 random": random_starts(32), "9 without overlap": grid_starts()}
            for name, starts in kinds.items():
                one, other, ratio, less = compare(z, starts, rounds)
                times = f"{one * 1e3:9.2f} {other * 1e3:9.2f} {ratio:6.2f} {less:9.2f}"
                print(f"{chunks!s:>20} {name:>18} {times}")


if __name__ == "__main__":
    main()
