"""Sources that change, vanish or are damaged while they are read, full disks, and calendars."""

import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ingest import days
from servers.faulty import FaultyServer
from zarrix import virtual
from zarrix.errors import AppendError, LabelError, OverlapError, SourceChangedError, ZarrixError


def _replace_chunk(source: Path) -> None:
    chunk = source / "a" / "c" / "0" / "0"
    values = np.frombuffer(chunk.read_bytes(), "<i8") + 1
    chunk.write_bytes(values.tobytes())


def _grow(source: Path) -> None:
    zarr.open_group(source)["time"].resize(9)


CHANGES: dict[str, Callable[[Path], Any]] = {
    "replaced": _replace_chunk,
    "grown": _grow,
    "gone": shutil.rmtree,
    "lost chunk": lambda source: (source / "c" / "c" / "0" / "0").unlink(),
    "renamed": lambda source: source.rename(source.with_name("other")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_source_that_changes_while_it_is_read_is_not_appended(
    change: str, tmp_path: Path
) -> None:
    first, second = days.make(tmp_path, 2)
    dest = tmp_path / "all.zarr"
    zarr.append(first, dest, along="time")
    before = days.chunks(dest)
    calls = []

    def progress(done: int, total: int) -> None:
        if not calls:
            CHANGES[change](Path(second))
        calls.append(done)

    with pytest.raises(SourceChangedError, match="nothing was appended"):
        zarr.append(second, dest, along="time", progress=progress)
    assert calls
    assert days.read(dest) == [0, 1, 2, 3]
    zarr.recover(dest)
    assert days.chunks(dest) == before


@pytest.mark.parametrize("damage", ["truncated", "longer shape"])
def test_a_source_that_is_damaged_is_not_appended(damage: str, tmp_path: Path) -> None:
    first, second = days.make(tmp_path, 2)
    dest = tmp_path / "all.zarr"
    zarr.append(first, dest, along="time")
    before = days.chunks(dest)
    if damage == "truncated":
        os.truncate(Path(second) / "b" / "c" / "0" / "0", 9)
    else:
        zarr.open_group(second)["b"].resize(9, 3)
    with pytest.raises(ZarrixError):
        zarr.append(second, dest, along="time")
    zarr.recover(dest)
    assert days.chunks(dest) == before
    assert days.read(dest) == [0, 1, 2, 3]


def test_a_full_disk_leaves_what_there_was(tmp_path: Path) -> None:
    first, second = days.make(tmp_path, 2)
    long = days.group(tmp_path / "long.zarr", range(100, 140))
    dest = tmp_path / "all.zarr"
    zarr.append(first, dest, along="time")
    child = os.fork()
    if child == 0:
        # A chunk of the coordinate has 64 KiB, the chunks of data have few bytes.
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
        try:
            zarr.append(long, dest, along="time")
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert days.read(dest) == [0, 1, 2, 3]
    zarr.append([second, long], dest, along="time")
    assert days.read(dest) == [*range(7), *range(100, 140)]


CALENDARS = ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"]


@pytest.mark.parametrize("calendar", CALENDARS)
def test_dates_of_every_calendar_are_appended(calendar: str, tmp_path: Path) -> None:
    cftime = pytest.importorskip("cftime")
    xr = pytest.importorskip("xarray")
    dates = [cftime.datetime(2000, month, 28, calendar=calendar) for month in (1, 2, 3, 4)]
    whole = xr.Dataset({"v": ("time", [1.0, 2.0, 3.0, 4.0])}, {"time": dates})
    dest = tmp_path / "all.zarr"
    for number, part in enumerate(([2, 3], [0, 1])):
        source = whole.isel(time=part)
        source["time"].encoding = {
            "units": f"hours since 2000-0{number + 1}-01",
            "calendar": calendar,
            "dtype": "float64",
        }
        zarr.xarray.to_zarr(source, tmp_path / f"{number}.zarr")
        zarr.append(tmp_path / f"{number}.zarr", dest, along="time")
    coder = xr.coders.CFDatetimeCoder(use_cftime=True)
    found = xr.open_dataset(dest, engine="zarrix", decode_times=coder).load()
    xr.testing.assert_identical(found, whole)
    other = "noleap" if calendar != "noleap" else "standard"
    zarr.open_group(tmp_path / "0.zarr")["time"].attrs["calendar"] = other
    with pytest.raises(AppendError, match="calendar"):
        zarr.append(tmp_path / "0.zarr", dest, along="time")


def test_int64_days_do_not_take_hours(tmp_path: Path) -> None:
    # The report at xarray#7354: joined steps got wrong times.
    root = zarr.open_group(tmp_path / "all.zarr", mode="w", zarr_format=3)
    time = root.create_array("time", data=np.arange(3), dimension_names=["time"])
    time.attrs["units"] = "days since 2022-09-01"
    root.attrs["title"] = "days"
    source = days.group(tmp_path / "a.zarr", [0])
    hours = zarr.open_group(source)["time"]
    hours[:] = 3
    hours.attrs["units"] = "hours since 2022-10-01"
    with pytest.raises(LabelError, match=r"cannot hold 2022-10-01T03.* exactly in int64"):
        zarr.append(source, tmp_path / "all.zarr", along="time", variables=["time"])
    assert time[:].tolist() == [0, 1, 2]


def test_a_list_is_not_appended_to_one_of_its_pieces(tmp_path: Path) -> None:
    first, second = days.make(tmp_path, 2, overlap=0)
    virtual.save(virtual.join([first, second], "time"), tmp_path / "list.json")
    os.symlink(first, tmp_path / "link.zarr")
    for dest in (first, str(tmp_path / "link.zarr"), f"{first}/inner", str(tmp_path)):
        before = days.chunks(Path(first))
        with pytest.raises(OverlapError):
            zarr.append(tmp_path / "list.json", dest, along="time")
        assert days.chunks(Path(first)) == before
    zarr.append(tmp_path / "list.json", tmp_path / "dest.zarr", along="time")
    zarr.append([first, second], tmp_path / "expected.zarr", along="time")
    found, expected = (zarr.open(tmp_path / name) for name in ("dest.zarr", "expected.zarr"))
    for name in ("time", *days.NAMES):
        np.testing.assert_array_equal(found[name][...], expected[name][...])


def test_a_source_in_a_bucket_is_not_its_destination() -> None:
    with FaultyServer() as server:
        url = f"{server.url}/all.zarr"
        group = zarr.open_group(url, mode="w", zarr_format=3, storage_options=server.options)
        for name in ("time", "a"):
            group.create_array(name, data=[1, 2], dimension_names=["time"])
        before = {key: group.store[key] for key in group.store}
        for source, dest in ((url, url), (url, f"{url}/inner"), (url, server.url)):
            with pytest.raises(OverlapError):
                zarr.append(source, dest, along="time", storage_options=server.options)
        assert {key: group.store[key] for key in group.store} == before
