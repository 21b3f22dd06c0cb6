"""Results as a table for people, JSON for programs and a picture for the README."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from benchmarks import floor
from benchmarks.contenders import CONTENDERS, OURS
from benchmarks.measure import Ratio
from benchmarks.stored import Record, machine
from benchmarks.workloads import Workload

# What a record calls the fields of a row.
_KEPT = {
    "times": "seconds",
    "cpu": "processor_s",
    "ranked": "ranked",
    "peaks": "peak_bytes",
    "faults": "faults",
    "load": "load",
    "disturbed": "disturbed",
}


@dataclass
class Row:
    """What one workload gave.

    times : seconds for one operation in each round, by contender, the floor among them
    cpu : processor seconds in the same rounds
    ranked : the peers that may be the best one
    peaks : bytes of memory at the peak, by contender
    faults : what kept a contender out of the row, by contender
    load : what else the processors did meanwhile, as `disturbance.Load` says it
    disturbed : why the figures of the row do not count, in words; "" if they do
    """

    workload: Workload
    times: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    ranked: list[str] = field(default_factory=list)
    peaks: dict[str, int] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    load: dict[str, Any] = field(default_factory=dict)
    disturbed: str = ""

    def median(self, name: str) -> float:
        """Seconds for one operation."""
        return statistics.median(self.times[name])

    @classmethod
    def of(cls, workload: Workload, record: Record) -> Row:
        """The row that is stored as this record."""
        kept = {name: record[key] for name, key in _KEPT.items()}
        return cls(workload, **kept)

    def record(self) -> Record:
        """What is stored of it."""
        kept = {key: getattr(self, name) for name, key in _KEPT.items()}
        for key in ("seconds", "processor_s"):
            kept[key] = {name: [_short(one) for one in some] for name, some in kept[key].items()}
        return {"row": self.workload.name, **kept}

    def slowdown(self, name: str) -> float:
        """How many times our time a contender takes."""
        return Ratio.of(self.times[name], self.times[OURS]).median

    @property
    def best(self) -> tuple[str, Ratio] | None:
        """The peer that does best against us, and how many times as fast as it we are."""
        if OURS not in self.times:
            return None
        ratios = {n: Ratio.of(self.times[n], self.times[OURS]) for n in self.ranked}
        return min(ratios.items(), key=lambda pair: pair[1].median, default=None)

    @property
    def over_floor(self) -> float | None:
        """How many times the floor we take."""
        if OURS not in self.times or floor.NAME not in self.times:
            return None
        return Ratio.of(self.times[OURS], self.times[floor.NAME]).median

    @property
    def verdict(self) -> str:
        """Whether the bar, and the goal beyond it, are met."""
        limit, best = self.workload.limit_s, self.best
        if limit is not None and OURS in self.times:
            return "met" if self.median(OURS) <= limit else "missed"
        if best is None:
            return ""
        ratio = best[1].median
        if self.workload.bar is not None and ratio < self.workload.bar:
            return "missed"
        if self.workload.goal is not None and ratio < self.workload.goal:
            return "bar only" if self.workload.bar is not None else "missed"
        return "met"


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def _short(seconds: float) -> float:
    """As many digits as a clock has."""
    return float(f"{seconds:.5g}")


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    unit, size = next((u for u in _UNITS if seconds >= u[1]), _UNITS[-1])
    value = seconds / size
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}"


def versions() -> dict[str, str]:
    """Of Python and of every contender that can be imported."""
    found = {c.label: c.version for c in CONTENDERS if c.available}
    return {"python": platform.python_version(), **found}


def table(rows: Sequence[Row], every: bool = False) -> str:
    """The rows as text; ``every`` adds a line for each contender."""
    peaks = any(row.peaks for row in rows)
    head = ["workload", "zarrix", "best peer", "", "times as fast", "bar", "goal", "", "x floor"]
    lines = [head + ["fastest"] * every + ["peak MiB (peer)"] * peaks]
    for row in rows:
        lines.append(_cells(row, every, peaks))
        if every:
            lines += [_detail(row, name, len(lines[0])) for name in row.times if name != OURS]
        for name, fault in row.faults.items():
            lines.append([f"  {name}: {fault}"])
    return _aligned(lines)


def _cells(row: Row, every: bool, peaks: bool) -> list[str]:
    work, best = row.workload, row.best
    ours = duration(row.median(OURS)) if OURS in row.times else ""
    cells = [work.name, ours, "", "", ""]
    if best is not None:
        name, ratio = best
        spread = f"{ratio.median:.2f} ({ratio.low:.2f}..{ratio.high:.2f})"
        cells[2:] = [name, duration(row.median(name)), spread]
    bar = f"<= {duration(work.limit_s)}" if work.limit_s is not None else _plain(work.bar)
    over = row.over_floor
    cells += [bar, _plain(work.goal), row.verdict, "" if over is None else f"{over:.2f}"]
    if every:
        cells.append(f"{best[1].fastest:.2f}" if best else "")
    if peaks:
        pair = [row.peaks.get(OURS), row.peaks.get(best[0]) if best else None]
        texts = ["?" if p is None else f"{p / 2**20:.0f}" for p in pair]
        cells.append(f"{texts[0]} ({texts[1]})" if row.peaks else "")
    return cells


def _detail(row: Row, name: str, width: int) -> list[str]:
    ratio = Ratio.of(row.times[name], row.times[OURS]) if OURS in row.times else None
    spread = f"{ratio.median:.2f} ({ratio.low:.2f}..{ratio.high:.2f})" if ratio else ""
    note = "" if name in row.ranked or name == floor.NAME else " (not atomic)"
    cells = ["", "", "  " + name + note, duration(row.median(name)), spread, "", "", "", ""]
    cells.append(f"{ratio.fastest:.2f}" if ratio else "")
    return cells + [""] * (width - len(cells))


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _aligned(lines: Iterable[list[str]]) -> str:
    lines = list(lines)
    full = [line for line in lines if len(line) > 1]
    widths = [max(len(line[n]) for line in full) for n in range(len(full[0]))]
    texts = []
    for line in lines:
        padded = [
            cell.rjust(width) if n in (1, 3, 4, 5, 6, 8, 9, 10) else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=False))
        ]
        texts.append("  ".join(padded).rstrip() if len(line) > 1 else line[0])
    texts.insert(1, "-" * max(map(len, texts)))
    return "\n".join(texts)


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that was measured, for `--json`."""
    return {
        "machine": machine(),
        "versions": versions(),
        "rows": [
            {
                "workload": row.workload.name,
                "bar": row.workload.bar,
                "goal": row.workload.goal,
                "limit_s": row.workload.limit_s,
                "best_peer": row.best[0] if row.best else None,
                "ratio": asdict(row.best[1]) if row.best else None,
                "over_floor": row.over_floor,
                "verdict": row.verdict,
                "seconds": row.times,
                "processor_s": row.cpu,
                "peak_bytes": row.peaks,
                "faults": row.faults,
                "disturbed": row.disturbed,
            }
            for row in rows
        ],
    }


_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2937 }
.small { font-size: 11px; fill: #6b7280 } .big { font-size: 15px; font-weight: 600 }
.ours { fill: #0f766e } .peer { fill: #cbd5e1 } .ratio { font-weight: 600; fill: #0f766e }
@media (prefers-color-scheme: dark) {
  text { fill: #e5e7eb } .small { fill: #9ca3af } .peer { fill: #475569 }
  .ours { fill: #2dd4bf } .ratio { fill: #2dd4bf }
}"""


@dataclass(frozen=True)
class Bar:
    """One row of the picture: seconds of zarrix and of the best peer, and their ratio."""

    name: str
    ours_s: float
    peer_s: float
    peer: str
    ratio: float


def bars(rows: Sequence[Row]) -> list[Bar]:
    """The rows that have a peer."""
    drawn = [(row, row.best) for row in rows]
    return [
        Bar(row.workload.name, row.median(OURS), row.median(best[0]), best[0], best[1].median)
        for row, best in drawn
        if best is not None
    ]


def picture(bars: Sequence[Bar], measured_on: str) -> str:
    """An SVG: for each row our bar above that of the best peer, the longer one full.

    The bars are as long as the ratio of the rounds says; the times beside them are medians.
    """
    left, full, pitch, top = 310, 340, 40, 62
    width, height = left + full + 230, top + pitch * len(bars) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<style>{_STYLE}</style>",
        '<text class="big" x="16" y="26">Time for the same result: zarrix and the best peer</text>',
        '<text class="small" x="16" y="44">shorter is faster; each row has its own scale</text>',
    ]
    for n, bar in enumerate(bars):
        y = top + n * pitch
        label = escape(bar.name)
        parts.append(f'<text x="{left - 12}" y="{y + 18}" text-anchor="end">{label}</text>')
        for kind, length, seconds, dy in (
            ("ours", 1.0, bar.ours_s, 2),
            ("peer", bar.ratio, bar.peer_s, 15),
        ):
            long = max(2.0, full * length / max(1.0, bar.ratio))
            text = escape(duration(seconds) + (f" {bar.peer}" if kind == "peer" else ""))
            parts.append(
                f'<rect class="{kind}" x="{left}" y="{y + dy}" width="{long:.1f}" height="11"/>'
                f'<text class="small" x="{left + long + 6:.1f}" y="{y + dy + 10}">{text}</text>'
            )
        parts.append(
            f'<text class="ratio" x="{width - 16}" y="{y + 18}" text-anchor="end">'
            f"{bar.ratio:.2g}x</text>"
        )
    parts.append(
        f'<text class="small" x="16" y="{height - 12}">python -m benchmarks, '
        f"{escape(measured_on)}</text></svg>\n"
    )
    return "\n".join(parts)
