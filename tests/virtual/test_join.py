"""Groups joined along a coordinate: beside xarray and a dict of rows, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix import jobs, virtual
from zarrix.errors import PieceNotFoundError, VirtualError
from zarrix.virtual import _opener


def group(
    time: Any,
    units: str | None = "days since 2020-01-01",
    *,
    zarr_format: Any = 3,
    store: Any = None,
    more: Mapping[str, Any] | None = None,
    **attributes: Any,
) -> Any:
    """A group with ``time``, ``t`` along it, and ``lat``; ``attributes`` are those of ``t``."""
    made: Any = zarr.open_group({} if store is None else store, mode="w", zarr_format=zarr_format)
    labels = np.asarray(time)
    rows = np.arange(len(labels) * 2.0).reshape(-1, 2) + 10 * float(labels[0] if len(labels) else 0)
    for name, dimensions, values in (
        ("time", ("time",), labels),
        ("t", ("time", "lat"), rows),
        ("lat", ("lat",), np.array([10.0, 20.0])),
    ):
        array = made.create_array(name, data=values)
        array.attrs["_ARRAY_DIMENSIONS"] = [*dimensions]
    if units is not None:
        made["time"].attrs["units"] = units
    made["time"].attrs.update(more or {})
    made["t"].attrs.update(attributes)
    return made


def test_files_and_groups_are_read_as_xarray_joins_them(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarrix.xarray")
    pytest.importorskip("netCDF4")
    pytest.importorskip("dask")
    parts = []
    for month in range(4):
        days = np.datetime64(f"2020-0{month + 1}-01", "ns") + np.arange(5 + month).astype("m8[D]")
        data = xr.Dataset(
            {
                "t2m": (("time", "lat"), np.arange(len(days) * 3.0).reshape(-1, 3) + month),
                "height": ((), 2.0),
            },
            coords={"time": days, "lat": [1.0, 2.0, 3.0]},
            attrs={"title": "a"},
        )
        data["time"].encoding.update(units=f"hours since 2020-0{month + 1}-01", dtype="i4")
        parts.append(data)
        if month % 2:
            data.zarrix.to_zarr(tmp_path / f"{month}.zarr", zarr_format=2 + (month == 3))
        else:
            data.to_netcdf(tmp_path / f"{month}.nc")
    names = [tmp_path / name for name in ("2.nc", "0.nc", "3.zarr", "1.zarr")]
    joined = virtual.join(names, "time")
    saved = tmp_path / "year.virtual.json"
    virtual.save(joined, saved)
    expected = xr.concat(parts, "time", data_vars="minimal")
    for source in (joined.store, saved):
        found = xr.open_dataset(source, engine="zarrix")
        xr.testing.assert_identical(found.load(), expected)
    in_tasks = xr.open_dataset(saved, engine="zarrix", chunks={"time": 16})
    np.testing.assert_array_equal(in_tasks["t2m"].values, expected["t2m"].values)
    opened: Any = zarr.open(saved, mode="r")
    np.testing.assert_array_equal(
        opened.sel(time="2020-02", lat=2.0)["t2m"][...],
        expected["t2m"].sel(time="2020-02", lat=2.0).values,
    )
    jobs.rechunk(opened["t2m"], tmp_path / "copy.zarr", chunks=(26, 1))
    np.testing.assert_array_equal(zarr.open(tmp_path / "copy.zarr")[...], expected["t2m"].values)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 12), max_size=5), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(("first", "last", "error")),
)
def test_labels_of_several_sources_are_those_of_a_dict(
    labels: list[set[int]], descends: bool, overlap: Any
) -> None:
    sources, rows = [], []
    for number, some in enumerate(labels):
        ordered = sorted(some, reverse=descends)
        one = group(np.array(ordered, "i4"), None)
        values = np.array([[100.0 * number + label, 0] for label in ordered]).reshape(-1, 2)
        one["t"][...] = values
        sources.append(one)
        rows.append(dict(zip(ordered, values[:, 0].tolist(), strict=True)))
    directed = [one for one in labels if len(one) > 1]
    ranges = sorted((min(one), max(one)) for one in labels if one)
    is_apart = all(a[1] < b[0] for a, b in itertools.pairwise(ranges))
    if overlap == "error" and not is_apart:
        with pytest.raises(VirtualError, match="they overlap; overlap='first' or 'last'"):
            virtual.join(sources, "time")
        return
    wanted: dict[int, float] = {}
    for one in rows if overlap == "last" else reversed(rows):
        wanted.update(one)
    order = sorted(wanted, reverse=descends and bool(directed))
    joined: Any = virtual.join(sources, "time", overlap=overlap)
    assert joined["time"][...].tolist() == order
    assert joined["t"][:, 0].tolist() == [wanted[label] for label in order]


def test_labels_and_their_bounds_are_in_the_units_of_the_first_source() -> None:
    sources = []
    for units, time in (("hours since 2020-01-01", [0, 24]), ("days since 2020-01-03", [0, 1])):
        one = group(np.array(time, "i4"), units, more={"bounds": "edges"})
        step = 24 if units.startswith("h") else 1
        edges = np.array([[at, at + step] for at in time], "i4")
        one.create_array("edges", data=edges, dimension_names=["time", "side"])
        sources.append(one)
    joined: Any = virtual.join(sources, "time")
    assert joined["time"][...].tolist() == [0, 24, 48, 72]
    assert joined["edges"][...].tolist() == [[0, 24], [24, 48], [48, 72], [72, 96]]
    again: Any = virtual.join(sources[::-1], "time")
    assert again["time"][...].tolist() == [-2, -1, 0, 1]
    assert again["edges"][...].tolist() == [[-2, -1], [-1, 0], [0, 1], [1, 2]]


def _refused(change: str) -> tuple[Any, str]:
    """A second source, and what is said of it."""
    later, days = np.array([2, 3], "i4"), "days since 2020-01-01"
    if change == "overlap":
        return group(np.array([1, 2], "i4")), "up to 2020-01-02T?.*, and .* from 2020-01-02"
    if change == "unsorted":
        return group(np.array([3, 5, 4], "i4")), "neither ascend nor descend strictly"
    if change == "repeated":
        return group(np.array([3, 3], "i4")), "neither ascend nor descend strictly"
    if change == "descending":
        return group(np.array([3, 2], "i4")), "ascend in one of .*, and descend in the other"
    if change == "calendar":
        one = group(later, more={"calendar": "noleap"})
        return one, "the calendar of 'time' is 'standard' in .*, and 'noleap' in"
    if change == "no times":
        return group(later, None), "the kind of labels of 'time' is 'time' in .*, and 'number'"
    if change == "finer":
        one = group(later, "hours since 2020-01-01")
        return one, r"2020-01-01T02.* of 'time' in .* cannot be stored exactly .*finest units first"
    if change == "months":
        return group(later, "months since 2020-01-01"), "have no fixed length"
    if change == "missing":
        return group(np.array([2.0, np.nan])), "element 1 of 'time' in .* is missing"
    one = group(later, days)
    if change == "units":
        one["t"].attrs["units"] = "degC"
        return one, "the attribute 'units' is None in .*, and 'degC' in"
    if change == "lat":
        one["lat"][1] = 21
        return one, "have no dimension 'time' and are not equal"
    if change == "lacking":
        del one["t"]
        return one, "has no 't', as .* is; missing='fill'"
    if change == "added":
        one.create_array("u", data=[1, 2], dimension_names=["time"])
        return one, "has no 'u', as .* is; missing='fill'"
    if change == "dimensions":
        one["t"].attrs["_ARRAY_DIMENSIONS"] = ["lat", "time"]
        return one, r"has the dimensions \('time', 'lat'\), and .* \('lat', 'time'\)"
    if change == "unnamed":
        one.create_array("u", data=[1, 2])
        return one, "does not name each of its 1 dimensions"
    if change == "length":
        one["t"].resize((3, 2))
        return one, r"has shape \(3, 2\), and the coordinate 'time' 2 labels"
    if change == "group":
        one.create_group("deep")
        return one, r"has groups \('deep'\); join them one by one"
    del one["time"]
    return one, "has no coordinate 'time'; its arrays are 'lat', 't'"


@pytest.mark.parametrize(
    "change",
    "overlap unsorted repeated descending calendar times finer months missing units lat lacking "
    "added dimensions unnamed length group coordinate".replace("times", "no_times").split(),
)
def test_what_does_not_fit_is_refused_and_named(change: str) -> None:
    second, message = _refused(change.replace("_", " "))
    first = group(np.array([0, 1], "f8" if change == "missing" else "i4"))
    with pytest.raises(VirtualError, match=message):
        virtual.join([first, second], "time")


def test_a_variable_that_some_sources_lack_is_filled_if_that_is_said(tmp_path: Path) -> None:
    first, second = group(np.array([0, 1], "i4")), group(np.array([2, 3], "i4"))
    second.create_array("u", data=[5, 6], dimension_names=["time"], fill_value=-1)
    joined: Any = virtual.join([second, first], "time", missing="fill")
    assert joined["u"][...].tolist() == [-1, -1, 5, 6]
    assert virtual.join([first, second], "time", variables=["t"])["t"].shape == (4, 2)
    with pytest.raises(PieceNotFoundError, match=r"no group at .*absent\.zarr"):
        virtual.join([first, tmp_path / "absent.zarr"], "time")
    zarr.save_array(tmp_path / "array.zarr", [1])
    with pytest.raises(VirtualError, match=r"array\.zarr is not a group"):
        virtual.join([tmp_path / "array.zarr"], "time")


def test_each_source_is_decoded_by_its_own_scale_and_other_variables_are_not() -> None:
    first = group(np.array([0, 1], "i4"), scale_factor=2.0, _FillValue=12.0)
    second = group(np.array([2, 3], "i4"), add_offset=1.0)
    with pytest.raises(VirtualError, match="the attribute 'scale_factor'"):
        virtual.join([first, second], "time")
    for one in (first, second):
        one.create_array("n", data=np.array([1, 2], "i2"), dimension_names=["time"])
    joined: Any = virtual.join([first, second], "time", decode="cf", dtype={"n": "i4"})
    np.testing.assert_array_equal(joined["t"][:, 0], [0, 4, 21, 23])
    assert joined["n"].dtype == "i4"
    assert "scale_factor" not in joined["t"].attrs


def test_the_fill_value_of_version_2_is_that_of_cf(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    for number in range(2):
        one = zarr.open_group(tmp_path / f"{number}.zarr", mode="w", zarr_format=2)
        for name, values in (("time", [number]), ("t", np.array([-9 + number], "i2"))):
            array: Any = one.create_dataset(name, data=values, fill_value=-9 if name == "t" else 0)
            array.attrs["_ARRAY_DIMENSIONS"] = ["time"]
    names = [tmp_path / "0.zarr", tmp_path / "1.zarr"]
    joined: Any = virtual.join(names, "time")
    assert joined["t"].attrs["_FillValue"] == -9
    virtual.save(joined, tmp_path / "all.virtual.json")
    found = xr.open_dataset(tmp_path / "all.virtual.json", engine="zarrix")
    np.testing.assert_array_equal(found["t"].values, [np.nan, -8])


def test_joined_groups_are_joined_and_saved_again(tmp_path: Path) -> None:
    for number in range(3):
        group(np.array([2 * number, 2 * number + 1], "i4"), store=tmp_path / f"{number}.zarr")
    names = [tmp_path / f"{number}.zarr" for number in range(3)]
    virtual.save(virtual.join(names[:2], "time"), tmp_path / "a.virtual.json")
    both: Any = virtual.join([tmp_path / "a.virtual.json", names[2]], "time")
    expected = np.concatenate([zarr.open(name, mode="r")["t"][...] for name in names])
    np.testing.assert_array_equal(both["t"][...], expected)
    (tmp_path / "b").mkdir()
    virtual.save(both, tmp_path / "b" / "b.virtual.json")
    again: Any = zarr.open(tmp_path / "b" / "b.virtual.json", mode="r")
    np.testing.assert_array_equal(again["t"][...], expected)
    sources = [piece.source for piece in virtual.pieces(again["t"])]
    assert sources == ["../0.zarr", "../1.zarr", "../2.zarr"]
    assert virtual.verify(again) == []
    refreshed: Any = virtual.refresh(again)
    np.testing.assert_array_equal(refreshed["t"][...], expected)


def test_a_large_variable_without_the_coordinate_stays_a_piece(tmp_path: Path) -> None:
    values = np.arange(200_000.0)
    for number in range(2):
        one = group(np.array([number], "i4"), store=tmp_path / f"{number}.zarr")
        one.create_array("mesh", data=values, dimension_names=["cell"])
    names = [tmp_path / "0.zarr", tmp_path / "1.zarr"]
    joined: Any = virtual.join(names, "time")
    assert len(virtual.pieces(joined["mesh"])) == 1
    np.testing.assert_array_equal(joined["mesh"][...], values)
    changed: Any = zarr.open(names[1], mode="r+")
    changed["mesh"][199_999] = 0
    with pytest.raises(VirtualError, match="are not equal"):
        virtual.join(names, "time")


def test_a_file_stays_open_for_the_boxes_that_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    h5py = pytest.importorskip("h5py")
    for name in "ab":
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["u"] = np.arange(3)
    whole = virtual.concat([tmp_path / "a.h5" / "u", tmp_path / "b.h5" / "u"])
    virtual.save(whole, tmp_path / "all.virtual.json")
    opened: Any = zarr.open(tmp_path / "all.virtual.json", mode="r")
    monkeypatch.setattr(_opener, "_MOST_FILES", 1)
    for index in (1, 4, 1):
        assert opened[index] == index % 3


def test_arrays_of_one_axis_are_joined_in_v2(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarrix.xarray")
    parts = []
    for day in range(3):
        time = np.datetime64("2020-01-01", "ns") + (np.arange(2) + 2 * day).astype("m8[D]")
        one = xr.Dataset(
            {"t": ("time", np.arange(2.0) + day), "n": ("time", np.arange(2) + day)},
            {"time": time, "x": ("x", [1.0, 2.0]), "doy": ("time", np.arange(2) + 2 * day)},
        )
        parts.append(one)
        one.zarrix.to_zarr(tmp_path / f"{day}.zarr", zarr_format=2)
        assert (tmp_path / f"{day}.zarr/t/.zarray").exists()
    joined = virtual.join(tmp_path / "*.zarr", "time")
    virtual.save(joined, tmp_path / "list.json")
    expected = xr.concat(parts, "time")
    for source in (joined.store, tmp_path / "list.json"):
        with xr.open_dataset(source, engine="zarrix") as found:
            xr.testing.assert_identical(found.load(), expected)
    assert joined.sel(time="2020-01-03")["t"][...] == 1.0


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_coordinate_needs_no_name_of_its_axis(zarr_format: Any) -> None:
    sources = [group([2 * day, 2 * day + 1], zarr_format=zarr_format) for day in range(2)]
    for one in sources:
        del one["time"].attrs["_ARRAY_DIMENSIONS"]
    joined: Any = virtual.join(sources, "time")
    assert joined["time"][...].tolist() == [0, 1, 2, 3]
    assert joined["time"].metadata.dimension_names == ("time",)
    assert joined.sel(time="2020-01-02", lat=10.0)["t"][...] == sources[0]["t"][1, 0]
    # Any other array of one axis may lie along any dimension.
    del sources[1]["lat"].attrs["_ARRAY_DIMENSIONS"]
    how = "_ARRAY_DIMENSIONS" if zarr_format == 2 else "dimension_names"
    message = rf"lat does not name each of its 1 dimensions \(\[\]\), as {how} does; leave it out"
    with pytest.raises(VirtualError, match=message):
        virtual.join(sources, "time")
