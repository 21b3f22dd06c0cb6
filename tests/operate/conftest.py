"""A hierarchy for the tests of verify, repair and diff."""

import numpy as np
import pytest
import zarrix as zarr


@pytest.fixture
def root(tmp_path):
    """A v2 hierarchy with two arrays, on disk."""
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    group.attrs["title"] = "t"
    for name in ("a", "b/c"):
        array = group.create_dataset(name, shape=(20, 30), chunks=(5, 10), dtype="<i4")
        array[...] = np.arange(600).reshape(20, 30)
        array.attrs["unit"] = "mm"
    return group
