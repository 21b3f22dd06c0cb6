"""`zarr.append`: the result is that of xarray's concatenation, sorted, in any order of calls."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._nodes.location import Location
from zarrix.commits import _left
from zarrix.errors import AppendError, LabelError, NotAtomicError, OverlapError
from zarrix.ingest import _append

xr = pytest.importorskip("xarray")

Labels = Sequence[float] | np.ndarray[Any, Any]


def dataset(labels: Labels, units: str = "hours since 2020-01-01", **attributes: Any) -> Any:
    """Values that tell their label; two variables, bounds, and one without the dimension."""
    numbers = np.asarray(labels)
    return xr.Dataset(
        {
            "t": (
                ("y", "time", "x"),
                np.add.outer([0, 0.25], np.add.outer(numbers, [0, 0.5, np.nan])),
            ),
            "n": (("time",), (numbers * 2).astype("i8"), {"long_name": "twice"}),
            "area": (("y", "x"), np.arange(6.0).reshape(2, 3)),
        },
        {"time": ("time", numbers, {"units": units, **attributes}), "x": [1, 2, 3]},
        {"title": "a title"},
    )


def store(path: Path, labels: Labels, zarr_format: int = 3, **options: Any) -> str:
    """A group with these labels, as xarray would write it, in chunks with odd borders."""
    data = dataset(labels, **options)
    root = zarr.open_group(path, mode="w", zarr_format=zarr_format, attributes=data.attrs)
    for name, one in data.variables.items():
        more: dict[str, Any] = {"attributes": dict(one.attrs)}
        if zarr_format == 3:
            more["dimension_names"] = one.dims
        else:
            more["attributes"]["_ARRAY_DIMENSIONS"] = list(one.dims)
        chunks = tuple(2 if size > 2 else 1 for size in one.shape)
        root.create_array(
            name, data=one.values, chunks=chunks, fill_value=None if zarr_format == 2 else 0, **more
        )
    return str(path)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise an array that is rewritten a fourth time waits until ten seconds are over.
    monkeypatch.setattr(_left, "PROMISED", 0.0)


def opened(path: Any) -> Any:
    return xr.open_dataset(path, engine="zarrix", decode_times=False).load()


def same(path: Any, labels: Labels) -> None:
    """Assert that a group has exactly these labels, and the values of each."""
    found = opened(path)
    found.attrs.pop("history", None)
    xr.testing.assert_identical(found, dataset(labels))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_of_calls_gives_one_sorted_write(
    order: Sequence[int], zarr_format: int, tmp_path: Path
) -> None:
    parts = [[0, 1, 2], [3, 4], [7, 9, 30]]
    # Sources of v2 make a destination of v3.
    sources = [store(tmp_path / f"{i}.zarr", part, zarr_format) for i, part in enumerate(parts)]
    dest = tmp_path / "all.zarr"
    seen: list[float] = []
    for i in order:
        done = zarr.append(sources[i], dest, along="time")
        seen += parts[i]
        assert (done.added, done.same, done.length) == (len(parts[i]), 0, len(seen))
        same(dest, sorted(seen))
        again = zarr.append(sources[i], dest, along="time")
        assert (again.added, again.same, again.length) == (0, len(parts[i]), len(seen))
        same(dest, sorted(seen))
    assert zarr.open_group(dest).zarr_format == 3
    one = zarr.append(sources, tmp_path / "one.zarr", along="time")
    assert one.added == 8
    xr.testing.assert_identical(opened(dest), opened(tmp_path / "one.zarr"))


def test_a_destination_of_v2_is_appended_to_at_its_end(tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", [1, 3], 2)
    zarr.append([store(tmp_path / "a.zarr", [4, 5], 2)], dest, along="time")
    same(dest, [1, 3, 4, 5])
    with pytest.raises(NotAtomicError, match="only one spelling"):
        zarr.append(store(tmp_path / "b.zarr", [2], 2), dest, along="time")
    same(dest, [1, 3, 4, 5])


def test_interleaved_and_unsorted_sources_are_merged(tmp_path: Path) -> None:
    first = store(tmp_path / "a.zarr", [9, 3, 1])
    second = store(tmp_path / "b.zarr", [2, 8, 4, 9])
    dest = tmp_path / "all.zarr"
    done = zarr.append([second, first], dest, along="time")
    assert (done.added, done.length) == (6, 6)
    same(dest, [1, 2, 3, 4, 8, 9])
    zarr.append(store(tmp_path / "c.zarr", [0, 5, 6, 7, 10]), dest, along="time", memory=64)
    same(dest, range(11))


def test_the_result_is_that_of_xarray(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels = random.permutation(60)
    cuts = np.sort(random.choice(60, 9, replace=False))
    parts = np.split(labels, cuts)
    sources = [store(tmp_path / f"{i}.zarr", part) for i, part in enumerate(parts)]
    for one in random.permutation(len(sources)):
        zarr.append(sources[one], tmp_path / "all.zarr", along="time", chunks={"time": 7})
    expected = xr.concat(
        [xr.open_dataset(one, engine="zarrix", decode_times=False) for one in sources],
        "time",
        data_vars="minimal",
        coords="minimal",
        compat="override",
        join="override",
    ).sortby("time")
    found = opened(tmp_path / "all.zarr")
    expected["t"] = expected["t"].transpose(*found["t"].dims)
    xr.testing.assert_identical(found, expected.load())


def test_a_descending_axis_stays_descending(tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", [9, 5])
    zarr.append(store(tmp_path / "a.zarr", [1, 7, 11]), dest, along="time")
    same(dest, [11, 9, 7, 5, 1])


def test_stored_labels_are_compared(tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", [1, 2, 3])
    other = store(tmp_path / "a.zarr", [2, 3, 4])
    zarr.open_group(other)["n"][1] = 77
    with pytest.raises(
        OverlapError, match=r"2020-01-01T03.*stored already, with other values of 'n'"
    ):
        zarr.append(other, dest, along="time")
    same(dest, [1, 2, 3])
    with pytest.raises(OverlapError, match=r"T02.*T03.*stored already in"):
        zarr.append(other, dest, along="time", overlap="error")
    assert zarr.append(other, dest, along="time", overlap="skip").added == 1
    same(dest, [1, 2, 3, 4])
    done = zarr.append(other, dest, along="time", overlap="replace")
    assert (done.added, done.replaced, done.same) == (0, 1, 2)
    assert zarr.open_group(dest)["n"][:].tolist() == [2, 4, 77, 8]
    done = zarr.append(other, dest, along="time", overlap="replace")
    assert (done.added, done.replaced, done.same) == (0, 0, 3)


def test_two_sources_with_one_label_are_compared(tmp_path: Path) -> None:
    first, second = store(tmp_path / "a.zarr", [1, 2]), store(tmp_path / "b.zarr", [2, 3])
    dest = tmp_path / "all.zarr"
    assert zarr.append([first, second], dest, along="time").added == 3
    same(dest, [1, 2, 3])
    zarr.open_group(second)["n"][0] = 5
    with pytest.raises(OverlapError, match=r"T02.*in two sources, with different values of 'n'"):
        zarr.append([first, second], tmp_path / "x.zarr", along="time")
    for overlap, value in (("skip", 4), ("replace", 5)):
        made = tmp_path / overlap
        zarr.append([first, second], made, along="time", overlap=overlap)
        assert zarr.open_group(made)["n"][:].tolist() == [2, value, 6]


def test_labels_are_stored_in_the_units_of_the_destination(tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", [0, 24])
    days = store(tmp_path / "days.zarr", [48.0, 72.0])
    time = zarr.open_group(days)["time"]
    time[:] = [1.0, 2.0]
    time.attrs["units"] = "days since 2020-01-02"
    zarr.append(days, dest, along="time")
    same(dest, [0, 24, 48, 72])
    time[:] = [2.0, 3.03]
    with pytest.raises(
        LabelError, match=r"days.zarr: the destination cannot hold 2020-01-05T00:43"
    ):
        zarr.append(days, dest, along="time")
    same(dest, [0, 24, 48, 72])


def test_bounds_are_stored_in_the_units_of_the_destination(tmp_path: Path) -> None:
    def make(name: str, units: str, begin: int, step: int) -> Path:
        path = tmp_path / name
        root = zarr.open_group(path, mode="w", zarr_format=3)
        time = root.create_array("time", data=[begin], dimension_names=["time"])
        time.attrs.update(units=units, bounds="time_bnds")
        edges = [[begin, begin + step]]
        root.create_array("time_bnds", data=edges, dimension_names=["time", "nv"])
        return path

    hours = make("hours.zarr", "hours since 2020-01-01", 0, 24)
    zarr.append(hours, tmp_path / "all.zarr", along="time")
    days = make("days.zarr", "days since 2020-01-02", 0, 1)
    for _ in range(2):
        zarr.append(days, tmp_path / "all.zarr", along="time")
    root = zarr.open_group(tmp_path / "all.zarr")
    assert root["time_bnds"][:].tolist() == [[0, 24], [24, 48]]
    hourly = make("b.zarr", "minutes since 2020-01-03", 0, 30)
    with pytest.raises(LabelError, match="cannot hold 2020-01-03T00:30"):
        zarr.append(hourly, tmp_path / "all.zarr", along="time")
    assert root["time"][:].tolist() == [0, 24]


def test_a_group_that_another_process_creates_at_the_same_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = store(tmp_path / "a.zarr", [1]), store(tmp_path / "b.zarr", [2])
    dest = tmp_path / "all.zarr"
    find, calls = Location.find, []

    def find_none(self: Location) -> Any:
        calls.append(self.path)
        if len(calls) == 1:
            # Its own search finds nothing either, and it creates the group.
            monkeypatch.setattr(Location, "find", find)
            monkeypatch.setattr(_append, "_require_group", create)
            zarr.append(first, dest, along="time")
            return None
        return find(self)

    def require(location: Location) -> None:
        monkeypatch.setattr(Location, "find", find_none)
        create(location)

    create = _append._require_group
    monkeypatch.setattr(_append, "_require_group", require)
    zarr.append(second, dest, along="time")
    same(dest, [1, 2])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda g: g["n"].attrs.update(units="K"), AppendError, "n.units is 'K' and absent"),
        (lambda g: g["t"].attrs.update(scale_factor=2), AppendError, "t.scale_factor is 2 and"),
        (lambda g: g["t"].attrs.update(_FillValue=-1.0), AppendError, "t._FillValue is -1.0 and"),
        (lambda g: g["n"].attrs.update(long_name="other"), AppendError, "'other' and 'twice'"),
        (lambda g: g.attrs.update(title="b"), AppendError, "attribute title is 'b' and 'a title'"),
        (lambda g: g["time"].attrs.update(calendar="noleap"), AppendError, "'noleap'.*'standard'"),
        (lambda g: g["time"].attrs.pop("units"), AppendError, "are numbers in .* and times in"),
        (
            lambda g: g["area"].set_basic_selection((0, 1), 7),
            AppendError,
            r"other values.*\(0, 1\)",
        ),
        (lambda g: g["x"].set_basic_selection(0, 7), AppendError, r"'x' has other values"),
        (lambda g: g["time"].set_basic_selection(0, 5), LabelError, "2020-01-01T05.* 2 times"),
        (lambda g: g["t"].resize(2, 1, 3), AppendError, "'t' has 1 rows along 'time'"),
        (lambda g: g["n"].resize(3), AppendError, "'n' has 3 rows along 'time'"),
        (lambda g: g.pop("n"), AppendError, "does not have 'n'"),
        (lambda g: g.create_array("new", data=[1], dimension_names=["z"]), AppendError, "'new'"),
        (lambda g: g.create_array("new", data=[1]), AppendError, "does not name each of its"),
        (lambda g: g.create_group("deep"), AppendError, "has groups .'deep'"),
    ],
)
def test_what_differs_is_refused(change: Any, error: Any, text: str, tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", [0, 1])
    source = store(tmp_path / "a.zarr", [4, 5])
    change(zarr.open_group(source))
    before = {one: one.read_bytes() for one in Path(dest).rglob("*") if one.is_file()}
    with pytest.raises(error, match=text):
        zarr.append(source, dest, along="time")
    zarr.recover(dest)
    found = {one: one.read_bytes() for one in Path(dest).rglob("*") if one.is_file()}
    assert {key: one for key, one in found.items() if key.name != "zarr.json"} == {
        key: one for key, one in before.items() if key.name != "zarr.json"
    }
    xr.testing.assert_identical(
        xr.open_dataset(dest, engine="zarrix", decode_times=False), dataset([0, 1])
    )


def test_attributes_are_kept_when_told(tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", [0])
    source = store(tmp_path / "a.zarr", [1])
    root = zarr.open_group(source)
    root["n"].attrs["long_name"] = "other"
    root.attrs["history"] = "made today"
    done = zarr.append(source, dest, along="time", attributes="keep")
    assert len(done.notes) == 1
    assert "n.long_name" in done.notes[0]
    same(dest, [0, 1])


@pytest.mark.parametrize("labels", [[np.nan, 1.0], [np.inf, 1.0]])
def test_a_label_that_is_missing_is_refused(labels: Labels, tmp_path: Path) -> None:
    source = store(tmp_path / "a.zarr", [0.0, 1.0])
    zarr.open_group(source)["time"][:] = labels
    with pytest.raises(LabelError, match=r"time"):
        zarr.append(source, tmp_path / "all.zarr", along="time")
    assert not (tmp_path / "all.zarr").exists()


@pytest.mark.parametrize("labels", [[1, 1], [1, 3, 2]])
def test_a_destination_without_order_is_refused(labels: Labels, tmp_path: Path) -> None:
    dest = store(tmp_path / "all.zarr", labels)
    with pytest.raises(LabelError, match="so that new ones have no position"):
        zarr.append(store(tmp_path / "a.zarr", [9]), dest, along="time")
    assert zarr.open_group(dest)["time"][:].tolist() == list(labels)


def test_a_source_without_rows_adds_none(tmp_path: Path) -> None:
    empty = store(tmp_path / "a.zarr", [])
    dest = tmp_path / "all.zarr"
    assert zarr.append(empty, dest, along="time").length == 0
    zarr.append([empty, store(tmp_path / "b.zarr", [1])], dest, along="time")
    same(dest, [1])


@pytest.mark.parametrize("place", ["inside", "same", "around"])
def test_a_source_that_overlaps_the_destination_is_refused(place: str, tmp_path: Path) -> None:
    dest = tmp_path / "all.zarr"
    store(dest, [1])
    inner = store(dest / "inner", [2])
    source, target = {"inside": (inner, dest), "same": (dest, dest), "around": (dest, inner)}[place]
    with pytest.raises(OverlapError):
        zarr.append(source, target, along="time", variables=["n", "t", "area", "x"])
    link = tmp_path / "link"
    os.symlink(source, link)
    with pytest.raises(OverlapError):
        zarr.append(link, target, along="time", variables=["n", "t", "area", "x"])
    assert zarr.open_group(dest)["time"][:].tolist() == [1]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    source = store(tmp_path / "a.zarr", [2, 1])
    would = zarr.append(source, tmp_path / "all.zarr", along="time", dry_run=True)
    assert (would.added, would.length) == (2, 2)
    assert "would add 2" in str(would)
    assert not (tmp_path / "all.zarr").exists()
