"""The names of an array's axes, in either version of Zarr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["names_of"]


def names_of(array: Any) -> Sequence[str | None]:
    """The dimension names of v3, or those that xarray keeps in v2; empty if there are none."""
    found = array.attrs.get("_ARRAY_DIMENSIONS")
    if not isinstance(found, list) or len(found) != array.ndim:
        found = getattr(array.metadata, "dimension_names", None)
    return tuple(found or ())
