"""Waiting for what must come: bounds against hanging, which no busy machine can miss."""

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
