"""Labels that are near to stored ones, and values that sources have packed otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.errors import AppendError, LabelError

xr = pytest.importorskip("xarray")


def make(
    path: Path,
    labels: Sequence[float],
    values: Any = None,
    units: str = "hours since 2020-01-01",
    lat: Sequence[float] = (10.0, 20.0),
    **packing: Any,
) -> Path:
    root = zarr.open_group(path, mode="w", zarr_format=3)
    time = root.create_array("time", data=np.asarray(labels), dimension_names=["time"])
    time.attrs["units"] = units
    root.create_array("lat", data=np.asarray(lat), dimension_names=["lat"])
    values = np.arange(len(labels)) if values is None else np.asarray(values)
    t = root.create_array("t", data=values, dimension_names=["time"])
    t.attrs.update(packing)
    return path


def test_a_label_near_to_a_stored_one_is_that_label(tmp_path: Path) -> None:
    dest = make(tmp_path / "all.zarr", [0.0, 1.0, 2.0], [0, 1, 2])
    # A second after and before, in other units.
    near = make(
        tmp_path / "a.zarr", [3601, 7199, 10800], [1, 2, 3], units="seconds since 2020-01-01"
    )
    with pytest.raises(LabelError, match="exactly"):
        zarr.append(
            make(tmp_path / "b.zarr", [1.00001], units="days since 2020-01-01"),
            make(tmp_path / "c.zarr", [0]),
            along="time",
        )
    done = zarr.append(near, dest, along="time", tolerance="1s")
    assert (done.added, done.same) == (1, 2)
    again = zarr.append(near, dest, along="time", tolerance="1s")
    assert (again.added, again.same) == (0, 3)
    root = zarr.open_group(dest)
    assert root["time"][:].tolist() == [0, 1, 2, 3]
    assert root["t"][:].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("together", [True, False])
def test_labels_of_two_sources_that_are_near_are_one(together: bool, tmp_path: Path) -> None:
    first = make(tmp_path / "a.zarr", [0.1, 0.2], [1, 2], units="m")
    second = make(tmp_path / "b.zarr", [0.2 + 1e-9, 0.3], [2, 3], units="m")
    dest = tmp_path / "all.zarr"
    for one in [[first, second]] if together else [[first], [second]]:
        zarr.append(one, dest, along="time", tolerance=1e-6)
    assert zarr.open_group(dest)["time"][:].tolist() == [0.1, 0.2, 0.3]
    assert zarr.open_group(dest)["t"][:].tolist() == [1, 2, 3]
    zarr.append(second, dest, along="time", overlap="skip")
    assert zarr.open_group(dest)["time"].shape == (4,)


def test_two_labels_that_are_near_to_one_are_refused(tmp_path: Path) -> None:
    dest = make(tmp_path / "all.zarr", [0.0, 1.0])
    source = make(tmp_path / "a.zarr", [0.99, 1.01])
    with pytest.raises(LabelError, match="2 times"):
        zarr.append(source, dest, along="time", tolerance="5min")


@pytest.mark.parametrize(
    "tolerance", [-1, "1 month", "x", {"lat": "1s"}, {"lat": -1}, {"lon": 1}, True]
)
def test_a_tolerance_is_a_distance(tolerance: Any, tmp_path: Path) -> None:
    dest, source = make(tmp_path / "all.zarr", [0.0]), make(tmp_path / "a.zarr", [1.0])
    with pytest.raises(LabelError):
        zarr.append(source, dest, along="time", tolerance=tolerance)


def test_other_coordinates_may_differ_if_told(tmp_path: Path) -> None:
    dest = make(tmp_path / "all.zarr", [0.0])
    source = make(tmp_path / "a.zarr", [1.0], lat=[10.00001, 20.0])
    with pytest.raises(AppendError, match=r"'lat' has other values.*tolerance="):
        zarr.append(source, dest, along="time")
    words = ["append", str(source), str(dest), "--along", "time", "--tolerance", "lat=1e-4,time=1s"]
    assert main(words) == 0
    root = zarr.open_group(dest)
    assert (root["lat"][0], root["time"].shape) == (10.0, (2,))


DAYS = {"scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -1}


def test_a_packed_source_is_packed_as_the_destination(tmp_path: Path) -> None:
    dest = make(tmp_path / "all.zarr", [0.0], np.array([4], "i2"), **DAYS)
    other = {"scale_factor": 0.01, "add_offset": -3.0, "_FillValue": 99}
    stored = np.array([1530, 99, 2000], "i4")
    source = make(tmp_path / "a.zarr", [1.0, 2.0, 3.0], stored, **other)
    with pytest.raises(AppendError, match=r"int32 in .* and int16 .*repack"):
        zarr.append(source, dest, along="time")
    for added in (3, 0):
        assert zarr.append(source, dest, along="time", repack=True).added == added
    decoded = [xr.open_dataset(one, engine="zarrix").t.values for one in (dest, source)]
    assert np.abs(decoded[0][1:] - decoded[1])[[0, 2]].max() <= 0.25
    assert np.isnan(decoded[0]).tolist() == [False, False, True, False]
    assert zarr.open_group(dest)["t"].dtype == "i2"


def test_floats_and_packed_values_are_repacked_either_way(tmp_path: Path) -> None:
    packed = make(tmp_path / "p.zarr", [0.0], np.array([4], "i2"), **DAYS)
    floats = make(tmp_path / "f.zarr", [1.0, 2.0], np.array([12.2, np.nan]))
    for sources in ((packed, floats), (floats, packed)):
        dest = tmp_path / f"{sources[0].name}-all.zarr"
        for one in sources:
            zarr.append(one, dest, along="time", repack=True)
        found = xr.open_dataset(dest, engine="zarrix").t.values
        np.testing.assert_allclose(found, [12.0, 12.2, np.nan], atol=0.25)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1e9], r"has the value 1000000000.0, which the destination cannot hold in int16"),
        # What the destination would read as missing.
        ([9.5], r"has the value 9.5"),
        ([np.inf], r"has the value inf"),
    ],
)
def test_values_that_the_packing_cannot_hold_are_an_error(
    values: Any, told: str, tmp_path: Path
) -> None:
    dest = make(tmp_path / "all.zarr", [0.0], np.array([4], "i2"), **DAYS)
    source = make(tmp_path / "a.zarr", [1.0], values)
    with pytest.raises(AppendError, match=told):
        zarr.append(source, dest, along="time", repack=True)
    assert zarr.open_group(dest)["t"][:].tolist() == [4]


@pytest.mark.parametrize(("value", "fits"), [(7.0, True), (7.5, False), (300.0, False)])
def test_integers_without_a_scale_have_to_be_equal(
    value: float, fits: bool, tmp_path: Path
) -> None:
    dest = make(tmp_path / "all.zarr", [0.0], np.array([1], "u1"))
    source = make(tmp_path / "a.zarr", [1.0], [value])
    if fits:
        zarr.append(source, dest, along="time", repack=True)
        assert zarr.open_group(dest)["t"][:].tolist() == [1, 7]
    else:
        with pytest.raises(AppendError, match="cannot hold"):
            zarr.append(source, dest, along="time", repack=True)


def test_missing_values_need_a_fill_value(tmp_path: Path) -> None:
    dest = make(tmp_path / "all.zarr", [0.0], np.array([1], "i2"), scale_factor=0.5)
    source = make(tmp_path / "a.zarr", [1.0], [np.nan])
    with pytest.raises(AppendError, match="no _FillValue"):
        zarr.append(source, dest, along="time", repack=True)
