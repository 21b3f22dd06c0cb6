"""Waiting for what must come: bounds against hanging, which no busy machine can miss."""

import subprocess
import threading
import time
from collections.abc import Callable

# A test that waits so long has found a hang, however busy the machine is.
PATIENCE_S = 120


def until(condition: Callable[[], object]) -> None:
    """Return when the condition holds; an `AssertionError` after `PATIENCE_S`."""
    due = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < due, f"not so within {PATIENCE_S} s: {condition}"
        time.sleep(0.001)


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints; it is killed if none comes within `PATIENCE_S`."""
    assert process.stdout is not None
    timer = threading.Timer(PATIENCE_S, process.kill)
    timer.start()
    try:
        return process.stdout.readline().rstrip("\n")
    finally:
        timer.cancel()
