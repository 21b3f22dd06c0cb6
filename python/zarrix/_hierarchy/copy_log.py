"""The report of a copy: log lines while it runs, and counts at its end."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from zarrix._display.printable import printable

__all__ = ["Counts", "Log", "check_choice", "log_to"]


class Counts(NamedTuple):
    """The result of a copy: items copied, items skipped, bytes copied."""

    n_copied: int
    n_skipped: int
    n_bytes_copied: int

    def as_tuple(self) -> tuple[int, int, int]:
        return self.n_copied, self.n_skipped, self.n_bytes_copied

    def plus(self, other: tuple[int, int, int]) -> Counts:
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


class Log:
    """The destination of log lines: a function, an open file, or none."""

    def __init__(self, log: Any) -> None:
        self._write: Callable[[str], object] = lambda _: None
        self._file = log
        # Whether no line is seen, so that none has to be made.
        self.is_silent = log is None
        if callable(log):
            self._write = log
        elif hasattr(log, "write"):
            self._write = self._print
        elif log is not None:
            raise TypeError(f"log is a function, a path or a file with write(), not {log!r}")

    def _print(self, line: str) -> None:
        print(line, file=self._file, flush=hasattr(self._file, "flush"))

    def __call__(self, line: str) -> None:
        self._write(printable(line))

    def summary(self, dry_run: bool, counts: Counts) -> None:
        line = f"{counts.n_copied:,} copied, {counts.n_skipped:,} skipped"
        if dry_run:
            self(f"dry run: {line}")
        else:
            self(f"all done: {line}, {counts.n_bytes_copied:,} bytes copied")


@contextmanager
def log_to(log: Any) -> Iterator[Log]:
    if isinstance(log, str | os.PathLike):
        with builtins.open(log, mode="w", encoding="utf-8") as file:
            yield Log(file)
    else:
        yield Log(log)


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is one of {', '.join(map(repr, allowed))}, not {value!r}")
