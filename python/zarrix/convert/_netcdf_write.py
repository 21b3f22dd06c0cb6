"""Arrays and groups as NetCDF-4: HDF5 with the rules of the NetCDF library.

Each axis has a dimension, which is a dataset of that name: the coordinate variable, or one that
says that it is not a variable. Attributes of text are characters of a fixed length, and those that
belong to the values (`_FillValue`, `valid_range`, ...) have the type of the variable, as the CF
conventions demand. Elements that NetCDF does not have are written as xarray writes them: booleans
and times as integers, bytes of a fixed length as characters.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from zarrix._array.dimension_names import names_of
from zarrix._dtypes.variable import element_of
from zarrix._engine import __version__
from zarrix._errors import ConversionError
from zarrix.convert._hdf5_file import library, new_file
from zarrix.convert._hdf5_write import (
    check_level,
    children,
    layout,
    named,
    texts,
    unlimited_axes,
    write_attributes,
    write_values,
)

__all__ = ["save"]

# A variable that has the name of a dimension, and is not its coordinate.
_OTHER = "_nc4_non_coord_"
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."
# CF: of the type of the stored values.
_OF_VALUES = (
    "_FillValue", "missing_value", "valid_min", "valid_max", "valid_range", "flag_values",
    "flag_masks",
)  # fmt: skip
_COMPLEX = {8: "_PFNC_FLOAT_COMPLEX_TYPE", 16: "_PFNC_DOUBLE_COMPLEX_TYPE"}
_UNITS = {
    "D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds",
    "us": "microseconds", "ns": "nanoseconds",
}  # fmt: skip
# Units whose dtype xarray reads from the attribute `dtype`.
_NAMED_UNITS = ("s", "ms", "us", "ns")


@dataclass
class _Variable:
    """A variable: its name, dimensions, and how its elements are stored."""

    name: str
    array: Any
    dims: list[str] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    dtype: Any = None
    convert: Callable[[Any], Any] = np.asarray
    more: dict[str, Any] = field(default_factory=dict)
    fill: Any = None


@dataclass
class _Group:
    """A group: dimensions with their lengths and whether these are without a limit, variables.

    Dimensions are numbered through the file, from ``first`` on in a group.
    """

    path: str
    node: Any
    dims: dict[str, tuple[int, bool]] = field(default_factory=dict)
    first: int = 0
    variables: dict[str, _Variable] = field(default_factory=dict)
    below: set[str] = field(default_factory=set)


def save(
    node: Any,
    path: Path,
    job: Any,
    *,
    compression: Literal["gzip"] | None = "gzip",
    level: int = 4,
) -> None:
    """Write NetCDF-4; an array is the variable ``data``."""
    h5py = library()
    check_level(level)
    groups = _planned(h5py, node)
    with new_file(path, job, track_order=True) as file:
        file.attrs["_NCProperties"] = np.bytes_(
            f"version=2,zarrix={__version__},hdf5={h5py.version.hdf5_version}"
        )
        for group in groups:
            made = file.require_group(group.path or "/")
            writer = _VariableWriter(h5py, job, (compression, level), made, group)
            for variable in group.variables.values():
                writer.save(variable)
            if not hasattr(group.node, "shape"):
                write_attributes(made, group.node, job, _attribute(h5py, None))


def _planned(h5py: Any, node: Any) -> list[_Group]:
    """All groups, checked before anything is written."""
    groups: dict[str, _Group] = {}
    for where, one in children(node):
        if not hasattr(one, "shape"):
            groups[where] = _Group(where, one)
        elif not where:
            groups[""] = _Group("", one)
            groups[""].variables["data"] = _planned_variable(h5py, "data", one)
    for where, one in children(node):
        parent, _, name = where.rpartition("/")
        if where and hasattr(one, "shape"):
            groups[parent].variables[name] = _planned_variable(h5py, name, one)
        elif where:
            groups[parent].below.add(name)
    first = 0
    for group in groups.values():
        group.first = first
        _plan_dimensions(group)
        first += len(group.dims)
    return list(groups.values())


def _planned_variable(h5py: Any, name: str, array: Any) -> _Variable:
    """How the elements of an array are stored.

    Raises
    ------
    ConversionError
        NetCDF has no such elements.
    """
    made = _Variable(name, array, shape=tuple(array.shape), dtype=array.dtype)
    kind, itemsize = array.dtype.kind, array.dtype.itemsize
    if kind in "iu" or (kind == "f" and itemsize in (4, 8)):
        pass
    elif kind == "b":
        made.dtype, made.more = np.dtype("i1"), {"dtype": "bool"}
        made.convert = lambda value: np.ascontiguousarray(value).view("i1")
    elif kind in "mM":
        _plan_times(made)
    elif kind == "S" and itemsize == 1:
        # Characters, as NetCDF has them.
        made.dtype = np.dtype("S1")
    elif kind == "S":
        made.dtype, made.shape = np.dtype("S1"), (*array.shape, itemsize)
        made.convert = lambda value: np.ascontiguousarray(value).reshape(*value.shape, 1).view("S1")
    elif kind == "U" or (kind in "OT" and element_of(array) is str):
        made.dtype, made.convert = h5py.string_dtype(), texts(array, str)
    elif kind == "c" and itemsize in _COMPLEX:
        made.dtype = array.dtype
    else:
        what = str(array.dtype) if kind != "O" else "objects or bytes of any length"
        raise ConversionError(
            f"{named(array)} has elements of {what}, which NetCDF does not have; export to HDF5 "
            "(.h5), or copy it to another data type first"
        )
    made.fill = _fill_of(array)
    return made


def _plan_times(made: _Variable) -> None:
    """Times are counted from 1970, with the least integer for a missing one."""
    array = made.array
    unit, count = np.datetime_data(array.dtype)
    if unit not in _UNITS or count != 1:
        raise ConversionError(
            f"{named(array)} has elements of {array.dtype}, and the units of CF are "
            f"{', '.join(_UNITS.values())}: copy it to one of them first"
        )
    made.dtype = np.dtype("i8").newbyteorder(array.dtype.byteorder)
    made.convert = lambda value: np.ascontiguousarray(value).view(made.dtype)
    if array.dtype.kind == "M":
        since = f"{_UNITS[unit]} since 1970-01-01 00:00:00"
        made.more = {"units": since, "calendar": "proleptic_gregorian"}
    else:
        made.more = {"units": _UNITS[unit]}
        if unit in _NAMED_UNITS:
            made.more["dtype"] = f"timedelta64[{unit}]"


def _fill_of(array: Any) -> Any:
    """The value that stands for a missing one; None if there is none.

    It is the attribute ``_FillValue``, which xarray encodes in v3, or in v2 the fill value of an
    array with dimensions.
    """
    attributes, kind = array.attrs, array.dtype.kind
    if kind not in "iufbc":
        return None
    given = attributes.get("_FillValue")
    if given is None:
        is_of_xarray = array.metadata.zarr_format == 2 and "_ARRAY_DIMENSIONS" in attributes
        given = array.fill_value if is_of_xarray else None
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    try:
        if isinstance(given, list) and kind == "c":
            given = complex(*(_decoded(one) for one in given))
        elif isinstance(given, str):
            given = _decoded(given)
        dtype = np.dtype("i1") if kind == "b" else array.dtype
        return None if given is None else _exact(given, dtype)
    except (ValueError, TypeError, OverflowError):
        return None


def _decoded(text: Any) -> Any:
    """A number that xarray encoded in base64, or that is written out."""
    if not isinstance(text, str):
        return text
    try:
        (found,) = struct.unpack("<d", base64.b64decode(text, validate=True))
        return found
    except (binascii.Error, struct.error, ValueError):
        return float(text)


def _exact(value: Any, dtype: Any) -> Any:
    """``value`` in this dtype; ValueError if it would be another one."""
    given = np.asarray(value)
    if given.dtype.kind not in "iufbc" or (given.dtype.kind == "c") > (dtype.kind == "c"):
        raise ValueError(f"{value!r} is not a number of {dtype}")
    if dtype.kind in "iu" and given.dtype.kind == "f":
        given = np.asarray([int(one) if one == int(one) else one for one in given.flat]).reshape(
            given.shape
        )
    with np.errstate(over="ignore", invalid="ignore"):
        made = given.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(made, given):
        raise ValueError(f"{value!r} is not a number of {dtype}")
    return made if made.ndim else made[()]


def _plan_dimensions(group: _Group) -> None:
    """Name the dimensions of all variables, and their lengths.

    Raises
    ------
    ConversionError
        One name has two lengths, or is not a name in NetCDF.
    """
    for one in group.variables.values():
        names = names_of(one.array) or (None,) * one.array.ndim
        one.dims = [name or "" for name in names]
    for one in group.variables.values():
        axes = unlimited_axes(one.array)
        for axis, name in enumerate(one.dims):
            if name:
                _add_dimension(group, one, name, one.shape[axis], axis in axes)
    for one in group.variables.values():
        axes = unlimited_axes(one.array)
        for axis, name in enumerate(one.dims):
            if not name:
                found = _free_dimension(group, one, one.shape[axis], "dim_")
                one.dims[axis] = found
                _add_dimension(group, one, found, one.shape[axis], axis in axes)
        for length in one.shape[len(one.dims) :]:
            found = _free_dimension(group, one, length, "string")
            one.dims.append(found)
            _add_dimension(group, one, found, length, False)


def _free_dimension(group: _Group, variable: _Variable, length: int, prefix: str) -> str:
    """A dimension of that length which the variable has not yet: one that exists, or a new name."""
    if prefix == "string":
        candidates: Iterator[str] = (f"string{length}{'_' * i}" for i in range(1000))
    else:
        candidates = (f"{prefix}{i}" for i in range(1_000_000))
    for name in candidates:
        known = group.dims.get(name)
        is_taken = name in group.variables or name in group.below or name in variable.dims
        if not is_taken and (known is None or known[0] == length):
            return name
    raise ConversionError(f"{named(variable.array)} has more axes than NetCDF has names for")


def _add_dimension(
    group: _Group, variable: _Variable, name: str, length: int, is_unlimited: bool
) -> None:
    if "/" in name or "\0" in name or name.startswith(".") or name != name.strip():
        raise ConversionError(
            f"{named(variable.array)} has a dimension {name!r}, no name in NetCDF"
        )
    if name in group.below:
        raise ConversionError(
            f"{named(variable.array)} has a dimension {name!r}, and its group has a group of that "
            "name; NetCDF has one of both"
        )
    known = group.dims.get(name, (length, False))
    if known[0] != length:
        other = next(
            named(other.array)
            for other in group.variables.values()
            if (name, known[0]) in zip(other.dims, other.shape, strict=False)
        )
        raise ConversionError(
            f"the dimension {name!r} has length {known[0]} in {other} and {length} in "
            f"{named(variable.array)}; NetCDF has one length for all arrays of a group: export "
            "them one by one, or to HDF5 (.h5)"
        )
    group.dims[name] = (length, known[1] or is_unlimited)


def _is_coordinate(name: str, variable: _Variable | None) -> bool:
    return variable is not None and variable.dims == [name]


def _make_dimensions(made: Any, group: _Group) -> dict[str, Any]:
    """The datasets of dimensions that are not variables."""
    scales = {}
    for number, (name, (length, is_unlimited)) in enumerate(group.dims.items()):
        if _is_coordinate(name, group.variables.get(name)):
            continue
        scale = made.create_dataset(
            name, shape=(length,), dtype=">f4", maxshape=(None,) if is_unlimited else None,
            chunks=(1024,) if is_unlimited else None,
        )  # fmt: skip
        scale.make_scale(f"{_NO_VARIABLE}{length:10}")
        scale.attrs["_Netcdf4Dimid"] = np.int32(group.first + number)
        scales[name] = scale
    # Coordinates come first, so that every variable finds the datasets of its dimensions.
    group.variables = dict(
        sorted(group.variables.items(), key=lambda item: not _is_coordinate(*item))
    )
    return scales


class _VariableWriter:
    """Writes the variables of one group, the coordinates first."""

    def __init__(
        self, h5py: Any, job: Any, packing: tuple[str | None, int], made: Any, group: _Group
    ) -> None:
        self._h5py, self._job, self._packing = h5py, job, packing
        self._made, self._group = made, group
        # The datasets of dimensions by name.
        self._scales = _make_dimensions(made, group)

    def save(self, variable: _Variable) -> None:
        """Write a variable: its dataset, dimensions, values and attributes."""
        stored = self._dataset(variable)
        if _is_coordinate(variable.name, variable):
            number = self._group.first + list(self._group.dims).index(variable.name)
            stored.make_scale(variable.name)
            stored.attrs["_Netcdf4Dimid"] = np.int32(number)
            self._scales[variable.name] = stored
        else:
            for axis, dim in enumerate(variable.dims):
                stored.dims[axis].attach_scale(self._scales[dim])
        write_values(stored, variable.array, self._job, variable.convert)
        value_of = _attribute(self._h5py, variable)
        for key, value in {**variable.more, **_fill_attribute(variable)}.items():
            stored.attrs[key] = value_of(key, value)
        write_attributes(stored, variable.array, self._job, value_of)

    def _dataset(self, variable: _Variable) -> Any:
        dims = self._group.dims
        axes = [axis for axis, dim in enumerate(variable.dims) if dims[dim][1]]
        options = layout(variable.array, variable.shape, axes, *self._packing)
        dtype = variable.dtype
        is_text = self._h5py.check_string_dtype(dtype) is not None and dtype.kind == "O"
        if is_text:
            # The NetCDF library has no filters for text of variable length.
            for name in ("compression", "compression_opts"):
                options.pop(name, None)
        fill = variable.fill
        if fill is None and variable.array.dtype.kind in "iuf":
            fill = variable.array.fill_value
        if fill is not None and not is_text:
            options["fillvalue"] = fill
        if dtype.kind == "c":
            dtype = _committed(self._made, dtype)
            options.pop("fillvalue", None)
        is_hidden = variable.name in dims and not _is_coordinate(variable.name, variable)
        name = f"{_OTHER}{variable.name}" if is_hidden else variable.name
        return self._made.create_dataset(name, shape=variable.shape, dtype=dtype, **options)


def _fill_attribute(variable: _Variable) -> Mapping[str, Any]:
    return {} if variable.fill is None else {"_FillValue": variable.fill}


def _committed(made: Any, dtype: Any) -> Any:
    """The type of complex numbers, which NetCDF finds by its name in the root."""
    root, name = made.file, _COMPLEX[dtype.itemsize]
    if dtype.byteorder == ">":
        name += "_BE"
    if name not in root:
        root[name] = dtype
    return root[name]


def _attribute(h5py: Any, variable: _Variable | None) -> Callable[[str, Any], Any]:
    """What is stored for the value of an attribute; None if it is written in another way.

    A value for which HDF5 has no type is a `TypeError`.
    """

    def value_of(name: str, value: Any) -> Any:
        if variable is not None and value is not variable.more.get(name):
            if name == "_FillValue" and variable.fill is None:
                raise ConversionError(f"{value!r} is not a value of {variable.dtype}")
            if name in variable.more or (name == "_FillValue" and value is not variable.fill):
                # The array says so, and an attribute cannot change it.
                return None
            if name in _OF_VALUES and variable.dtype.kind in "iuf":
                return _of_values(value, variable.dtype)
        return _typed(h5py, value)

    return value_of


def _of_values(value: Any, dtype: Any) -> Any:
    """An attribute in the type of the variable, if that keeps it."""
    try:
        return _exact(value, dtype)
    except (ValueError, TypeError, OverflowError):
        return np.asarray(value) if not isinstance(value, str) else np.bytes_(value.encode())


def _typed(h5py: Any, value: Any) -> Any:
    """Text as characters, numbers as they are; `TypeError` for everything else."""
    if isinstance(value, str):
        data = value.encode()
        if b"\0" in data:
            raise TypeError("text with NUL")
        kind = h5py.string_dtype("ascii" if data.isascii() else "utf-8", max(1, len(data)))
        return np.array(data, kind)
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        raise TypeError("NetCDF has no such attribute")
    if isinstance(value, list):
        if not value or any(isinstance(one, bool | list | dict | None) for one in value):
            raise TypeError("NetCDF has no such attribute")
        if all(isinstance(one, str) for one in value):
            return np.array(value, h5py.string_dtype())
        if any(isinstance(one, str) for one in value):
            raise TypeError("text beside numbers")
    made = np.asarray(value)
    if made.dtype.kind not in "iuf":
        raise TypeError("not a number of 64 bits")
    return made if made.ndim else made[()]
