"""Creating many arrays below a consolidated root: requests, time and memory, beside bare documents.

    python -m benchmarks.batches                       100,000 arrays in memory and on disk
    python -m benchmarks.batches --arrays 10000 --place server
    python -m benchmarks.batches --each 3              so many arrays in each group

A bare document is one request that stores it. The server is small, in memory, and of this machine:
its requests are counted by itself, all others by a trace. Each row is of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import zarrix as zarr
from servers.faulty import FaultyServer

PLACES = ("memory", "disk", "server")
WAYS = ("batch", "create_hierarchy", "bare")


@contextmanager
def place(name: str) -> Iterator[tuple[Any, dict[str, Any], Callable[[], int] | None]]:
    """Where to store, with options; and what counts the requests so far, if a trace does not."""
    with ExitStack() as stack:
        if name == "server":
            server = stack.enter_context(FaultyServer())
            options = {"storage_options": server.options}
            yield f"{server.url}/h", options, lambda: len(server.requests)
        elif name == "disk":
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            yield f"{folder}/h.zarr", {}, None
        else:
            yield zarr.MemoryStore(), {}, None


def make(way: str, root: zarr.Group, paths: list[str], like: zarr.Array) -> None:
    """Create the arrays."""
    if way == "batch":
        with root.batch():
            for path in paths:
                root.create_array(path, shape=(100, 100), chunks=(10, 10), dtype="f4")
    elif way == "create_hierarchy":
        for _ in root.create_hierarchy(dict.fromkeys(paths, like.metadata)):
            pass
    else:
        store = root.store
        array, group = store["like/zarr.json"], b'{"zarr_format":3,"node_type":"group"}'
        for above in dict.fromkeys(path.rpartition("/")[0] for path in paths):
            store.put_if(f"{above}/zarr.json", group, None)
        for path in paths:
            store.put_if(f"{path}/zarr.json", array, None)


def measure(where: str, way: str, arrays: int, each: int) -> list[float]:
    """Requests for each node, wall and processor time, memory in MiB, and nodes."""
    paths = [f"g{number // each:06}/a{number % each:06}" for number in range(arrays)]
    nodes = arrays + len({path.partition("/")[0] for path in paths})
    with place(where) as (store, options, count):
        root = zarr.open_group(store, mode="w", zarr_format=3, **options)
        like = root.create_array("like", shape=(100, 100), chunks=(10, 10), dtype="f4")
        zarr.consolidate_metadata(root.store)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        asked = count() if count else 0
        at, used = time.perf_counter(), time.process_time()
        make(way, root, paths, like)
        taken = time.perf_counter() - at, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        requests = (count() if count else asked) - asked
        return [requests / nodes, *taken, (peak - before) / 1024, nodes]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Many nodes at once.")
    parser.add_argument("--arrays", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=1000, help="arrays in a group")
    parser.add_argument("--place", choices=PLACES, action="append")
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.row:
        print(json.dumps(measure(*given.row, given.arrays, given.each)))
        return
    print(f"{'':28}{'nodes':>9}{'requests each':>15}{'wall s':>9}{'proc s':>9}{'more MiB':>10}")
    for where in given.place or PLACES[:2]:
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.batches", "--row", where, way]
            command += ["--arrays", str(given.arrays), "--each", str(given.each)]
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
            requests, wall, used, more, nodes = json.loads(ran.stdout)
            told = f"{requests:15.3f}" if requests else f"{'':15}"
            row = f"{where + ', ' + way:28}{nodes:9.0f}{told}{wall:9.1f}{used:9.1f}{more:10.0f}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
