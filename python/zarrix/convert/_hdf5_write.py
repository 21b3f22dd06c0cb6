"""Arrays and groups as HDF5: what h5py writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from zarrix._array.dimension_names import names_of
from zarrix._dtypes.variable import element_of
from zarrix._errors import ConversionError, OptionError
from zarrix.convert._hdf5_file import library, new_file

__all__ = [
    "check_level",
    "children",
    "layout",
    "save",
    "texts",
    "unlimited_axes",
    "write_attributes",
    "write_values",
]

# What is written in another way, and what HDF5 and NetCDF have for their own use.
_OTHERWISE = ("_ARRAY_DIMENSIONS", "unlimited_axes")
_RESERVED = {
    "CLASS", "DIMENSION_LABELS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_NCProperties",
    "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict",
}  # fmt: skip


def save(
    node: Any,
    path: Any,
    job: Any,
    *,
    compression: Literal["gzip", "lzf", "szip"] | None = "gzip",
    level: int = 4,
    scales: bool = False,
) -> None:
    """Write an array as the dataset ``data``, or a group with everything below it.

    With ``scales`` every dimension name is a dimension scale: the array of that name, or one
    without values.
    """
    h5py = library()
    check_level(level)
    plans = [
        (where, one, _stored(h5py, one, compression, level) if hasattr(one, "shape") else None)
        for where, one in children(node)
    ]
    with new_file(path, job) as file:
        for where, one, plan in plans:
            if plan is None:
                write_attributes(file.require_group(where or "/"), one, job)
            else:
                _save_array(file, where or "data", one, job, plan)
        if scales:
            _add_scales(file)


def named(node: Any) -> str:
    """The name of a node in messages."""
    return node.name or f"the {'array' if hasattr(node, 'shape') else 'group'}"


def check_level(level: int) -> None:
    """Raise `OptionError` for a level that gzip does not have."""
    if not 0 <= level <= 9:
        raise OptionError(f"level={level} is not a level of gzip, 0 to 9")


def children(node: Any) -> Iterator[tuple[str, Any]]:
    """A node, and all below it if it is a group, by their paths."""
    found: list[Any] = []
    if not hasattr(node, "shape"):
        node.visitvalues(found.append)
    below = len(node.path) + 1 if node.path else 0
    yield "", node
    yield from ((one.path[below:], one) for one in found)


def _stored(
    h5py: Any, array: Any, compression: str | None, level: int
) -> tuple[Any, Callable[[Any], Any], dict[str, Any]]:
    """The dtype in HDF5, what makes values of it, and how they are laid out.

    Raises
    ------
    ConversionError
        HDF5 has no such elements.
    """
    dtype: Any = array.dtype
    convert: Callable[[Any], Any] = _same
    if dtype.kind in "OT":
        element = element_of(array)
        if element is object:
            raise ConversionError(f"{named(array)} has Python objects, and HDF5 has none")
        if isinstance(element, np.dtype):
            dtype = h5py.vlen_dtype(element)
        else:
            dtype = h5py.string_dtype("utf-8" if element is str else "ascii")
            convert = texts(array, element)
    elif dtype.kind in "mM":
        dtype = h5py.opaque_dtype(dtype)
        convert = _as(dtype)
    elif dtype.kind == "U" or _has_kind(dtype, "U"):
        raise ConversionError(
            f"{named(array)} has elements of {dtype}; HDF5 has no text of 4 bytes a character: "
            "copy it to an array of str first"
        )
    elif dtype.names is not None and (_has_kind(dtype, "M") or _has_kind(dtype, "m")):
        raise ConversionError(f"{named(array)} has times in fields, which HDF5 does not have")
    options = layout(array, array.shape, unlimited_axes(array), compression, level)
    if array.fill_value is not None and dtype.names is None and dtype.kind in "biufc":
        options["fillvalue"] = array.fill_value
    return dtype, convert, options


def _same(value: Any) -> Any:
    return value


def _as(dtype: Any) -> Callable[[Any], Any]:
    return lambda value: value.astype(dtype)


def _has_kind(dtype: Any, kind: str) -> bool:
    if dtype.subdtype is not None:
        return _has_kind(dtype.subdtype[0], kind)
    if dtype.names is not None:
        return any(_has_kind(dtype[name], kind) for name in dtype.names)
    return bool(dtype.kind == kind)


def texts(array: Any, element: type[str] | type[bytes]) -> Callable[[Any], Any]:
    """Makes objects of text or bytes that h5py stores, or says which it cannot."""
    nul: Any = b"\0" if element is bytes else "\0"

    def convert(value: Any) -> Any:
        found = np.asarray(value).astype(object)
        for one in found.flat:
            if not isinstance(one, element) or nul in one:
                told = "which has a NUL" if isinstance(one, element) else "which is not text"
                raise ConversionError(
                    f"{named(array)} has an element {one!r}, {told}; text of HDF5 has neither"
                )
        return found

    return convert


def unlimited_axes(array: Any) -> list[int]:
    """The axes that the attribute of an import names."""
    found = array.attrs.get("unlimited_axes")
    axes = found if isinstance(found, list) else []
    return [i for i in axes if type(i) is int and 0 <= i < array.ndim]


def layout(
    array: Any, shape: tuple[int, ...], axes: list[int], compression: str | None, level: int
) -> dict[str, Any]:
    """Chunks, compression and ``axes`` without a limit, as h5py takes them."""
    options: dict[str, Any] = {}
    if shape and not (0 in shape and not axes):
        chunks = (*array.chunks, *shape[len(array.chunks) :])
        options["chunks"] = tuple(
            max(1, c if i in axes else min(c, n))
            for i, (c, n) in enumerate(zip(chunks, shape, strict=True))
        )
        options["compression"] = compression
        if compression == "gzip":
            options["compression_opts"] = level
        if axes:
            options["maxshape"] = tuple(None if i in axes else n for i, n in enumerate(shape))
    return options


def _save_array(file: Any, name: str, array: Any, job: Any, plan: Any) -> None:
    dtype, convert, options = plan
    made = file.create_dataset(name, shape=array.shape, dtype=dtype, **options)
    write_values(made, array, job, convert)
    write_attributes(made, array, job)
    for axis, label in enumerate(names_of(array)):
        if label and axis < made.ndim:
            made.dims[axis].label = label


def write_values(made: Any, array: Any, job: Any, convert: Callable[[Any], Any]) -> None:
    """Store all elements of an array in a dataset, region by region."""
    for region, value in job.blocks(array):
        # Not a scalar, which NumPy makes of an array without axes.
        made[region] = convert(np.asarray(value))


def _add_scales(file: Any) -> None:
    """Make the labels of axes dimension scales: the array of that name, or one without values."""
    arrays: list[Any] = []
    file.visititems(lambda name, one: arrays.append(one) if hasattr(one, "shape") else None)
    for one in arrays:
        for axis in range(one.ndim):
            label = one.dims[axis].label
            if not label:
                continue
            parent = one.parent
            scale = parent.get(label)
            if scale is None:
                scale = parent.create_dataset(label, shape=one.shape[axis : axis + 1], dtype=">f4")
                scale.make_scale(label)
            elif not hasattr(scale, "shape"):
                continue
            elif scale.ndim == 1 and scale.shape[0] == one.shape[axis] and not scale.is_scale:
                scale.make_scale(label)
            if scale.is_scale and scale != one and scale.shape[0] == one.shape[axis]:
                one.dims[axis].attach_scale(scale)


def write_attributes(
    made: Any, node: Any, job: Any, value_of: Callable[[str, Any], Any] | None = None
) -> None:
    """Write the attributes of a node; what HDF5 has no type for becomes JSON text, with a note.

    Parameters
    ----------
    value_of : function, optional
        What is written for a name and its value; None for nothing.
    """
    for name, given in node.attrs.asdict().items():
        if name in _OTHERWISE:
            continue
        if name in _RESERVED:
            job.notes.append(
                f"the attribute {name!r} of {named(node)} is left out: HDF5 has its own"
            )
            continue
        try:
            value = given if value_of is None else value_of(name, given)
            if value is not None or value_of is None:
                made.attrs[name] = value
        except (TypeError, ValueError, OSError):
            _write_as_json(made, name, given, node, job, value_of)


def _write_as_json(
    made: Any,
    name: str,
    value: Any,
    node: Any,
    job: Any,
    value_of: Callable[[str, Any], Any] | None,
) -> None:
    text = json.dumps(value)
    try:
        made.attrs[name] = text if value_of is None else value_of("", text)
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        job.notes.append(f"the attribute {name!r} of {named(node)} is left out: {error}")
    else:
        job.notes.append(f"the attribute {name!r} of {named(node)} is stored as JSON text")
