"""Numbers of bytes, as people write and read them."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["bytes_of", "size_text"]

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


def bytes_of(given: Any, name: str) -> int:
    """A number of bytes: an integer, or text such as ``"2 GiB"`` or ``"64MB"``.

    Raises
    ------
    ValueError
        It is neither, or not positive.

    Examples
    --------
    >>> bytes_of("2 GiB", "max_memory"), bytes_of("64MB", "max_memory"), bytes_of(10, "max_memory")
    (2147483648, 64000000, 10)
    """
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if found is not None:
        number, power, binary = found.groups()
        count = int(float(number) * (1024 if binary else 1000) ** _POWERS[power.upper()])
    elif hasattr(given, "__index__") and not isinstance(given, bool):
        count = int(given.__index__())
    else:
        count = 0
    if count < 1:
        raise ValueError(f"{name}={given!r}; expected a number of bytes, such as '512 MiB'")
    return count


def size_text(count: float) -> str:
    """A number of bytes in the unit in which it is below 1024.

    Examples
    --------
    >>> size_text(0), size_text(1536), size_text(5 * 2**30)
    ('0 B', '1.5 KiB', '5.0 GiB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        count /= 1024
        if count < 1024 or unit == "PiB":
            return f"{count:,.1f} {unit}"
    raise AssertionError
