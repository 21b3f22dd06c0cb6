"""Every expected failure of a command, as a sentence and an exit code."""

from __future__ import annotations

from zarrix._errors import ZarrixError
from zarrix.cli._demo.folder import DemoError

__all__ = ["UsageError", "sentence_of"]


class UsageError(Exception):
    """A file or value on the command line is invalid."""


def sentence_of(error: BaseException) -> tuple[str, int] | None:
    """The message of an error, and the exit code; None for a bug of this program."""
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
