"""Public names of ``zarr.core``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from zarrix._array.array import Array

if TYPE_CHECKING:
    from zarrix._array.lazy import LazyArray as LazyArray
    from zarrix._array.plan import ReadPlan as ReadPlan
    from zarrix._array.writer import Writer as Writer
    from zarrix._display.chunk_map import ChunkMap as ChunkMap

__all__ = ["Array", "LazyArray", "Writer"]

# Imported when they are first named: few programs need them.
_ON_DEMAND = {
    "ChunkMap": "zarrix._display.chunk_map",
    "LazyArray": "zarrix._array.lazy",
    "ReadPlan": "zarrix._array.plan",
    "Writer": "zarrix._array.writer",
}
# Modules that are attributes before anything imports them, as in zarr-python.
_MODULES = ("array", "common", "config", "group", "metadata")


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(_ON_DEMAND[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
