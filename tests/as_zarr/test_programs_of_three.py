"""What programs for zarr-python 3 do with stores, arrays, groups and errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ContainsArrayError, ContainsGroupError, ReadOnlyError


def test_a_store_passes_read_only_to_its_base() -> None:
    class Folder(zarr.storage.Store):
        def __init__(self, *, read_only: bool = False) -> None:
            super().__init__(read_only=read_only)
            self.values: dict[str, Any] = {}

        def __getitem__(self, key: str) -> Any:
            return self.values[key]

        def __setitem__(self, key: str, value: Any) -> None:
            self._check_writable()
            self.values[key] = value

        def __iter__(self) -> Any:
            return iter(self.values)

    assert not Folder().read_only
    store = Folder(read_only=True)
    assert store.read_only
    with pytest.raises(ReadOnlyError):
        zarr.create_array(store, shape=3, dtype="i4")
    assert store.values == {}
    zarr.create_array(Folder(), shape=3, dtype="i4")[:] = 1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_and_a_group_take_the_class_of_a_subclass(zarr_format: Any) -> None:
    class Table(zarr.Array):
        def total(self) -> Any:
            return self[:].sum()

    class Folder(zarr.Group):
        def total(self) -> int:
            return len(self)

    root = zarr.create_group({}, zarr_format=zarr_format)
    z = root.create_array("a", shape=4, chunks=2, dtype="i4")
    z[:] = [1, 2, 3, 4]
    z.__class__ = Table
    z[0] = 5
    assert z.total() == 14
    assert Table(z.async_array).total() == 14
    root.__class__ = Folder
    assert (root.total(), Folder(zarr.AsyncGroup(root)).total()) == (1, 1)
    assert root["a"][:].tolist() == [5, 2, 3, 4]


def test_errors_have_the_types_that_either_version_raises() -> None:
    root = zarr.group()
    root.create_group("g")
    root.create_array("a", shape=3, dtype="i4")
    for error, kinds in (
        (ReadOnlyError, (PermissionError, ValueError)),
        (ContainsArrayError, (FileExistsError, ValueError, TypeError)),
        (ContainsGroupError, (FileExistsError, ValueError, TypeError)),
    ):
        assert all(issubclass(error, kind) for kind in kinds)
    with pytest.raises(TypeError):
        root.require_group("a")
    with pytest.raises(TypeError):
        root.require_array("g", shape=3, dtype="i4")


@pytest.mark.parametrize("name", [".DS_Store", "._zarr.json", ".nfs00a1", "Thumbs.db", "c/._0"])
def test_litter_of_systems_does_not_stop_an_overwrite(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=3, dtype="i4")[:] = 1
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text("x")
    zarr.create_array(path, shape=4, dtype="i4", overwrite=True)
    assert [one.name for one in path.iterdir()] == ["zarr.json"]
    (path / "thesis.txt").write_text("x")
    with pytest.raises(ValueError, match=r"thesis\.txt"):
        zarr.open_group(path, mode="w")
    assert (path / "thesis.txt").exists()


def test_the_store_of_a_consolidated_group_is_the_one_that_was_opened(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "a", mode="w").create_array("x", shape=3, dtype="i4")
    zarr.consolidate_metadata(tmp_path / "a")
    root = zarr.open_consolidated(tmp_path / "a")
    assert isinstance(root.store, zarr.storage.LocalStore)
    assert Path(root.store.root) == tmp_path / "a"
    assert root["x"].store is root.store
    assert zarr.open_consolidated({**root.store}).store is not None


def test_settings_are_found_by_their_names() -> None:
    assert "array.order" in zarr.config
    assert "threads" in zarr.config
    assert "array.odor" not in zarr.config
    assert 3 not in zarr.config


def test_an_array_like_another_has_its_fill_value() -> None:
    for zarr_format in (2, 3):
        z = zarr.full(3, 7, dtype="i4", zarr_format=zarr_format)
        assert zarr.empty_like(z)[:].tolist() == [7, 7, 7]
    assert zarr.empty_like(np.ones(3, "i4"), zarr_format=2).fill_value is None
