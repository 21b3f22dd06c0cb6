"""What a call of the tool costs before it works: ``python -m benchmarks.startup``.

Processor time of a process, the least and the median of interleaved calls, beside that of Python
alone and of Python that imports NumPy. The modules are compiled, as those of an installed package
are.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import zarrix as zarr

from benchmarks.measure import installed


def cost(words: list[str], folder: Path) -> float:
    """Milliseconds of processor time of a process of Python."""
    env = {**installed(), "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=env, stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}")
    return 1e3 * (used.ru_utime + used.ru_stime)


def main() -> None:
    """Print a row for each call."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    asked = arguments.parse_args()
    tool = ["-m", "zarrix.cli"]
    calls = {
        "python": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "--version": [*tool, "--version"],
        "--help": [*tool, "--help"],
        "info of an array": [*tool, "info", "x.zarr"],
        "ls -l": [*tool, "ls", "-l", "x.zarr"],
        "load copy_store": ["-c", "import zarrix; zarrix.copy_store"],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zarr.save(folder / "x.zarr", np.arange(10_000.0))
        for words in calls.values():
            cost(words, folder)
        taken: dict[str, list[float]] = {call: [] for call in calls}
        for _ in range(asked.rounds):
            for call, words in calls.items():
                taken[call].append(cost(words, folder))
    for call, times in taken.items():
        least, middle = min(times), statistics.median(times)
        beyond = least - min(taken["python"])
        print(f"{call:<18} {least:6.1f} ms, median {middle:6.1f}; beyond Python {beyond:6.1f}")


if __name__ == "__main__":
    main()
