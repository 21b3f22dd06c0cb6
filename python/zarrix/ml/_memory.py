"""Numbers of bytes, as people write them."""

from __future__ import annotations

import re

__all__ = ["bytes_of"]

_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _UNITS[f"{_letter}ib"] = 1024**_power
    _UNITS[f"{_letter}b"] = 1000**_power


def bytes_of(memory: int | str) -> int:
    """A number of bytes, from a number or from text such as "512 MiB".

    Examples
    --------
    >>> bytes_of("1.5 KiB"), bytes_of("2GB"), bytes_of(7)
    (1536, 2000000000, 7)
    """
    if isinstance(memory, str):
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", memory.strip())
        if match is None or match[2].lower() not in _UNITS:
            raise ValueError(f"memory={memory!r}; it is a number of bytes, or text like '512 MiB'")
        memory = int(float(match[1]) * _UNITS[match[2].lower()])
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < 1:
        raise ValueError(f"memory={memory!r}; it is a positive number of bytes")
    return memory
