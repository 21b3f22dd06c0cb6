"""Every failure that is expected of a command, as a sentence and an exit code."""

from __future__ import annotations

from zarrix._errors import ZarrixError
from zarrix.cli._folder import DemoError

__all__ = ["UsageError", "sentence_of"]


class UsageError(Exception):
    """A file or value that the command line named is not what it should be."""


def sentence_of(error: BaseException) -> tuple[str, int] | None:
    """What to tell of an error, and the exit code; None where it is a fault of this program."""
    if isinstance(error, UsageError | DemoError | ZarrixError):
        return str(error), 1
    if isinstance(error, ImportError):
        return str(error), 2
    if isinstance(error, OSError):
        if error.filename is not None and error.strerror:
            return f"{error.filename}: {error.strerror}", 1
        return str(error), 1
    if isinstance(error, MemoryError):
        return str(error) or "not enough memory", 1
    if isinstance(error, RecursionError):
        return "the groups are nested too deeply for this command", 1
    if isinstance(error, ValueError):
        return str(error), 1
    return None
