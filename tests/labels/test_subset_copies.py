"""Subsets as stores, and copies of them: equal to NumPy's slices, and aligned chunks as stored."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix._hierarchy.subset_store import SubsetStore
from zarrix.errors import LabelError, OverlapError, ReadOnlyError

VALUES = np.arange(40 * 12).reshape(40, 12)
ALIGNED = (slice(8, 24), slice(6, 12))


def hierarchy(store: Any, zarr_format: Any, **options: Any) -> Any:
    root = zarr.open_group(store, mode="w", zarr_format=zarr_format, attributes={"title": "t"})
    named = {"dimension_names": ["y", "x"]} if zarr_format == 3 else {}
    z = root.create_array("z", data=VALUES, chunks=(4, 3), **named, **options)
    z.attrs["units"] = "K"
    z.attrs["actual_range"] = [0, 479]
    if zarr_format == 2:
        z.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    return root


def ranges(length: int) -> st.SearchStrategy[Any]:
    ends = st.integers(0, length)
    return st.one_of(
        st.builds(slice, ends, ends),
        st.builds(slice, ends, ends, st.sampled_from([1, 2, 3])),
        st.integers(0, length - 1),
        st.lists(st.integers(0, length - 1), min_size=1, max_size=5),
    )


@pytest.mark.parametrize("zarr_format", [2, 3])
@settings(max_examples=60)
@given(y=ranges(40), x=ranges(12), is_rectilinear=st.booleans(), has_shards=st.booleans())
def test_a_subset_as_a_store_has_the_elements_of_numpy(
    zarr_format: Any, y: Any, x: Any, is_rectilinear: bool, has_shards: bool
) -> None:
    options = {"shards": (8, 6)} if has_shards and zarr_format == 3 else {}
    root = hierarchy({}, zarr_format, **options)
    part = root.isel(y=y, x=x)
    store = part.as_store("rectilinear" if is_rectilinear and zarr_format == 3 else "same")
    expected = VALUES[y][..., x]
    shown = zarr.open_group(store, mode="r")
    np.testing.assert_array_equal(shown["z"][...], expected)
    stored: dict[str, bytes] = {}
    zarr.copy_store(store, stored)
    np.testing.assert_array_equal(zarr.open_group(stored, mode="r")["z"][...], expected)
    assert shown["z"].attrs["units"] == "K"


@pytest.mark.parametrize("options", [{}, {"shards": (8, 6)}])
def test_aligned_chunks_are_copied_as_they_are_stored(tmp_path: Path, options: Any) -> None:
    root = hierarchy(str(tmp_path / "a.zarr"), 3, **options)
    store = root.isel(y=ALIGNED[0], x=ALIGNED[1]).as_store()
    copy = zarr.jobs.copy(store, str(tmp_path / "b.zarr"))
    np.testing.assert_array_equal(copy["z"][...], VALUES[ALIGNED])
    assert (store.kept, store.encoded) == ((2, 0) if options else (8, 0))
    first = "c/0/0"
    theirs = "c/1/1" if options else "c/2/2"
    assert (tmp_path / "b.zarr/z" / first).read_bytes() == (
        tmp_path / "a.zarr/z" / theirs
    ).read_bytes()


def test_a_rectilinear_copy_encodes_the_borders_only(tmp_path: Path) -> None:
    root = hierarchy({}, 3)
    store = root.isel(y=slice(5, 30)).as_store("rectilinear")
    copy = zarr.jobs.copy(store, str(tmp_path / "b.zarr"))
    np.testing.assert_array_equal(copy["z"][...], VALUES[5:30])
    assert copy["z"].read_chunk_sizes[0] == (3, 4, 4, 4, 4, 4, 2)
    # Seven rows of four chunks, of which the first and the last row are cut.
    assert (store.kept, store.encoded) == (20, 8)


def test_missing_chunks_stay_missing(tmp_path: Path) -> None:
    root = zarr.create_group({})
    z = root.create_array("z", shape=100, chunks=10, dtype="i4", dimension_names=["x"])
    z[25] = 1
    for begin, expected in ((20, ["z/c/0"]), (15, ["z/c/0", "z/c/1"])):
        store = root.isel(x=slice(begin, begin + 30)).as_store()
        path = tmp_path / str(begin)
        zarr.jobs.copy(store, str(path))
        stored = [str(one.relative_to(path)) for one in path.rglob("c/*")]
        assert sorted(stored) == expected


def test_elements_outside_of_the_subset_are_not_copied() -> None:
    root = zarr.create_group({})
    root.create_array("z", data=np.arange(1, 101), chunks=10, dimension_names=["x"])
    stored: dict[str, bytes] = {}
    zarr.copy_store(root.isel(x=slice(20, 35)).as_store(), stored)
    copy = zarr.open_group(stored, mode="a")["z"]
    copy.resize(20)
    assert copy[15:].tolist() == [0] * 5


def test_grid_source_requires_borders_of_chunks_or_grows() -> None:
    root = hierarchy({}, 3)
    part = root.isel(y=slice(5, 30), x=slice(3, 12))
    with pytest.raises(LabelError, match=r"isel\(y=slice\(4, 32\)\)"):
        part.copy({}, grid="source")
    copy = part.copy({}, grid="source", align="out")
    np.testing.assert_array_equal(copy["z"][...], VALUES[4:32, 3:12])
    with pytest.raises(LabelError, match="neighbours"):
        root.isel(y=[3, 1]).copy({}, grid="source")
    with pytest.raises(ValueError, match="grid is"):
        part.copy({}, grid="other")
    with pytest.raises(ValueError, match="v3"):
        hierarchy({}, 2).isel(y=slice(3)).copy({}, grid="rectilinear")


def test_coordinates_and_attributes_come_with_the_copy() -> None:
    root = zarr.create_group({}, attributes={"title": "t"})
    time = root.create_array("time", data=np.arange(10), dimension_names=["time"])
    time.attrs.update(units="days since 2000-01-01", actual_range=[0, 9])
    root.create_array("z", data=np.arange(10), chunks=4, dimension_names=["time"])
    copy = root.sel(time=slice("2000-01-05", "2000-01-08")).copy({}, grid="source")
    assert copy.attrs.asdict() == {"title": "t"}
    assert copy["time"].attrs.asdict() == {"units": "days since 2000-01-01"}
    assert copy.sel(time="2000-01-05")["z"][...] == 4


def test_a_dropped_axis_leaves_the_names_of_dimensions() -> None:
    for zarr_format in (2, 3):
        shown = zarr.open_group(hierarchy({}, zarr_format).isel(y=3).as_store(), mode="r")
        assert shown.isel(x=2)["z"][...] == VALUES[3, 2]


def test_the_store_is_read_only_and_can_be_pickled(tmp_path: Path) -> None:
    root = hierarchy(str(tmp_path / "a.zarr"), 3)
    store = root.isel(y=slice(4, 8)).as_store()
    assert isinstance(store, SubsetStore)
    with pytest.raises(ReadOnlyError):
        store["x"] = b"1"
    again = pickle.loads(pickle.dumps(store))
    np.testing.assert_array_equal(zarr.open_group(again, mode="r")["z"][...], VALUES[4:8])


def test_a_copy_into_its_own_source_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "a.zarr")
    root = hierarchy(path, 3)
    for dest in (path, f"{path}/z", f"{path}/z/x"):
        with pytest.raises((OverlapError, zarr.errors.ContainsArrayError)):
            root.isel(y=slice(4, 8)).copy(dest, overwrite=True)
    np.testing.assert_array_equal(root["z"][...], VALUES)


def test_statistics_and_exports_take_a_subset(tmp_path: Path) -> None:
    root = hierarchy(str(tmp_path / "a.zarr"), 3)
    shown = zarr.open_group(root.isel(y=slice(5, 30)).as_store(), mode="r")
    assert zarr.jobs.statistics(shown["z"]).max == VALUES[5:30].max()
    zarr.export(shown["z"], str(tmp_path / "z.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), VALUES[5:30])
    made = zarr.jobs.rechunk(root.isel(y=5).as_store(), str(tmp_path / "c.zarr"), chunks=(2,))
    np.testing.assert_array_equal(made["z"][...], VALUES[5])
