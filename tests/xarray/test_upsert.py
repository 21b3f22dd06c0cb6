"""`to_zarr(upsert_dim=)`: rows by labels, repeated, in any order, from NumPy and dask."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from zarrix.commits import _left
from zarrix.errors import AppendError, LabelError, OverlapError

xr = pytest.importorskip("xarray")
pytest.importorskip("zarrix.xarray")


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise an array that is rewritten a fourth time waits until ten seconds are over.
    monkeypatch.setattr(_left, "PROMISED", 0.0)


def data(first: str, days: int) -> Any:
    time = np.arange(first, days, dtype="M8[D]").astype("M8[ns]")
    count = (time - np.datetime64("2020-01-01")) / np.timedelta64(1, "D")
    return xr.Dataset(
        {
            "t": (("time", "y"), np.add.outer(count, [0.0, np.nan]), {"units": "K"}),
            "packed": ("time", count / 2),
        },
        {"time": time, "y": [1, 2], "name": ("y", ["a", "bc"])},
        {"title": "days"},
    )


PACKED = {"packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1}}


@pytest.mark.parametrize("zarr_chunks", [None, 2])
def test_months_in_any_order_and_twice_are_one_dataset(zarr_chunks: Any, tmp_path: Path) -> None:
    if zarr_chunks:
        pytest.importorskip("dask")
    dest = tmp_path / "all.zarr"
    months = [data("2020-03-01", 10), data("2020-01-01", 31), data("2020-02-01", 29)]
    for month in (*months, months[0]):
        chunked = month.chunk(time=zarr_chunks) if zarr_chunks else month
        group = chunked.zarrix.to_zarr(dest, upsert_dim="time", encoding=PACKED)
    found = xr.open_dataset(dest, engine="zarrix")
    expected = xr.concat(months, "time", data_vars="minimal").sortby("time")
    xr.testing.assert_identical(found.load(), expected)
    assert group["packed"].dtype == "i2"
    xr.testing.assert_identical(xr.open_dataset(dest, engine="zarrix", consolidated=True), expected)


def test_overlaps_are_refused_or_replaced(tmp_path: Path) -> None:
    dest = tmp_path / "all.zarr"
    first = data("2020-01-01", 5)
    first.zarrix.to_zarr(dest, upsert_dim="time")
    other = data("2020-01-04", 4)
    other["t"][0, 0] = 99
    with pytest.raises(OverlapError, match="2020-01-04"):
        other.zarrix.to_zarr(dest, upsert_dim="time")
    other.zarrix.to_zarr(dest, upsert_dim="time", overlap="replace")
    found = xr.open_dataset(dest, engine="zarrix")["t"][:, 0]
    assert found.values.tolist() == [0, 1, 2, 99, 4, 5, 6]


@pytest.mark.filterwarnings("ignore:Times can't be serialized")
def test_what_differs_is_refused(tmp_path: Path) -> None:
    dest = tmp_path / "all.zarr"
    data("2020-01-01", 5).zarrix.to_zarr(dest, upsert_dim="time")
    other = data("2020-02-01", 2)
    for changed, error in (
        (other.assign_attrs(title="other"), AppendError),
        (other.assign(t=other["t"].assign_attrs(units="C")), AppendError),
        (other.assign_coords(y=[1, 3]), AppendError),
        (other.drop_vars("packed"), AppendError),
        (other.assign(new=("time", [1, 2])), AppendError),
        (other.assign_coords(time=other["time"] + np.timedelta64(1, "h")), LabelError),
    ):
        with pytest.raises(error):
            changed.zarrix.to_zarr(dest, upsert_dim="time")
    xr.testing.assert_identical(
        xr.open_dataset(dest, engine="zarrix").load(), data("2020-01-01", 5)
    )
    other.assign_attrs(title="other").zarrix.to_zarr(dest, upsert_dim="time", attributes="keep")
    for wrong in ({"append_dim": "time"}, {"mode": "w"}, {"compute": False}):
        with pytest.raises(ValueError, match="upsert_dim"):
            other.zarrix.to_zarr(dest, upsert_dim="time", **wrong)


def test_data_that_is_read_from_the_destination_is_refused(tmp_path: Path) -> None:
    dest = tmp_path / "all.zarr"
    data("2020-01-01", 5).zarrix.to_zarr(dest, upsert_dim="time")
    with pytest.raises(OverlapError):
        xr.open_dataset(dest, engine="zarrix").zarrix.to_zarr(dest, upsert_dim="time")
