"""Which metadata is equal, and what `to_dict` returns while zarrix runs as ``zarr``."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._dtypes.v3 import same_bytes

__all__ = ["as_in_zarr_python", "has_same_fill"]


def has_same_fill(one: Any, other: Any) -> bool:
    """Whether the fill values of two arrays of one dtype are the same, also if not a number."""
    mine, its = one.fill_value, other.fill_value
    if mine is None or its is None or one.dtype.hasobject or one.dtype.kind == "T":
        same = mine is its or mine == its
        return bool(same.all()) if isinstance(same, np.ndarray) else bool(same)
    return same_bytes(mine, its, one.dtype)


def as_in_zarr_python(members: dict[str, Any]) -> dict[str, Any]:
    """The members of a document as the metadata objects of zarr-python 3 give them.

    Lengths are tuples, and members that a document may leave out have their defaults.
    """
    found = {**members, "shape": tuple(members["shape"])}
    found.setdefault("attributes", {})
    if members["zarr_format"] == 2:
        found["chunks"] = tuple(members["chunks"])
        found.setdefault("dimension_separator", ".")
        return found
    found.setdefault("storage_transformers", [])
    for name in ("codecs", "dimension_names", "storage_transformers"):
        if found.get(name) is not None:
            found[name] = tuple(found[name])
    grid = members["chunk_grid"]
    if isinstance(grid, dict) and grid["name"] == "regular":
        lengths = tuple(grid["configuration"]["chunk_shape"])
        found["chunk_grid"] = {**grid, "configuration": {"chunk_shape": lengths}}
    return found
