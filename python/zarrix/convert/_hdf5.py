"""HDF5: files are read by `_hdf5_walk`, and written by `_hdf5_write`."""

from __future__ import annotations

from pathlib import Path

from zarrix.convert._hdf5_walk import open_hdf5
from zarrix.convert._hdf5_write import save
from zarrix.convert._source import Source

__all__ = ["open_source", "save"]


def open_source(path: Path, *, follow: bool = False) -> Source:
    """The groups and datasets of an HDF5 file; those of other files only if ``follow`` is true."""
    return open_hdf5(path, follow)
