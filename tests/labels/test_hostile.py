"""Coordinates and labels that make no sense: one `LabelError` each, in little time and memory."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarrix as zarr
from zarrix.errors import LabelError
from zarrix.xarray import to_zarr

DAYS = {"units": "days since 2000-01-01"}


def group_of(attributes: Any = None, *, n: int = 3, names: Any = ("x",), **options: Any) -> Any:
    """A group with the coordinate x, and the array v along it."""
    group = zarr.create_group({}, zarr_format=options.pop("zarr_format", 3))
    is_3 = group.zarr_format == 3
    named = {"dimension_names": list(names)} if is_3 and names else {}
    x = group.create_array("x", **named, **options)
    v = group.create_array(
        "v",
        shape=n,
        chunks=min(n, 1000),
        dtype="i4",
        **({"dimension_names": ["x"]} if is_3 else {}),
    )
    x.attrs.update(attributes or {})
    if not is_3:
        x.attrs["_ARRAY_DIMENSIONS"] = v.attrs["_ARRAY_DIMENSIONS"] = ["x"]
    return group


@pytest.mark.parametrize(
    ("group", "label", "told"),
    [
        ({"data": [1, 2**62, 3], "attributes": DAYS}, "2000", "not a date within the range"),
        ({"data": [np.nan] * 3, "attributes": DAYS}, "2000", "all of them missing"),
        ({"data": np.array(5), "names": ()}, 5, "0 axes"),
        ({"data": np.ones((2, 2)), "names": ("x", "y")}, 1, "2 axes"),
        ({"data": np.ones((2, 2)), "names": ("x", "x")}, 1, "2 axes"),
        ({"data": np.array([1j, 2])}, 1, "cannot be labels"),
        ({"data": np.zeros(3, [("a", "i4")]), "zarr_format": 2}, 1, "cannot be labels"),
        ({"data": np.array([0, 2**60], "M8[D]")}, "2000", "outside of the range"),
        ({"data": [1, 2, 3], "attributes": {"scale_factor": "x"}}, 1, "scale_factor"),
        ({"data": [1, 2, 3], "attributes": {"scale_factor": 1e300, **DAYS}}, "2000", "range"),
        ({"data": [1, 2, 3], "names": ("y",)}, 1, "its dimension is 'y'"),
        ({"data": [1, 2, 3], "n": 4}, 1, "3 labels, but the array '/v' is 4 long"),
        ({"shape": 2**40, "chunks": 2**16, "dtype": "i8"}, 3, "from 0 to 0"),
        ({"shape": 2**40, "chunks": 2**10, "dtype": "<U4"}, "a", "from '' to ''"),
        (
            {"shape": 2**40, "chunks": 2**16, "dtype": "f8", "fill_value": np.nan},
            3,
            "not sorted",
        ),
        ({"data": np.array([0, 1], "m8[h]"), "zarr_format": 2}, "1 month", "not a length of time"),
    ],
)
def test_a_coordinate_that_has_no_such_labels_is_an_error(
    group: dict[str, Any], label: Any, told: str
) -> None:
    with pytest.raises(LabelError, match=told):
        group_of(**group).sel(x=label)["v"]


@pytest.mark.parametrize(
    "attributes",
    [
        {"_FillValue": {"a": 1}, "missing_value": "abc"},
        {"_FillValue": 1e300, "missing_value": [[1], None, 10**400]},
        {"units": ["days since 2000-01-01"], "calendar": 3},
        {"units": "degrees"},
    ],
)
def test_attributes_that_say_nothing_of_labels_are_left_alone(attributes: Any) -> None:
    assert group_of(attributes, data=np.array([1, 2, 3], "i1")).sel(x=2)["v"].shape == ()


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2], ">i4"),
        np.array([0.1, 0.2], ">f8"),
        np.array([0.1, 0.2], "f2"),
        np.array([b"a", b"b"]),
        np.array(["a", "b"]),
        np.array([False, True]),
        np.array(["2000-01-01", "2000-01-02"], ">M8[s]"),
        np.array([0, 1], "m8[h]"),
    ],
)
def test_elements_of_every_kind_are_labels(values: Any) -> None:
    group = group_of(data=values, zarr_format=2, n=2)
    assert group.sel(x=values[1])["v"].shape == ()
    assert group.sel(x=[values[1], values[0]] if values.dtype != bool else values)["v"].ndim == 1
    assert group.sel(x=slice(values[0], values[1])).sizes == {"x": 2}


@pytest.mark.parametrize("dtype", [str, np.dtypes.StringDType()])
def test_texts_of_any_length_are_labels(dtype: Any) -> None:
    group = group_of(data=np.array(["a", "b", "c"], object), dtype=dtype, zarr_format=3)
    assert group.sel(x=["c", "a"])["v"].shape == (2,)
    assert group.sel(x=slice("b", None))["v"].shape == (2,)
    assert group.sel(x="bb", method="pad").labels("x") == "b"


@pytest.mark.parametrize(
    "label",
    [
        *(None, ..., {}, set(), b"1", "1", 1 + 2j, object(), True, float("nan"), float("inf")),
        *(10**400, [10**400], [[1]], [None], ["a"], [True, False], np.ones((2, 2))),
        *(slice("a", "b"), slice(1, 2, 1.5), slice(1, 2, 0), slice(None, None, "x"), slice(7, 9)),
    ],
)
def test_what_is_not_a_number_is_not_a_label_of_numbers(label: Any) -> None:
    with pytest.raises(LabelError):
        group_of(data=[1, 2, 3]).sel(x=label)


@pytest.mark.parametrize(
    "label",
    [
        *(5, "x", "", "2000-13", "2000-02-30", "-5000", "99999-01", "2000-01-02T25", "9" * 5000),
        *(np.datetime64("NaT", "s"), np.datetime64(2**62, "s"), "2000-01-02T00:00:00.000000001"),
    ],
)
def test_what_is_not_a_date_is_not_a_label_of_times(label: Any) -> None:
    with pytest.raises(LabelError):
        group_of(DAYS, data=[1, 2, 3]).sel(x=label)


@pytest.mark.parametrize(
    "label",
    [
        *("20000102", "2000-1-2", "2000-01-02T00Z", " 2000-01-02 ", np.datetime64("2000-01-02")),
        *(datetime.date(2000, 1, 2), datetime.datetime(2000, 1, 2, tzinfo=datetime.UTC)),
    ],
)
def test_dates_are_written_in_many_ways(label: Any) -> None:
    assert group_of(DAYS, data=[1, 2, 3]).sel(x=label).labels("x") == np.datetime64("2000-01-02")


@pytest.mark.parametrize(
    "options",
    [
        *({"method": "x"}, {"method": 5}, {"tolerance": 1}),
        *({"method": "nearest", "tolerance": one} for one in ("x", -1, float("nan"), True)),
        *({"wrap": one} for one in (0, -1, "a", {"x": "b"}, float("nan"), float("inf"), 1)),
        {"wrap": 360, "method": "pad"},
    ],
)
def test_options_that_mean_nothing_are_an_error(options: Any) -> None:
    with pytest.raises(LabelError):
        group_of(data=[1, 2, 3]).sel(x=2, **options)


@pytest.mark.parametrize(
    "tolerance", [1, "1M", "-1D", "1e9 s", "", np.timedelta64(1, "M"), np.timedelta64(-1, "D")]
)
def test_a_tolerance_of_times_has_a_fixed_length(tolerance: Any) -> None:
    with pytest.raises(LabelError):
        group_of(DAYS, data=[1, 2]).sel(x="2000-01-03", method="nearest", tolerance=tolerance)


@pytest.mark.parametrize("name", ["method", "tolerance", "wrap", "variables", "indexers", "self"])
def test_a_dimension_may_have_the_name_of_a_keyword(name: str) -> None:
    group = zarr.create_group()
    group.create_array(name, data=[10, 20], dimension_names=[name])
    z = group.create_array("z", data=[1, 2], dimension_names=[name])
    assert group.sel({name: 20})["z"][...] == 2
    assert group.isel({name: 1})["z"][...] == 2
    assert z.sel({name: 20})[...] == 2


def test_groups_without_coordinates() -> None:
    group = zarr.create_group()
    assert list(group.sel()) == []
    for labels in ({"x": 1}, {"a/b": 1}, {3: 1}, {"": 1}, {"/x": 1}, {"..": 1}):
        with pytest.raises(LabelError, match="has no labels"):
            group.sel(labels)
    group.create_group("x")
    with pytest.raises(LabelError):
        group.sel(x=1)
    for labels in ([1], "x", 3):
        with pytest.raises(LabelError, match="not a mapping"):
            group.sel(labels)
    with pytest.raises(LabelError, match="twice"):
        group.sel({"x": 1}, x=2)
    with pytest.raises(LabelError, match="has the dimension"):
        group.isel(x=1)


def test_lengths_that_differ_are_an_error_where_they_are_used() -> None:
    group = zarr.create_group()
    group.create_array("x", data=[1, 2, 3], dimension_names=["x"])
    group.create_array("a", data=[1, 2, 3], dimension_names=["x"])
    group.create_array("b", data=[1, 2], dimension_names=["x"])
    part = group.sel(x=2)
    assert part["a"][...] == 2
    with pytest.raises(LabelError, match="2 long"):
        part["b"]
    with pytest.raises(LabelError, match="different lengths"):
        group.isel(x=0)
    assert group.isel(x=0, variables=["a"])["a"][...] == 1


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
def test_fill_values_that_xarray_writes_match_nothing(zarr_format: Any, dtype: str) -> None:
    data = xr.Dataset(coords={"x": ("x", np.array([1, -9, 3], dtype))})
    data["v"] = ("x", [1, 2, 3])
    encoding = {"x": {"_FillValue": np.dtype(dtype).type(-9)}}
    store: dict[str, bytes] = {}
    to_zarr(data, store, zarr_format=zarr_format, encoding=encoding)
    group = zarr.open_group(store, mode="r")
    assert group.sel(x=3)["v"][...] == 3
    with pytest.raises(LabelError, match="1 missing"):
        group.sel(x=-9)


def test_a_view_keeps_the_indices_of_its_call() -> None:
    group = zarr.create_group()
    x = group.create_array("x", data=[1, 2, 3], dimension_names=["x"])
    group.create_array("a", data=[1, 2, 3], dimension_names=["x"])
    part = group.sel(x=2)
    x[:] = [2, 3, 4]
    assert part["a"][...] == 2
    assert group.sel(x=2)["a"][...] == 1
