"""The values that some arguments may have, as types: formats, orders, modes; and a default."""

from __future__ import annotations

from typing import Any, Literal

__all__ = ["DEFAULT", "Durability", "Format", "IfExists", "Mode", "Order", "Separator"]

Mode = Literal["r", "r+", "a", "w", "w-", "x"]
Order = Literal["C", "F"]
Format = Literal[2, 3]
Separator = Literal[".", "/"]
Durability = Literal["process", "fsync"]
IfExists = Literal["raise", "replace", "skip", "skip_initialized"]


class _Default:
    """The default of arguments for which every other value has a meaning."""

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT: Any = _Default()
