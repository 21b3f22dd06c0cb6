"""Loaders of data on a server beside each other, for row E.

The server is SeaweedFS on this machine, behind a proxy of 20 ms (`benchmarks.latency`); it shares
the two processors with the loaders. Each contender runs in a process of its own, with an empty
cache, for two epochs: the first sends requests, and the second does not where a loader keeps what
it has read on disk, as zarrix does with ``frozen=True`` and LitData always. "zarrix, local" reads
the same data from the disk. Rounds are interleaved, and the table has their medians: samples a
second of both epochs, seconds to the first batch, and processor milliseconds of a sample in the
first epoch.

    python -m benchmarks.loader_far_peers --rounds 3 --peers .../bin/python --folder data

First batches are compared as in `benchmarks.loader`, whose data are used.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import zarrix as zarr
from zarrix import ml

from benchmarks import loader_fields, loader_peers, loader_zarr
from benchmarks.latency import behind
from benchmarks.loader import ROOT, checked, tree
from benchmarks.loader_data import ROWS, SEED, Row, made

BUCKET = "loader"
ENTRIES = ("A'", "D1", "D8", "C")


class Far(NamedTuple):
    """Where the server is, and what it asks for."""

    endpoint: str
    key: str
    secret: str
    region: str

    @property
    def url(self) -> str:
        return f"s3://{BUCKET}"

    @property
    def for_zarrix(self) -> dict[str, Any]:
        return {
            "endpoint_url": self.endpoint,
            "key": self.key,
            "secret": self.secret,
            "client_kwargs": {"region_name": self.region},
        }

    @property
    def for_obstore(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint,
            "access_key_id": self.key,
            "secret_access_key": self.secret,
            "region": self.region,
            "virtual_hosted_style_request": False,
            "client_options": {"allow_http": True},
        }

    @property
    def for_beluga(self) -> dict[str, str]:
        return {
            "aws_endpoint": self.endpoint,
            "aws_access_key_id": self.key,
            "aws_secret_access_key": self.secret,
            "aws_region": self.region,
            "allow_http": "true",
        }

    @property
    def for_boto(self) -> dict[str, Any]:
        return {
            "endpoint_url": self.endpoint,
            "aws_access_key_id": self.key,
            "aws_secret_access_key": self.secret,
            "region_name": self.region,
        }


# Batches of each contender, for ever, after None


def of_zarrix(row: Row, path: Path, workers: int, far: Far, cache: Path) -> Iterator[Any]:
    options = {**far.for_zarrix, "cache": str(cache)}
    dataset = row.dataset(f"{far.url}/{path.name}", storage_options=options)
    loader = ml.Loader(dataset, row.batch_size, shuffle=row.shuffle, seed=SEED, frozen=True)
    yield None
    while True:
        yield from loader


def of_zarrix_local(row: Row, path: Path, workers: int, far: Far, cache: Path) -> Iterator[Any]:
    yield from loader_zarr.of_zarrix(row, path, workers)


class OnServer:
    """Opens the array on the server that belongs to a local one, by zarr-python and obstore."""

    def __init__(self, far: Far, folder: Path) -> None:
        self.far, self.folder = far, folder

    def __call__(self, source: str) -> Any:
        peer = importlib.import_module("zarr")
        stores = importlib.import_module("obstore.store")
        prefix = Path(source).relative_to(self.folder).as_posix()
        store = stores.S3Store(BUCKET, prefix=prefix, **self.far.for_obstore)
        return peer.open_array(peer.storage.ObjectStore(store, read_only=True), mode="r")


def of_zarr(row: Row, path: Path, workers: int, far: Far, cache: Path) -> Iterator[Any]:
    batches = loader_zarr.with_data_loader(OnServer(far, path.parent), "spawn")
    yield from batches(row, path, workers)


def of_beluga(row: Row, path: Path, workers: int, far: Far, cache: Path) -> Iterator[Any]:
    yield from loader_fields.of_beluga(row, path, workers, far.url, far.for_beluga)


def of_insitubatch(row: Row, path: Path, workers: int, far: Far, cache: Path) -> Iterator[Any]:
    yield from loader_fields.of_insitubatch(row, path, workers, far.url, far.for_obstore)


def of_litdata(
    row: Row, path: Path, workers: int, far: Far, cache: Path, compression: str | None = None
) -> Iterator[Any]:
    # It has no option for servers without TLS.
    downloader = importlib.import_module("litdata.streaming.downloader")
    downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = "true"
    yield from loader_peers.of_litdata(
        row,
        path,
        workers,
        compression,
        far.url,
        cache_dir=str(cache),
        storage_options=far.for_boto,
    )


def contenders_of(name: str) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Name: how its batches are made, and the numbers of workers to try."""
    found: dict[str, tuple[Any, tuple[int, ...]]] = {
        "zarrix": (of_zarrix, (0,)),
        "zarrix, local": (of_zarrix_local, (0,)),
    }
    if name == "C":
        # Row by row, zarr-python would take minutes for an epoch.
        found["litdata"] = (of_litdata, (0, 2))
        found["litdata, zstd"] = (partial(of_litdata, compression="zstd"), (0, 2))
        return found
    found["zarr + obstore"] = (of_zarr, (2, 8))
    if name.startswith("D"):
        found["zarr-beluga"] = (of_beluga, (0,))
        found["insitubatch"] = (of_insitubatch, (0,))
    return found


# In a process of its own


def child(name: str, contender: str, workers: int, folder: Path, far: Far) -> dict[str, Any]:
    """Two epochs of one contender."""
    row, path = ROWS[name], made(name, folder)
    dataset = row.dataset(path)
    fields = [column.name for column in dataset._columns]
    size, key = len(dataset), fields[0]
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        batches = contenders_of(name)[contender][0](row, path, workers, far, Path(cache))
        # Arrays are opened before the time begins.
        next(batches)
        cpu, begun = tree()[0], time.perf_counter()
        batch = next(batches)
        first_s = time.perf_counter() - begun
        counted = "item" if key not in batch else key
        crc = checked(name, contender, path, batch, fields)
        speeds: list[float] = []
        cpu_ms = 0.0
        delivered = len(batch[counted])
        if workers:
            # Their start, which takes seconds, is not counted.
            delivered, cpu, begun = 0, tree()[0], time.perf_counter()
        for _ in range(2):
            while delivered < size:
                delivered += len(next(batches)[counted])
            speeds.append(delivered / (time.perf_counter() - begun))
            cpu_ms = cpu_ms or 1000 * (tree()[0] - cpu) / delivered
            delivered, begun = 0, time.perf_counter()
        batches.close()
    return {
        "epoch 1": speeds[0],
        "epoch 2": speeds[1],
        "first_s": first_s,
        "cpu_ms": cpu_ms,
        "crc": crc,
    }


# The rounds


def upload(path: Path, far: Far) -> None:
    """Put the files of a folder on the server, under its name."""
    store = zarr.storage.FSStore(f"{far.url}/{path.name}", **far.for_zarrix)
    for file in sorted(path.rglob("*")):
        if file.is_file():
            store[file.relative_to(path).as_posix()] = file.read_bytes()


def prepared(name: str, folder: Path, options: argparse.Namespace) -> list[Path]:
    """The folders that the server has for a row: the array, and LitData's copies of it."""
    path = made(name, folder)
    if name != "C":
        return [path]
    copies = "import sys, pathlib; from benchmarks.loader_peers import litdata_copy as copy\n"
    copies += "for one in (None, 'zstd'): print(copy(pathlib.Path(sys.argv[1]), one))"
    words = [options.peers, "-W", "ignore", "-c", copies, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=_environment())
    if done.returncode:
        print(f"{name}: no copies for LitData: {done.stderr.strip().splitlines()[-1:]}")
        return [path]
    return [path, *map(Path, done.stdout.splitlines()[-2:])]


def _environment() -> dict[str, str]:
    package = str(Path(zarr.__file__).parents[1])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([package, str(ROOT)]),
        "NO_PROXY": "127.0.0.1",
    }


def race(name: str, folder: Path, far: Far, options: argparse.Namespace) -> None:
    """Interleaved rounds of one row, and its lines: the medians at the best number of workers."""
    results: dict[tuple[str, int], list[dict[str, Any]]] = {}
    counts = {contender: tried for contender, (_, tried) in contenders_of(name).items()}
    for number in range(options.rounds):
        for contender, tried in counts.items():
            for workers in tried:
                found = launched(name, contender, workers, folder, far, options)
                if found is not None:
                    results.setdefault((contender, workers), []).append(found)
        if number == 0:
            for contender in counts:
                mine = {w: r[0]["epoch 1"] for (c, w), r in results.items() if c == contender}
                counts[contender] = (max(mine, key=lambda w: mine[w]),) if mine else ()
    if len({one["crc"] for some in results.values() for one in some if one["crc"]}) > 1:
        raise SystemExit(f"row {name}: first batches differ")
    ours: dict[str, float] = {}
    for contender, best in counts.items():
        if not best:
            print(f"{name}: {contender} did not run")
            continue
        some = results[contender, best[0]]
        line = {key: statistics.median(one[key] for one in some) for key in some[0]}
        ours = ours or line
        told: dict[str, Any] = {"row": name, "contender": contender, "workers": best[0]}
        for key in ("epoch 1", "epoch 2", "first_s", "cpu_ms"):
            told[key] = float(f"{line[key]:.4g}")
        told["ratio 1"] = round(ours["epoch 1"] / line["epoch 1"], 2)
        told["ratio 2"] = round(ours["epoch 2"] / line["epoch 2"], 2)
        print(json.dumps(told), flush=True)


def launched(
    name: str, contender: str, workers: int, folder: Path, far: Far, options: argparse.Namespace
) -> dict[str, Any] | None:
    words = [options.peers, "-W", "ignore", "-m", "benchmarks.loader_far_peers", "--child", name]
    words += [contender, str(workers), str(folder), json.dumps(far._asdict())]
    process = subprocess.run(
        words,
        capture_output=True,
        text=True,
        env=_environment(),
        cwd=ROOT,
        timeout=900,
        check=False,
    )
    if process.returncode:
        reason = process.stderr.strip().splitlines()[-1:]
        print(f"{name}: {contender}, {workers} workers: {' '.join(reason)[:300]}", flush=True)
        return None
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    if options.verbose:
        print(f"# {name}: {contender}, {workers}: {found}", flush=True)
    return found


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        name, contender, workers, folder, far = sys.argv[2:]
        there = Far(**json.loads(far))
        print(json.dumps(child(name, contender, int(workers), Path(folder), there)))
        return
    parser = argparse.ArgumentParser(description="Loaders of data on a server.")
    parser.add_argument("--rows", default=",".join(ENTRIES), help="which rows, such as D1,C")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=20.0, help="milliseconds")
    parser.add_argument("--peers", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--folder", required=True, help="where data are made, and kept")
    parser.add_argument("--verbose", action="store_true", help="print each run")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from servers import KEY, REGION, SECRET, SERVERS, new_bucket, running

    os.environ["NO_PROXY"] = "127.0.0.1"
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.rows.split(","):
        with running(SERVERS["seaweedfs"]) as server:
            new_bucket(server, BUCKET)
            near = Far(server.endpoint, KEY, SECRET, REGION)
            for path in prepared(name, folder, options):
                upload(path, near)
            port = int(server.endpoint.rpartition(":")[2])
            with behind(port, options.latency) as endpoint:
                race(name, folder, near._replace(endpoint=endpoint), options)


if __name__ == "__main__":
    main()
