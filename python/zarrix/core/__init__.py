"""Public names of ``zarr.core``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from zarrix._array import Array

if TYPE_CHECKING:
    from zarrix._lazy import LazyArray as LazyArray
    from zarrix._writer import Writer as Writer

__all__ = ["Array", "LazyArray", "Writer"]

# Imported when they are first named: few programs need them.
_ON_DEMAND = {"LazyArray": "zarrix._lazy", "Writer": "zarrix._writer"}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
