"""How many threads decode the batches of one process."""

from __future__ import annotations

import os
import sys
from typing import Any

from zarrix import _engine

__all__ = ["threads_of_loader", "threads_of_worker"]

# With so many, one is left to the program: starting work on a device takes a processor, too.
_MANY = 4


def threads_of_loader(threads: int | None) -> int:
    """What is passed, else this process's share of the engine's threads."""
    if threads is not None:
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads={threads!r}; it is an integer of at least 1")
        return threads
    local = os.environ.get("LOCAL_WORLD_SIZE", "")
    share = max(1, _engine.threads() // max(1, int(local) if local.isdecimal() else 1))
    return share - 1 if share >= _MANY else share


def threads_of_worker() -> int:
    """The share of a worker of torch's DataLoader; 0, which changes nothing, outside of one."""
    # Only a program that has imported torch can have made this worker.
    data: Any = sys.modules.get("torch.utils.data")
    worker = None if data is None else data.get_worker_info()
    return 0 if worker is None else max(1, _engine.threads() // max(1, worker.num_workers))
