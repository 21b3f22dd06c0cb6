"""Sources of one label each, as GRIB and `isel(time=0)` make them: it has no dimension."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import AppendError

xr = pytest.importorskip("xarray")
pytest.importorskip("zarrix.xarray")


def step(hour: int) -> Any:
    return xr.Dataset(
        {
            "t": (("y", "x"), np.full((2, 3), hour, "f4"), {"grid_mapping": "crs", "units": "K"}),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
        },
        {
            "time": np.datetime64("2021-02-21", "ns") + np.timedelta64(hour, "h"),
            "y": [1, 2],
            "x": [1, 2, 3],
            "lon": (("y", "x"), np.ones((2, 3))),
        },
    )


def same(path: Path, *hours: int) -> None:
    found = xr.open_dataset(path, engine="zarrix").load()
    told = xr.concat([step(hour)["t"] for hour in hours], "time")
    xr.testing.assert_equal(found["t"].drop_vars("lon"), told.drop_vars("lon"))
    assert found["t"].dims == ("time", "y", "x")
    assert (found["lon"].dims, found["crs"].dims) == (("y", "x"), ())


def test_files_of_one_label_are_rows(tmp_path: Path) -> None:
    pytest.importorskip("netCDF4")
    names = []
    for hour in (6, 0, 12):
        one = step(hour)
        one["time"].encoding["units"] = "hours since 2021-01-01"
        names.append(str(tmp_path / f"{hour}.nc"))
        one.to_netcdf(names[-1], engine="netcdf4")
        zarr.append(names[-1], tmp_path / "all.zarr", along="time")
    same(tmp_path / "all.zarr", 0, 6, 12)
    again = zarr.append(names, tmp_path / "all.zarr", along="time")
    assert (again.added, again.same) == (0, 3)
    zarr.append(names, tmp_path / "one.zarr", along="time")
    same(tmp_path / "one.zarr", 0, 6, 12)


def test_a_dataset_of_one_label_is_upserted(tmp_path: Path) -> None:
    dest = tmp_path / "all.zarr"
    for hour in (6, 0, 12, 6):
        one = step(hour)
        one["time"].encoding["units"] = "hours since 2021-01-01"
        one.zarrix.to_zarr(dest, upsert_dim="time")
    same(dest, 0, 6, 12)


def test_the_destination_says_which_variables_have_the_dimension(tmp_path: Path) -> None:
    dest = tmp_path / "all.zarr"
    root = zarr.open_group(dest, mode="w", zarr_format=3)
    root.create_array("time", data=[1], dimension_names=["time"])
    root.create_array("v", data=[[5], [6]], dimension_names=["x", "time"])
    root.create_array("area", data=[7, 8], dimension_names=["x"])
    source = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=3)
    source.create_array("time", data=np.array(2))
    source.create_array("v", data=[50, 60], dimension_names=["x"])
    source.create_array("area", data=[7, 8], dimension_names=["x"])
    zarr.append(source, dest, along="time")
    assert root["v"][:].tolist() == [[5, 50], [6, 60]]
    assert root["area"].shape == (2,)
    source["area"][0] = 0
    source["time"][...] = 3
    with pytest.raises(AppendError, match="'area' has other values"):
        zarr.append(source, dest, along="time")
