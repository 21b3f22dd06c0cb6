"""How far a long call has come: told to a function, or drawn as a bar on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

__all__ = ["Progress", "end_bar", "phase"]

Progress = Callable[[int, int], object]
"""Is told how many are done, and of how many."""

# A terminal that is drawn on for every chunk takes more time than the chunks.
_LEAST_SECONDS = 0.05
_WIDTH = 30

# Whether the cursor stands behind a bar that has not come to its end.
_unfinished = False


def _bar_of(noun: str) -> Progress:
    """Draws a bar of ``noun``, as wide as the terminal lets it, with a new line at its end."""

    ended, drawn = False, 0.0

    def draw(done: int, total: int) -> None:
        global _unfinished
        nonlocal ended, drawn
        now = time.monotonic()
        if ended or (done < total and now - drawn < _LEAST_SECONDS):
            return
        drawn, ended = now, done >= total
        _unfinished = not ended
        said = f"{done:,} of {total:,} {noun}"
        # What reaches the last column begins a new line.
        width = min(_WIDTH, _columns() - len(said) - 4)
        full = round(done / total * width) if total else width
        bar = f"[{'#' * full}{'-' * (width - full)}] " if width > 0 else ""
        print(f"\r{bar}{said}", end="\n" if ended else "", file=sys.stderr, flush=True)

    return draw


def _columns() -> int:
    """The width of the terminal that bars are drawn on; standard output may be elsewhere."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        # Imported late: it imports every compressor of the standard library.
        import shutil

        return shutil.get_terminal_size().columns


def end_bar() -> None:
    """Begin a new line behind a bar that stopped in the middle."""
    global _unfinished
    if _unfinished:
        _unfinished = False
        print(file=sys.stderr, flush=True)


def phase(progress: bool | Progress, noun: str) -> Progress:
    """What a call's ``progress=`` is told of one of its phases; nothing where it is false."""
    if progress is True:
        return _bar_of(noun)
    return progress or _untold


def _untold(done: int, total: int) -> None:
    """What is told where no progress is wanted."""
