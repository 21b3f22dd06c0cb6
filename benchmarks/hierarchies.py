"""Large hierarchies: a page of `ls`, opening, and the members of one group, of a million nodes.

    python -m benchmarks.hierarchies FOLDER             1000 groups of 1000 arrays, in FOLDER
    python -m benchmarks.hierarchies FOLDER --groups 100 --arrays 100
    python -m benchmarks.hierarchies FOLDER --flat      all arrays in one group

The nodes are synthetic: each array is a folder with a link to one document. Each figure is of a
process of its own: the least wall and processor time of the calls in it, and its peak memory beyond
that of importing zarrix.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import zarrix as zarr

ROUNDS = 5
# Python code by what it measures; `path` is the hierarchy, `name` a group in the middle.
CALLS = {
    "open the root": "zarr.open_group(path, mode='r', use_consolidated=False)",
    "open an array": "zarr.open_array(f'{path}/{name}/{inner}', mode='r')",
    "a page of the root": "root.page(100)",
    "a page in the middle": "root.page(100, name)",
    "a page of a group": "root[name].page(100)",
    "members of a group": "root[name].members()",
    "ls --limit 100": "cli(['ls', '--limit', '100', path])",
    "ls --limit 100 of a group": "cli(['ls', '--limit', '100', f'{path}/{name}'])",
    "tree --limit 100": "cli(['tree', '--limit', '100', path])",
}
MEASURE = """
import contextlib, io, json, resource, sys, time
import zarrix as zarr
from zarrix.cli import main

call, path, name, inner, rounds = sys.argv[1:]


def cli(arguments):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(arguments) == 0


root = zarr.open_group(path, mode="r", use_consolidated=False)
code = compile(call, "call", "eval")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
walls, processor = [], []
for _ in range(int(rounds)):
    at, used = time.perf_counter(), time.process_time()
    eval(code)
    walls.append(time.perf_counter() - at)
    processor.append(time.process_time() - used)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([min(walls), min(processor), (peak - before) / 1024, peak / 1024]))
"""


def make(path: Path, groups: int, arrays: int) -> None:
    """A hierarchy whose arrays share one document."""
    root = zarr.create_group(str(path))
    like = root.create_array("like", shape=(100, 100), chunks=(10, 10), dtype="f4")
    document = path / "like" / "zarr.json"
    assert like.shape == (100, 100)
    for number in range(groups):
        group = path / f"g{number:06}"
        group.mkdir()
        shutil.copy(path / "zarr.json", group / "zarr.json")
        # A file has at most so many names on some file systems.
        own = group / ".like"
        shutil.copy(document, own)
        for inner in range(arrays):
            folder = group / f"a{inner:06}"
            folder.mkdir()
            if inner and inner % 30_000 == 0:
                own.unlink()
                shutil.copy(document, own)
            os.link(own, folder / "zarr.json")
        own.unlink()


def main() -> None:
    """Make the hierarchy if it is not there, and measure."""
    parser = argparse.ArgumentParser(description="Large hierarchies.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--arrays", type=int, default=1000)
    parser.add_argument("--flat", action="store_true", help="one group with all arrays")
    given = parser.parse_args()
    groups, arrays = (
        (1, given.groups * given.arrays) if given.flat else (given.groups, given.arrays)
    )
    path = given.folder / f"{groups}x{arrays}.zarr"
    if not path.exists():
        begun = time.perf_counter()
        make(path, groups, arrays)
        print(f"made {groups * arrays:,} arrays in {time.perf_counter() - begun:.0f} s")
    name, inner = f"g{groups // 2:06}", f"a{arrays // 2:06}"
    print(f"{'':28}{'wall ms':>10}{'processor ms':>14}{'more MiB':>10}{'MiB':>8}")
    for what, call in CALLS.items():
        command = [sys.executable, "-c", MEASURE, call, str(path), name, inner, str(ROUNDS)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        wall, used, more, peak = json.loads(ran.stdout)
        print(f"{what:28}{wall * 1e3:10.1f}{used * 1e3:14.1f}{more:10.1f}{peak:8.0f}")


if __name__ == "__main__":
    main()
