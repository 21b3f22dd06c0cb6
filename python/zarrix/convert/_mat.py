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


def _turned(one: SourceArray) -> SourceArray:
    """An array as MATLAB shows it: axes reversed, complex numbers and booleans as such."""
    if one.attributes.get("MATLAB_empty"):
        return _empty(one)
    kind, convert = _kind_of(one)

    def turned(read: Callable[[Region], Any] | None) -> Any:
        return read and (lambda region: convert(np.asarray(read(region[::-1]))).T)

    stored = one.stored
    return SourceArray(
        one.shape[::-1],
        kind,
        turned(one.read),
        chunks=None if one.chunks is None else one.chunks[::-1],
        order="F" if len(one.shape) > 1 else "C",
        fill_value=convert(np.asarray(one.fill_value, one.dtype))[()]
        if isinstance(one.dtype, np.dtype)
        else one.fill_value,
        attributes=one.attributes,
        why_decoded="its axes are in the order of MATLAB",
        native=turned(one.native),
        stored=stored and (lambda: [coords[::-1] for coords in stored()]),
    )


def _kind_of(one: SourceArray) -> tuple[Any, Callable[[Any], Any]]:
    """The dtype that MATLAB has, and what makes it of the stored one."""
    dtype = one.dtype
    if not isinstance(dtype, np.dtype):
        return dtype, lambda value: value
    if dtype.names == ("real", "imag") and dtype["real"] == dtype["imag"]:
        part = dtype["real"]
        if part.kind == "f" and part.itemsize in (4, 8):
            found = np.dtype(f"{part.byteorder}c{2 * part.itemsize}")
            return found, lambda value: np.ascontiguousarray(value).view(found).reshape(value.shape)
    if one.attributes.get("MATLAB_class") == "logical" and dtype == np.uint8:
        return np.dtype(bool), lambda value: value != 0
    return dtype, lambda value: value


def _empty(one: SourceArray) -> SourceArray:
    """An array without elements, whose stored elements are its shape."""
    if len(one.shape) != 1 or one.shape[0] > _MOST_AXES or not isinstance(one.dtype, np.dtype):
        raise ConversionError(f"an array without elements has the shape {one.shape}")
    shape = tuple(int(n) for n in one.read((slice(0, one.shape[0]),)))
    if min(shape, default=0) != 0:
        raise ConversionError(f"an array without elements has the shape {shape}")
    dtype = _EMPTY.get(str(one.attributes.get("MATLAB_class")), np.dtype("f8"))
    return SourceArray(shape, dtype, lambda region: np.zeros(shape, dtype)[region])
