"""Whether two runs say the same: a quick one and a long one, or those before and after a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks import written
from benchmarks.stored import Record

# The medians of two runs of the same code differ by less.
WITHIN = 0.10


def differences(ones: Iterable[Record], others: Iterable[Record]) -> dict[str, tuple[float, float]]:
    """The medians of the rows that both have and that differ by more than a tenth."""
    mine = {line.workload.name: line.median for line in written.lines_of(ones)}
    theirs = {line.workload.name: line.median for line in written.lines_of(others)}
    return {
        name: (median, theirs[name])
        for name, median in mine.items()
        if name in theirs and abs(median / theirs[name] - 1) > WITHIN
    }


def told(ones: Sequence[Record], others: Sequence[Record]) -> int:
    """Print how two runs differ; 0 if no row that both have differs by more than a tenth."""
    mine, theirs = written.lines_of(ones), written.lines_of(others)
    both = {line.workload.name for line in mine} & {line.workload.name for line in theirs}
    found = differences(ones, others)
    print(f"{len(both)} rows are in both; {len(found)} differ by more than {WITHIN:.0%}")
    for name, (one, other) in found.items():
        print(f"  {name}: {one:.2f} and {other:.2f} times as fast as the best peer")
    if not both:
        return 1
    return 1 if found else 0
