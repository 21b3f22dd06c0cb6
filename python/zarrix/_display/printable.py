"""Printable text: names that cannot forge a line, numbers with their noun.

Names come from stores, which may be untrusted. On a terminal, an escape sequence in a name moves
the cursor, and a line break in a name begins a line that the program did not write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["counted", "lines", "printable"]

# Control characters, line and paragraph separators, marks that change the direction of text, and
# the surrogates with which Python represents bytes of file names that are not UTF-8.
_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def printable(text: str) -> str:
    r"""``text`` on one line of a terminal: control characters are escaped as in a Python literal.

    Examples
    --------
    >>> print(printable("new\nline: all is well \x1b[2J"))
    new\nline: all is well \x1b[2J
    """
    # Compiled when it is first used, for import time; `re` caches it.
    return re.sub(_UNSAFE, lambda found: ascii(found[0])[1:-1], text)


def lines(rows: Iterable[str]) -> str:
    """``rows`` below each other, each on one line."""
    return "\n".join(map(printable, rows))


def counted(number: int, noun: str) -> str:
    """``number`` with its noun.

    Examples
    --------
    >>> counted(1, "array"), counted(2000, "array")
    ('1 array', '2,000 arrays')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
