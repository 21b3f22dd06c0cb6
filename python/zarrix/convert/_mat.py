"""MATLAB 7.3: HDF5, with arrays in the order of Fortran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from zarrix.convert import _hdf5
from zarrix.convert._source import Region, Source, SourceArray

__all__ = ["open_source"]

# What MATLAB keeps for cells, tables and objects.
_OWN = ("#refs#", "#subsystem#")


def open_source(path: Path) -> Source:
    """The variables of a file; axes are in the order that MATLAB shows."""
    source = _hdf5.open_source(path)
    source.groups = {
        name: notes for name, notes in source.groups.items() if not name.startswith(_OWN)
    }
    source.arrays = {
        name: _turned(one) for name, one in source.arrays.items() if not name.startswith(_OWN)
    }
    return source


def _turned(one: SourceArray) -> SourceArray:
    """An array with its axes reversed."""
    if one.attributes.get("MATLAB_empty"):
        shape = tuple(int(n) for n in one.read(tuple(slice(0, n) for n in one.shape)))
        dtype = np.dtype("f8") if not isinstance(one.dtype, np.dtype) else one.dtype
        return SourceArray(shape, dtype, lambda region: np.zeros(shape, dtype)[region])
    inner = one.read

    def read(region: Region) -> Any:
        return np.asarray(inner(region[::-1])).T

    return SourceArray(
        one.shape[::-1],
        one.dtype,
        read,
        chunks=None if one.chunks is None else one.chunks[::-1],
        order="F" if len(one.shape) > 1 else "C",
        fill_value=one.fill_value,
        attributes=one.attributes,
        why_decoded="its axes are in the order of MATLAB",
    )
