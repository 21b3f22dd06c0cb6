"""MATLAB 7.3: HDF5, with arrays in the order of Fortran."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert import _hdf5
from zarrix.convert._source import Region, Source, SourceArray

__all__ = ["open_source"]

# What MATLAB keeps for cells, tables and objects.
_OWN = ("#refs#", "#subsystem#")
_MOST_AXES = 64
_EMPTY = {
    "single": np.dtype("f4"), "logical": np.dtype(bool), "char": np.dtype("u2"),
    **{f"{kind}int{bits}": np.dtype(f"{kind or 'i'}{bits // 8}") for kind in ("", "u")
       for bits in (8, 16, 32, 64)},
}  # fmt: skip


def open_source(path: Path) -> Source:
    """The variables of a file; axes are in the order that MATLAB shows."""
    source = _hdf5.open_source(path)
    source.groups = {
        name: notes for name, notes in source.groups.items() if not name.startswith(_OWN)
    }
    own = [name for name in source.arrays if name.startswith(_OWN)]
    for name in own:
        del source.arrays[name]
    source.left_out = [one for one in source.left_out if not one.startswith(_OWN)]
    for name, one in [*source.arrays.items()]:
        try:
            source.arrays[name] = _turned(one)
        except ConversionError as error:
            source.leave_out(name, error)
            del source.arrays[name]
    return source


def _turned(source_array: SourceArray) -> SourceArray:
    """An array as MATLAB shows it: axes reversed, complex numbers and booleans as such."""
    if source_array.attributes.get("MATLAB_empty"):
        return _empty(source_array)
    kind, convert = _kind_of(source_array)

    def turned(read: Callable[[Region], Any] | None) -> Any:
        return read and (lambda region: convert(np.asarray(read(region[::-1]))).T)

    stored = source_array.stored
    return SourceArray(
        source_array.shape[::-1],
        kind,
        turned(source_array.read),
        chunks=None if source_array.chunks is None else source_array.chunks[::-1],
        order="F" if len(source_array.shape) > 1 else "C",
        fill_value=convert(np.asarray(source_array.fill_value, source_array.dtype))[()]
        if isinstance(source_array.dtype, np.dtype)
        else source_array.fill_value,
        attributes=source_array.attributes,
        why_decoded="its axes are in the order of MATLAB",
        native=turned(source_array.native),
        stored=stored and (lambda: [coords[::-1] for coords in stored()]),
    )


def _kind_of(source_array: SourceArray) -> tuple[Any, Callable[[Any], Any]]:
    """The dtype that MATLAB has, and what makes it of the stored one."""
    dtype = source_array.dtype
    if not isinstance(dtype, np.dtype):
        return dtype, lambda value: value
    if dtype.names == ("real", "imag") and dtype["real"] == dtype["imag"]:
        part = dtype["real"]
        if part.kind == "f" and part.itemsize in (4, 8):
            found = np.dtype(f"{part.byteorder}c{2 * part.itemsize}")
            return found, lambda value: np.ascontiguousarray(value).view(found).reshape(value.shape)
    if source_array.attributes.get("MATLAB_class") == "logical" and dtype == np.uint8:
        return np.dtype(bool), lambda value: value != 0
    return dtype, lambda value: value


def _empty(source_array: SourceArray) -> SourceArray:
    """An array without elements, whose stored elements are its shape."""
    if (
        len(source_array.shape) != 1
        or source_array.shape[0] > _MOST_AXES
        or not isinstance(source_array.dtype, np.dtype)
    ):
        raise ConversionError(f"an array without elements has the shape {source_array.shape}")
    shape = tuple(int(n) for n in source_array.read((slice(0, source_array.shape[0]),)))
    if min(shape, default=0) != 0:
        raise ConversionError(f"an array without elements has the shape {shape}")
    dtype = _EMPTY.get(str(source_array.attributes.get("MATLAB_class")), np.dtype("f8"))
    return SourceArray(shape, dtype, lambda region: np.zeros(shape, dtype)[region])
