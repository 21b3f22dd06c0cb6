"""Runs tests again and again while every CPU is busy: none may wait for a race or for a clock.

    python -m tests.reliability.under_load --times 20 -- -n auto
    python -m tests.reliability.under_load --times 20 -- -n auto --basetemp=/dev/shm/under_load
    python -m tests.reliability.under_load --times 20 -- tests/array/test_writer.py

What follows ``--`` goes to pytest. With its files in memory a run takes two thirds of the time.
Each run is one line; the first that fails prints what pytest said, and is the last. The exit code
is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

# It ends with the process that started it, however that ends.
_LOOP = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Meanwhile so many processes do nothing but take time, with the same priority as the tests."""
    started = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="Run pytest repeatedly on a busy machine.")
    parser.add_argument("--times", type=int, default=20, help="how many runs (default 20)")
    parser.add_argument(
        "--loops",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="how many busy loops run beside the tests (default one for each CPU)",
    )
    parser.add_argument("arguments", nargs="*", help="for pytest, after --")
    options = parser.parse_args()
    # What is compiled is kept: otherwise each of the thousand processes of a run compiles it again.
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with busy(options.loops):
        for number in range(options.times):
            begun = time.monotonic()
            command = [sys.executable, "-m", "pytest", "-q", *options.arguments]
            run = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            last = (run.stdout.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
            print(f"{number + 1}: {last}, {time.monotonic() - begun:.0f} s", flush=True)
            if run.returncode:
                print(run.stdout, run.stderr, flush=True)
                print(f"run {number + 1} of {options.times} failed beside {options.loops} loops")
                return 1
    print(f"{options.times} runs in a row passed beside {options.loops} loops")
    return 0


if __name__ == "__main__":
    sys.exit(main())
