"""A stream of frames through `z.writer()` beside one write of the same array, ours against ours.

    python -m benchmarks.writer [--rounds 9] [--folder DIR]

Rounds are interleaved, and each row is the median of the rounds' ratios: how many times the time of
the whole-array write the stream takes, from opening the writer to having closed it. Frames are
appended one by one, as a camera gives them, or by whole blocks. Both write the same files.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks.windows import picture

FRAMES, SIDE = 1024, 512
LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks of 8 frames": {"chunks": (8, SIDE, SIDE)},
    "chunks of 16 frames, tiled": {"chunks": (16, 128, 128)},
    "shards of 32 frames": {"chunks": (4, 128, 128), "shards": (32, SIDE, SIDE)},
    "not compressed": {"chunks": (8, SIDE, SIDE), "compressors": None},
}


def film() -> Any:
    """What a camera sees: the same scene, with new noise in every frame."""
    still = picture(0)[0, :SIDE, :SIDE]
    noise = np.random.default_rng(1).integers(0, 30, (FRAMES, SIDE, SIDE), "u2")
    return still + noise


@contextmanager
def empty(folder: Path, frames: int, options: dict[str, Any]) -> Iterator[zarr.Array]:
    """A new array of that many frames, removed in the end."""
    try:
        yield zarr.create_array(
            str(folder), shape=(frames, SIDE, SIDE), dtype="u2", fill_value=0, **options
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def at_once(values: Any, folder: Path, options: dict[str, Any]) -> float:
    with empty(folder, FRAMES, options) as z:
        began = time.perf_counter()
        z[...] = values
        return time.perf_counter() - began


def stream(values: Any, folder: Path, options: dict[str, Any], step: int | None) -> float:
    with empty(folder, 0, options) as z:
        began = time.perf_counter()
        with z.writer() as writer:
            if step is None:
                for frame in values:
                    writer.append(frame)
            else:
                for start in range(0, len(values), step):
                    writer.append(values[start : start + step])
        took = time.perf_counter() - began
        if z.shape != values.shape or not np.array_equal(z[-1], values[-1]):
            raise AssertionError("the stream stored something else")
        return took


def compare(folder: Path, rounds: int) -> None:
    values = film()
    print(
        f"{'layout':>28} {'at once ms':>11} {'frames ms':>10} {'ratio':>6} {'blocks ms':>10} ratio"
    )
    for name, options in LAYOUTS.items():
        ways: list[Callable[[], float]] = [
            lambda options=options: at_once(values, folder / "z", options),
            lambda options=options: stream(values, folder / "z", options, None),
            lambda options=options: stream(values, folder / "z", options, 32),
        ]
        seconds: list[list[float]] = [[], [], []]
        for number in range(rounds):
            for turn in range(3):
                which = (number + turn) % 3
                seconds[which].append(ways[which]())
        one, many, blocks = (min(times) * 1e3 for times in seconds)
        ratios = [
            statistics.median(b / a for a, b in zip(seconds[0], times, strict=True))
            for times in seconds[1:]
        ]
        print(
            f"{name:>28} {one:5.0f} ms {many:5.0f} ms {ratios[0]:6.2f} {blocks:5.0f} ms "
            f"{ratios[1]:6.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where to write (default: in memory)")
    given = parser.parse_args()
    memory = Path("/dev/shm")
    inside = given.folder or (memory if memory.is_dir() else None)
    with tempfile.TemporaryDirectory(dir=inside) as folder:
        compare(Path(folder), given.rounds)


if __name__ == "__main__":
    main()
