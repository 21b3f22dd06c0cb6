"""Open arrays and groups as objects of xarray."""

from __future__ import annotations

from typing import Any

import xarray
from xarray import conventions

from zarrix._array.array import Array
from zarrix._hierarchy.group import Group
from zarrix.xarray._backend import ZarrixBackend
from zarrix.xarray._encoding import codecs_of, dimensions_of, take_unlimited
from zarrix.xarray._store import variable_of

__all__ = ["data_array", "dataset"]


def dataset(group: Group, **options: Any) -> xarray.Dataset:
    """The arrays of a group as a dataset."""
    return xarray.open_dataset(group, engine=ZarrixBackend, **options)


def data_array(array: Array, name: str | None, chunks: Any) -> xarray.DataArray:
    """An array without its coordinates."""
    name = name or array.basename or "array"
    try:
        dimensions, attributes = dimensions_of(array, nczarr=True)
    except KeyError:
        dimensions = tuple(f"dim_{axis}" for axis in range(array.ndim))
        attributes = array.attrs.asdict()
    take_unlimited(dimensions, attributes)
    as_mask = array.zarr_format == 2
    variable = variable_of(array, dimensions, attributes, codecs_of(array), as_mask=as_mask)
    decoded = conventions.decode_cf_variable(name, variable)
    # Names of other arrays, which xarray also moves there.
    for names in {"coordinates", "grid_mapping"} & decoded.attrs.keys():
        decoded.encoding[names] = decoded.attrs.pop(names)
    found = xarray.DataArray(decoded, name=name)
    if chunks is None:
        return found
    return found.chunk(variable.encoding["preferred_chunks"] if chunks == {} else chunks)
