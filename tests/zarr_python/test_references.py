"""References that zarrix writes to virtual arrays, read by zarr-python through fsspec."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix
from zarrix import virtual

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr

fsspec = pytest.importorskip("fsspec")


def by_zarr_python(path: Path) -> Any:
    target = fsspec.filesystem(
        "reference",
        fo=str(path),
        asynchronous=True,
        remote_protocol="file",
        remote_options={"asynchronous": True, "auto_mkdir": False},
    )
    return zarr.open(zarr.storage.FsspecStore(target, read_only=True, path=""), mode="r")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_python_reads_references_to_pieces(tmp_path: Path, zarr_format: Any) -> None:
    names = [tmp_path / f"{number}.zarr" for number in range(3)]
    for number, name in enumerate(names):
        made = zarr.create_array(
            name, data=np.full((4, 5), number), chunks=(2, 3), zarr_format=zarr_format
        )
        assert made.shape == (4, 5)
    whole = virtual.concat(names)
    virtual.references(whole, tmp_path / "refs.json")
    found = by_zarr_python(tmp_path / "refs.json")
    np.testing.assert_array_equal(found[...], np.repeat([0, 1, 2], 4)[:, None] * np.ones(5))


def test_zarr_python_reads_a_joined_group(tmp_path: Path) -> None:
    for number in range(2):
        group = zarr.open_group(tmp_path / f"{number}.zarr", mode="w", zarr_format=3)
        for name, values in (("time", [2 * number, 2 * number + 1]), ("t", [number, number])):
            array = group.create_array(name, data=np.array(values), dimension_names=["time"])
            assert array.shape == (2,)
    joined = virtual.join([tmp_path / "1.zarr", tmp_path / "0.zarr"], "time")
    virtual.references(joined, tmp_path / "refs.json")
    found = by_zarr_python(tmp_path / "refs.json")
    assert found["time"][...].tolist() == [0, 1, 2, 3]
    assert found["t"][...].tolist() == [0, 0, 1, 1]
    assert zarrix.open(tmp_path / "refs.json", mode="r")["t"][...].tolist() == [0, 0, 1, 1]
