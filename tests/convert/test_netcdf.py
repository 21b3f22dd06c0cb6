"""NetCDF as xarray and netCDF4 write it, read by xarray from Zarr: the same values and types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.convert import virtual

xarray = pytest.importorskip("xarray")
netcdf = pytest.importorskip("netCDF4")
pytest.importorskip("h5py")


def write(path: Path, *, classic: bool) -> None:
    data = xarray.Dataset(
        {
            "f4": (("t", "x"), np.array([[1, np.nan, 3, 0], [5, 6, 7, 8]], "f4")),
            "packed": ("x", np.array([1.5, np.nan, 2.5, 0.0])),
            "i4": ("x", np.array([0, 1, -5, 7], "i4")),
            "time": ("t", np.array(["2020-01-01", "2020-01-02"], "M8[ns]")),
            "text": ("x", np.array(["a", "bb", "", "c"])),
        },
        attrs={"title": "T", "number": 3, "list": [1, 2]},
    )
    if not classic:
        data["i8"] = ("x", np.array([2**60 + 1, 0, -1, 3]))
        data["u1"] = ("x", np.array([0, 255, 3, 4], "u1"))
    data["packed"].encoding = {
        "dtype": "i2", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -32767
    }  # fmt: skip
    data["f4"].attrs["valid_range"] = [0.0, 9.0]
    data["time"].encoding = {"units": "days since 2000-01-01", "dtype": "i4"}
    kind = "NETCDF3_64BIT" if classic else "NETCDF4"
    data.to_netcdf(path, engine="netcdf4", format=kind, unlimited_dims=["t"])
    if not classic:
        with netcdf.Dataset(path, "a") as file:
            # Chunks that were never written read as NetCDF's default fill value.
            file.createVariable("sparse", "i8", ("x",), chunksizes=(1,))[1] = 2**60 + 1


def plain(attributes: Any) -> dict[str, Any]:
    """Attributes without that which an export reads."""
    found = {name: np.asarray(value).tolist() for name, value in attributes.items()}
    found.pop("unlimited_axes", None)
    return found


def equal(found: Any, expected: Any) -> None:
    assert {*found.variables} == {*expected.variables}
    assert plain(found.attrs) == plain(expected.attrs)
    for name, one in expected.variables.items():
        other = found[name].variable
        assert other.dims == one.dims
        if name != "text":
            assert other.dtype == one.dtype
        assert plain(other.attrs) == plain(one.attrs)
        xarray.testing.assert_equal(other.astype(one.dtype), one)


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_xarray_reads_the_import_as_the_file(
    classic: bool, zarr_format: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.nc", classic=classic)
    with xarray.open_dataset("a.nc", engine="netcdf4") as expected:
        code = main(["import", "a.nc", "a.zarr", "--to-format", str(zarr_format)])
        assert code == 0
        with xarray.open_dataset("a.zarr", engine="zarrix") as found:
            equal(found, expected)
    # v3 has no big-endian elements, and those of NetCDF-3 are.
    differ = classic and zarr_format == 3
    assert main(["diff", "a.nc", "a.zarr"]) == (3 if differ else 0)


@pytest.mark.parametrize("classic", [False, True])
def test_xarray_reads_the_file_itself_by_the_engine(classic: bool, tmp_path: Path) -> None:
    write(tmp_path / "a.nc", classic=classic)
    with (
        xarray.open_dataset(tmp_path / "a.nc", engine="netcdf4") as expected,
        xarray.open_dataset(tmp_path / "a.nc", engine="zarrix") as found,
    ):
        equal(found, expected)


def test_attributes_are_values_and_not_lists_of_one(tmp_path: Path) -> None:
    write(tmp_path / "a.nc", classic=False)
    zarr.import_(tmp_path / "a.nc", tmp_path / "a.zarr")
    found = zarr.open(tmp_path / "a.zarr", mode="r")
    packed = found["packed"].attrs
    assert (packed["scale_factor"], packed["add_offset"], packed["_FillValue"]) == (0.5, 10, -32767)
    assert found["f4"].attrs["valid_range"] == [0.0, 9.0]
    assert (found.attrs["number"], found.attrs["list"]) == (3, [1, 2])


def test_references_keep_what_chunks_read_as_that_were_never_written(tmp_path: Path) -> None:
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "i8", ("x",), chunksizes=(1,))[1] = 5
        file.set_auto_mask(False)
        expected = file["v"][...]
    virtual(tmp_path / "a.nc", tmp_path / "a.json")
    assert np.array_equal(zarr.open(tmp_path / "a.json", mode="r")["v"][...], expected)
    for zarr_format in (2, 3):
        dest = tmp_path / f"{zarr_format}.zarr"
        zarr.import_(tmp_path / "a.nc", dest, zarr_format=zarr_format, verify="full")
        assert np.array_equal(zarr.open(dest, mode="r")["v"][...], expected)


def test_coordinates_of_two_axes_keep_the_names_of_their_axes(tmp_path: Path) -> None:
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("y", 2)
        file.createDimension("x", 3)
        file.createVariable("x", "f4", ("x", "y"))[...] = 1
        file.createVariable("v", "f4", ("y", "x"))[...] = 2
    zarr.import_(tmp_path / "a.nc", tmp_path / "a.zarr")
    found = zarr.open(tmp_path / "a.zarr", mode="r")
    assert found["x"].metadata.dimension_names == ("x", "y")
    assert found["v"].metadata.dimension_names == ("y", "x")
