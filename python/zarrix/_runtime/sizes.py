"""Numbers of bytes as people write and read them: one grammar for arguments, options and messages.

K, M, G and T are powers of 1024, and so are KiB, MiB, GiB and TiB; KB, MB, GB and TB are powers of
1000; B is a byte. This is the grammar of GNU's tools. Upper and lower case mean the same.
"""

from __future__ import annotations

import math
import re
from typing import Any

from zarrix._errors import shorten

__all__ = ["human_readable_size", "is_size", "parse_size", "size_text"]

# More digits are of no size, and Python refuses thousands of them in its own words.
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?:([KMGT])(IB?|B?)|(B?))", re.IGNORECASE)
_MOST = 2**63 - 1


def is_size(value: Any) -> bool:
    """Whether a value is the text of a size with its unit; numbers alone may be lengths.

    Examples
    --------
    >>> is_size("64M"), is_size("0.5 MiB"), is_size("64"), is_size("auto"), is_size(64)
    (True, True, False, False, False)
    """
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return found is not None and bool(found[2] or found[4])


def parse_size(value: Any, name: str, *, least: int = 1) -> int:
    """A number of bytes from an integer, or from a text such as ``"64M"`` or ``"1.5 GB"``.

    Parameters
    ----------
    value : int or str
    name : str
        The argument, for the message.
    least : int
        The smallest number that is allowed.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        It is neither, is less than ``least``, or does not fit into 63 bits.

    Examples
    --------
    >>> from zarrix.util import parse_size
    >>> [parse_size(size, "memory") for size in ("64K", "64 KiB", "64kB", "1.5M", 7)]
    [65536, 65536, 64000, 1572864, 7]
    """
    count = -1
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip())
        if found is not None:
            count = _counted(*found.groups())
    elif hasattr(value, "__index__") and not isinstance(value, bool):
        count = int(value.__index__())
    if not least <= count <= _MOST:
        raise ValueError(
            f"{name}={shorten(value)} is not a number of bytes, at least {least}; pass an integer, "
            "or a text such as '64M', '1.5 GiB' or '500 kB'"
        )
    return count


def _counted(number: str, letter: str | None, rest: str | None, _: str | None) -> int:
    base = 1000 if (rest or "").upper() == "B" else 1024
    factor: int = base ** ("KMGT".index(letter.upper()) + 1) if letter else 1
    whole, _, decimals = number.partition(".")
    # In integers, because a float has not all of them.
    return int(whole + decimals) * factor // int("1" + "0" * len(decimals))


def size_text(count: float) -> str:
    """A number of bytes in the unit in which it is below 1024.

    Parameters
    ----------
    count : int or float
        Not negative.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        ``count`` is not a number.

    Examples
    --------
    >>> from zarrix.util import size_text
    >>> size_text(0), size_text(1536), size_text(5 * 2**30)
    ('0 B', '1.5 KiB', '5.0 GiB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    units = ("KiB", "MiB", "GiB", "TiB", "PiB")
    power = 0
    # Rounded first: 1023.97 KiB is 1.0 MiB, and not 1024.0 KiB.
    while power + 1 < len(units) and round(count / 1024 ** (power + 1), 1) >= 1024:
        power += 1
    return f"{count / 1024 ** (power + 1):,.1f} {units[power]}"


def human_readable_size(size: float) -> str:
    """``size`` in bytes with one decimal and a binary unit letter.

    Parameters
    ----------
    size : int or float
        Not negative.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        ``size`` is not a number.

    Examples
    --------
    >>> from zarrix.util import human_readable_size
    >>> human_readable_size(800), human_readable_size(800_000_000)
    ('800', '762.9M')
    """
    if size < 2**10:
        return f"{size}"
    power = min(int(math.log2(size)) // 10, 5)
    while size < 2 ** (10 * power):
        power -= 1
    return f"{size / 2 ** (10 * power):.1f}{'KMGTP'[power - 1]}"
