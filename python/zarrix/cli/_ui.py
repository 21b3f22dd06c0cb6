"""What a verb gets beside its arguments: where results and progress go."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from zarrix.cli._interrupts import Interrupts
from zarrix.cli._output import complain, say

__all__ = ["Ui"]

# Without a terminal, one line of progress in so many seconds.
_LINE_SECONDS = 10.0
_JSON_SECONDS = 0.1


class Ui:
    """The output of a verb.

    Parameters
    ----------
    verb : str
    arguments : argparse.Namespace
        With the common options.
    interrupts : Interrupts
    """

    def __init__(self, verb: str, arguments: argparse.Namespace, interrupts: Interrupts) -> None:
        self.verb, self.interrupts = verb, interrupts
        self.json: bool = getattr(arguments, "json", False)
        self.quiet: bool = getattr(arguments, "quiet", False)
        self._progress: str = getattr(arguments, "progress", "never")

    def say(self, text: str) -> None:
        """Print a result."""
        say(text)

    def result(self, value: Any) -> None:
        """Print a result that has ``to_json()``, as JSON, as text, or as a table on a terminal."""
        if self.json:
            say(value.to_json())
            return
        rich = _rich(sys.stdout) if hasattr(value, "_table") else None
        parts = value._table() if rich is not None else None
        if rich is None or parts is None:
            say(str(value))
            return
        before, columns, rows, after = parts
        for text in (before, rich.table(columns, rows), after):
            if text:
                say(text)

    def done(self, value: Any, *, dry_run: bool = False) -> None:
        """Print what a verb has changed; ``--quiet`` leaves only JSON and the plan of a dry run."""
        if self.json or dry_run or not self.quiet:
            self.result(value)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], plain: str) -> None:
        """Print rows as a table on a terminal where rich is installed, else as plain lines."""
        rich = _rich(sys.stdout)
        say(plain if rich is None else rich.table(columns, rows))

    def document(self, value: dict[str, Any]) -> None:
        """Print one JSON document."""
        say(json.dumps({"version": 1, **value}, indent=2, default=str))

    def note(self, text: str) -> None:
        """Print a note on standard error."""
        if not self.quiet:
            complain(text, 0)

    @property
    def progress(self) -> bool | Callable[[int, int], object]:
        """What a public function takes as ``progress=``."""
        if self.quiet or self._progress == "never":
            return False
        if self._progress == "json":
            return self._lines(_JSON_SECONDS, self._as_json)
        rich = _rich(sys.stderr)
        if rich is not None:
            found: Callable[[int, int], object] = rich.bar(self.verb)
            return found
        if sys.stderr is not None and sys.stderr.isatty():
            return True
        if self._progress == "always":
            return self._lines(_LINE_SECONDS, self._as_text)
        return False

    def _lines(
        self, pause: float, show: Callable[[int, int, float], str]
    ) -> Callable[[int, int], object]:
        begun, last = time.monotonic(), float("-inf")

        def tell(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= pause or done >= total:
                last = now
                print(show(done, total, now - begun), file=sys.stderr, flush=True)

        return tell

    def _as_text(self, done: int, total: int, elapsed: float) -> str:
        share = f"{100 * done / total:.0f} %" if total else "done"
        return f"zarrix {self.verb}: {share}, {done:,} of {total:,} after {elapsed:.0f} s"

    def _as_json(self, done: int, total: int, elapsed: float) -> str:
        left = elapsed * (total - done) / done if done else None
        return json.dumps(
            {
                "event": "progress",
                "verb": self.verb,
                "done": done,
                "total": total,
                "elapsed_s": round(elapsed, 3),
                "eta_s": None if left is None else round(left, 3),
            }
        )


def _rich(stream: TextIO | None) -> Any:
    """The module that draws with rich, if it is installed and the stream is a terminal."""
    if stream is None or not stream.isatty():
        return None
    # Import time: only a terminal needs it.
    from zarrix.cli import _rich as drawing

    return drawing if drawing.is_usable() else None
