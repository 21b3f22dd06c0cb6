"""`copy` and `copy_all` into their own source, and copies that replace something and fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CopyError, OverlapError


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(params=[2, 3])
def group(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = zarr.open_group(str(tmp_path / "x.zarr"), mode="w", zarr_format=request.param)
    made["a/src"] = np.arange(4)
    made["a/more/b"] = np.arange(3)
    made["y"] = np.arange(2)
    return made


def by_other_stores(group: Any, path: str) -> list[Any]:
    """A member by the ways that lead to it."""
    root = Path(group.store.path)
    link = root.parent / "link"
    if not link.exists():
        os.symlink(root, link)
    return [
        group[path],
        zarr.open(root / path),
        zarr.open(link / path),
        zarr.open(zarr.LRUStoreCache(zarr.DirectoryStore(root), None), path=path),
        zarr.open(zarr.storage.FSStore(f"file://{link}"), path=path),
    ]


@pytest.mark.parametrize("if_exists", ["raise", "replace", "skip", "skip_initialized"])
def test_a_copy_never_replaces_what_it_copies(group: Any, if_exists: Any) -> None:
    before = state(Path(group.store.path))
    for source in by_other_stores(group, "a/src"):
        for name in ("a", "a/src", "a/src/deep"):
            with pytest.raises(OverlapError, match=r"cannot copy: .*x.zarr/a"):
                zarr.copy(source, group, name=name, if_exists=if_exists)
    for source in by_other_stores(group, "a"):
        for name in ("a", "a/new", "a/more/new"):
            with pytest.raises(CopyError, match="choose another destination"):
                zarr.copy(source, group, name=name, if_exists=if_exists)
    assert state(Path(group.store.path)) == before


def test_copy_all_into_itself_is_an_error_before_the_first_write(group: Any) -> None:
    before = state(Path(group.store.path))
    for source in by_other_stores(group, ""):
        for dest in (group["a"], group["a/more"], group):
            with pytest.raises(OverlapError, match=r"is inside|is the source"):
                zarr.copy_all(source, dest)
    assert state(Path(group.store.path)) == before
    # Only arrays, which are not read again.
    assert zarr.copy_all(group, group["a"], shallow=True)[0] == 1
    assert sorted(group["a"]) == ["more", "src", "y"]


def test_members_move_up_unless_one_would_replace_their_group(group: Any) -> None:
    assert zarr.copy_all(group["a"], group)[0] == 3
    assert sorted(group) == ["a", "more", "src", "y"]
    group["a"].create_group("a")
    before = state(Path(group.store.path))
    with pytest.raises(OverlapError, match=r"x.zarr/a' is the source"):
        zarr.copy_all(group["a"], group, if_exists="replace")
    assert state(Path(group.store.path)) == before


class Broken:
    """A source that ends before its end."""

    def __init__(self, name: str = "y") -> None:
        self.name, self.shape, self.dtype = f"/{name}", (4,), np.dtype("i8")
        self.chunks, self.fill_value, self.attrs = (1,), 0, {"unit": "K"}
        self.compressor = self.filters = None
        self.order = "C"

    def __getitem__(self, region: Any) -> Any:
        raise OSError("the disk of the source is gone")


@pytest.mark.parametrize("store", ["directory", "memory", "separate chunks"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_is_replaced_stays_until_the_copy_is_complete(
    store: str, zarr_format: int, tmp_path: Path
) -> None:
    made: dict[str, Any] = {
        "directory": lambda: (zarr.DirectoryStore(tmp_path / "d"), None),
        "memory": lambda: (zarr.MemoryStore(), None),
        "separate chunks": lambda: (zarr.MemoryStore(), zarr.DirectoryStore(tmp_path / "c")),
    }
    documents, chunks = made[store]()
    group = zarr.open_group(documents, mode="w", chunk_store=chunks, zarr_format=zarr_format)
    group["y"] = np.arange(2)
    group["g/a"] = np.arange(3)
    zarr.consolidate_metadata(documents)
    stores = [one for one in (documents, chunks) if one is not None]
    before = [dict(one.items()) for one in stores]
    for name in ("y", "g"):
        with pytest.raises(OSError, match="is gone"):
            zarr.copy(Broken(), group, name=name, if_exists="replace")
        assert [dict(one.items()) for one in stores] == before

    source = zarr.group(zarr_format=zarr_format)
    source["a"] = np.arange(5)
    source["a"].attrs["unit"] = "K"
    source["empty"] = zarr.zeros(3)
    source.create_group("in/side")
    assert zarr.copy(source["a"], group, name="g", if_exists="replace") == (1, 0, 40)
    assert group["g"].attrs["unit"] == "K"
    np.testing.assert_array_equal(group["g"][:], np.arange(5))
    # An array is replaced by a group with all below it.
    assert zarr.copy(source, group, name="y", if_exists="replace")[0] == 5
    np.testing.assert_array_equal(group["y/a"][:], np.arange(5))
    assert group["y/empty"][:].tolist() == [0, 0, 0]
    through = zarr.open_consolidated(documents, chunk_store=chunks)
    assert sorted(through["y"]) == ["a", "empty", "in"]
    assert sorted(through) == ["g", "y"]


def test_files_of_other_programs_are_not_replaced(group: Any) -> None:
    notes = Path(group.store.path) / "y" / "notes.txt"
    notes.write_text("mine")
    before = state(Path(group.store.path))
    with pytest.raises(ValueError, match=r"holds 'notes.txt'"):
        zarr.copy(group["a/src"], group, name="y", if_exists="replace")
    assert state(Path(group.store.path)) == before


def test_h5py_files_are_files(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["g/x"] = np.arange(3)
        with pytest.raises(OverlapError, match=r"a.h5/g"):
            zarr.copy_all(file, file["g"])
        with pytest.raises(OverlapError, match=r"a.h5/g"):
            zarr.copy(file["g/x"], file, name="g", if_exists="replace")
        assert list(file["g"]) == ["x"]
        assert zarr.copy(file["g/x"], file, name="y") == (1, 0, 24)
    options = {"driver": "core", "backing_store": False}
    with h5py.File("same", "w", **options) as one, h5py.File("other", "w", **options) as other:
        one["x"] = np.arange(3)
        assert zarr.copy_all(one, other)[0] == 1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_data_that_overwriting_would_delete_is_loaded_first(
    zarr_format: int, tmp_path: Path
) -> None:
    for source in range(5):
        root = tmp_path / str(source) / "x"
        root.parent.mkdir()
        group = zarr.open_group(root, mode="w", zarr_format=zarr_format)
        group["a/src"] = np.arange(4)
        data = by_other_stores(group, "a/src")[source]
        zarr.save_array(root, data, path="a", zarr_format=zarr_format)
        np.testing.assert_array_equal(group["a"][:], np.arange(4))
