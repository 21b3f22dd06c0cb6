"""What the values of settings may be."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["bytes_of", "most_bytes", "whole_number", "yes_or_no"]


def yes_or_no(name: str, value: Any) -> bool:
    """A bool, and nothing that is true as one."""
    if value not in (True, False):
        raise ValueError(f"{name} must be a bool, not {value!r}")
    return bool(value)


def whole_number(name: str, value: Any, least: int) -> int:
    """An integer that is not too small."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    number = value.__index__()
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return int(number)


def bytes_of(name: str, value: Any, least: int) -> int:
    """A number of bytes, or a text such as ``"2 GiB"``; numbers are not bounded."""
    if isinstance(value, str):
        # Import time: few settings are texts.
        from zarrix._runtime.sizes import parse_size

        return parse_size(value, name, least=least)
    return whole_number(name, value, least)


def most_bytes(name: str, value: Any) -> int:
    """A limit of memory; one that no machine reaches is the largest that the engine knows."""
    return min(bytes_of(name, value, least=0), sys.maxsize)
