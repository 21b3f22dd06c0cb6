"""Progress of a long call: reported to a function, or drawn as a bar on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

__all__ = ["Progress", "begin_bar", "end_bar", "phase"]

Progress = Callable[[int, int], object]
"""Gets the number of finished items, and the total."""

# Drawing on a terminal for every chunk would take more time than the chunks.
_LEAST_SECONDS = 0.05
_WIDTH = 30

# Ends the bar that is unfinished.
_end: Callable[[], None] | None = None


def _bar_of(noun: str) -> Progress:
    """Draws a bar of ``noun``, as wide as the terminal, with a new line at its end."""

    ended, drawn = False, 0.0

    def draw(done: int, total: int) -> None:
        nonlocal ended, drawn
        now = time.monotonic()
        if ended or (done < total and now - drawn < _LEAST_SECONDS):
            return
        drawn, ended = now, done >= total
        said = f"{done:,} of {total:,} {noun}"
        # Text in the last column would begin a new line.
        width = min(_WIDTH, _columns() - len(said) - 4)
        full = round(done / total * width) if total else width
        bar = f"[{'#' * full}{'-' * (width - full)}] " if width > 0 else ""
        print(f"\r{bar}{said}", end="", file=sys.stderr, flush=True)
        begin_bar(_new_line)
        if ended:
            end_bar()

    return draw


def _columns() -> int:
    """The width of the terminal for bars; standard output may be redirected."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        # Imported late: it imports every compressor of the standard library.
        import shutil

        return shutil.get_terminal_size().columns


def begin_bar(end: Callable[[], None]) -> None:
    """Remember how the bar that is drawn now is ended, should the call end first."""
    global _end
    _end = end


def end_bar() -> None:
    """End an unfinished bar."""
    global _end
    if _end is not None:
        end, _end = _end, None
        end()


def _new_line() -> None:
    print(file=sys.stderr, flush=True)


def phase(progress: bool | Progress, noun: str) -> Progress:
    """The reporter of a phase for a call's ``progress=``; it reports nothing if that is false."""
    if progress is True:
        return _bar_of(noun)
    return progress or _untold


def _untold(done: int, total: int) -> None:
    """The reporter for calls without progress."""
