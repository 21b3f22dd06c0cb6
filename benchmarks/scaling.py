"""How the time follows the threads and the number of chunks: ours against ours.

    python -m benchmarks.scaling [--rounds 9] [--files]

The first table reads and writes the same arrays with 1, 2, 4 ... threads, up to 16 also where there
are fewer processors, in interleaved rounds; a figure is the median of how many times as fast that
was as with one thread. Threads without a processor of their own show what threads cost each other.
The next line is what it costs a call to offer a part of its work to another thread: two chunks of
64 bytes, which are read sooner than the other thread begins. The second table reads an array of a
million chunks, in shards and with ``--files`` as a million files too, and says what one chunk costs
there beside one of an array of a thousand chunks. The third opens arrays of one chunk and of 10^9
chunks, none of them stored, and reads an element.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks.choices import opened
from benchmarks.workloads import scratch_folder

SIDE = 4096
LAYOUTS: dict[str, dict[str, Any]] = {
    "files of 64 x 64": {"chunks": (64, 64)},
    "files of 1024 x 1024": {"chunks": (1024, 1024)},
    "shards of 1024, chunks of 64": {"chunks": (64, 64), "shards": (1024, 1024)},
}


def field(rows: int = SIDE, columns: int = SIDE) -> Any:
    """What a camera counts: smooth, with noise."""
    y, x = np.mgrid[0:rows, 0:columns]
    counts = 900 * np.sin(y / 91) * np.cos(x / 57) + 2000
    return (counts + np.random.default_rng(0).normal(0, 12, (rows, columns))).astype("u2")


def seconds_of(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def per_call(work: Callable[[], Any]) -> float:
    """Seconds of one of so many calls that they last 20 ms."""
    number = 1
    while (took := timeit.timeit(work, number=number)) < 0.02:
        number *= 4
    return took / number


def counts_of_threads() -> list[int]:
    most = max(16, len(os.sched_getaffinity(0)))
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most]


def threads(folder: Path, rounds: int) -> None:
    values, counts = field(), counts_of_threads()
    print(f"{'threads':>38} " + " ".join(f"{count:>6}" for count in counts))
    for name, options in LAYOUTS.items():
        z = zarr.create_array(str(folder / name), shape=values.shape, dtype="u2", **options)
        works: dict[str, Callable[[], Any]] = {
            "write": lambda z=z: z.__setitem__(..., values),
            "read": lambda z=z: z[...],
        }
        for what, work in works.items():
            took: list[list[float]] = [[] for _ in counts]
            for number in range(rounds):
                for turn in range(len(counts)):
                    which = (number + turn) % len(counts)
                    with zarr.config(threads=counts[which]):
                        took[which].append(seconds_of(work))
            ratios = [
                statistics.median(one / many for one, many in zip(took[0], times, strict=True))
                for times in took
            ]
            print(f"{name + ': ' + what:>38} " + " ".join(f"{ratio:6.2f}" for ratio in ratios))
        if not np.array_equal(z[...], values):
            raise AssertionError("the array holds something else")


def hand_over(folder: Path, rounds: int) -> None:
    path = folder / "two"
    z = zarr.create_array(str(path), shape=128, chunks=64, dtype="u1", compressors=None)
    z[...] = np.arange(128)
    ways = [opened(path, (alone, None, None)) for alone in (True, False)]
    took: list[list[float]] = [[], []]
    for number in range(rounds):
        for turn in range(2):
            which = (number + turn) % 2
            took[which].append(per_call(lambda z=ways[which]: z[...]))
    alone, offered = (statistics.median(times) * 1e6 for times in took)
    cost = statistics.median((b - a) * 1e6 for a, b in zip(*took, strict=True))
    print(f"{'two chunks of 64 bytes':>38} {alone:.1f} us alone, {offered:.1f} offered: {cost:.1f}")


def many_chunks(folder: Path, rounds: int, files: bool) -> None:
    """A chunk of 8 x 8 elements, among a thousand and among a million of its kind."""
    layouts: dict[str, dict[str, Any]] = {"shards": {"shards": (256, 256)}}
    if files:
        layouts["files"] = {}
    print(f"{'chunks of 8 x 8':>24} {'chunks':>9} {'all ms':>8} {'us/chunk':>9} {'one us':>7}")
    for name, options in layouts.items():
        for side in (256, 8192):
            values = field(side, side)
            z = zarr.create_array(
                str(folder / f"{name} {side}"),
                shape=values.shape,
                dtype="u2",
                chunks=(8, 8),
                **options,
            )
            z[...] = values
            if not np.array_equal(z[...], values):
                raise AssertionError("the array holds something else")
            everything = min(per_call(lambda z=z: z[...]) for _ in range(rounds))
            middle = (slice(side // 2, side // 2 + 8),) * 2
            one = min(per_call(lambda z=z, middle=middle: z[middle]) for _ in range(rounds))
            number = (side // 8) ** 2
            print(
                f"{name:>24} {number:9} {everything * 1e3:8.1f} {everything / number * 1e6:9.2f} "
                f"{one * 1e6:7.1f}"
            )


def empty_arrays(folder: Path, rounds: int) -> None:
    print(f"{'nothing stored':>24} {'chunks':>11} {'open us':>8} {'element us':>10}")
    for shape in ((8, 8), (8 * 10**5, 8 * 10**4)):
        path = str(folder / f"empty {shape[0]}")
        zarr.create_array(path, shape=shape, dtype="u2", chunks=(8, 8), fill_value=7)
        opening = min(per_call(lambda path=path: zarr.open(path, mode="r")) for _ in range(rounds))
        z = zarr.open(path, mode="r")
        last = tuple(length - 1 for length in shape)
        if z[last] != 7:
            raise AssertionError("an empty array holds something")
        element = min(per_call(lambda z=z, last=last: z[last]) for _ in range(rounds))
        print(
            f"{'x'.join(map(str, shape)):>24} {z.nchunks:11} {opening * 1e6:8.1f} "
            f"{element * 1e6:10.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--files", action="store_true", help="a million files as well, in memory")
    given = parser.parse_args()
    folder = scratch_folder()
    try:
        threads(folder, given.rounds)
        hand_over(folder, given.rounds)
        many_chunks(folder, min(given.rounds, 3), given.files)
        empty_arrays(folder, given.rounds)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
