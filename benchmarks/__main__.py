"""The command line of the benchmarks: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import fnmatch
import gc
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import floor, memory, report, setup
from benchmarks.contenders import OURS, AnyArray, Contender
from benchmarks.measure import Call, Pace, rounds
from benchmarks.workloads import WORKLOADS, Place, Workload, scratch_folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure zarrix and its peers on the same files, in alternation.",
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("run", "setup", "list"),
        default="run",
        help="measure (default), make the environment with all peers, or list the workloads",
    )
    add = parser.add_argument
    add("--only", action="append", metavar="PATTERN", help="rows whose name has or fits this")
    add("--rounds", type=int, default=15, metavar="N", help="at most, for each row (default 15)")
    add("--budget", type=float, default=20.0, metavar="S", help="seconds for each row (default 20)")
    add("--quick", action="store_true", help="three rounds of each row")
    add("--tiny", action="store_true", help="tiny arrays: tests the harness, says nothing of speed")
    add("--every", action="store_true", help="a line for every contender, not only the best peer")
    add("--memory", action="store_true", help="peak memory of reads, each in its own process")
    add("--json", type=Path, metavar="FILE", help="write everything that was measured")
    add("--plot", type=Path, metavar="FILE", help="draw the rows as an SVG picture")
    add("--data", type=Path, metavar="DIR", help="of the arrays (default benchmarks/data)")
    add("--here", action="store_true", help="stay in this interpreter, with the peers it has")
    add("--tree", action="store_true", help="zarrix of this source tree, not the installed one")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; 0 when all contenders agreed about every value, 1 otherwise."""
    arguments = _parser().parse_args(argv)
    if arguments.action == "setup":
        return _setup()
    chosen = _chosen(arguments.only)
    if arguments.action == "list":
        print("\n".join(workload.name for workload in chosen))
        return 0
    if not arguments.here:
        setup.hand_over(list(sys.argv[1:] if argv is None else argv))
    if arguments.tree:
        sys.path.insert(0, str(setup.ROOT / "python"))
    data = arguments.data or setup.ROOT / "benchmarks" / "data"
    data = data / "tiny" if arguments.tiny else data
    place = Place(data.resolve(), scratch_folder(), arguments.tiny)
    pace = Pace(3 if arguments.quick else arguments.rounds, budget_s=arguments.budget)
    try:
        rows = _measured(chosen, place, pace, arguments.memory)
    finally:
        shutil.rmtree(place.scratch, ignore_errors=True)
    _deliver(rows, arguments)
    return 1 if any(row.faults for row in rows) else 0


def _setup() -> int:
    try:
        print(f"ready: {setup.make()}")
    except (setup.SetupError, subprocess.CalledProcessError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


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
    calls: dict[str, Call] = {c.name: workload.call(c, place) for c in contenders}
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
            result = workload.result(contender, place)
        except Exception as error:  # whatever a peer raises keeps it out of this row alone
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


def _deliver(rows: Sequence[report.Row], arguments: argparse.Namespace) -> None:
    print(report.machine())
    print(", ".join(f"{name} {version}" for name, version in report.versions().items()), end="\n\n")
    print(report.table(rows, arguments.every))
    if arguments.json:
        arguments.json.write_text(json.dumps(report.document(rows), indent=1))
    if arguments.plot:
        arguments.plot.write_text(report.picture(rows))


if __name__ == "__main__":
    sys.exit(main())
