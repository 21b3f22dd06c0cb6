"""The initial data of a new array."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._nodes.location import Location
from zarrix._stores.overlap import relation

__all__ = ["safe_source"]


def safe_source(data: Any, location: Location) -> Any:
    """``data`` as an array; loaded into memory, if clearing the location would delete it."""
    if not hasattr(data, "shape"):
        return np.asanyarray(data)
    if isinstance(data, Array):
        stores: list[Any] = data._stores()
    elif hasattr(data, "store") and isinstance(getattr(data, "path", None), str):
        # An array of zarr-python.
        stores = [data.store]
    else:
        return data
    written = ((store, location.path) for store in (location.store, location.chunks))
    is_cleared = any(
        relation(*target, store, data.path) in ("same", "around")
        for target in written
        for store in stores
    )
    return data[...] if is_cleared else data
