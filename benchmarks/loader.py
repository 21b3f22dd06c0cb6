"""Loaders side by side: ``python -m benchmarks.loader``.

Every contender reads the same windows, whose list comes from the order of `zarrix.ml`, in a process
of its own, with each number of workers that it has; its best number counts. Rounds are interleaved.
The first batch of all is compared before anything is timed. The time without workers begins with
the iterator, so that what a contender reads before its first batch counts; with workers, whose
start takes seconds, it begins with the first batch. It ends with an epoch, unless that takes ten
times as long as was asked for. Processor time and memory are those of all
processes of a contender.

    python -m benchmarks.loader --rows A,C --rounds 3 --peers .../bin/python

``--peers`` is a Python with torch, zarr-python 3, TensorStore, and for row C mosaicml-streaming,
webdataset and litdata; a contender whose package is not there is left out, and the output says so.
zarrix itself runs in the same Python.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarrix as zarr
from zarrix import ml

from benchmarks import loader_peers

ROOT = Path(__file__).parents[1]
SEED = 11


class Row(NamedTuple):
    """One row of the table: what is stored, and which windows are read."""

    what: str
    batch_size: int
    shuffle: str
    make: Callable[[Path], None]
    dataset: Callable[[Path], Any]


def textured(shape: tuple[int, ...]) -> np.ndarray:
    """Bytes that compress like pictures: smooth, with two bits of noise."""
    random = np.random.default_rng(SEED)
    height, width = shape[-2:]
    smooth = 100 + 60 * np.sin(np.arange(height) / 37)[:, None] * np.cos(np.arange(width) / 53)
    return (smooth + random.integers(0, 4, shape)).astype("u1")


def make_scenes(folder: Path) -> None:
    root = zarr.open_group(folder / "scenes.zarr", mode="w")
    codecs = {
        "rgb": zarr.Blosc(cname="zstd", clevel=5, shuffle=2),
        "flow": zarr.Blosc(cname="lz4", clevel=5, shuffle=1),
        "depth": zarr.Blosc(cname="lz4", clevel=5, shuffle=1),
    }
    for name, channels, ratio, dtype in (
        ("rgb", 3, 1, "u1"),
        ("flow", 2, 2, "f2"),
        ("depth", 1, 2, "f2"),
    ):
        shape = (FRAMES, channels, 1080 // ratio, 1920 // ratio)
        z = root.create_dataset(
            name, shape=shape, chunks=(1, channels, 360, 640), dtype=dtype, compressor=codecs[name]
        )
        for frame in range(FRAMES):
            z[frame] = np.roll(textured(shape[1:]), frame, -1)


FRAMES = 24


def scenes(folder: Path, per_item: int) -> ml.Crops:
    root = zarr.open_group(folder / "scenes.zarr", mode="r")
    return ml.Crops(
        {name: root[name] for name in ("rgb", "flow", "depth")},
        dims="tcyx",
        size={"y": 256, "x": 256},
        per_item=per_item,
    )


def make_video(folder: Path) -> None:
    z = zarr.create_array(
        folder / "video.zarr",
        shape=(1024, 3, 256, 256),
        chunks=(4, 3, 128, 128),
        shards=(256, 3, 256, 256),
        dtype="u1",
        compressors=zarr.codecs.ZstdCodec(level=3),
    )
    for frame in range(0, 1024, 256):
        z[frame : frame + 256] = textured((256, 3, 256, 256))


def video(folder: Path) -> ml.Clips:
    z = zarr.open_array(folder / "video.zarr", mode="r")
    return ml.Clips({"x": z}, dims="tcyx", frames=16, stride=4, size={"y": 128, "x": 128})


def make_rows(folder: Path) -> None:
    z = zarr.create(
        shape=(20_000, 3, 64, 64),
        chunks=(64, 3, 64, 64),
        dtype="u1",
        compressor=zarr.Zstd(level=3),
        store=str(folder / "rows.zarr"),
    )
    for begin in range(0, 20_000, 2000):
        z[begin : begin + 2000] = textured((2000, 3, 64, 64))


def make_small(folder: Path) -> None:
    z = zarr.create(
        shape=(200_000, 256), chunks=(4096, 256), dtype="u1", store=str(folder / "small.zarr")
    )
    z[...] = np.arange(256, dtype="u1")


def rows(folder: Path, name: str) -> ml.Rows:
    return ml.Rows({"x": zarr.open_array(folder / name, mode="r")})


ROWS = {
    "A": Row("crops of three fields, full", 16, "full", make_scenes, lambda f: scenes(f, 4)),
    "A'": Row("eight crops a frame, block", 16, "block", make_scenes, lambda f: scenes(f, 8)),
    "B": Row("clips of 16 frames, sharded", 8, "full", make_video, video),
    "C": Row("rows of 12 KB, block", 256, "block", make_rows, lambda f: rows(f, "rows.zarr")),
    "F": Row("rows of 256 bytes, block", 256, "block", make_small, lambda f: rows(f, "small.zarr")),
}
CONTENDERS = {"zarrix": (0,), "zarr 3": (0, 1, 2), "tensorstore": (0,)}
OWN_FORMAT = dict.fromkeys(loader_peers.PEERS, (0, 1, 2))


# The contenders, in a process of their own


def plan_of(row: Row, folder: Path, epoch: int) -> tuple[Any, list[Any]]:
    """The windows of an epoch by batches: for each field its path, starts and window."""
    dataset = row.dataset(folder)
    loader = ml.Loader(dataset, row.batch_size, shuffle=row.shuffle, seed=SEED)
    loader.set_epoch(epoch)
    order = loader._order(epoch)
    items = order.at(np.arange(order.size))[0]
    draws = dataset._draws(items, SEED, epoch, None)
    return dataset, [draws.starts[number] for number in range(len(dataset._columns))]


class Windows:
    """What people write by hand: a slice of each array for an index."""

    def __init__(self, row: Row, folder: Path, epoch: int) -> None:
        dataset, starts = plan_of(row, folder, epoch)
        self.windows = [dataset._windows(n) for n in range(len(starts))]
        self.starts = [one[:, 0].tolist() for one in starts]
        self.names = [column.name for column in dataset._columns]
        self.shapes = [column.shape for column in dataset._columns]
        self.paths = [
            str(field.array.store.path) + "/" + field.array.path
            for field in dataset._groups[0].values()
        ]
        self.arrays: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.starts[0])

    def key(self, number: int, index: int) -> tuple[slice, ...]:
        window = self.windows[number]
        begins = self.starts[number][index]
        return tuple(slice(b, b + n) for b, n in zip(begins, window, strict=True))

    def __getitem__(self, index: int) -> dict[str, Any]:
        if self.arrays is None:
            peer = importlib.import_module("zarr")
            self.arrays = [peer.open_array(path, mode="r") for path in self.paths]
        return {
            name: array[self.key(number, index)].reshape(shape)
            for number, (name, array, shape) in enumerate(
                zip(self.names, self.arrays, self.shapes, strict=True)
            )
        }


def of_zarrix(row: Row, folder: Path, workers: int) -> Iterator[Any]:
    loader = ml.Loader(row.dataset(folder), row.batch_size, shuffle=row.shuffle, seed=SEED)
    while True:
        yield from loader


def of_zarr3(row: Row, folder: Path, workers: int) -> Iterator[Any]:
    data = importlib.import_module("torch.utils.data")
    importlib.import_module("zarr")
    epoch = 0
    while True:
        windows = Windows(row, folder, epoch)
        loader = data.DataLoader(
            windows, row.batch_size, num_workers=workers, multiprocessing_context=START[workers > 0]
        )
        for batch in loader:
            yield {name: value.numpy() for name, value in batch.items()}
        epoch += 1


START = {True: "spawn", False: None}


def of_tensorstore(row: Row, folder: Path, workers: int) -> Iterator[Any]:
    tensorstore = importlib.import_module("tensorstore")
    epoch = 0
    while True:
        windows = Windows(row, folder, epoch)
        arrays = []
        for path in windows.paths:
            driver = "zarr3" if Path(path, "zarr.json").exists() else "zarr"
            spec = {"driver": driver, "kvstore": {"driver": "file", "path": path}}
            arrays.append(tensorstore.open(spec, read=True).result())
        for begin in range(0, len(windows), row.batch_size):
            indices = range(begin, min(begin + row.batch_size, len(windows)))
            futures = [
                [array[windows.key(number, index)].read() for index in indices]
                for number, array in enumerate(arrays)
            ]
            yield {
                name: np.stack([one.result() for one in found]).reshape(-1, *shape)
                for name, found, shape in zip(windows.names, futures, windows.shapes, strict=True)
            }
        epoch += 1


MAKERS = {"zarrix": of_zarrix, "zarr 3": of_zarr3, "tensorstore": of_tensorstore}


def child(name: str, contender: str, workers: int, folder: Path, seconds: float) -> dict[str, Any]:
    """Load for a while; the figures of this process and its workers."""
    row = ROWS[name]
    own = loader_peers.PEERS.get(contender)
    if own is not None:
        # Its copy of the data is written, and its packages are imported, before the time begins.
        one = own(folder, row.batch_size, 0)
        loader_peers.check(folder, next(one))
        one.close()
        batches = own(folder, row.batch_size, workers)
    else:
        batches = MAKERS[contender](row, folder, workers)
    cpu, begun = tree()[0], time.perf_counter()
    batch = next(batches)
    first_s = time.perf_counter() - begun
    fields = [column.name for column in row.dataset(folder)._columns]
    crc = 0
    if own is None:
        for field in fields:
            crc = zlib.crc32(np.ascontiguousarray(batch[field]), crc)
    size, delivered, before = len(row.dataset(folder)), len(batch[fields[0]]), 0
    if workers:
        before, cpu, begun = delivered, tree()[0], time.perf_counter()
    while True:
        took = time.perf_counter() - begun
        # To the end of an epoch, whose begin is the slowest part; ten times as long at most.
        if took >= 10 * seconds or (took >= seconds and delivered % size == 0):
            break
        delivered += len(next(batches)[fields[0]])
    samples = delivered - before
    took = time.perf_counter() - begun
    spent, peak = tree()
    batches.close()
    return {
        "samples_s": samples / took,
        "cpu_ms": 1000 * (spent - cpu) / max(1, samples),
        "first_s": first_s,
        "peak_mib": peak,
        "crc": crc,
    }


def tree() -> tuple[float, float]:
    """Processor seconds of this process and of those that it started, and the sum of their peaks of
    memory that is their own (MiB): pages of files that they map are the system's.
    """
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            with contextlib.suppress(OSError):
                words = (one / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                parents[int(one.name)] = int(words[1])
                # Also of children that have ended.
                spent[int(one.name)] = sum(map(int, words[11:15])) / tick
    found = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    peak = 0.0
    for one in found:
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{one}/status").read_text(encoding="ascii")
            # Not ru_maxrss, which begins with that of the process that started this one.
            value = {
                line.partition(":")[0]: int(line.split()[1])
                for line in status.splitlines()
                if line.startswith(("VmHWM", "RssFile", "VmRSS"))
            }
            # A process that has ended has none.
            peak += (value.get("VmHWM", 0) - value.get("RssFile", 0)) / 1024
    return sum(spent.get(one, 0.0) for one in found), peak


def processor_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# The rounds


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        folder = Path(made)
        for name in options.rows.split(","):
            row = ROWS[name]
            if not any(folder.iterdir()) or name not in ("A'",):
                row.make(folder)
            found += race(name, folder, options)
    return found


def race(name: str, folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Interleaved rounds of one row: the medians of each contender's best number of workers."""
    results: dict[tuple[str, int], list[dict[str, Any]]] = {}
    contenders = {**CONTENDERS, **OWN_FORMAT} if name == "C" else CONTENDERS
    for _ in range(options.rounds):
        for contender, counts in contenders.items():
            for workers in counts:
                result = launched(name, contender, workers, folder, options)
                if result is None:
                    print(f"{name}: {contender} with {workers} workers did not run")
                else:
                    results.setdefault((contender, workers), []).append(result)
    compared = [found for (c, _), found in results.items() if c in CONTENDERS]
    checks = {one["crc"] for found in compared for one in found}
    if len(checks) != 1:
        raise SystemExit(f"row {name}: first batches differ: {checks}")
    lines = []
    for contender in contenders:
        mine = {w: found for (c, w), found in results.items() if c == contender}
        if not mine:
            continue
        best = max(mine, key=lambda w: statistics.median(one["samples_s"] for one in mine[w]))
        figures = {
            key: statistics.median(one[key] for one in mine[best])
            for key in ("samples_s", "cpu_ms", "first_s", "peak_mib")
        }
        lines.append({"row": name, "contender": contender, "workers": best, **figures})
    ours = lines[0]
    for line in lines:
        line["ratio"] = ours["samples_s"] / line["samples_s"]
        line["cpu_ratio"] = line["cpu_ms"] / max(1e-9, ours["cpu_ms"])
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()}))
    return lines


def launched(
    name: str, contender: str, workers: int, folder: Path, options: argparse.Namespace
) -> dict[str, Any] | None:
    package = str(Path(zarr.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, str(ROOT)])}
    words = [options.peers, "-W", "ignore", "-m", "benchmarks.loader", "--child", name, contender]
    words += [str(workers), str(folder), str(options.seconds)]
    process = subprocess.run(
        words, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=600
    )
    if process.returncode:
        if "ModuleNotFoundError" not in process.stderr:
            print(process.stderr[-2000:])
        return None
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return found


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        name, contender, workers, folder, seconds = sys.argv[2:]
        print(json.dumps(child(name, contender, int(workers), Path(folder), float(seconds))))
        return
    parser = argparse.ArgumentParser(description="Loaders side by side.")
    parser.add_argument("--rows", default=",".join(ROWS), help="which rows, such as A,C")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each in a round, at least")
    parser.add_argument("--peers", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--folder", default=None, help="where the data is made")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
