"""NetCDF: version 3 has a format of its own, version 4 is HDF5."""

from __future__ import annotations

from pathlib import Path

from zarrix.convert import _netcdf3
from zarrix.convert._hdf5_walk import open_hdf5
from zarrix.convert._netcdf_write import save
from zarrix.convert._source import Source

__all__ = ["open_source", "save"]


def open_source(path: Path) -> Source:
    """The variables of a file of either version."""
    with open(path, "rb") as file:
        begin = file.read(3)
    return _netcdf3.open_source(path) if begin == b"CDF" else open_hdf5(path, netcdf=True)
