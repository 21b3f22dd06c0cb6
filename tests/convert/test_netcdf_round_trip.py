"""NetCDF to Zarr and back, and Zarr to NetCDF and back: identical to xarray and to ncdump."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert import test_netcdf_export

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytest.importorskip("h5py")

KINDS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT", "NETCDF3_CLASSIC")


def write(path: Path, kind: str) -> None:
    rng = np.random.default_rng(5)
    data = xarray.Dataset(
        {
            "float": (("time", "x"), rng.random((2, 4)).astype("f4"), {"units": "K"}),
            "packed": ("x", np.array([1.5, np.nan, 2.5, 0.0])),
            "short": ("x", np.array([0, 1, -5, 7], "i2"), {"valid_range": np.array([0, 9], "i2")}),
            "byte": ("x", np.array([0, -128, 3, 4], "i1")),
            "when": ("time", np.array(["2020-01-01", "NaT"], "M8[ns]")),
            "how_long": ("x", np.array([1, 2, 3, 4], "m8[s]")),
            "text": ("x", np.array(["a", "bb", "", "ü"])),
            "letters": ("x", np.array([b"a", b"b", b"", b"c"])),
            "words": (("time", "x"), np.array([[b"ab", b"b", b"", b"c"]] * 2)),
            "flag": ("x", np.array([True, False, True, True])),
            "scalar": ((), 5.0),
            "nowhere": ("y", np.arange(3.0)),
        },
        coords={"x": [1.5, 2.5, 3.5, 9], "other": ("x", np.array([7, 8, 9, 1], "i4"))},
        attrs={"title": "a title", "ratio": 0.5, "both": [0.5, 2.5], "empty": ""},
    )
    if kind == "NETCDF4":
        data["wide"] = ("x", np.array([2**60 + 1, 0, -1, 3]))
        data["unsigned"] = ("x", np.array([0, 2**64 - 1, 3, 4], "u8"))
        data["big"] = ("x", np.array([1.5, np.nan, 2, 3], ">f8"))
    data["packed"].encoding = {
        "dtype": "i2", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": np.int16(-32767)
    }  # fmt: skip
    data.to_netcdf(path, engine="netcdf4", format=kind, unlimited_dims=["time"])


def dumped(file: Path) -> list[str]:
    """The lines that ncdump prints of a file in any order: Zarr keeps no order of members."""
    if shutil.which("ncdump") is None:
        return []
    ran = subprocess.run(
        ["ncdump", "-n", "x", file], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return sorted(ran.stdout.splitlines())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_netcdf_comes_back_identical(kind: str, zarr_format: Any, tmp_path: Path) -> None:
    write(tmp_path / "a.nc", kind)
    zarr.import_(tmp_path / "a.nc", tmp_path / "a.zarr", zarr_format=zarr_format, verify="full")
    zarr.export(tmp_path / "a.zarr", tmp_path / "b.nc")
    for decode_cf in (True, False):
        with (
            xarray.open_dataset(tmp_path / "a.nc", engine="netcdf4", decode_cf=decode_cf) as first,
            xarray.open_dataset(tmp_path / "a.zarr", engine="zarrix", decode_cf=decode_cf) as found,
            xarray.open_dataset(tmp_path / "a.nc", engine="zarrix", decode_cf=decode_cf) as opened,
            xarray.open_dataset(tmp_path / "b.nc", engine="netcdf4", decode_cf=decode_cf) as last,
        ):
            for one in (found, opened, last):
                xarray.testing.assert_identical(first.load(), one.load())
                assert one.encoding["unlimited_dims"] == first.encoding["unlimited_dims"]
    assert dumped(tmp_path / "a.nc") == dumped(tmp_path / "b.nc")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_comes_back_identical(zarr_format: Any, tmp_path: Path) -> None:
    from zarrix.xarray import to_zarr

    data = test_netcdf_export.data(xarray)
    with warnings.catch_warnings():
        # Names beyond ASCII, and dtypes without a specification in v3.
        warnings.simplefilter("ignore")
        to_zarr(data, tmp_path / "a.zarr", zarr_format=zarr_format)
        zarr.export(tmp_path / "a.zarr", tmp_path / "a.nc")
        zarr.import_(tmp_path / "a.nc", tmp_path / "b.zarr", zarr_format=zarr_format)
        zarr.export(tmp_path / "b.zarr", tmp_path / "b.nc")
    with (
        xarray.open_dataset(tmp_path / "a.zarr", engine="zarrix") as first,
        xarray.open_dataset(tmp_path / "b.zarr", engine="zarrix") as last,
    ):
        xarray.testing.assert_identical(first.load(), last.load())
    assert dumped(tmp_path / "a.nc") == dumped(tmp_path / "b.nc")
