"""Rechunking beside the libraries that do it: time, and memory of all processes.

    python -m benchmarks.jobs [--mib 1024] [--rounds 3] [--python PATH ...] [--only NAME ...]

An array of time steps, chunks (4, 512, 512) of float32, becomes an array of series, chunks
(N, 32, 32), with the same codec, by two workers of 64 MiB. Each contender runs in a process of its
own, in the first of the given interpreters that has it; starting clusters and importing modules are
not counted. Rounds are interleaved, and what the one before has written is on the disk before the
next begins. A row has the median of the rounds' ratios to ours in two processes, and of those to
ours in one. Memory is the most that the process and its children held together, seen every 50 ms
(proportional set size).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

WORKERS = 2
MEMORY = 64 << 20
SIDE = 512
# What is stored, by all; also in intermediates that a library compresses.
CODEC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
OURS = ("zarrix, processes", "zarrix")
Work = Callable[[], object]


def make(folder: Path, mib: int) -> Path:
    """The source, in v2, which every contender reads."""
    import zarrix as zarr

    steps = mib * 2**20 // (4 * SIDE * SIDE)
    z = zarr.open(
        str(folder / "source.zarr"),
        mode="w",
        shape=(steps, SIDE, SIDE),
        chunks=(4, SIDE, SIDE),
        dtype="f4",
        compressor=zarr.Blosc(cname="lz4", clevel=5, shuffle=1),
    )
    wave = np.add.outer(np.sin(np.arange(SIDE) / 40), np.cos(np.arange(SIDE) / 30))
    random = np.random.default_rng(1)
    for begin in range(0, steps, 4):
        noise = random.integers(0, 2**10, (4, SIDE, SIDE)) / 2**12
        z[begin : begin + 4] = wave + noise + begin
    return folder / "source.zarr"


# Contenders: each is a context in which its work is ready to be timed.


@contextlib.contextmanager
def ours(source: Path, dest: Path) -> Iterator[Work]:
    """In this process."""
    from zarrix import jobs

    _imported(0)
    yield lambda: jobs.rechunk(source, dest, chunks=(-1, 32, 32), max_memory=MEMORY)


@contextlib.contextmanager
def ours_processes(source: Path, dest: Path) -> Iterator[Work]:
    """Two processes."""
    from zarrix import jobs

    _imported(0)
    with futures.ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        list(pool.map(_imported, range(2 * WORKERS)))
        yield lambda: jobs.rechunk(
            source, dest, chunks=(-1, 32, 32), max_memory=MEMORY, executor=pool
        )


@contextlib.contextmanager
def ours_dask(source: Path, dest: Path) -> Iterator[Work]:
    """A LocalCluster of two processes."""
    from zarrix import jobs

    _imported(0)
    with _client() as client:
        client.run(_imported, 0)
        yield lambda: jobs.rechunk(
            source, dest, chunks=(-1, 32, 32), max_memory=MEMORY, executor=client
        )


@contextlib.contextmanager
def ours_failing(source: Path, dest: Path) -> Iterator[Work]:
    """In this process, and each fifth task fails when its work is done, and is done again."""
    from zarrix import jobs
    from zarrix.jobs._operations.rechunk import Rechunk

    run, failed = Rechunk.run, set()

    def failing(self: Any, stage: int, number: int) -> Any:
        done = run(self, stage, number)
        if number % 5 == 0 and (stage, number) not in failed:
            failed.add((stage, number))
            raise OSError("killed")
        return done

    Rechunk.run = failing
    try:
        yield lambda: jobs.rechunk(source, dest, chunks=(-1, 32, 32), max_memory=MEMORY)
    finally:
        Rechunk.run = run


@contextlib.contextmanager
def _client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _imported(number: int) -> None:
    import zarrix.jobs._operations.rechunk

    assert zarrix.jobs._operations.rechunk


def _target(dest: Path, source: Any) -> Any:
    """An empty array of zarr-python with the codec of the source, which is not its default."""
    import numcodecs
    import zarr

    return zarr.create(
        shape=source.shape,
        chunks=(source.shape[0], 32, 32),
        dtype=source.dtype,
        store=str(dest),
        overwrite=True,
        compressor=numcodecs.get_codec(CODEC),
        **({} if zarr.__version__.startswith("2.") else {"zarr_format": 2}),
    )


@contextlib.contextmanager
def _dask(source: Path, dest: Path, method: str) -> Iterator[Work]:
    import dask.array as da

    with _client():

        def work() -> None:
            x = da.from_zarr(str(source))
            rechunked = x.rechunk((x.shape[0], 32, 32), method=method)
            rechunked.to_zarr(_target(dest, x))

        yield work


def dask_p2p(source: Path, dest: Path) -> Any:
    """dask's rechunk by p2p, on a LocalCluster of two processes."""
    return _dask(source, dest, "p2p")


def dask_tasks(source: Path, dest: Path) -> Any:
    """dask's rechunk by tasks, on a LocalCluster of two processes."""
    return _dask(source, dest, "tasks")


@contextlib.contextmanager
def cubed(source: Path, dest: Path) -> Iterator[Work]:
    """cubed with its executor of threads; it refuses memory that its own estimate exceeds."""
    import cubed as library

    spec = library.Spec(
        str(dest.parent / "cubed"),
        allowed_mem="700MB",
        reserved_mem="100MB",
        executor_name="threads",
        zarr_compressor={
            "name": "blosc",
            "configuration": {
                "cname": "lz4",
                "clevel": 5,
                "shuffle": "shuffle",
                "typesize": 4,
                "blocksize": 0,
            },
        },
    )

    def work() -> None:
        x = library.from_zarr(str(source), spec=spec)
        library.to_zarr(x.rechunk((x.shape[0], 32, 32)), _target(dest, x))

    yield work


@contextlib.contextmanager
def _rechunker(source: Path, dest: Path, executor: str) -> Iterator[Work]:
    import zarr
    from rechunker import rechunk

    z = zarr.open(str(source), mode="r")
    import numcodecs

    options = {"compressor": numcodecs.get_codec(CODEC)}
    plan = rechunk(
        z,
        (z.shape[0], 32, 32),
        MEMORY,
        str(dest),
        target_options=options,
        temp_store=str(dest.parent / "temp.zarr"),
        temp_options=options,
        executor=executor,
    )
    yield plan.execute


def rechunker(source: Path, dest: Path) -> Any:
    """rechunker with its Python executor, on zarr-python 2."""
    return _rechunker(source, dest, "python")


def rechunker_dask(source: Path, dest: Path) -> Any:
    """rechunker with dask's threads, on zarr-python 2."""
    return _rechunker(source, dest, "dask")


@contextlib.contextmanager
def zarr_fused(source: Path, dest: Path) -> Iterator[Work]:
    """The same loop with the faster pipeline of zarr-python 3.4."""
    import zarr

    fused = {"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"}
    with zarr.config.set(fused), zarr_loop(source, dest) as work:
        yield work


@contextlib.contextmanager
def zarr_loop(source: Path, dest: Path) -> Iterator[Work]:
    """A loop over regions of the destination that fit into memory, with zarr-python."""
    import zarr

    def work() -> None:
        z = zarr.open_array(str(source), mode="r")
        out = _target(dest, z)
        wide = max(32, MEMORY // (4 * z.shape[0] * 32) // 32 * 32)
        for y in range(0, SIDE, 32):
            for x in range(0, SIDE, wide):
                out[:, y : y + 32, x : x + wide] = z[:, y : y + 32, x : x + wide]

    yield work


CONTENDERS: dict[str, tuple[Callable[[Path, Path], Any], tuple[str, ...]]] = {
    "zarrix": (ours, ()),
    "zarrix, processes": (ours_processes, ()),
    "zarrix, LocalCluster": (ours_dask, ("distributed",)),
    "zarrix, a fifth fails": (ours_failing, ()),
    "dask p2p": (dask_p2p, ("distributed", "zarr", "zarr.abc")),
    "dask tasks": (dask_tasks, ("distributed", "zarr", "zarr.abc")),
    # zarr-python 3 has no such module.
    "dask p2p, zarr-python 2": (dask_p2p, ("distributed", "zarr", "zarr._storage")),
    "dask tasks, zarr-python 2": (dask_tasks, ("distributed", "zarr", "zarr._storage")),
    "cubed": (cubed, ("cubed", "zarr")),
    "rechunker": (rechunker, ("rechunker", "zarr")),
    "rechunker, dask threads": (rechunker_dask, ("rechunker", "zarr", "dask")),
    "zarr-python loop": (zarr_loop, ("zarr",)),
    "zarr-python loop, fused": (zarr_fused, ("zarr", "zarr.core")),
}


# Memory of a process and its children


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            for child in text.split():
                yield from _tree(int(child))


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0


def watched(work: Work) -> tuple[float, int]:
    """Seconds of the work, and the most bytes that it added to what was held before."""
    stop, most = threading.Event(), 0
    before = sum(map(_resident, set(_tree(os.getpid()))))

    def watch() -> None:
        nonlocal most
        while not stop.wait(0.05):
            most = max(most, sum(map(_resident, set(_tree(os.getpid())))))

    thread = threading.Thread(target=watch)
    thread.start()
    begun = time.monotonic()
    try:
        work()
    finally:
        seconds = time.monotonic() - begun
        stop.set()
        thread.join()
    return seconds, max(0, most - before)


def child(name: str, source: Path, dest: Path) -> None:
    """Run one contender, and print what it took."""
    prepare, _ = CONTENDERS[name]
    with prepare(source, dest) as work:
        seconds, memory = watched(work)
    print(json.dumps({"seconds": seconds, "memory": memory}), flush=True)


def has_all(python: str, modules: tuple[str, ...]) -> bool:
    """Whether an interpreter has some modules."""
    if python == sys.executable:
        return all(importlib.util.find_spec(one) is not None for one in modules)
    code = f"import importlib.util as u; assert all(u.find_spec(m) for m in {modules!r})"
    return not subprocess.run([python, "-c", code], capture_output=True, check=False).returncode


def equal(source: Path, dest: Path) -> bool:
    """Whether the result has the elements of the source, at some series."""
    import zarrix as zarr

    a, b = zarr.open(str(source), mode="r"), zarr.open(str(dest), mode="r")
    places = (slice(None), slice(40, 80), slice(500, 512))
    return bool((a[places] == b[places]).all()) and a.shape == b.shape


def compared(options: argparse.Namespace, folder: Path) -> None:
    """Interleaved rounds of all contenders, and their table."""
    source = make(folder, options.mib)
    found: dict[str, list[dict[str, float]]] = {}
    chosen = {}
    for name, (_, modules) in CONTENDERS.items():
        python = next((one for one in options.python if has_all(one, modules)), None)
        if python is not None and (not options.only or name in {*options.only, *OURS}):
            chosen[name] = python
    for number in range(options.rounds):
        for name, python in chosen.items():
            dest = folder / "work" / "dest.zarr"
            shutil.rmtree(dest.parent, ignore_errors=True)
            dest.parent.mkdir()
            os.sync()
            command = [python, "-m", "benchmarks.jobs", "--child", name, str(source), str(dest)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
            if done.returncode:
                print(f"{name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                continue
            assert equal(source, dest), name
            found.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
            print(f"round {number}: {name} {found[name][-1]}", file=sys.stderr, flush=True)
    print("| contender | times ours, two processes | times ours, one | seconds | MiB added |")
    print("|---|---|---|---|---|")
    for name, rounds in found.items():
        ratios = [
            statistics.median(
                one["seconds"] / own["seconds"]
                for one, own in zip(rounds, found[ours], strict=False)
            )
            for ours in OURS
        ]
        seconds = statistics.median(one["seconds"] for one in rounds)
        memory = statistics.median(one["memory"] for one in rounds) / 2**20
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"| {name} | {cells} | {seconds:.2f} | {memory:.0f} |")


def alone(folder: Path, rounds: int, files: int) -> None:
    """What needs no other library: moving shards, copying, and the driver.

    Least of interleaved rounds; processor time is that of all threads of this process.
    """
    import zarrix as zarr
    from zarrix import jobs
    from zarrix.codecs import ZstdCodec

    chunk = 64
    side = math.isqrt(files) * chunk
    z = zarr.create_array(
        folder / "files.zarr",
        shape=(side, side),
        chunks=(chunk, chunk),
        dtype="f4",
        compressors=ZstdCodec(level=0),
        overwrite=True,
    )
    random, columns = np.random.default_rng(1), np.sin(np.arange(side) / 300, dtype="f4")
    for y in range(0, side, 1024):
        count = min(1024, side - y)
        z[y : y + count] = columns + random.integers(0, 64, (count, side)) / np.float32(4096)
    # The same codec with other bytes: it has to be encoded again.
    again = {"chunks": z.chunks, "compressors": ZstdCodec(level=0, checksum=True)}
    work: dict[str, Callable[[Path], object]] = {
        "shards, moved": lambda dest: jobs.rechunk(z, dest, shards=(1024, 1024)),
        "shards, decoded": lambda dest: jobs.rechunk(z, dest, shards=(1024, 1024), **again),
        "copy": lambda dest: jobs.copy(z, dest),
        "copytree": lambda dest: shutil.copytree(folder / "files.zarr", dest),
    }
    rclone = shutil.which("rclone")
    if rclone is not None:
        copied = [rclone, "copy", "--transfers", "8", str(folder / "files.zarr")]
        work["rclone"] = lambda dest: subprocess.run([*copied, str(dest)], check=True)
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, one in work.items():
            dest = folder / "w.zarr"
            found.setdefault(name, []).append(_timed(lambda one=one, dest=dest: one(dest)))
            shutil.rmtree(dest)
    print(f"{z.nchunks:,} chunks of {z.nbytes_stored // z.nchunks:,} bytes, {rounds} rounds")
    print("| | seconds | processor s |")
    print("|---|---|---|")
    for name, times in found.items():
        print(f"| {name} | {min(t[0] for t in times):.2f} | {min(t[1] for t in times):.2f} |")
    _driver()


def _timed(work: Work) -> tuple[float, float]:
    """Seconds, and those of processors, of programs that ended, too."""
    begun, busy = time.monotonic(), sum(os.times()[:4])
    work()
    return time.monotonic() - begun, sum(os.times()[:4]) - busy


def _driver() -> None:
    """Tasks a second that do nothing, and memory for a million of them."""
    from zarrix.jobs import Job
    from zarrix.jobs._running import operation as _operation
    from zarrix.jobs._running.operation import Done, Operation, Setting, Stage

    class Nothing(Operation):
        kind, destination = "nothing", None

        @property
        def stages(self) -> list[Stage]:
            return [Stage("nothing", self.parameters["count"])]

        def run(self, stage: int, number: int) -> Done:
            return Done()

        def finish(self, values: Any) -> None:
            return None

    sys.modules["benchmarks_jobs_nothing"] = module = type(sys)("benchmarks_jobs_nothing")
    module.Nothing = Nothing  # type: ignore[attr-defined]
    _operation._KINDS["nothing"] = ("benchmarks_jobs_nothing", "Nothing")
    before = _resident(os.getpid())
    count = 10**6
    seconds, _ = _timed(lambda: Job("nothing", Setting({"count": count}, {})).run())
    added = (_resident(os.getpid()) - before) / 2**20
    print(f"driver, in this process: {count / seconds:,.0f} tasks a second, {added:.0f} MiB added")
    count = 10**5
    seconds, _ = _timed(lambda: Job("nothing", Setting({"count": count}, {})).run("threads"))
    print(f"driver, two threads: {count / seconds:,.0f} tasks a second")
    assert math.isfinite(seconds)


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", nargs="*", default=[sys.executable])
    parser.add_argument("--files", type=int, default=102_400, help="chunks that become shards")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--folder", default=None)
    parser.add_argument("--alone", action="store_true", help="only what needs no other library")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, source, dest = options.child
        child(name, Path(source), Path(dest))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if not options.alone:
            compared(options, Path(folder))
        if not options.only:
            alone(Path(folder), options.rounds, options.files)


if __name__ == "__main__":
    main()
