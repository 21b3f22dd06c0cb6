"""How far a long call has come: told to a function, or drawn as a bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["Progress", "bar_of"]

Progress = Callable[[int, int], object]
"""Is told how many are done, and of how many."""


def bar_of(noun: str) -> Progress:
    """Draws a bar of ``noun``, with a new line when all are done."""

    ended = False

    def draw(done: int, total: int) -> None:
        nonlocal ended
        if ended:
            return
        part = done / total if total else 1.0
        width = 30
        full = round(part * width)
        bar = "#" * full + "-" * (width - full)
        ended = done >= total
        end = "\n" if ended else ""
        print(f"\r[{bar}] {done:,} of {total:,} {noun}", end=end, file=sys.stderr, flush=True)

    return draw
