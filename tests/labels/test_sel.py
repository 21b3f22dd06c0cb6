"""`sel` of groups and arrays: coordinates on disk, in memory, consolidated or not, of v2 and v3."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._nodes.consolidated_store import ConsolidatedStore
from zarrix.errors import LabelError, StaleMetadataWarning


def month_of_days(group: Any) -> Any:
    """A group of two months of days and three latitudes, which descend, as CF data has them."""
    named = {"dimension_names": ["time"]} if group.zarr_format == 3 else {}
    time = group.create_array("time", data=np.arange(60), **named)
    time.attrs.update(units="days since 2020-01-01", calendar="standard")
    lat = group.create_array("lat", data=np.float32([60, 45, 30]), **_names(group, "lat"))
    t2m = group.create_array(
        "t2m", data=np.arange(180).reshape(60, 3), chunks=(10, 2), **_names(group, "time", "lat")
    )
    if group.zarr_format == 2:
        for array, names in ((time, ["time"]), (lat, ["lat"]), (t2m, ["time", "lat"])):
            array.attrs["_ARRAY_DIMENSIONS"] = names
    return group


def _names(group: Any, *names: str) -> dict[str, Any]:
    return {"dimension_names": list(names)} if group.zarr_format == 3 else {}


@pytest.fixture(params=["memory", "folder", "consolidated", "zip"])
def group(request: pytest.FixtureRequest, tmp_path: Path, zarr_format: Any) -> Any:
    if request.param == "memory":
        return month_of_days(zarr.create_group({}, zarr_format=zarr_format))
    path = str(tmp_path / ("data.zip" if request.param == "zip" else "data.zarr"))
    made = month_of_days(zarr.open_group(path, mode="w", zarr_format=zarr_format))
    if request.param == "consolidated":
        zarr.consolidate_metadata(path)
        return zarr.open_consolidated(path)
    made.store.close()
    return zarr.open_group(path, mode="r")


@pytest.fixture(params=[2, 3])
def zarr_format(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_period_and_a_slice_select_one_box(group: Any) -> None:
    part = group.sel(time="2020-02", lat=slice(60, 40))
    expected = np.arange(180).reshape(60, 3)[31:60, :2]
    np.testing.assert_array_equal(part["t2m"][...], expected)
    assert part.sizes == {"lat": 2, "time": 29}
    assert sorted(part) == ["lat", "t2m", "time"]
    assert part.labels("time")[0] == np.datetime64("2020-02-01")
    assert part.labels("lat").tolist() == [60, 45]


def test_one_label_drops_its_dimension(group: Any) -> None:
    assert group.sel(time="2020-02-01")["t2m"][...].tolist() == [93, 94, 95]
    assert group["t2m"].sel(time="2020-02-01", lat=30)[...] == 95
    assert group.isel(time=31).labels("time") == np.datetime64("2020-02-01")


def test_a_slice_against_the_direction_names_the_one_to_write(group: Any) -> None:
    with pytest.raises(LabelError, match=r"write lat=slice\(60, 40\)"):
        group.sel(lat=slice(40, 60))


def test_what_is_not_there_is_an_error_that_names_the_labels(group: Any) -> None:
    for labels in ({"time": "2021"}, {"time": slice("2021", "2022")}):
        with pytest.raises(LabelError, match="from 2020-01-01 to 2020-02-29"):
            group.sel(**labels)
    with pytest.raises(LabelError, match="'lon' has no labels"):
        group.sel(lon=3)
    with pytest.raises(LabelError, match="it has time, lat"):
        group["t2m"].sel(lon=3)


def test_a_subset_can_be_written_to() -> None:
    group = month_of_days(zarr.create_group({}, zarr_format=3))
    group.sel(time="2020-01-02")["t2m"][...] = -1
    assert group["t2m"][1].tolist() == [-1, -1, -1]
    assert group["t2m"][2].tolist() == [6, 7, 8]


def test_a_coordinate_that_changes_is_read_again(group: Any) -> None:
    writable = zarr.open_group(group.store, mode="a") if not group.read_only else None
    assert group.sel(time="2020-02")["t2m"].shape == (29, 3)
    if writable is None:
        return
    writable["time"][:] = np.arange(60) + 366
    assert group.sel(time="2021-01")["t2m"].shape == (31, 3)
    with pytest.raises(LabelError):
        group.sel(time="2020-02")
    writable["time"].attrs["units"] = "days since 2019-01-01"
    # A view of consolidated metadata says once that another handle has changed what it shows.
    is_view = isinstance(group._location.store, ConsolidatedStore)
    told = pytest.warns(StaleMetadataWarning, match="time") if is_view else nullcontext()
    with told:
        assert group.sel(time="2020-01-31").labels("time") == np.datetime64("2020-01-31")
    assert group.sel(time="2020-01")["t2m"].shape == (30, 3)
