"""The labels of axes are those of `array.sel`, and CF values those of xarray."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer


def labelled(**coordinates: tuple[Any, dict[str, Any]]) -> Any:
    """A group with an array of zeros and these coordinates."""
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    shape = [len(values) for values, _ in coordinates.values()]
    group.create_array("a", shape=shape, dtype="f4", dimension_names=list(coordinates))
    for name, (values, attributes) in coordinates.items():
        values = np.asarray(values)
        made = group.create_array(
            name, shape=values.shape, dtype=values.dtype, dimension_names=[name],
            attributes=attributes,
        )  # fmt: skip
        made[:] = values
    return group


def test_labels_are_dates_numbers_and_texts() -> None:
    group = labelled(
        time=([0, 31, 60], {"units": "days since 2020-01-01"}),
        lat=(np.linspace(-90, 90, 7), {"units": "degrees_north"}),
        depth=([0.0, 10, 100], {"units": "m"}),
        band=(np.array(["red", "nir"]), {}),
    )
    time, lat, depth, band = (
        Client(viewer.app(group)).get("/api/coordinates", path="a").json()["axes"]
    )
    assert (time["kind"], time["labels"]) == ("time", ["2020-01-01", "2020-02-01", "2020-03-01"])
    assert (lat["begin"], lat["step"], lat["unit"], lat["north"]) == (
        -90,
        30,
        "degrees_north",
        True,
    )
    assert (depth["labels"], depth["north"]) == ([0, 10, 100], False)
    assert band["labels"] == ["red", "nir"]


def test_a_typed_label_is_the_index_that_sel_has() -> None:
    group = labelled(
        time=(np.arange(400), {"units": "days since 2020-01-01"}),
        lat=(np.linspace(90, -90, 19), {"units": "degrees_north"}),
    )
    client = Client(viewer.app(group))
    for axis, text, index, last in (
        (0, "2020-06", 152, 181),
        (0, "2020-06-03", 154, 154),
        (0, "2020-12:", 335, 399),
        (1, "40", 5, 5),
    ):
        found = client.get("/api/find", path="a", axis=str(axis), label=text).json()
        assert (found["index"], found["last"]) == (index, last)
    for text in ("2031", "nothing", "", "2020-02-30"):
        assert client.get("/api/find", path="a", axis="0", label=text).status == 400
    assert client.get("/api/find", path="lat", axis="0", label="40").status in (200, 400)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_packed_and_missing_values_are_those_of_xarray(zarr_format: int, tmp_path: Any) -> None:
    xarray = pytest.importorskip("xarray")
    stored = np.random.default_rng(0).integers(-3000, 3000, (30, 40), "i2")
    stored[3:6, 7:20] = -9999
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=zarr_format)
    packed: dict[str, Any] = {"scale_factor": 0.01, "add_offset": 273.0, "_FillValue": -9999}
    named: dict[str, Any] = {"dimension_names": ["y", "x"]} if zarr_format == 3 else {}
    if zarr_format == 2:
        # The fill value in the metadata is the missing one.
        del packed["_FillValue"]
        packed["_ARRAY_DIMENSIONS"] = ["y", "x"]
        named = {"fill_value": -9999}
    made = group.create_array("t", shape=stored.shape, dtype="i2", attributes=packed, **named)
    made[:] = stored
    with xarray.open_dataset(tmp_path / "a.zarr", engine="zarrix") as opened:
        expected = opened["t"].values
    client = Client(viewer.app(zarr.open(tmp_path / "a.zarr", mode="r")))
    found = client.get("/api/tile", path="t", as_="cf").array()
    assert np.allclose(found, expected, equal_nan=True, rtol=1e-6)
    counted = client.get("/api/stats", path="t", as_="cf").json()
    assert counted["nan"] == 39
    assert counted["mean"] == pytest.approx(np.nanmean(expected))
    assert client.get("/api/value", path="t", index="4,9", as_="cf").json()["meant"] == ["missing"]
    assert client.get("/api/node", path="t").json()["decodes"] is True
    assert client.get("/api/tile", path="t").array().min() == -9999


def test_many_labels_are_those_of_sel_or_none() -> None:
    size = 50_000
    uneven = np.arange(size, dtype="f8")
    uneven[1000:2000] += 0.25
    seconds = {"units": "seconds since 2024-02-28T23:59:00"}
    cases: dict[str, tuple[Any, dict[str, Any]]] = {
        "even": (np.arange(size) * 0.5, {"units": "m"}),
        "uneven": (uneven, {"units": "m"}),
        "time": (np.arange(size), seconds),
        "jumps": (np.r_[0 : size - 1, size], seconds),
        "fine": (np.arange(size), {"units": "microseconds since 2024-02-28"}),
        "noleap": (np.arange(size), {**seconds, "calendar": "noleap"}),
    }
    found = {}
    for name, case in cases.items():
        client = Client(viewer.app(labelled(**{name: case})))
        (found[name],) = client.get("/api/coordinates", path="a").json()["axes"]
    assert (found["even"]["begin"], found["even"]["step"]) == (0, 0.5)
    begin = int(np.datetime64("2024-02-28T23:59:00", "ms").astype("i8"))
    assert found["time"]["times"] == {"begin": begin, "step": 1000}
    for name in ("uneven", "jumps", "fine", "noleap"):
        assert not {"times", "step", "labels"} & set(found[name]), name
