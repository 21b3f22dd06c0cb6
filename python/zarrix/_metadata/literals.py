"""The values that some arguments may have, as types: formats, orders, modes."""

from __future__ import annotations

from typing import Literal

__all__ = ["Durability", "Format", "IfExists", "Mode", "Order", "Separator"]

Mode = Literal["r", "r+", "a", "w", "w-", "x"]
Order = Literal["C", "F"]
Format = Literal[2, 3]
Separator = Literal[".", "/"]
Durability = Literal["process", "fsync"]
IfExists = Literal["raise", "replace", "skip", "skip_initialized"]
