"""The tables and the picture of README.md and docs/performance.md, from stored rows.

``python -m benchmarks report --write`` writes them between their marks; a test compares them with
what it writes from ``benchmarks/rows.jsonl``, which is committed. The newest runs of a row count:
those of the commit, engine, machine and peers of its last record, without disturbed ones if there
are others. Tables that older versions wrote by hand are records, too, marked ``converted``.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.rows import WORKLOADS
from benchmarks.stored import ROOT, Record
from benchmarks.workloads import Workload

COMMITTED = ROOT / "benchmarks" / "rows.jsonl"
PICTURE = Path("docs/images/performance.svg")
_IDENTITY = ("commit", "engine", "machine", "versions", "form", "seed")
# Less is within the scatter of three runs.
_AHEAD = 1.05


@dataclass(frozen=True)
class Line:
    """What is written of one row.

    times : seconds of zarrix, and of the best peer
    ratio : the median of the last run, its smallest and its largest
    runs : the medians of all runs
    slowdowns : the times of each contender over ours
    peaks : MiB of zarrix and of the best peer
    """

    workload: Workload
    times: tuple[float, float]
    peer: str
    ratio: tuple[float, float, float]
    runs: tuple[float, ...]
    verdict: str
    over_floor: float | None
    peaks: tuple[float | None, float | None]
    slowdowns: dict[str, float]
    sources: tuple[Record, ...]

    @property
    def median(self) -> float:
        """Over all runs."""
        return statistics.median(self.runs)

    @property
    def is_disturbed(self) -> bool:
        return any(source.get("disturbed") for source in self.sources)


def lines_of(records: Iterable[Record]) -> list[Line]:
    """The rows of which there are records, in the order of the table."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if "row" in record and not record.get("tiny"):
            found.setdefault(record["row"], []).append(record)
    lines = [_line(one, _newest(found[one.name])) for one in WORKLOADS if one.name in found]
    return [line for line in lines if line is not None]


def _newest(records: Sequence[Record]) -> list[Record]:
    last = [records[-1].get(key) for key in _IDENTITY]
    same = [record for record in records if [record.get(key) for key in _IDENTITY] == last]
    return [record for record in same if not record.get("disturbed")] or same


def _line(workload: Workload, records: Sequence[Record]) -> Line | None:
    last = records[-1]
    if "converted" in last:
        peaks = last["peak_mib"]
        return Line(
            workload, tuple(last["times"]), last["peer"], tuple(last["ratio"]), tuple(last["runs"]),
            last["verdict"], last["over_floor"], tuple(peaks), last["slowdowns"], (last,),
        )  # fmt: skip
    rows = [report.Row.of(workload, record) for record in records]
    bests = [row.best for row in rows]
    if any(best is None for best in bests):
        return None
    row, (peer, ratio) = rows[-1], bests[-1]
    runs = tuple(best[1].median for best in bests)
    peaks = tuple(
        None if (peak := row.peaks.get(name)) is None else peak / 2**20
        for name in (report.OURS, peer)
    )
    slowdowns = {
        name: statistics.median(one.slowdown(name) for one in rows)
        for name in row.ranked
        if all(name in one.times for one in rows)
    }
    return Line(
        workload, (row.median(report.OURS), row.median(peer)), peer,
        (ratio.median, ratio.low, ratio.high), runs, _verdict(workload, rows, runs),
        row.over_floor, peaks, slowdowns, tuple(records),
    )  # fmt: skip


def _verdict(workload: Workload, rows: Sequence[report.Row], runs: Sequence[float]) -> str:
    """Whether all runs met the goal, or the bar; if there is only one of them, how many did."""
    bar, goal, limit = workload.bar, workload.goal, workload.limit_s
    if limit is not None:
        met = [row.median(report.OURS) <= limit for row in rows]
    elif bar is not None and goal is not None:
        if min(runs) >= goal:
            return "met"
        return "bar met" if min(runs) >= bar else "missed"
    elif (least := goal if bar is None else bar) is not None:
        met = [run >= least for run in runs]
    else:
        return ""
    if all(met):
        return "met"
    return f"{sum(met)} of {len(met)}" if any(met) else "missed"


# What is written


def table(lines: Sequence[Line]) -> str:
    """All rows, as text."""
    counts = {len(line.runs) for line in lines}
    words = {frozenset({1}): "one run", frozenset({3}): "three runs"}
    runs = words.get(frozenset(counts), "runs")
    head = [
        "workload",
        "zarrix",
        "best peer",
        "",
        "times as fast",
        runs,
        "bar, goal",
        "",
        "x floor",
    ]
    cells = [[*head, "MiB (peer)"], *map(_cells, lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = (1, 3, 4, 5, 6, 8, 9)
    texts = [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    texts.insert(1, "-" * max(map(len, texts)))
    return "\n".join(f"    {text}" for text in texts)


def _cells(line: Line) -> list[str]:
    work = line.workload
    median, low, high = line.ratio
    bars = [f"{one:g}" for one in (work.bar, work.goal) if one is not None]
    limit = f"<= {report.duration(work.limit_s)}" if work.limit_s is not None else ""
    return [
        work.name + (" (disturbed)" if line.is_disturbed else ""),
        report.duration(line.times[0]),
        line.peer,
        report.duration(line.times[1]),
        f"{median:.2f} ({low:.2f}..{high:.2f})",
        " ".join(f"{run:.2f}" for run in line.runs),
        limit or ", ".join(bars),
        line.verdict,
        "" if line.over_floor is None else f"{line.over_floor:.2f}",
        "" if None in line.peaks else f"{line.peaks[0]:.0f} ({line.peaks[1]:.0f})",
    ]


def source(lines: Sequence[Line]) -> str:
    """Where the rows come from: commits, dates, machines, and what makes them hard to compare."""
    records = [record for line in lines for record in line.sources]
    commits = _each(record.get("commit", "") for record in records)
    converted = _each(record["converted"] for record in records if "converted" in record)
    dates = sorted({record["at"][:10] for record in records})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    said = [f"Rows of commit {commits[0]}, {span}."]
    if len(commits) > 1:
        said = [
            f"Rows of {len(commits)} commits ({', '.join(commits)}), {span}: do not compare them."
        ]
    machines = _each(record.get("machine", "") for record in records)
    said.append(f"Measured on {'; on '.join(machines)}.")
    if converted:
        said.append(f"Converted from {', '.join(converted)}.")
    forms = _each(record.get("form", "") for record in records)
    if "quick" in forms:
        said.append("Quick form." if len(forms) == 1 else "Some rows are of the quick form.")
    disturbed = [line.workload.name for line in lines if line.is_disturbed]
    if disturbed:
        said.append(f"Another load disturbed {len(disturbed)} of them: {', '.join(disturbed)}.")
    missing = len(WORKLOADS) - len(lines)
    if missing:
        said.append(f"{missing} rows were not measured.")
    return " ".join(said)


def _each(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def behind(lines: Sequence[Line]) -> list[Line]:
    """The rows in which zarrix is not faster than every other library, the slowest first."""
    return sorted((line for line in lines if line.median < _AHEAD), key=lambda line: line.median)


# What is said of rows in which another library is as fast, here and in README.md; a row that is new
# among them has its name alone, until its reason is known.
_REASONS = {
    "plain: window, against memmap": (
        "a window of an uncompressed file, against a memory map of NumPy",
        "a memory map needs no system call; zarrix does not map files, because truncating a mapped "
        "file would kill the process",
    ),
    "open an array": (
        "opening an array, against zarrista",
        "45 % is the interpreter, which creates the Python object; zarrista returns an object of "
        "Rust",
    ),
    "import of open, beyond numpy": (
        "importing what opens an array, against TensorStore",
        "zarrix imports Python modules as well as its extension",
    ),
    "planes: write [:, :, k]": (
        "writing one plane of 8 MB of noise, against zarr-python 2.18",
        "one chunk of noise, limited by memory",
    ),
    "odd video: write": (
        "writing video with Blosc zstd to chunks that divide nothing, against TensorStore",
        "the bare codec alone takes as long (x floor 0.95)",
    ),
}  # fmt: skip


def reasons(lines: Sequence[Line]) -> str:
    """The rows that are not ahead, with what is known of them."""
    rows = ["| row | times as fast | why |", "|---|---|---|"]
    for line in behind(lines):
        low = min(line.runs)
        once = f", once {low:.2f}" if line.median >= 1 > low else ""
        why = _REASONS.get(line.workload.name, ("", "not known yet"))[1]
        rows.append(f"| {line.workload.name} | {line.median:.2f}{once} | {why} |")
    return "\n".join(rows)


def slower(lines: Sequence[Line]) -> str:
    """The same rows for README.md."""
    found = behind(lines)
    head = f"In {len(found)} rows, zarrix is not faster by at least 5 %:"
    rows = [head, "", "| | slowdown of the fastest other |", "|---|---|"]
    for line in found:
        name = _REASONS.get(line.workload.name, (f"{line.workload.name}, against {line.peer}", ""))[
            0
        ]
        rows.append(f"| {name} | {line.median:.2f} |")
    return "\n".join(rows)


_SHOWN = {
    "tiles: all 4096": "all of 4096 chunk files of 64x64 float32",
    "video zstd bitshuffle: crop 960": "random 960x960 crops of 4K video, Blosc zstd bitshuffle",
    "video zstd bitshuffle: 32 crops 256 at once": (
        "random 256x256 crops of the same, 32 in one call"
    ),
    "tiles: one chunk": "one 64x64 float32 chunk of an open array",
}
# By contender: the head of its column, and the name of its version in a record.
_PEERS = {
    "zarr-python": ("zarr-python", "zarr"),
    "zarr-python fused": ("its fused pipeline", ""),
    "zarr-python 2": ("zarr-python", "zarr-python 2"),
    "TensorStore": ("TensorStore", "tensorstore"),
    "zarrista": ("zarrista", "zarrista"),
}


def slowdowns(lines: Sequence[Line]) -> str:
    """Four rows with all contenders, for README.md."""
    shown = [line for line in lines if line.workload.name in _SHOWN]
    texts = ", ".join(line.sources[-1].get("versions", "") for line in shown)
    versions = dict(one.rsplit(" ", 1) for one in texts.split(", ") if " " in one)
    heads = [f"{text} {versions.get(label, '')}".strip() for text, label in _PEERS.values()]
    rows = [f"| | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for name, words in _SHOWN.items():
        for line in (one for one in shown if one.workload.name == name):
            ours = f" (zarrix: {line.times[0] * 1e6:.0f} us)" if line.times[0] < 1e-4 else ""
            cells = [
                f"{line.slowdowns[one]:.2g}" if one in line.slowdowns else "" for one in _PEERS
            ]
            rows.append(f"| {words}{ours} | {' | '.join(cells)} |")
    return "\n".join(rows)


# Where it is written

_PARTS = {
    "README.md": {"slowdowns": slowdowns, "slower": slower},
    "docs/performance.md": {"source": source, "table": table, "reasons": reasons},
}
_SUM = re.compile(r"\b\d+ of the \d+(\s+)rows\b")


def page(name: str, text: str, lines: Sequence[Line]) -> str:
    """A page whose parts between marks, and sums of rows, are those of these rows."""
    for part, written in _PARTS[name].items():
        begin, end = f"<!-- rows: {part} -->\n\n", "\n\n<!-- end of rows -->"
        before, found, rest = text.partition(begin)
        if not found or end not in rest:
            raise ValueError(f"{name} has no part between {begin.strip()} and {end}")
        text = before + begin + written(lines) + end + rest.partition(end)[2]
    ahead = len(lines) - len(behind(lines))
    return _SUM.sub(rf"{ahead} of the {len(lines)}\1rows", text)


def picture(lines: Sequence[Line]) -> str:
    """The rows without the odd sizes, for README.md."""
    machines = _each(record.get("machine", "") for line in lines for record in line.sources)
    bars = [
        report.Bar(line.workload.name, line.times[0], line.times[1], line.peer, line.ratio[0])
        for line in lines
        if not line.workload.name.startswith("odd ")
    ]
    return report.picture(bars, "; ".join(machines))


def pages(lines: Sequence[Line], root: Path = ROOT) -> dict[Path, str]:
    """Every file that is written, and its text."""
    found = {Path(name): page(name, (root / name).read_text(), lines) for name in _PARTS}
    return {**found, PICTURE: picture(lines)}
