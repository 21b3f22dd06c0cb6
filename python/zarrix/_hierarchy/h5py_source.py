"""Converts datasets and attributes of h5py to Zarr; h5py itself is not needed.

HDF5 has types that NumPy represents only by a note on the dtype: variable-length text, bytes and
arrays, and references. It also has datasets without a shape.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zarrix._errors import CopyError

__all__ = ["attributes_of", "fill_value_of", "is_h5py", "shape_of", "stored_as"]


def is_h5py(obj: Any) -> bool:
    """Whether this is a dataset or a group of h5py."""
    return type(obj).__module__.startswith("h5py.")


def shape_of(dataset: Any) -> tuple[int, ...]:
    """The shape of a copy: a dataset without elements (HDF5's null space) becomes an empty one."""
    return (0,) if dataset.shape is None else tuple(dataset.shape)


def stored_as(dataset: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The dtype of a copy in Zarr, and a function that reads a region of the dataset.

    Raises
    ------
    CopyError
        It contains references, which have no meaning outside their file.
    """
    dtype = dataset.dtype
    notes: Mapping[str, Any] = dtype.metadata or {}
    if dataset.shape is None:
        return dtype, lambda region: np.zeros(0, dtype)
    if dtype.kind != "O":
        return dtype, dataset.__getitem__
    element = notes.get("vlen")
    if element is str:
        return str, dataset.asstr().__getitem__
    if element is bytes:
        return bytes, dataset.__getitem__
    if isinstance(element, np.dtype):
        return f"array:{element.str}", dataset.__getitem__
    what = "references" if "ref" in notes else str(dtype)
    raise CopyError(
        f"{dataset.name!r} holds {what}, which have no meaning outside their file; copy the "
        "other members one by one"
    )


def fill_value_of(dataset: Any) -> Any:
    """The fill value of a copy; zero if Zarr cannot represent that of HDF5."""
    return 0 if dataset.shape is None or dataset.dtype.kind == "O" else dataset.fillvalue


def attributes_of(source: Any) -> dict[str, Any]:
    """The attributes of any array or group; those of h5py as JSON values.

    Text in bytes becomes text, an attribute without elements None. References (the dimension scales
    of netCDF, for example) are left out, with a warning that names them.
    """
    if not is_h5py(source):
        return dict(source.attrs)
    found, left_out = {}, []
    for name in source.attrs:
        value = source.attrs[name]
        if _has_references(value):
            left_out.append(name)
        else:
            found[name] = _plain(value)
    if left_out:
        warnings.warn(
            f"attributes of {source.name!r} that refer to objects of its HDF5 file are not copied: "
            f"{', '.join(left_out)}",
            UserWarning,
            stacklevel=2,
        )
    return found


def _has_references(value: Any) -> bool:
    if type(value).__name__ in ("Reference", "RegionReference"):
        return True
    if not isinstance(value, np.ndarray | np.void):
        return False
    if value.dtype.names is not None:
        return any(_has_references(value[name]) for name in value.dtype.names)
    return value.dtype.kind == "O" and any(_has_references(one) for one in np.ravel(value))


def _plain(value: Any) -> Any:
    if type(value).__name__ == "Empty":
        return None
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.void) and value.dtype.names is not None:
        return {name: _plain(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray):
        return [_plain(one) for one in value] if value.ndim else _plain(value[()])
    return value
