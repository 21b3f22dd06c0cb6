"""`copy_store` into its own source, onto other nodes, and onto old values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ContainsArrayError, CopyError, OverlapError


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(params=[2, 3])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w", zarr_format=request.param)
    group["a/b"] = np.arange(4)
    group["c"] = np.arange(3)
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("if_exists", ["raise", "replace", "skip", "resume"])
def test_source_and_destination_are_apart(root: Path, if_exists: Any) -> None:
    os.symlink(root, root.parent / "link")
    link = root.parent / "link"
    before = state(root)
    for source, dest, paths in (
        (root, root, ("", "copy")),
        (root, root, ("a", "")),
        (root, root, ("a", "a")),
        (root, root / "copy", ("", "")),
        (root / "a", link, ("", "")),
        (root, zarr.ZipStore(root / "x.zip"), ("", "")),
        (zarr.storage.FSStore(f"file://{link}/a"), zarr.NestedDirectoryStore(root), ("b", "a")),
    ):
        with pytest.raises(OverlapError, match="cannot copy"):
            zarr.copy_store(source, dest, *paths, if_exists=if_exists)
        if isinstance(dest, zarr.ZipStore):
            dest._engine.close()
            (root / "x.zip").unlink(missing_ok=True)
    assert state(root) == before
    assert zarr.copy_store(root, root, "a", "copy")[0] > 1


@pytest.mark.parametrize("if_exists", ["raise", "replace", "skip", "resume"])
def test_nodes_of_other_kinds_and_formats_are_not_mixed(root: Path, if_exists: Any) -> None:
    zarr_format = zarr.open(root).zarr_format
    other = root.parent / "other.zarr"
    group = zarr.open_group(other, mode="w", zarr_format=5 - zarr_format)
    group["a"] = np.arange(2)
    before = state(root)
    with pytest.raises((CopyError, ValueError)):
        zarr.copy_store(other, root, if_exists=if_exists)
    with pytest.raises((CopyError, ValueError), match=r"mixed|members are|exists in"):
        zarr.copy_store(other, root, "a", "d", if_exists=if_exists)
    with pytest.raises(CopyError, match=r"mixed|exists in"):
        zarr.copy_store(root, root.parent / "x.zarr", "c", "a", if_exists=if_exists)
    with pytest.raises((CopyError, ContainsArrayError)):
        zarr.copy_store(root, root.parent / "x.zarr", "a", "c/new", if_exists=if_exists)
    assert state(root) == before


def test_a_resumed_copy_of_another_source_is_an_error(root: Path) -> None:
    dest = root.parent / "copy.zarr"
    zarr.copy_store(root, dest, "", "", excludes="c/")
    assert zarr.copy_store(root, dest, if_exists="resume")[1] > 1
    zarr.open(root)["c"][:] = [5, 6, 7]

    before = state(dest)
    with pytest.raises(CopyError, match=r"1 key in .*copy.zarr' with other values than .*'c/"):
        zarr.copy_store(root, dest, if_exists="resume")
    with pytest.warns(UserWarning, match=r"1 key in .* are kept"):
        zarr.copy_store(root, dest, if_exists="skip")
    assert state(dest) == before
    zarr.copy_store(root, dest, if_exists="replace")
    assert zarr.open(dest)["c"][:].tolist() == [5, 6, 7]
    # Another length is found without a read.
    values = {"a/0": b"12", "b": b"1"}
    with pytest.raises(CopyError, match="'a/0' the first"):
        zarr.copy_store(values, {"a/0": b"1"}, if_exists="resume")
