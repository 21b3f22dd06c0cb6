"""Virtual arrays beside one real array: what opening and reading cost.

    python -m benchmarks.virtual             100,000 listed pieces, 2000 read, 100 on a server
    python -m benchmarks.virtual --quick     10,000 listed, 500 read, 25 on a server

Processor time is that of this process, so that other load changes it little; the best of
interleaved rounds counts.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import json
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix import virtual

from benchmarks.latency import behind


def best(calls: list[Callable[[], Any]], rounds: int) -> list[tuple[float, float]]:
    """Processor time and wall time of each call in seconds, the least of interleaved rounds."""
    found: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(rounds):
        for times, call in zip(found, calls, strict=True):
            begun, at = time.process_time(), time.perf_counter()
            call()
            times.append((time.process_time() - begun, time.perf_counter() - at))
    return [(min(cpu for cpu, _ in each), min(wall for _, wall in each)) for each in found]


def opening(folder: Path, count: int, rounds: int) -> None:
    """A list of pieces in as many sources is opened; no piece is."""
    zarr.create_array(folder / "one.zarr", data=np.arange(10.0))
    virtual.save(virtual.concat([folder / "one.zarr"]), folder / "one.json")
    document = json.loads((folder / "one.json").read_bytes())
    node = document["nodes"][""]
    check = node["pieces"][0][4]
    document["sources"] = [[f"{n}.zarr", "zarr3", None] for n in range(count)]
    node["document"]["shape"] = [10 * count]
    node["pieces"] = [[n, "", [10 * n], [10], check, {}] for n in range(count)]
    path = folder / "many.json"
    path.write_text(json.dumps(document, separators=(",", ":")))
    text = path.read_bytes()
    mine, parsing = best(
        [lambda: zarr.open(path, mode="r").shape, lambda: json.loads(text)], rounds
    )
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"open {count:,} pieces: {mine[0]:.3f} s of processor time, {mebibytes:.0f} MiB at most "
        f"(json.loads of the text: {parsing[0]:.3f} s)"
    )


def reading(folder: Path, count: int, rounds: int) -> None:
    """All elements of pieces of one chunk of 40 KiB each, beside one array of such chunks."""
    values = np.random.default_rng(1).integers(0, 100, (count, 5120)).astype("f8")
    real: Any = zarr.create_array(folder / "real.zarr", data=values, chunks=(1, 5120))
    names = [folder / f"p{n}.zarr" for n in range(count)]
    for name, row in zip(names, values, strict=True):
        zarr.create_array(name, data=row[None], chunks=(1, 5120))
    whole: Any = virtual.concat(names)
    assert np.array_equal(whole[...], values)
    mine, theirs = best([lambda: whole[...], lambda: real[...]], rounds)
    print(
        f"read {count:,} pieces of 40 KiB: {mine[0] / theirs[0]:.2f} times the processor time of "
        f"one array ({1000 * mine[0]:.0f} and {1000 * theirs[0]:.0f} ms)"
    )


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are one packet, as of other servers: the second of two would wait 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True

    def end_headers(self) -> None:
        """Add what other servers say of a version."""
        with contextlib.suppress(OSError):
            found = os.stat(self.translate_path(self.path))
            self.send_header("ETag", f'"{found.st_size}-{found.st_mtime_ns}"')
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a web server that answers after 20 ms."""
    handler = functools.partial(_Handler, directory=str(folder))
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with behind(server.server_port, 20) as address:
            yield address
        server.shutdown()
        thread.join()


def remote(folder: Path, count: int, rounds: int) -> None:
    """Pieces on a web server, by one client."""
    with serving(folder) as address:
        whole: Any = virtual.concat([f"{address}/p{n}.zarr" for n in range(count)])
        whole[...]
        ((_, wall),) = best([lambda: whole[...]], rounds)
    print(f"read {count} pieces 20 ms away: {wall:.2f} s")


def downloaded(folder: Path, count: int, rounds: int) -> None:
    """The first read of files on two web servers, whose list is open."""
    for n in range(count):
        np.save(folder / f"p{n}.npy", np.full((1, 5120), n, "f8"))
    with serving(folder) as first, serving(folder) as second:
        names = [f"{(first, second)[n % 2]}/p{n}.npy" for n in range(count)]
        virtual.save(virtual.concat(names), folder / "files.json")
        walls = []
        for _ in range(rounds):
            whole: Any = virtual.open(folder / "files.json")
            begun = time.perf_counter()
            assert whole[...][-1, 0] == count - 1
            walls.append(time.perf_counter() - begun)
            del whole
    print(
        f"read {count} npy files on two servers 20 ms away for the first time: {min(walls):.2f} s"
    )


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.virtual")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", help="where files are made; a temporary folder if omitted")
    arguments = parser.parse_args()
    listed, read, far, rounds = (10_000, 500, 25, 3) if arguments.quick else (100_000, 2000, 100, 9)
    with tempfile.TemporaryDirectory(prefix="zarrix-virtual-", dir=arguments.folder) as name:
        opening(Path(name), listed, rounds)
        reading(Path(name), read, rounds)
        remote(Path(name), far, rounds)
        downloaded(Path(name), far, rounds)


if __name__ == "__main__":
    main()
