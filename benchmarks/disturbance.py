"""What else the processors did while a row was measured.

A row is disturbed if other processes used more than a seventh of a processor, or a hypervisor took
more than a twentieth of one. What is counted: the time that the processors of this process were
busy, less the time of this process and of those that it started. Where the system does not say, as
outside of Linux, nothing is marked.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

PROC = Path("/proc")
# Shares of one processor. The system counts in steps of 10 ms, which is why a short row may lose
# this many seconds without being disturbed.
OTHERS = 1 / 7
STEAL = 1 / 20
SLACK_S = 0.05


@dataclass(frozen=True)
class Seen:
    """What was counted until now, in seconds.

    busy, stolen : of the processors of this process; None where the system does not say
    own : of this process and its children
    switches : how often this process had to give up a processor before it would have
    """

    wall: float
    busy: float | None
    stolen: float | None
    own: float
    switches: int

    @classmethod
    def now(cls) -> Seen:
        busy, stolen = _processors()
        own = sum(processes().values())
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        return cls(time.perf_counter(), busy, stolen, own, switches)


@dataclass
class Load:
    """What disturbed a row, in shares of one processor; None where it is not known.

    load : the load average at the end
    switches : involuntary switches of this process, a second
    """

    others: float | None = None
    steal: float | None = None
    switches: float = 0.0
    load: float = 0.0
    seconds: float = 0.0

    @property
    def reason(self) -> str:
        """Why the row is disturbed, in words; "" if it is not."""
        found = []
        slack = SLACK_S / max(self.seconds, 1e-9)
        if self.others is not None and self.others > OTHERS + slack:
            found.append(f"other processes used {self.others:.0%} of a processor")
        if self.steal is not None and self.steal > STEAL + slack:
            found.append(f"a hypervisor took {self.steal:.0%} of a processor")
        return ", ".join(found)

    def document(self) -> dict[str, Any]:
        """As a record keeps it."""
        return {name: round(v, 4) if v is not None else None for name, v in asdict(self).items()}


class Watch:
    """Counts from its begin to its end, as a context; ``load`` has the answer."""

    def __init__(self) -> None:
        self.load = Load()

    def __enter__(self) -> Watch:
        self._begin = Seen.now()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.load = between(self._begin, Seen.now())


def between(begin: Seen, end: Seen) -> Load:
    """What happened from one look to the next one."""
    wall = max(end.wall - begin.wall, 1e-9)
    load = Load(load=os.getloadavg()[0], seconds=wall)
    load.switches = (end.switches - begin.switches) / wall
    if begin.busy is not None and end.busy is not None:
        load.others = max(0.0, (end.busy - begin.busy) - (end.own - begin.own)) / wall
    if begin.stolen is not None and end.stolen is not None:
        load.steal = (end.stolen - begin.stolen) / wall
    return load


def _processors() -> tuple[float | None, float | None]:
    """Seconds for which our processors were busy, and were taken by a hypervisor."""
    try:
        lines = (PROC / "stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None, None
    mine = {f"cpu{one}" for one in os.sched_getaffinity(0)}
    tick = os.sysconf("SC_CLK_TCK")
    rows = [line.split() for line in lines]
    ticks = [[int(word) for word in row[1:9]] for row in rows if row and row[0] in mine]
    if not ticks:
        return None, None
    # user, nice, system, idle, iowait, irq, softirq, steal
    busy = sum(row[0] + row[1] + row[2] + row[5] + row[6] for row in ticks if len(row) == 8)
    return busy / tick, sum(row[7] for row in ticks if len(row) == 8) / tick


def processes() -> dict[int, float]:
    """Processor seconds of this process and of those that it started, also of ended children."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for one in PROC.iterdir() if PROC.exists() else ():
        if one.name.isdigit():
            with contextlib.suppress(OSError):
                words = (one / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                parents[int(one.name)] = int(words[1])
                spent[int(one.name)] = sum(map(int, words[11:15])) / tick
    found = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return {one: spent.get(one, 0.0) for one in found}
