"""Tables and bars that rich draws on a terminal, if it is installed.

Programs that read the output get plain lines, with rich or without it.
"""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

from zarrix._display.printable import printable
from zarrix._display.progress import begin_bar, end_bar

__all__ = ["bar", "is_usable", "table"]


def is_usable() -> bool:
    """Whether rich is installed, and the terminal moves its cursor."""
    return os.environ.get("TERM") != "dumb" and importlib.util.find_spec("rich") is not None


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as wide as the terminal.

    A column whose name begins with a space has numbers. A row whose last cell begins with an arrow
    is bold. Names are text: markup of rich in them is shown as it is.
    """
    # Optional package: extra [cli].
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    lines = box.SIMPLE_HEAD if encoding.startswith("utf") else box.ASCII2
    drawn = Table(box=lines, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        drawn.add_column(
            name.strip(), justify="right" if name.startswith(" ") else "left", overflow="fold"
        )
    for row in rows:
        style = "bold" if row[-1].startswith("<-") else ""
        drawn.add_row(*(Text(printable(cell), style=style) for cell in row))
    out = io.StringIO()
    console = Console(
        file=out, width=shutil.get_terminal_size().columns, force_terminal=True,
        legacy_windows=False,
    )  # fmt: skip
    console.print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines() if line.strip())


def bar(verb: str) -> Callable[[int, int], object]:
    """A reporter that draws what is done, the share, the seconds, and those that are left."""
    # Optional package: extra [cli].
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    shown: dict[str, Any] = {}

    def tell(done: int, total: int) -> None:
        if "bar" not in shown:
            if done >= total:
                return
            shown["bar"] = Progress(
                TextColumn(f"zarrix {verb}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
                MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
                console=Console(file=sys.stderr), refresh_per_second=10, redirect_stdout=False,
                redirect_stderr=False,
            )  # fmt: skip
            shown["task"] = shown["bar"].add_task("", total=total)
            shown["bar"].start()
            begin_bar(stop)
        shown["bar"].update(shown["task"], completed=done, total=total)
        if done >= total:
            end_bar()

    def stop() -> None:
        shown.pop("bar").stop()

    return tell
