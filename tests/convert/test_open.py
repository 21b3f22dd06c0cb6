"""Files of other formats open as read-only groups and arrays, by their names."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from convert_data import same
from zarrix.errors import ConversionError, ReadOnlyError

VALUE = np.arange(24, dtype="f4").reshape(4, 6)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("x.npy", ""),
        ("x.npz", "data"),
        ("x.safetensors", "data"),
        ("x.h5", "data"),
        ("x.nc", "data"),
        ("x.tif", ""),
    ],
)
def test_open_shows_a_file_and_does_not_change_it(name: str, path: str, tmp_path: Path) -> None:
    needs = {".h5": "h5py", ".nc": "h5py", ".tif": "tifffile"}
    pytest.importorskip(needs.get(Path(name).suffix, "numpy"))
    group = zarr.group()
    group["data"] = VALUE
    zarr.export(group if path else group["data"], tmp_path / name)
    before = (tmp_path / name).read_bytes()
    node = zarr.open(tmp_path / name, mode="r")
    found = node[path] if path else node
    same(found[...], VALUE)
    same(pickle.loads(pickle.dumps(found))[1:3], VALUE[1:3])
    same(zarr.open(tmp_path / name, path=path, mode="r")[2], VALUE[2])
    with pytest.raises(ReadOnlyError):
        zarr.open(tmp_path / name, path=path)[...] = 1
    with pytest.raises(ReadOnlyError):
        zarr.open(tmp_path / name, mode="w", shape=3)
    assert (tmp_path / name).read_bytes() == before


def test_a_name_of_a_format_is_a_folder_where_no_file_is(tmp_path: Path) -> None:
    zarr.save(tmp_path / "x.npy", [1, 2])
    assert (tmp_path / "x.npy").is_dir()
    assert zarr.load(tmp_path / "x.npy").tolist() == [1, 2]


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"what")
    with pytest.raises(ConversionError, match=r"x\.npy is not an npy file"):
        zarr.open(tmp_path / "x.npy", mode="r")
