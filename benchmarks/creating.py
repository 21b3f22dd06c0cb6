"""What creating many arrays in files costs: ``python -m benchmarks.creating``.

    python -m benchmarks.creating                      beside zarr-python, where `setup` has made it
    python -m benchmarks.creating --python PYTHON      beside the zarr-python of another Python
    python -m benchmarks.creating --before PATH        beside zarrix of another tree, whose folder
                                                       `python` this is

Microseconds for one array: processor time and wall, each the least of the rounds, in which the
libraries take turns, each in a process of its own. The ratio is that of the processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.setup import PYTHON

ARRAYS = 300
TIMES = 3
# What each is run with: `zarr` is the library, `folder` is new, and `run` is what is measured.
CALLS = {
    "create_array": """
def run():
    root = zarr.open_group(folder, mode="w", zarr_format=3)
    for i in range(arrays):
        root.create_array(f"a{i}", shape=(100, 100), chunks=(10, 10), dtype="f4")
""",
    "create_array, v2": """
def run():
    root = zarr.open_group(folder, mode="w", zarr_format=2)
    for i in range(arrays):
        root.create_array(f"a{i}", shape=(100, 100), chunks=(10, 10), dtype="f4")
""",
    "create_group": """
def run():
    root = zarr.open_group(folder, mode="w", zarr_format=3)
    for i in range(arrays):
        root.create_group(f"a{i}")
""",
    "create_hierarchy": """
like = zarr.create_array({}, shape=(100, 100), chunks=(10, 10), dtype="f4").metadata
above = zarr.create_group({}).metadata
nodes = {"": above, **{f"a{i}": like for i in range(arrays)}}
store = zarr.storage.LocalStore(folder)


def run():
    assert sum(1 for _ in zarr.create_hierarchy(store=store, nodes=nodes)) == arrays + 1
""",
}
MEASURE = """
import importlib, json, shutil, sys, time

library, code, folder, arrays, times = sys.argv[1:]
zarr, arrays = importlib.import_module(library), int(arrays)
importlib.import_module(f"{library}.storage")
walls, processor = [], []
exec(code)
# Once unmeasured: imports and caches.
for turn in range(int(times) + 1):
    shutil.rmtree(folder, ignore_errors=True)
    at, used = time.perf_counter(), time.process_time()
    run()
    if turn:
        processor.append(time.process_time() - used)
        walls.append(time.perf_counter() - at)
print(json.dumps([1e6 * min(processor) / arrays, 1e6 * min(walls) / arrays]))
"""


def cost(python: str, library: str, above: str | None, call: str, folder: str) -> list[float]:
    """Microseconds of processor time and wall for one array, in a process of its own."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    env.pop("PYTHONPATH", None)
    if above is not None:
        env["PYTHONPATH"] = above
    ran = subprocess.run(
        [python, "-c", MEASURE, library, CALLS[call], folder, str(ARRAYS), str(TIMES)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise RuntimeError(f"{call} of {library} failed: {ran.stderr}")
    found: list[float] = json.loads(ran.stdout)
    return found


def least(rows: list[list[float]]) -> list[float]:
    """The least processor time and the least wall."""
    return [min(column) for column in zip(*rows, strict=True)]


def main() -> None:
    """Print a row for each call."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--python", default=str(PYTHON), help="a Python with zarr-python")
    arguments.add_argument("--before", help="the folder `python` of another tree of zarrix")
    asked = arguments.parse_args()
    here = str(Path(__file__).resolve().parents[1] / "python")
    contenders = {"zarrix": (sys.executable, "zarrix", here)}
    if asked.before is not None:
        contenders["before"] = (sys.executable, "zarrix", str(Path(asked.before).resolve()))
    if Path(asked.python).exists():
        contenders["zarr-python"] = (asked.python, "zarr", None)
    with tempfile.TemporaryDirectory() as name:
        folder = os.path.join(name, "x.zarr")
        for call in CALLS:
            taken: dict[str, list[list[float]]] = {one: [] for one in contenders}
            for _ in range(asked.rounds):
                for one, (python, library, above) in contenders.items():
                    taken[one].append(cost(python, library, above, call, folder))
            best = least(taken["zarrix"])
            for one, rows in taken.items():
                processor, wall = least(rows)
                ratio = "" if one == "zarrix" else f"; {processor / best[0]:5.2f} times zarrix"
                print(f"{call:<17} {one:<12} {processor:7.0f} us, wall {wall:7.0f}{ratio}")


if __name__ == "__main__":
    main()
