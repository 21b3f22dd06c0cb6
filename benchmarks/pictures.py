"""Pictures as chunks beside libraries of pictures: ``python -m benchmarks.pictures``.

    python -m benchmarks.pictures --only decode,crop,crops --rounds 15
    python -m benchmarks.pictures --only import --files 10000 --side 52 --folder /data

``decode`` is a whole chunk of 960 by 960 JPEG pixels from memory, beside simplejpeg; ``crop`` is
256 by 256 of it at 25 places, of which the slowest counts, beside a whole decode; ``crops`` is 32
crops of files in one call, beside a loop over Pillow; ``import`` is ``zarrix import --keep-chunks``
of files beside ``cp``, with the start of Python and without it: what an import of one file takes
is subtracted. Rounds are interleaved, and a ratio is the median of those of the rounds: of
processor time, and of the time on the clock, in which several threads count.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks.loader_data import CROP, SIDE, photograph
from benchmarks.measure import installed

COUNT, CROPS, PLACES = 8, 32, 5
Timed = Callable[[], tuple[float, float]]


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock, and of this process."""
    begin, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - used


def shown(title: str, ours: Timed, theirs: dict[str, Timed], rounds: int, bar: str) -> None:
    """Print how many times as long, and as much processor time, this takes as others."""
    for name, their in theirs.items():
        clock, cpu = [], []
        for turn in range(rounds):
            pair = (ours(), their()) if turn % 2 else (their(), ours())[::-1]
            (ours_s, ours_cpu), (their_s, their_cpu) = pair
            clock.append(ours_s / their_s)
            cpu.append(ours_cpu / their_cpu)
        print(
            f"{title} beside {name}: {statistics.median(cpu):.3f} of its processor time "
            f"({min(cpu):.3f} to {max(cpu):.3f}), {statistics.median(clock):.3f} of its time; "
            f"{rounds} rounds; bar {bar}",
            flush=True,
        )


def array_of_photographs(store: Any) -> Any:
    return zarr.create_array(
        store,
        data=np.stack([photograph(number) for number in range(COUNT)]),
        chunks=(1, SIDE, SIDE, 3),
        compressors="jpeg:90",
    )


def streams(z: Any) -> list[bytes]:
    """The JPEG streams of the chunks, without their checksums."""
    return [bytes(z.store[f"c/{number}/0/0/0"])[:-4] for number in range(COUNT)]


def decode(rounds: int) -> None:
    simple = importlib.import_module("simplejpeg").decode_jpeg
    z = array_of_photographs(zarr.storage.KVStore({}))
    files = streams(z)
    assert np.array_equal(z[0], simple(files[0]))

    def ours() -> tuple[float, float]:
        return timed(lambda: [z[number] for number in range(COUNT)])

    def theirs() -> tuple[float, float]:
        return timed(lambda: [simple(data) for data in files])

    shown("whole decode", ours, {"simplejpeg": theirs}, rounds, "at most 1.05")


def crop(rounds: int) -> None:
    z = array_of_photographs({})
    starts = [int(at) for at in np.linspace(0, SIDE - CROP, PLACES)]

    def whole() -> tuple[float, float]:
        return timed(lambda: [z[number] for number in range(COUNT)])

    for top in starts:
        for left in starts:
            part = np.s_[top : top + CROP, left : left + CROP]

            def ours(part: Any = part) -> tuple[float, float]:
                return timed(lambda: [z[(number, *part)] for number in range(COUNT)])

            shown(f"crop at {top}, {left}", ours, {"the whole": whole}, rounds, "at most 0.45")


def crops(rounds: int) -> None:
    image = importlib.import_module("PIL.Image")
    with tempfile.TemporaryDirectory() as folder:
        z = array_of_photographs(f"{folder}/z.zarr")
        for number, data in enumerate(streams(z)):
            Path(folder, f"{number}.jpg").write_bytes(data)
        random = np.random.default_rng(0)
        starts = [
            (n % COUNT, *map(int, random.integers(0, SIDE - CROP, 2)), 0) for n in range(CROPS)
        ]

        def one(start: tuple[int, ...]) -> Any:
            number, top, left, _ = start
            with image.open(f"{folder}/{number}.jpg") as file:
                return np.asarray(file.crop((left, top, left + CROP, top + CROP)))

        def all_of_them() -> Any:
            return z.read_windows(starts, (1, CROP, CROP, 3))

        assert np.array_equal(all_of_them()[:, 0], np.stack([one(start) for start in starts]))
        loop = {"a loop over Pillow": lambda: timed(lambda: [one(start) for start in starts])}
        shown("32 crops", lambda: timed(all_of_them), loop, rounds, "at most 0.25")


def made_files(folder: Path, count: int, side: int) -> list[str]:
    """Files of JPEG, of which some have the same content."""
    image = importlib.import_module("PIL.Image")
    some, times = [], -(-side // SIDE)
    for number in range(min(count, 50)):
        file = io.BytesIO()
        pixels = np.tile(photograph(number), (times, times, 1))[:side, :side]
        image.fromarray(pixels).save(file, "JPEG", quality=90)
        some.append(file.getvalue())
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"{number:06}.jpg").write_bytes(some[number % len(some)])
    print(f"{count} files of {sum(map(len, some)) // len(some)} bytes, {side} by {side} pixels")
    return [str(file) for file in sorted(folder.iterdir())]


def run(words: list[str]) -> tuple[float, float]:
    """The time of a program, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=installed())
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_(rounds: int, folder: str | None, count: int, side: int, verify: str) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = made_files(Path(place, "photos"), count, side)

        def imported(some: list[str]) -> tuple[float, float]:
            dest = f"{place}/photos.zarr"
            shutil.rmtree(dest, ignore_errors=True)
            words = [sys.executable, "-m", "zarrix", "import", *some, dest, "--keep-chunks"]
            return run([*words, "--verify", verify])

        def ours() -> tuple[float, float]:
            return imported(files)

        def without_start() -> tuple[float, float]:
            start, whole = imported(files[:1]), imported(files)
            return whole[0] - start[0], whole[1] - start[1]

        def theirs() -> tuple[float, float]:
            dest = f"{place}/copy"
            shutil.rmtree(dest, ignore_errors=True)
            os.mkdir(dest)
            return run(["cp", *files, dest])

        imported(files[:1])  # Its bytecode is stored now.
        bar = "at most 1.11 of its time"
        shown("import", ours, {"cp": theirs}, rounds, bar)
        shown("import without the start", without_start, {"cp": theirs}, rounds, bar)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="decode,crop,crops,import")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", help="where files are made; else where temporary files are")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--side", type=int, default=SIDE)
    parser.add_argument("--verify", default="sample", help="that of the import")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    parts = {
        "decode": lambda: decode(rounds),
        "crop": lambda: crop(rounds),
        "crops": lambda: crops(rounds),
        "import": lambda: import_(
            rounds, arguments.folder, arguments.files, arguments.side, arguments.verify
        ),
    }
    for name in arguments.only.split(","):
        parts[name]()


if __name__ == "__main__":
    main()
