"""Which metadata is equal, and what `to_dict` returns while zarrix runs as ``zarr``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from zarrix._dtypes.v3 import same_bytes

__all__ = ["as_in_zarr_python", "is_same"]

# Members of a v3 document that have an attribute here.
_MEMBERS = {
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "data_type",
    "fill_value",
    "node_type",
    "shape",
    "zarr_format",
}


def is_same(metadata: Any, other: Any) -> bool:
    """Whether two metadata objects describe the same array, with the same attributes."""
    return _compared(metadata) == _compared(other) and _has_same_fill(metadata, other)


def _compared(metadata: Any) -> tuple[Any, ...]:
    found = vars(metadata)
    members = tuple(found[one.name] for one in fields(metadata) if one.compare)
    # What a document may leave out or leave empty is the same array.
    unknown = {name: one for name, one in metadata.extra.items() if one and name not in _MEMBERS}
    return (*members, metadata.zattrs or {}, unknown)


def _has_same_fill(metadata: Any, other: Any) -> bool:
    """Whether the fill values of two arrays of one dtype are the same, also if not a number."""
    mine, its = metadata.fill_value, other.fill_value
    if mine is None or its is None or metadata.dtype.hasobject or metadata.dtype.kind == "T":
        same = mine is its or mine == its
        return bool(same.all()) if isinstance(same, np.ndarray) else bool(same)
    return same_bytes(mine, its, metadata.dtype)


def _spelled_keys(encoding: Any) -> Any:
    """A chunk key encoding with its separator, which a document may leave out."""
    name = encoding if isinstance(encoding, str) else encoding["name"]
    if name not in _SEPARATORS:
        return encoding
    options = {} if isinstance(encoding, str) else encoding.get("configuration") or {}
    return {"name": name, "configuration": {"separator": _SEPARATORS[name], **options}}


_SEPARATORS = {"default": "/", "v2": "."}


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
    found["chunk_key_encoding"] = _spelled_keys(members["chunk_key_encoding"])
    for name in ("codecs", "dimension_names", "storage_transformers"):
        if found.get(name) is not None:
            found[name] = tuple(found[name])
        elif name == "dimension_names":
            found.pop(name, None)
    grid = members["chunk_grid"]
    if isinstance(grid, dict) and grid["name"] == "regular":
        lengths = tuple(grid["configuration"]["chunk_shape"])
        found["chunk_grid"] = {**grid, "configuration": {"chunk_shape": lengths}}
    return found
