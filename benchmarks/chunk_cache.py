"""What the cache of decoded chunks gives, and what it costs: the same reads with it and without.

    python -m benchmarks.chunk_cache [--rounds 7] [--latency 20]

Frames of (3, 960, 960) numbers of two bytes, one chunk or one shard each, on local disk and, if
seaweedfs is installed (`python -m benchmarks.remote` says how), on a server that is so many
milliseconds away.
"again" is timed after the same reads have been made twice, "once" with an empty cache. Rounds are
interleaved; a number is the median of how many times as long the reads take without the cache.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import zarrix
from numcodecs import Blosc, Zstd

from benchmarks.measure import Call, Pace, Ratio, rounds

CACHE_BYTES = 1 << 28
FRAMES, SIDE, CROP = 8, 960, 256


def frames() -> Any:
    """Smooth pictures with a little noise."""
    random = np.random.default_rng(0)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    noise = random.integers(0, 6, (FRAMES, 3, SIDE, SIDE))
    smooth = [60 * (np.sin(columns / 50 + n) + np.cos(rows / 70)) for n in range(FRAMES)]
    return (4096 + 20 * np.array(smooth)[:, None] + noise).astype("u2")


ENCODINGS: dict[str, dict[str, Any]] = {
    "Blosc lz4": {"compressor": Blosc("lz4", 5)},
    "Blosc zstd": {"compressor": Blosc("zstd", 5)},
    "zstd": {"compressor": Zstd(3)},
    "shards of zstd": {"shards": (1, 3, SIDE, SIDE), "chunks": (1, 3, 192, 192)},
}


def write(place: str, encoding: dict[str, Any], **options: Any) -> None:
    make = zarrix.create_array if "shards" in encoding else zarrix.create
    arguments = {"shape": (FRAMES, 3, SIDE, SIDE), "chunks": (1, 3, SIDE, SIDE), "dtype": "u2"}
    make(store=place, **{**arguments, **encoding}, **options)[:] = frames()


def crops(array: Any) -> None:
    """100 crops of 4 frames."""
    random = np.random.default_rng(1)
    for _ in range(100):
        frame, (row, column) = random.integers(0, 4), random.integers(0, SIDE - CROP, 2)
        array[frame, :, row : row + CROP, column : column + CROP]


def windows(array: Any) -> None:
    """Windows over 4 frames, each with a margin of 16, as `dask.array.overlap` reads them."""
    for frame in range(4):
        for row in range(0, SIDE, 240):
            for column in range(0, SIDE, 240):
                rows = slice(max(row - 16, 0), row + 256)
                array[frame, :, rows, max(column - 16, 0) : column + 256]


def first(array: Any) -> None:
    """One crop of each frame."""
    for frame in range(FRAMES):
        array[frame, :, 300 : 300 + CROP, 400 : 400 + CROP]


READS: dict[str, tuple[Callable[[Any], None], bool]] = {
    "100 crops of 4 frames, again": (crops, True),
    "overlapping windows, again": (windows, True),
    "one crop of each of 8 frames, once": (first, False),
}


def measure(where: str, array: Any, pace: Pace) -> None:
    for name, (read, again) in READS.items():

        def without() -> None:
            zarrix.config.chunk_cache_bytes = 0

        def empty() -> None:
            zarrix.config.chunk_cache_bytes = CACHE_BYTES

        def filled(read: Callable[[Any], None] = read) -> None:
            empty()
            read(array)
            read(array)

        def run(read: Callable[[Any], None] = read) -> None:
            read(array)

        calls = {"off": Call(run, prepare=without), "on": Call(run, prepare=empty)}
        if again:
            calls["on"] = Call(run, prepare=filled)
        found = rounds(calls, pace)
        gain = Ratio.of(found["off"], found["on"])
        took_ms = sorted(found["off"])[len(found["off"]) // 2] * 1e3
        figures = f"{took_ms:.1f} ms without, {gain.median:.2f} times as long"
        print(f"{where}: {name}: {figures}", flush=True)
    zarrix.config.chunk_cache_bytes = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--latency", type=float, metavar="MS")
    arguments = parser.parse_args()
    pace = Pace(arguments.rounds, budget_s=60.0)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, encoding in ENCODINGS.items():
            place = str(folder / name)
            write(place, encoding)
            time.sleep(0.1)
            measure(f"local, {name}", zarrix.open(place, mode="r"), pace)
        if arguments.latency is None:
            return
        from benchmarks.remote import KEY, REGION, SECRET, SERVERS, behind, new_bucket, running

        server = stack.enter_context(running(SERVERS["seaweedfs"]))
        options = {"key": KEY, "secret": SECRET, "client_kwargs": {"region_name": REGION}}
        there = f"{new_bucket(server, 'kept')}/x"
        encoding = ENCODINGS["Blosc lz4"]
        write(there, encoding, storage_options={**options, "endpoint_url": server.endpoint})
        port = int(server.endpoint.rsplit(":", 1)[1])
        options["endpoint_url"] = stack.enter_context(behind(port, arguments.latency))
        array = zarrix.open(there, mode="r", storage_options=options)
        measure(f"{arguments.latency:g} ms away, Blosc lz4", array, pace)


if __name__ == "__main__":
    main()
