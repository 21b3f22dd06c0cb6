"""The functions of zarr-python 3's ``zarr.api``: `synchronous`, and `asynchronous` on demand."""

from __future__ import annotations

import importlib
from typing import Any

from zarrix.api import synchronous

__all__ = ["asynchronous", "synchronous"]


def __getattr__(name: str) -> Any:
    # Imported on use, because only asynchronous code needs asyncio.
    if name == "asynchronous":
        return importlib.import_module("zarrix.api.asynchronous")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
