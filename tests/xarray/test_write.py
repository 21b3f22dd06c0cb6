"""`zarrix.xarray.to_zarr` and the accessors: modes, append, regions, and blocks of dask."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("xarray.backends.writers")

import dask
import xarray as xr
from datasets import every_kind
from zarrix.xarray import to_zarr
from zarrix.xarray._backend import ZarrixBackend

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def stored(store: Any, **options: Any) -> xr.Dataset:
    with xr.open_dataset(store, engine=ZarrixBackend, **options) as found:
        return found.load()


@pytest.fixture(autouse=True)
def _by_threads() -> Any:
    with dask.config.set(scheduler="threads"):
        yield


@FORMATS
def test_blocks_need_not_align_with_chunks_or_shards(tmp_path: Path, zarr_format: int) -> None:
    data = every_kind()
    encoding: dict[str, Any] = {"cube": {"chunks": (4, 5, 4)}}
    if zarr_format == 3:
        encoding["cube"]["shards"] = (4, 10, 8)
    blocks = data.chunk({"t": (1, 3, 2), "y": 3, "x": (4, 2, 3)})
    blocks.zarrix.to_zarr(tmp_path / "a.zarr", zarr_format=zarr_format, encoding=encoding)
    xr.testing.assert_identical(stored(tmp_path / "a.zarr"), data)
    # Without chunks in the encoding they are as long as the longest blocks.
    group = blocks.zarrix.to_zarr(tmp_path / "b.zarr", zarr_format=zarr_format)
    assert group["cube"].chunks == (3, 3, 4)
    xr.testing.assert_identical(stored(tmp_path / "b.zarr"), data)


@FORMATS
def test_append_grows_the_stored_variables(tmp_path: Path, zarr_format: int) -> None:
    data = every_kind(8)
    first = data.isel(t=slice(0, 3)).chunk(t=2)
    to_zarr(first, tmp_path / "a.zarr", zarr_format=zarr_format)
    to_zarr(data.isel(t=slice(3, 5)), tmp_path / "a.zarr", append_dim="t")
    rest = data.isel(t=slice(5, None)).chunk(t=(1, 2))
    to_zarr(rest, tmp_path / "a.zarr", mode="a-", append_dim="t")
    xr.testing.assert_identical(stored(tmp_path / "a.zarr", consolidated=True), data)
    with pytest.raises(ValueError, match="append_dim='z'"):
        to_zarr(rest, tmp_path / "a.zarr", append_dim="z")


@FORMATS
def test_regions_change_only_their_elements(tmp_path: Path, zarr_format: int) -> None:
    data = every_kind()
    to_zarr(data.chunk(t=4), tmp_path / "a.zarr", zarr_format=zarr_format)
    part = (data[["cube"]].isel(t=slice(1, 6)) * 2).chunk(t=2)
    without = part.drop_vars(["y", "x", "label"])
    to_zarr(without, tmp_path / "a.zarr", region="auto")
    expected = data.copy(deep=True)
    expected["cube"][1:6] *= 2
    xr.testing.assert_allclose(stored(tmp_path / "a.zarr"), expected)
    to_zarr(without.drop_vars("t") * 0, tmp_path / "a.zarr", region={"t": slice(1, 6)})
    assert not stored(tmp_path / "a.zarr")["cube"][1:].any()
    assert stored(tmp_path / "a.zarr")["cube"][0].identical(data["cube"][0])


@FORMATS
def test_metadata_first_and_regions_by_other_programs(tmp_path: Path, zarr_format: int) -> None:
    data = every_kind()[["cube", "t"]]
    task = to_zarr(data.chunk(t=1), tmp_path / "a.zarr", compute=False, zarr_format=zarr_format)
    assert np.isnan(stored(tmp_path / "a.zarr")["cube"]).all()
    for start in range(0, 6, 2):
        part = data.isel(t=slice(start, start + 2)).drop_vars(["t", "y", "x", "label"])
        to_zarr(part, tmp_path / "a.zarr", region={"t": slice(start, start + 2)})
    assert stored(tmp_path / "a.zarr")["cube"].variable.identical(data["cube"].variable)
    assert isinstance(task.compute(), zarr.Group)
    xr.testing.assert_identical(stored(tmp_path / "a.zarr"), data)


def test_modes_are_those_of_xarray(tmp_path: Path) -> None:
    data = every_kind()[["short"]]
    to_zarr(data, tmp_path / "a.zarr")
    with pytest.raises(zarr.errors.ContainsGroupError):
        to_zarr(data, tmp_path / "a.zarr")
    to_zarr(data.rename(short="other"), tmp_path / "a.zarr", mode="a")
    assert set(stored(tmp_path / "a.zarr").data_vars) == {"short", "other"}
    with pytest.raises(ValueError, match="non-pre-existing variables"):
        to_zarr(data.rename(short="third"), tmp_path / "a.zarr", mode="r+")
    to_zarr(data + 1, tmp_path / "a.zarr", mode="w")
    assert set(stored(tmp_path / "a.zarr").data_vars) == {"short"}
    with pytest.raises(ValueError, match="already exists with different dimension sizes"):
        to_zarr(data.isel(x=slice(2)), tmp_path / "a.zarr", mode="a")
    with pytest.raises(ValueError, match="cannot set region"):
        to_zarr(data, tmp_path / "a.zarr", mode="w", region={"x": slice(2)})
    assert stored(tmp_path / "a.zarr").identical(data + 1)


def test_groups_of_a_hierarchy_are_written_one_by_one(tmp_path: Path) -> None:
    data = every_kind()[["short"]]
    to_zarr(data, tmp_path / "a.zarr", group="x/y")
    root = zarr.open_group(tmp_path / "a.zarr")
    to_zarr(data, root, group="z", mode="w")
    for group in ("x/y", "z"):
        xr.testing.assert_identical(stored(tmp_path / "a.zarr", group=group), data)
        assert stored(root, group=group, consolidated=True).identical(data)


def test_arrays_keep_their_name(tmp_path: Path) -> None:
    for name in ("short", None, "x"):
        array = every_kind()["short"].rename(name)
        array.zarrix.to_zarr(tmp_path / "a.zarr", mode="w")
        with xr.open_dataarray(tmp_path / "a.zarr", engine=ZarrixBackend) as found:
            xr.testing.assert_identical(found.load(), array)


def test_encodings_are_used_and_checked(tmp_path: Path) -> None:
    data = every_kind()[["cube"]]
    encoding = {
        "cube": {"compressors": (zarr.codecs.GzipCodec(level=1),), "shards": (4, 8, 10)}
        | {"chunks": (2, 4, 5), "fill_value": 7.0}
    }
    array = to_zarr(data, tmp_path / "a.zarr", encoding=encoding)["cube"]
    assert (array.shards, array.chunks, array.fill_value) == ((4, 8, 10), (2, 4, 5), 7.0)
    assert array.compressors == (zarr.codecs.GzipCodec(level=1),)
    # What was opened is written again with the same codecs.
    again = to_zarr(stored(tmp_path / "a.zarr"), tmp_path / "b.zarr")["cube"]
    assert (again.shards, again.compressors) == (array.shards, array.compressors)
    with pytest.raises(ValueError, match="unexpected encoding parameters"):
        to_zarr(data, tmp_path / "c.zarr", encoding={"cube": {"compression": "gzip"}})
    with pytest.raises(ValueError, match="already exists, but encoding was provided"):
        to_zarr(data, tmp_path / "a.zarr", mode="a", encoding=encoding)


@pytest.mark.parametrize("wanted", [{"compressor": None}, {"foo": 1}, {"chunks": (-3,)}])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("group", [None, "g"])
def test_a_new_group_with_a_wrong_encoding_is_not_made(
    tmp_path: Path, wanted: dict[str, Any], zarr_format: Any, group: str | None
) -> None:
    ds = xr.Dataset({"a": ("x", np.arange(3.0)), "t": ("x", np.arange(3.0))})
    for store in (zarr.MemoryStore(), tmp_path / "x.zarr"):
        with pytest.raises((TypeError, ValueError)):
            to_zarr(ds, store, group=group, encoding={"t": wanted}, zarr_format=zarr_format)
        # It would be an error if a group were there.
        to_zarr(ds, store, group=group, zarr_format=zarr_format)
        assert sorted(zarr.open_group(store, mode="r", path=group).array_keys()) == ["a", "t"]


def test_empty_chunks_are_stored_on_request(tmp_path: Path) -> None:
    data = xr.Dataset({"a": ("x", np.full(4, np.nan))})
    for wanted, count in ((None, 0), (False, 0), (True, 2)):
        encoding = {"a": {"chunks": (2,)}}
        group = to_zarr(
            data, tmp_path / "a.zarr", mode="w", encoding=encoding, write_empty_chunks=wanted
        )
        assert group["a"].nchunks_initialized == count


def test_names_that_cannot_be_stored_are_errors(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="must be either a string or None"):
        to_zarr(xr.Dataset({5: ("x", [1])}), tmp_path / "a.zarr")
    with pytest.raises(ValueError, match="length 1 or greater"):
        to_zarr(xr.Dataset({"": ("x", [1])}), tmp_path / "b.zarr")


def test_dask_processes_may_not_write_into_copies() -> None:
    store = zarr.MemoryStore()
    blocks = every_kind()[["cube"]].chunk(t=2)
    to_zarr(blocks, store)
    with dask.config.set(scheduler="processes"), pytest.raises(ValueError, match="other processes"):
        to_zarr(blocks, store, mode="w")
