"""One run: the chosen rows, each built, checked, measured, stored and reported.

A row that is stored of the same form, commit, engine, machine, versions and seed is not measured
again: a run that was stopped goes on. What another load disturbed is marked, and measured again by
`--again disturbed`.
"""

from __future__ import annotations

import argparse
import fnmatch
import gc
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import agreement, floor, memory, odd, report, setup, stored, written
from benchmarks.contenders import OURS, AnyArray, Contender
from benchmarks.disturbance import Watch
from benchmarks.measure import Call, Pace, spent
from benchmarks.rows import WORKLOADS
from benchmarks.stored import Record, Records
from benchmarks.workloads import Place, Workload, scratch_folder

# A quick run: the medians of its ratios are known within this part, which is why they agree with
# those of a long run within a tenth.
QUICK = Pace(rounds=40, budget_s=30.0, settled=0.04)
# The rest of the time is for building arrays and comparing results.
_SHARE = 0.9


def run(arguments: argparse.Namespace) -> int:
    """What the command line asks for; 0 when all contenders agreed about every value, else 1."""
    chosen = _chosen(arguments.only)
    if arguments.action == "list":
        print("\n".join(workload.name for workload in chosen))
        return 0
    if arguments.action in ("report", "agree"):
        return _told(arguments)
    seed = _seed(arguments)
    data = arguments.data or setup.ROOT / "benchmarks" / "data"
    data = data / "tiny" if arguments.tiny else data
    place = Place(data.resolve(), scratch_folder(), arguments.tiny, seed)
    try:
        with Records(arguments.runs or place.data / "rows.jsonl") as kept:
            session = Session(arguments, place, kept)
            session.measure(chosen)
            rows, disturbed = session.rows(chosen)
    except stored.InUse as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(place.scratch, ignore_errors=True)
    _deliver(rows, disturbed, arguments)
    return 1 if any(row.faults for row in rows) else 0


def _told(arguments: argparse.Namespace) -> int:
    records = stored.read(arguments.runs or written.COMMITTED)
    if arguments.action == "agree":
        return agreement.told(records, stored.read(arguments.against or written.COMMITTED))
    lines = written.lines_of(records)
    if not lines:
        print("benchmarks: no row is stored there", file=sys.stderr)
        return 1
    print(written.source(lines), written.table(lines), sep="\n\n")
    if arguments.write:
        for path, text in written.pages(lines).items():
            (setup.ROOT / path).write_text(text)
    return 0


class Session:
    """The rows of one run, those that are stored already among them."""

    def __init__(self, arguments: argparse.Namespace, place: Place, kept: Records) -> None:
        self._arguments, self._place, self._kept = arguments, place, kept
        self._identity = _identity(arguments, place)
        self._pace = Pace(arguments.rounds, budget_s=arguments.budget)
        if arguments.quick:
            budget = min(arguments.budget, QUICK.budget_s)
            self._pace = replace(QUICK, rounds=arguments.rounds, budget_s=budget)
        minutes = arguments.minutes or (15.0 if arguments.quick else None)
        self._end = None if minutes is None else time.monotonic() + minutes * 60 * _SHARE

    def measure(self, chosen: Sequence[Workload]) -> None:
        """Measure and store the rows that are not there yet."""
        missing = list(self._missing(chosen))
        for at, workload in enumerate(missing):
            left = len(missing) - at
            pace = self._pace
            if self._end is not None:
                share_s = (self._end - time.monotonic()) / left
                if share_s <= 0:
                    print(f"The time is over; the same command goes on with {left} rows:")
                    print("\n".join(f"  {one.name}" for one in missing[at:]))
                    return
                pace = replace(pace, budget_s=min(pace.budget_s, share_s))
            print(f"{workload.name} ...", end="", file=sys.stderr, flush=True)
            row = measure(workload, self._place, pace)
            if self._arguments.memory:
                row.peaks = _peaks(row, self._place)
            self._kept.append({**self._identity, "at": stored.now(), **row.record()})
            print(
                f" done{row.disturbed and f', disturbed: {row.disturbed}'}",
                file=sys.stderr,
                flush=True,
            )

    def _missing(self, chosen: Sequence[Workload]) -> Iterator[Workload]:
        """In complete turns, so that the runs of one row lie apart in time."""
        again = self._arguments.again
        done = dict.fromkeys((workload.name for workload in chosen), 0)
        for record in self._own() if again != "all" else ():
            if record["row"] in done and not (again == "disturbed" and record["disturbed"]):
                done[record["row"]] += 1
        for turn in range(self._arguments.repeat):
            yield from (workload for workload in chosen if done[workload.name] <= turn)

    def _own(self) -> list[Record]:
        """The stored rows of this form, of this code on this machine."""
        key = self._identity.items()
        return [one for one in self._kept.records() if "row" in one and key <= one.items()]

    def rows(self, chosen: Sequence[Workload]) -> tuple[list[report.Row], dict[str, str]]:
        """The newest record of each row, and what disturbed those that have none undisturbed."""
        found: dict[str, Record] = {}
        for record in self._own():
            if not record["disturbed"] or found.get(record["row"], record)["disturbed"]:
                found[record["row"]] = record
        there = [workload for workload in chosen if workload.name in found]
        rows = [report.Row.of(workload, found[workload.name]) for workload in there]
        return rows, {row.workload.name: row.disturbed for row in rows if row.disturbed}


def _identity(arguments: argparse.Namespace, place: Place) -> Record:
    """What has to be equal for two rows to be of one run."""
    import zarrix

    form = f"{arguments.rounds} rounds, {arguments.budget:g} s"
    versions = ", ".join(f"{name} {version}" for name, version in report.versions().items())
    return {
        "form": f"quick, {form}" if arguments.quick else form,
        "commit": stored.commit(),
        "engine": stored.engine(Path(zarrix.__file__).parent),
        "machine": stored.machine(),
        "versions": versions,
        "seed": place.seed,
        "tiny": place.tiny,
    }


def _peaks(row: report.Row, place: Place) -> dict[str, int]:
    """Bytes of memory at the peak, by contender."""
    found = {}
    for contender in row.workload.contenders():
        if contender.name in row.times:
            peak = memory.peak_bytes(row.workload, contender, place)
            if peak is not None:
                found[contender.name] = peak
    return found


def _seed(arguments: argparse.Namespace) -> int:
    from zarrix import __version__

    return odd.seed_of(__version__) if arguments.seed is None else int(arguments.seed)


def _chosen(patterns: list[str] | None) -> list[Workload]:
    if not patterns:
        return list(WORKLOADS)
    return [
        w for w in WORKLOADS if any(p in w.name or fnmatch.fnmatchcase(w.name, p) for p in patterns)
    ]


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
        with Watch() as watch:
            found = spent(calls, pace)
        row.times = {name: [one.wall for one in some] for name, some in found.items()}
        row.cpu = {name: [one.cpu for one in some] for name, some in found.items()}
        row.load, row.disturbed = watch.load.document(), watch.load.reason
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


def _deliver(
    rows: Sequence[report.Row], disturbed: dict[str, str], arguments: argparse.Namespace
) -> None:
    print(stored.machine())
    print(f"odd sizes of seed {_seed(arguments)}")
    print(", ".join(f"{name} {version}" for name, version in report.versions().items()), end="\n\n")
    print(report.table(rows, arguments.every))
    if disturbed:
        print(f"\nAnother load disturbed {len(disturbed)} rows; --again disturbed repeats them:")
        print("\n".join(f"  {name}: {reason}" for name, reason in disturbed.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(report.document(rows), indent=1))
    if arguments.plot:
        arguments.plot.write_text(report.picture(report.bars(rows), stored.machine()))
