"""Names for annotations, as ``zarr.core.common`` has them."""

from typing import Literal

from zarrix.types import JSON, ZarrFormat

__all__ = ["JSON", "AccessModeLiteral", "MemoryOrder", "ZarrFormat"]

AccessModeLiteral = Literal["r", "r+", "a", "w", "w-"]
MemoryOrder = Literal["C", "F"]
