"""Attributes of HDF5 and NetCDF-4 as JSON values; those that JSON does not have are named."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix.convert._hdf5_file import raise_of_system
from zarrix.convert._source import Source

__all__ = ["attributes_of", "is_netcdf"]

# What NetCDF4 and MATLAB keep for their own libraries.
_OWN = {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_NCProperties", "_nc3_strict"}
_REFERENCES = "it refers to an object of the file"


def is_netcdf(file: Any) -> bool:
    """Whether a file of h5py was written by the library of NetCDF."""
    return "_NCProperties" in file.attrs


def attributes_of(node: Any, path: str, source: Source, *, netcdf: bool) -> dict[str, Any]:
    """The attributes of a group or dataset; those that cannot be kept are noted in the source.

    Attributes of NetCDF that have one value are values, and not lists of one, as its libraries
    read them.
    """
    found: dict[str, Any] = {}
    try:
        names = [*node.attrs]
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise_of_system(error, source.name)
        source.leave_out(f"the attributes of {path or '/'}", error)
        return found
    for name in names:
        if name in _OWN or name.startswith("_Netcdf4"):
            continue
        try:
            name.encode()
            value = _plain(node.attrs[name])
        except UnicodeError:
            told = name.encode("utf-8", "backslashreplace").decode()
            source.leave_out(f"the attribute {told!r} of {path or '/'}", "it is not UTF-8")
        except (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError) as error:
            raise_of_system(error, source.name)
            source.leave_out(f"the attribute {name!r} of {path or '/'}", error)
        else:
            is_one = netcdf and isinstance(value, list) and len(value) == 1
            found[name] = value[0] if is_one and not isinstance(value[0], list) else value
    return found


def _plain(value: Any) -> Any:
    """A value of h5py as JSON has it; an attribute without elements is None.

    Raises
    ------
    TypeError
        JSON does not have it.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        value.encode()
        return str(value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        if value.dtype.names is not None and not value.ndim:
            return {name: _plain(value[name]) for name in value.dtype.names}
        return [_plain(one) for one in value] if value.ndim else _plain(value[()])
    if isinstance(value, np.void) and value.dtype.names is not None:
        return {name: _plain(value[name]) for name in value.dtype.names}
    kind = type(value).__name__
    if kind == "Empty":
        return None
    if kind in ("Reference", "RegionReference"):
        raise TypeError(_REFERENCES)
    if isinstance(value, np.generic) and isinstance(plain := value.item(), bool | int | float):
        return plain
    shown = value.dtype if isinstance(value, np.generic) else kind
    raise TypeError(f"attributes of Zarr are JSON, which has no {shown}")
