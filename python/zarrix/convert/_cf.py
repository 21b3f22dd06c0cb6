"""What the conventions of CF and xarray say about fill values of NetCDF in Zarr.

In v2, xarray takes the fill value of an array for CF's ``_FillValue``, so that an array without one
has no fill value there. In v3 it reads the attribute, in which numbers that JSON does not have are
the base64 of a float64.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix.convert._source import Region, SourceArray

__all__ = ["FILL", "extended", "in_v3", "mask", "shown"]

FILL = "_FillValue"
_DIMENSIONS = "_ARRAY_DIMENSIONS"


def in_v3(attributes: Mapping[str, Any], dtype: Any) -> dict[str, Any]:
    """Attributes with ``_FillValue`` as xarray stores it in v3; others are as they were."""
    found = dict(attributes)
    if FILL not in found or not isinstance(dtype, np.dtype):
        return found
    value = found[FILL]
    if dtype.kind == "f" and isinstance(value, int | float):
        found[FILL] = _base64_of(value)
    elif dtype.kind == "S" and isinstance(value, str):
        found[FILL] = base64.standard_b64encode(value.encode("utf-8", "surrogateescape")).decode()
    return found


def _base64_of(value: float) -> str:
    return base64.standard_b64encode(struct.pack("<d", value)).decode()


def shown(array: Any) -> dict[str, Any]:
    """The attributes of an array as its format of files has them, in v2 and v3 the same.

    Names of dimensions are not among them (`names_of`).
    """
    found = {name: value for name, value in array.attrs.asdict().items() if name != _DIMENSIONS}
    value = found.get(FILL)
    if array.zarr_format == 3 and isinstance(value, str) and array.dtype.kind in "fS":
        # A file may have had text there, which is not base64.
        with contextlib.suppress(ValueError, struct.error):
            raw = base64.standard_b64decode(value)
            is_text = array.dtype.kind == "S"
            found[FILL] = raw.decode() if is_text else struct.unpack("<d", raw)[0]
    return found


def mask(source_array: SourceArray) -> None:
    """Make CF's ``_FillValue`` the fill value; without it, no element stands for a missing one."""
    if not isinstance(source_array.dtype, np.dtype) or source_array.dtype.kind not in "iufS":
        source_array.fill_is_mask = False
        return
    if FILL not in source_array.attributes:
        source_array.fill_is_mask = False
        return
    given = source_array.attributes[FILL]
    try:
        masked = np.asarray(given).astype(source_array.dtype)[()]
    except (TypeError, ValueError, OverflowError):
        source_array.fill_is_mask = False
        return
    if (
        np.asarray(masked).tobytes()
        == np.asarray(source_array.fill_value, source_array.dtype).tobytes()
    ):
        return
    if source_array.stored is None:
        source_array.fill_value = masked
    else:
        # Chunks that are not stored have another value than CF's: they are not its missing ones.
        source_array.fill_is_mask = False


def extended(source_array: SourceArray, axis: int, length: int) -> SourceArray:
    """An array of NetCDF-4 as long as its unlimited dimension, with fill values behind its end.

    HDF5 stores what was written of a variable; its dimension is as long as the longest of them.
    """
    before = source_array.shape[axis]
    if before >= length or not isinstance(source_array.dtype, np.dtype):
        return source_array
    native = source_array.native or source_array.read

    def read(region: Region) -> Any:
        found = region[axis]
        inside = (*region[:axis], slice(found.start, min(found.stop, before)), *region[axis + 1 :])
        out = np.empty([part.stop - part.start for part in region], source_array.dtype)
        out[...] = np.asarray(source_array.fill_value, source_array.dtype)
        if found.start < before:
            out[(slice(None),) * axis + (slice(0, inside[axis].stop - found.start),)] = native(
                inside
            )
        return out

    shape = (*source_array.shape[:axis], length, *source_array.shape[axis + 1 :])
    why = "it is shorter than its dimension"
    stored = source_array.stored if source_array.chunks else None
    return dataclasses.replace(
        source_array,
        shape=shape,
        read=read,
        native=None,
        encoded=None,
        why_decoded=why,
        stored=stored,
    )
