"""Loaders side by side: ``python -m benchmarks.loader``.

Every contender that takes an order reads the same windows, whose list comes from the order of
`zarrix.ml`, in a process of its own. The first round tries each number of workers that it has; its
best number counts, and runs in the other rounds, which are interleaved. First batches are compared
before anything is timed. The time without workers begins with the iterator, so that what a
contender reads before its first batch counts; with workers, whose start takes seconds, it begins
with the first batch. It ends with an epoch, unless that takes four times as long as was asked for.
Processor time and memory are those of all processes of a contender.

    python -m benchmarks.loader --rows A,C --rounds 3 --peers .../bin/python --folder data

Each run is stored in ``--runs`` as it ends, with what else the processors did meanwhile
(`benchmarks.stored`); a run that is there of the same commit and machine is not repeated, so that
what was interrupted goes on, and ``--again disturbed`` repeats those beside another load.
``--quick`` has the rows A, B+, V, K and W, two rounds of a second, and five contenders: at most 15
minutes.

``--peers`` is a Python with the packages that are compared, ``--zarr2`` one with torch and
zarr-python 2.18; a contender whose package is not there is left out, and the output says so. Data
are made in ``--folder`` once. ``--step sleep`` simulates a training step of 1.25 times the floor's
batch on a GPU, and says which share of the time each contender makes it wait; ``--step busy`` has a
thread of matrix products beside the loader. On a busy machine only processor time says something,
and only with ``--whole``: a run that is cut counts what was read ahead, and not delivered.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks import (
    loader_fields,
    loader_peers,
    loader_pictures,
    loader_sparse,
    loader_zarr,
    stored,
)
from benchmarks.disturbance import Watch, processes
from benchmarks.loader_data import QUICK, ROWS, made
from benchmarks.stored import Records

ROOT = Path(__file__).parents[1]
COMMIT = stored.commit()
# A step of training takes so many times as long as the floor of its batch.
STEP = 1.25
QUICK_CONTENDERS = ("zarrix", "zarrix, stage", "floor", "tensorstore", "tensorstore, cache")


def contenders_of(name: str) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Name: how its batches are made, and the numbers of workers to try."""
    if name == "F":
        return loader_zarr.IN_MEMORY
    if name == "G":
        return loader_sparse.CONTENDERS
    if name.startswith("H"):
        return loader_pictures.CONTENDERS
    found = dict(loader_zarr.ON_DISK)
    if name in ("B", "B+", "V"):
        # It does not read Zarr v3.
        del found["zarr 2.18"]
    if name == "C":
        found.update(loader_peers.PEERS)
    if name.startswith("D"):
        found.update(loader_fields.PEERS)
    return found


# In a process of its own


def child(name: str, contender: str, workers: int, folder: Path, options: Any) -> dict[str, Any]:
    """Load for a while; the figures of this process and its workers."""
    row, path, seconds = ROWS[name], made(name, folder), options["seconds"]
    maker = contenders_of(name)[contender][0]
    batches = maker(row, path, workers)
    # Arrays are opened and copies of the data are written before the time begins.
    next(batches)
    dataset = row.dataset(path)
    fields = [column.name for column in dataset._columns]
    size, key = len(dataset), fields[0]
    del dataset
    busy = Busy() if options["step"] == "busy" else contextlib.nullcontext()
    with busy:
        cpu, begun = tree()[0], time.perf_counter()
        batch = next(batches)
        first_s = time.perf_counter() - begun
        counted = "item" if key not in batch else key
        before, delivered = 0, len(batch[counted])
        crc = checked(name, contender, path, batch, fields)
        del batch
        if workers:
            before, cpu, begun = delivered, tree()[0], time.perf_counter()
        waited = 0.0
        while True:
            if options["step"] == "sleep":
                time.sleep(options["step_s"])
            took = time.perf_counter() - begun
            # To the end of an epoch, whose begin is the slowest part; four times as long at most.
            is_late = took >= 4 * seconds and not options["whole"]
            if is_late or (took >= seconds and delivered % size == 0):
                break
            since = time.perf_counter()
            delivered += len(next(batches)[counted])
            waited += time.perf_counter() - since
        samples = delivered - before
        took = time.perf_counter() - begun
        spent, peak = tree()
        spent -= busy.spent_s() if isinstance(busy, Busy) else 0.0
    batches.close()
    return {
        "samples_s": samples / took,
        "cpu_ms": 1000 * (spent - cpu) / max(1, samples),
        "first_s": first_s,
        "peak_mib": peak,
        "waited": waited / took,
        "crc": crc,
    }


def checked(name: str, contender: str, path: Path, batch: Any, fields: list[str]) -> int:
    """A checksum of a batch in our order; one in an order of its own is compared with the data."""
    if name == "G":
        loader_sparse.check(path, batch)
    elif name.startswith("H") and contender in loader_pictures.OWN_ORDER:
        loader_pictures.check(path, batch)
    elif contender in loader_peers.PEERS:
        loader_peers.check(path, batch)
    elif contender in loader_fields.OWN_ORDER:
        loader_fields.check(path, batch)
    else:
        crc = 0
        for field in fields:
            crc = zlib.crc32(np.ascontiguousarray(batch[field]), crc)
        return crc
    return 0


class Busy:
    """A thread that multiplies matrices, as training on a CPU does."""

    def __init__(self) -> None:
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._clock = 0

    def _run(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        matrix = np.ones((512, 512), "f4")
        while not self._ends.is_set():
            matrix @ matrix

    def spent_s(self) -> float:
        return time.clock_gettime(self._clock)

    def __enter__(self) -> Busy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()


def tree() -> tuple[float, float]:
    """Processor seconds of this process and of those that it started, and the sum of their peaks of
    memory that is their own (MiB): pages of files that they map are the system's.
    """
    spent = processes()
    peak = 0.0
    for one in spent:
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
    return sum(spent.values()), peak


# The rounds


def race(
    name: str, folder: Path, options: argparse.Namespace, kept: Records | None
) -> list[dict[str, Any]]:
    """Interleaved rounds of one row: the medians of each contender's best number of workers."""
    made(name, folder)
    contenders = contenders_of(name)
    if options.only:
        wanted = options.only.split(";")
        contenders = {c: made_by for c, made_by in contenders.items() if c in wanted}
    step_s = 0.0
    if options.step == "sleep":
        floor = launched(name, "floor", 0, folder, options, {"step": "", "whole": False})
        step_s = STEP * ROWS[name].batch_size / floor["samples_s"] if floor else 0.0
    more = {"step": options.step, "step_s": step_s, "whole": options.whole}
    counts = {contender: tried for contender, (_, tried) in contenders.items()}
    results: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for number in range(options.rounds):
        for contender in contenders:
            for workers in counts[contender]:
                run = f"{name}; {contender}; {workers}; {number}; {options.step}; {options.whole}"
                result = earlier(run, kept, options.again)
                if result is None:
                    with Watch() as watch:
                        result = launched(name, contender, workers, folder, options, more)
                    keep(run, result, kept, watch)
                if result is not None:
                    results.setdefault((contender, workers), []).append(result)
                    if options.verbose:
                        short = {k: float(f"{v:.4g}") for k, v in result.items()}
                        print(f"# {name}: {contender}, {workers}: {short}", flush=True)
        if number == 0:
            counts = {contender: best_of(contender, results) for contender in contenders}
    checks = {one["crc"] for found in results.values() for one in found if one["crc"]}
    if len(checks) > 1:
        raise SystemExit(f"row {name}: first batches differ: {checks}")
    return list(lines_of(name, contenders, counts, results))


def earlier(run: str, kept: Records | None, again: str) -> dict[str, Any] | None:
    """The figures of a run of this commit that ended before, if it did."""
    key = {"run": run, "commit": COMMIT, "machine": stored.machine()}.items()
    found = [one for one in kept.records() if key <= one.items()] if kept else []
    # Undisturbed figures come first, wherever they are.
    for one in sorted(found, key=lambda one: bool(one["disturbed"])):
        if not (one["disturbed"] and again == "disturbed"):
            return dict(one["figures"])
    return None


def keep(run: str, figures: dict[str, Any] | None, kept: Records | None, watch: Watch) -> None:
    """Store the figures of a run, and what else the processors did meanwhile."""
    if kept is None or figures is None:
        return
    identity = {"run": run, "commit": COMMIT, "machine": stored.machine(), "at": stored.now()}
    load = {"load": watch.load.document(), "disturbed": watch.load.reason}
    kept.append({**identity, "figures": figures, **load})


def best_of(contender: str, results: dict[tuple[str, int], list[dict[str, Any]]]) -> Any:
    mine = {w: found[0]["samples_s"] for (c, w), found in results.items() if c == contender}
    return (max(mine, key=lambda workers: mine[workers]),) if mine else ()


def lines_of(name: str, contenders: Any, counts: Any, results: Any) -> Iterator[dict[str, Any]]:
    ours: dict[str, Any] | None = None
    for contender in contenders:
        if not counts[contender]:
            print(f"{name}: {contender} did not run")
            continue
        found = results[contender, counts[contender][0]]
        line: dict[str, Any] = {
            "row": name,
            "contender": contender,
            "workers": counts[contender][0],
            # How long each number of workers took to the first batch.
            "firsts_s": {
                w: round(some[0]["first_s"], 2)
                for (c, w), some in results.items()
                if c == contender
            },
        }
        for key in ("samples_s", "cpu_ms", "first_s", "peak_mib", "waited"):
            line[key] = statistics.median(one[key] for one in found)
        ours = ours or line
        line["ratio"] = ours["samples_s"] / line["samples_s"]
        line["cpu_ratio"] = line["cpu_ms"] / max(1e-9, ours["cpu_ms"])
        short = {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in line.items()}
        print(json.dumps(short), flush=True)
        yield line


def launched(
    name: str,
    contender: str,
    workers: int,
    folder: Path,
    options: argparse.Namespace,
    more: dict[str, Any],
) -> dict[str, Any] | None:
    package = str(Path(zarr.__file__).parents[1])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([package, str(ROOT)]),
        # One thread for the matrix products of a busy step.
        "OPENBLAS_NUM_THREADS": "1",
    }
    python = options.zarr2 if contender == "zarr 2.18" else options.peers
    if not python:
        return None
    words = [python, "-W", "ignore", "-m", "benchmarks.loader", "--child", name, contender]
    words += [str(workers), str(folder), json.dumps({"seconds": options.seconds, **more})]
    process = subprocess.run(
        words, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=600, check=False
    )
    if process.returncode:
        reason = process.stderr.strip().splitlines()[-1:]
        print(f"{name}: {contender}, {workers} workers: {' '.join(reason)[:300]}", flush=True)
        if options.verbose:
            print(process.stderr[-3000:])
        return None
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return found


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        name, contender, workers, folder, options = sys.argv[2:]
        found = child(name, contender, int(workers), Path(folder), json.loads(options))
        print(json.dumps(found))
        return
    parser = argparse.ArgumentParser(description="Loaders side by side.")
    parser.add_argument("--rows", default="", help="which rows, such as A,C; all when omitted")
    parser.add_argument("--quick", action="store_true", help="a few rows, at most 15 minutes")
    parser.add_argument("--whole", action="store_true", help="each run lasts to an epoch's end")
    parser.add_argument("--runs", default=None, help="a file of runs, which goes on from there")
    parser.add_argument(
        "--again", default="", choices=("disturbed",), help="repeat runs that a load disturbed"
    )
    parser.add_argument("--only", default="", help="which contenders, such as 'zarrix;floor'")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each in a round, at least")
    parser.add_argument("--peers", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--zarr2", default="", help="a Python that has zarr-python 2.18")
    parser.add_argument("--folder", default=None, help="where data are made, and kept")
    parser.add_argument("--step", default="", choices=("", "sleep", "busy"))
    parser.add_argument("--verbose", action="store_true", help="print each run, and what failed")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 2, 1.0
        options.only = options.only or ";".join(QUICK_CONTENDERS)
    rows = options.rows or ",".join(QUICK if options.quick else ROWS)
    with contextlib.ExitStack() as stack:
        folder = options.folder or stack.enter_context(tempfile.TemporaryDirectory())
        Path(folder).mkdir(parents=True, exist_ok=True)
        kept = stack.enter_context(Records(Path(options.runs))) if options.runs else None
        for name in rows.split(","):
            race(name, Path(folder), options, kept)


if __name__ == "__main__":
    main()
