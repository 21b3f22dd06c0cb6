"""One run: the chosen rows, each built, checked, measured and reported."""

from __future__ import annotations

import argparse
import fnmatch
import gc
import json
import os
import shutil
import sys
from collections.abc import Sequence

import numpy as np

from benchmarks import floor, memory, odd, report, setup
from benchmarks.contenders import OURS, AnyArray, Contender
from benchmarks.data import cpus
from benchmarks.measure import Call, Pace, rounds
from benchmarks.rows import WORKLOADS
from benchmarks.workloads import Place, Workload, scratch_folder


def run(arguments: argparse.Namespace) -> int:
    """What the command line asks for; 0 when all contenders agreed about every value, else 1."""
    chosen = _chosen(arguments.only)
    if arguments.action == "list":
        print("\n".join(workload.name for workload in chosen))
        return 0
    seed = _seed(arguments)
    data = arguments.data or setup.ROOT / "benchmarks" / "data"
    data = data / "tiny" if arguments.tiny else data
    place = Place(data.resolve(), scratch_folder(), arguments.tiny, seed)
    pace = Pace(3 if arguments.quick else arguments.rounds, budget_s=arguments.budget)
    load = os.getloadavg()[0]
    try:
        rows = _measured(chosen, place, pace, arguments.memory)
    finally:
        shutil.rmtree(place.scratch, ignore_errors=True)
    _deliver(rows, arguments, load)
    return 1 if any(row.faults for row in rows) else 0


def _seed(arguments: argparse.Namespace) -> int:
    from zarrix import __version__

    return odd.seed_of(__version__) if arguments.seed is None else int(arguments.seed)


def _chosen(patterns: list[str] | None) -> list[Workload]:
    if not patterns:
        return list(WORKLOADS)
    return [
        w for w in WORKLOADS if any(p in w.name or fnmatch.fnmatchcase(w.name, p) for p in patterns)
    ]


def _measured(
    chosen: Sequence[Workload], place: Place, pace: Pace, with_memory: bool
) -> list[report.Row]:
    rows = []
    for workload in chosen:
        print(f"{workload.name} ...", end="", file=sys.stderr, flush=True)
        row = measure(workload, place, pace)
        if with_memory:
            for contender in workload.contenders():
                if contender.name in row.times:
                    peak = memory.peak_bytes(workload, contender, place)
                    if peak is not None:
                        row.peaks[contender.name] = peak
        print(" done", file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def measure(workload: Workload, place: Place, pace: Pace) -> report.Row:
    """One row: who agrees is timed, who fails or differs is named in ``faults``."""
    row = report.Row(workload)
    workload.build(place)
    contenders = _agreeing(workload, place, row)
    gc.collect()
    calls: dict[str, Call] = {c.name: workload.call_of(c, place) for c in contenders}
    bare = workload.floor(place)
    if bare is not None:
        calls[floor.NAME] = bare
    if calls:
        row.times = rounds(calls, pace)
    row.ranked = [c.name for c in contenders if c.name != OURS and workload.ranks(c)]
    return row


def _agreeing(workload: Workload, place: Place, row: report.Row) -> list[Contender]:
    """The contenders whose results are those of the first that has one."""
    expected: list[AnyArray] | None = None
    agreeing = []
    for contender in workload.contenders():
        try:
            result = workload.result_of(contender, place)
        except Exception as error:  # any error of a peer leaves it out of this row only
            row.faults[contender.name] = f"{type(error).__name__}: {error}"
            continue
        if expected is None:
            expected = result
        if not all(map(_equal, expected, result)):
            row.faults[contender.name] = "other values than the contenders before it"
            continue
        agreeing.append(contender)
    return agreeing


def _equal(one: AnyArray, other: AnyArray) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and np.array_equal(one, other)


def _deliver(rows: Sequence[report.Row], arguments: argparse.Namespace, load: float) -> None:
    print(report.machine())
    print(f"odd sizes of seed {_seed(arguments)}")
    print(", ".join(f"{name} {version}" for name, version in report.versions().items()), end="\n\n")
    if load > cpus() / 2:
        print(f"The machine was busy before (load {load:.1f}): the rounds will scatter.\n")
    print(report.table(rows, arguments.every))
    if arguments.json:
        arguments.json.write_text(json.dumps(report.document(rows), indent=1))
    if arguments.plot:
        arguments.plot.write_text(report.picture(rows))
