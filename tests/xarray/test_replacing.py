"""Mode "w" of `to_zarr`: the old group stays until the new one is known to be valid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("xarray.backends.writers")

import dask
import xarray as xr
from zarrix.errors import OverlapError
from zarrix.xarray import to_zarr
from zarrix.xarray._backend import ZarrixBackend

DATA = xr.Dataset({"t": ("x", np.arange(6.0)), "u": (("x", "y"), np.ones((6, 4)))})


@pytest.fixture(autouse=True)
def _by_threads() -> Any:
    with dask.config.set(scheduler="threads"):
        yield


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# What cannot be stored, as a dataset or an encoding of DATA.
WRONG: dict[str, tuple[Any, dict[str, Any]]] = {
    "codec": (DATA, {"t": {"compressors": "no such codec"}}),
    "compressor": (DATA, {"t": {"compressor": 7}}),
    "option": (DATA, {"u": {"foo": 1}}),
    "chunks": (DATA, {"u": {"chunks": (-3, 1)}}),
    "shards": (DATA, {"u": {"chunks": (3, 2), "shards": (4, 4)}}),
    "fill value": (DATA, {"t": {"dtype": "i2", "_FillValue": "x"}}),
    "variable": (DATA, {"v": {}}),
    "attribute": (DATA.assign_attrs(a=object()), {}),
    "attribute of a variable": (DATA.assign(t=DATA.t.assign_attrs(a=object())), {}),
    "name": (DATA.rename(t=""), {}),
    "objects": (DATA.assign(o=("x", np.array([object()] * 6))), {}),
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_written_replaces_nothing(
    wrong: str, zarr_format: int, tmp_path: Path
) -> None:
    data, encoding = WRONG[wrong]
    for group in (None, "a/b"):
        to_zarr(DATA, tmp_path / "a.zarr", "w", group=group, zarr_format=zarr_format)
        before = state(tmp_path)
        with pytest.raises((ValueError, TypeError, KeyError)):
            to_zarr(data, tmp_path / "a.zarr", "w", group=group, encoding=encoding)
        assert state(tmp_path) == before


def test_a_tree_of_which_one_group_is_wrong_replaces_nothing(tmp_path: Path) -> None:
    tree = xr.DataTree.from_dict({"/": DATA, "/a": DATA, "/b": DATA})
    to_zarr(tree, tmp_path / "a.zarr")
    before = state(tmp_path)
    with pytest.raises(ValueError, match="unexpected encoding"):
        to_zarr(tree, tmp_path / "a.zarr", "w", encoding={"/b": {"t": {"foo": 1}}})
    assert state(tmp_path) == before


@pytest.mark.parametrize("store", ["a.zarr", "a.zarr.zip"])
def test_what_is_valid_replaces_the_group(store: str, tmp_path: Path) -> None:
    to_zarr(DATA, tmp_path / store)
    encoding = {"t": {"scale_factor": 0.5, "dtype": "i2", "_FillValue": -1}}
    to_zarr(DATA[["t"]] + 1, tmp_path / store, "w", encoding=encoding)
    with xr.open_dataset(tmp_path / store, engine=ZarrixBackend) as found:
        xr.testing.assert_equal(found.load(), DATA[["t"]] + 1)
    assert zarr.open_array(tmp_path / store, mode="r", path="t").dtype == "i2"


LAZY: dict[str, Callable[[Any], Any]] = {
    "opened": lambda data: data,
    "a part": lambda data: data.isel(x=slice(2, 4)),
    "computed by dask": lambda data: data.chunk(x=2) + 1,
    "a reduction by dask": lambda data: data.chunk(x=2).mean("y", keepdims=True),
    "a tree": lambda data: xr.DataTree.from_dict({"/a": data}),
    "an array": lambda data: data["u"],
}


@pytest.mark.parametrize("chunks", [None, {}])
@pytest.mark.parametrize("dest", ["a.zarr", "link.zarr", "a.zarr/g", "file"])
def test_data_is_not_written_over_what_it_is_read_from(
    dest: str, chunks: Any, tmp_path: Path
) -> None:
    to_zarr(DATA, tmp_path / "a.zarr", group="g", encoding={"t": {"scale_factor": 2.0}})
    (tmp_path / "link.zarr").symlink_to("a.zarr")
    before = state(tmp_path)
    address = f"file://{tmp_path}/a.zarr" if dest == "file" else tmp_path / dest
    with xr.open_dataset(
        tmp_path / "a.zarr", engine=ZarrixBackend, group="g", chunks=chunks
    ) as opened:
        for lazy in LAZY.values():
            with pytest.raises(OverlapError, match="cannot write"):
                to_zarr(lazy(opened), address, "w")
            assert state(tmp_path) == before
        # What is in memory already is not read again.
        to_zarr(opened.load(), address, "w")
