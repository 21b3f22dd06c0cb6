"""Results as HTML for notebooks: tables of names and values, and what a result prints."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from zarrix._display.printable import printable

__all__ = ["Printed", "info_table", "text_html"]

_LONGEST_VALUE = 300


def info_table(items: Iterable[tuple[str, Any]]) -> str:
    """The rows as an HTML table."""
    cell = 'style="text-align: left"'
    rows = (
        f"<tr><th {cell}>{text_html(name)}</th><td {cell}>{text_html(value)}</td></tr>"
        for name, value in items
    )
    return f'<table class="zarr-info"><tbody>{"".join(rows)}</tbody></table>'


class Printed:
    """A result that notebooks show as it prints, with its picture if it has one."""

    def _repr_html_(self) -> str:
        picture = self.to_svg() if hasattr(self, "to_svg") else ""
        return f"<pre>{escape(str(self))}</pre>{picture}"


def text_html(value: Any) -> str:
    """A value as HTML: escaped, without control characters, and not too long."""
    text = printable(str(value))
    return escape(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}...")
