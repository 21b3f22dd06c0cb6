"""Programs that `import zarr`: on zarrix under that name, beside zarr-python itself.

    python -m benchmarks.as_zarr [--rounds 15]

It needs an environment with zarr-python 3.4 and zarrix. Both have the name ``zarr``, so that each
runs in a process of its own, which is there for all rounds: in a round both do the same in turn.
zarr-python writes what is read, in the page cache. A row has how many times as fast the alias is,
the median of the ratios of all rounds with the smallest and the largest, in wall time and in
processor time. The exit status is 1 if a median is below the bar.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Call, Ratio, Spent

BAR = 2.0
SIDES = {"zarr-python": ("-m",), "alias": ("-m", "zarrix.as_zarr", "-m")}
MEMBERS = 20


def make(folder: Path, zarr_format: int) -> None:
    """An array of 64 MiB in chunks of 256 KiB, and a group of small ones."""
    import zarr

    values = np.random.default_rng(0).random((64, 512, 512), dtype="f4")
    options: dict[str, Any] = {"zarr_format": zarr_format, "dtype": "f4"}
    z = zarr.create_array(
        folder / f"array{zarr_format}", shape=values.shape, chunks=(16, 64, 64), **options
    )
    z[...] = values
    group = zarr.open_group(folder / f"group{zarr_format}", mode="w", zarr_format=zarr_format)
    for number in range(MEMBERS):
        group.create_array(f"v{number}", shape=(4,), dtype="f4")


def calls(folder: Path, zarr_format: int) -> dict[str, Call]:
    """What is measured, by row."""
    import zarr

    path, group = (folder / f"{kind}{zarr_format}" for kind in ("array", "group"))
    z: Any = zarr.open_array(path, mode="r")
    random = np.random.default_rng(0)
    places = [tuple(map(int, place)) for place in random.integers(0, 512, (200, 2))]

    def each(work: Callable[[], Any], times: int) -> Call:
        return Call(lambda: [work() for _ in range(times)], times)

    return {
        "open an array": each(lambda: zarr.open_array(path, mode="r"), 50),
        "open a group and a member": each(lambda: zarr.open_group(group, mode="r")["v7"], 50),
        "series at a point": Call(lambda: [z[:, y, x] for y, x in places[:20]], 20),
        "one point": Call(lambda: [z[3, y, x] for y, x in places], len(places)),
    }


def serve(folder: Path) -> None:
    """Time the row of each line of input once."""
    import zarr

    print(f"{zarr.__version__} {zarr.Array.__module__}", flush=True)
    rows = {(one, str(form)): call for form in (2, 3) for one, call in calls(folder, form).items()}
    for line in sys.stdin:
        zarr_format, _, row = line.strip().partition(" ")
        print(*rows[row, zarr_format].timing(1), flush=True)


class Side:
    """One of the packages, in its process."""

    def __init__(self, name: str, folder: Path) -> None:
        command = [sys.executable, *SIDES[name], "benchmarks.as_zarr", "--child", str(folder)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version = self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def timing(self, row: str) -> Spent:
        """Seconds for one unit of a row."""
        assert self.process.stdin is not None
        print(row, file=self.process.stdin, flush=True)
        wall, cpu = map(float, self._line().split())
        return Spent(wall, cpu)

    def close(self) -> None:
        """End the process."""
        self.process.communicate(timeout=60)


def compared(sides: dict[str, Side], row: str, rounds: int) -> tuple[Ratio, Ratio]:
    """Wall time and processor time of zarr-python over that of the alias; a first round is left
    out.
    """
    taken: dict[str, list[Spent]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name in [*sides] if number % 2 else [*reversed(sides)]:
            found = sides[name].timing(row)
            if number:
                taken[name].append(found)
    theirs, ours = taken.values()
    return (
        Ratio.of([one.wall for one in theirs], [one.wall for one in ours]),
        Ratio.of([one.cpu for one in theirs], [one.cpu for one in ours]),
    )


def table(sides: dict[str, Side], formats: list[int], rounds: int) -> int:
    """Print a row for each call and format; returns how many are below the bar."""
    print("| | wall time | processor time |")
    print("|---|---|---|")
    below = 0
    for zarr_format in formats:
        for row in ROWS:
            ratios = compared(sides, f"{zarr_format} {row}", rounds)
            cells = " | ".join(f"{one.median:.1f} ({one.low:.1f}-{one.high:.1f})" for one in ratios)
            print(f"| {row}, v{zarr_format} | {cells} |", flush=True)
            below += min(one.median for one in ratios) < BAR
    return below


ROWS = ("open an array", "open a group and a member", "series at a point", "one point")


def main() -> int:
    """Measure all rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--formats", type=int, nargs="*", default=[3, 2], choices=(2, 3))
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        serve(given.child)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for zarr_format in (2, 3):
            make(folder, zarr_format)
        sides = {side: Side(side, folder) for side in SIDES}
        print(", ".join(f"{side}: zarr {one.version}" for side, one in sides.items()))
        try:
            below = table(sides, given.formats, given.rounds)
        finally:
            for one in sides.values():
                one.close()
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
