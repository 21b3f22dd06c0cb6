"""Which of how many processes this one is, as its launcher says it."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["rank_and_world"]


def rank_and_world(rank: int | None, world: int | None) -> tuple[int, int]:
    """What is passed, else what torch.distributed, the environment or jax says, else (0, 1).

    torch and jax are asked only if the program has imported them.

    Examples
    --------
    >>> rank_and_world(1, 4)
    (1, 4)
    """
    if (rank is None) != (world is None):
        raise ValueError("rank= and world= are passed together, or neither")
    if rank is None or world is None:
        rank, world = _found()
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} of {world}")
    return rank, world


def _found() -> tuple[int, int]:
    torch: Any = sys.modules.get("torch.distributed")
    if torch is not None and torch.is_available() and torch.is_initialized():
        return torch.get_rank(), torch.get_world_size()
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    jax: Any = sys.modules.get("jax")
    if jax is not None:
        return jax.process_index(), jax.process_count()
    return 0, 1
