"""Values as the CF conventions mean them: unpacked, and not a number where they are missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._errors import LabelError
from zarrix._labels._cf import Decoding, decoding_of

__all__ = ["convention_of", "decoded", "unit_of"]

_LONGEST = 200


def convention_of(array: Any) -> Decoding | None:
    """How stored values become numbers; None if they are these already, or have another meaning."""
    if array.dtype.kind not in "iuf":
        return None
    metadata = metadata_of(array)
    attributes = array.attrs.asdict()
    # What xarray writes in version 2 has its missing value there; 0 is everybody's default.
    is_from_netcdf = metadata.zarr_format == 2 and "_ARRAY_DIMENSIONS" in attributes
    fill = metadata.fill_value if is_from_netcdf and metadata.fill_value else None
    try:
        found = decoding_of(array.dtype, attributes, array.name or "", fill_value=fill)
    except LabelError:
        return None
    is_packed = found.scale is not None or found.offset is not None or found.is_unsigned
    return found if found.kind == "number" and (is_packed or found.fills) else None


def decoded(array: Any, values: Any) -> Any:
    """Stored values as numbers, with NaN for those that are missing."""
    convention = convention_of(array)
    if convention is None:
        return values
    flat = np.ascontiguousarray(values).reshape(-1)
    numbers, missing = convention.labels(flat, array.name or "")
    if missing is not None:
        kind = numbers.dtype if numbers.dtype.kind == "f" else np.dtype("f8")
        numbers = np.where(missing, kind.type(np.nan), numbers.astype(kind, copy=False))
    return numbers.reshape(np.shape(values))


def unit_of(array: Any) -> str | None:
    """The unit of the values, as CF writes it; None if it is not said."""
    found = array.attrs.asdict().get("units")
    return found[:_LONGEST] if isinstance(found, str) and found.strip() else None
