"""How much a task moves: enough to be worth its overhead, and little enough for many workers."""

from __future__ import annotations

__all__ = ["task_bytes"]

MOST = 64 << 20
_LEAST = 1 << 20
# The plan does not know how many workers there are.
_TASKS = 16


def task_bytes(total: int, max_bytes: int) -> int:
    """The usual number of bytes of a task, of so many in total."""
    return min(max_bytes, MOST, max(_LEAST, total // _TASKS))
