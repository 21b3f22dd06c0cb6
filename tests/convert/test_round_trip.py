"""Source, Zarr, export, source: equal in bytes for every data type that a format has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import VALUES, h5py_can, same
from zarrix.convert import open_file


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_comes_back_byte_for_byte(name: str, order: Any, tmp_path: Path) -> None:
    source, copy, again = tmp_path / "x.npy", tmp_path / "x.zarr", tmp_path / "y.npy"
    np.save(source, np.asarray(VALUES[name], order=order))
    made = zarr.import_(source, copy, verify="full")
    same(zarr.open(copy, mode="r")[...], np.load(source))
    same(open_file(source)[...], np.load(source))
    zarr.export(copy, again)
    assert again.read_bytes() == source.read_bytes()
    assert made.nbytes == np.load(source).nbytes


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("keep", [False, True])
def test_hdf5_comes_back_byte_for_byte(name: str, keep: bool, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    value = VALUES[name]
    if not h5py_can(value.dtype):
        pytest.skip("HDF5 has no such elements")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        chunked = {"chunks": True, "compression": "gzip"} if value.size and value.shape else {}
        stored = h5py.opaque_dtype(value.dtype) if value.dtype.kind in "mM" else value.dtype
        file.create_dataset("data", data=value.astype(stored), dtype=stored, **chunked)
    zarr.import_(tmp_path / "x.h5", tmp_path / "x.zarr", keep_chunks=keep, verify="full")
    same(zarr.open(tmp_path / "x.zarr", mode="r")["data"][...], value)
    same(open_file(tmp_path / "x.h5", "data")[...], value)
    zarr.export(tmp_path / "x.zarr", tmp_path / "y.h5")
    with h5py.File(tmp_path / "y.h5") as file:
        same(np.asarray(file["data"][()]), value)
