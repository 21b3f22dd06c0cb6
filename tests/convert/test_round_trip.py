"""Source, Zarr, export, source: equal in bytes for every data type that a format has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import AS_CF, OTHERS, REFUSED, VALUES, h5py_can, same
from zarrix.convert import open_file
from zarrix.errors import ConversionError

FILES = {
    "npz": "x.npz", "raw": "x.raw", "netcdf": "x.nc", "safetensors": "x.safetensors",
    "tiff": "x.tif", "tar": "x.tar",
}  # fmt: skip


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


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("format", FILES)
def test_a_format_gives_back_the_bytes_or_refuses_them(
    format: str, name: str, tmp_path: Path
) -> None:
    pytest.importorskip({"netcdf": "h5py", "tiff": "tifffile"}.get(format, "numpy"))
    value, file = VALUES[name], tmp_path / FILES[format]
    group = zarr.group(zarr_format=2)
    node: Any = group.create_dataset("data", data=value, shape=value.shape, dtype=value.dtype)
    if format in ("npz", "safetensors", "netcdf"):
        node = group
    if (format, name) == ("tar", "text"):
        # Texts are members of their own.
        zarr.export(node, file)
        zarr.import_(file, tmp_path / "x.zarr")
        assert zarr.open(tmp_path / "x.zarr", mode="r")["npy_txt"][...].tolist() == value.tolist()
        return
    if (format, name) == ("tar", "no elements"):
        zarr.export(node, file)
        with pytest.raises(ConversionError, match="has no samples"):
            zarr.import_(file, tmp_path / "x.zarr")
        return
    if name in REFUSED[format]:
        with pytest.raises(ConversionError):
            zarr.export(node, file)
        assert not file.exists()
        return
    zarr.export(node, file)
    if format == "netcdf" and name in AS_CF:
        # test_netcdf_export.py compares these.
        return
    zarr.import_(file, tmp_path / "x.zarr", verify="full")
    found = zarr.open(tmp_path / "x.zarr", mode="r")
    if not hasattr(found, "shape"):
        found = found["npy" if format == "tar" else "data"]
    same(found[...], value)
    again = tmp_path / f"again{file.suffix}"
    if format in ("raw", "safetensors"):
        zarr.export(found if format == "raw" else tmp_path / "x.zarr", again)
        assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("format", "name"), [(format, name) for format, (_, cases) in OTHERS.items() for name in cases]
)
def test_text_pictures_and_video_come_back_exactly(format: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip({"images": "PIL", "video": "av"}.get(format, "numpy"))
    file, cases = OTHERS[format]
    value, options = cases[name]
    array = zarr.array(value, chunks=(3, *value.shape[1:]))
    how: Any = {"format": format} if format == "images" else {}
    zarr.export(array, tmp_path / file, **how)
    zarr.import_(tmp_path / file, tmp_path / "x.zarr", verify="full", **how, **options)
    found: Any = zarr.open(tmp_path / "x.zarr", mode="r")
    if not hasattr(found, "shape"):
        found = found["rgb" if format == "video" else "image"]
    if name == "words":
        assert found[...].tolist() == value.tolist()
    else:
        same(found[...], value)
    again = tmp_path / f"again{file[1:]}"
    zarr.export(found, again, **how)
    for one in sorted((tmp_path / file).iterdir()) if format == "images" else [tmp_path / file]:
        other = again / one.name if format == "images" else again
        # Matroska has the moment of its writing.
        assert format == "video" or other.read_bytes() == one.read_bytes()
