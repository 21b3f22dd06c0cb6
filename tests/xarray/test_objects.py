"""`Array.to_xarray`, `Group.to_xarray`, and results in pandas."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("xarray.backends.writers")

import pandas as pd
import xarray as xr
from datasets import every_kind
from zarrix.xarray import to_zarr


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_and_groups_become_objects_of_xarray(tmp_path: Path, zarr_format: int) -> None:
    data = every_kind()
    group = to_zarr(data, tmp_path / "a.zarr", zarr_format=zarr_format)
    xr.testing.assert_identical(group.to_xarray().load(), data)
    for name in ("cube", "packed", "masked", "t", "duration", "scalar", "text"):
        found = group[name].to_xarray()
        assert found.name == name
        assert found.variable.load().identical(data[name].variable)
    blocks = group["cube"].to_xarray(chunks={"t": 3})
    assert blocks.chunks == ((3, 3), (8,), (9,))
    assert group.to_xarray(chunks={})["cube"].chunks is not None


def test_axes_without_names_are_numbered() -> None:
    z = zarr.array(np.arange(6).reshape(2, 3))
    found = z.to_xarray(name="counts")
    assert (found.dims, found.name) == (("dim_0", "dim_1"), "counts")
    assert found.sum("dim_1").values.tolist() == [3, 12]
    named = zarr.create_array(data=[[1, 2]], dimension_names=["y", "x"], attributes={"units": "m"})
    assert named.to_xarray().dims == ("y", "x")
    assert named.to_xarray().attrs == {"units": "m"}
    assert named.to_xarray(chunks={}).chunks == ((1,), (2,))


def test_objects_of_xarray_are_lazy() -> None:
    z = zarr.array(np.arange(10))
    found = z.to_xarray()
    z[3] = 77
    assert found[3].item() == 77


def test_columns_and_tables_of_pandas() -> None:
    z = zarr.array(np.arange(3.0), chunks=2)
    assert pd.Series(z).tolist() == [0, 1, 2]
    assert pd.DataFrame({"a": z})["a"].tolist() == [0, 1, 2]
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    table = pd.DataFrame(zarr.array(records, chunks=1)[:])
    assert table.to_dict("list") == {"a": [1, 3], "b": [2.5, 4.5]}


def test_a_copy_is_always_made_for_numpy() -> None:
    z = zarr.array(np.arange(3))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(z, copy=False)
    for options in ({}, {"copy": True}, {"dtype": "f4"}):
        found: Any = np.asarray(z, **options)
        assert found.flags.writeable
        assert found.tolist() == [0, 1, 2]
