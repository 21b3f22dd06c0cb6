"""What is created replaces nothing that is not named: no array above, and not the group itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ContainsArrayError, InvalidKeyError

GROUP = {2: {"zarr_format": 2}, 3: {"zarr_format": 3, "node_type": "group"}}

# Each writes below the array "a" of the group, or of the store that it is given.
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "assignment": lambda g, s: g.__setitem__("a/w", [1]),
    "save": lambda g, s: zarr.save(s, [1], path="a/w"),
    "save two": lambda g, s: zarr.save(s, [1], x=[2], path="a/w"),
    "save_array": lambda g, s: zarr.save_array(s, [1], path="a/w/v"),
    "save_group": lambda g, s: zarr.save_group(s, [1], path="a/w"),
    "open": lambda g, s: zarr.open(s, mode="w", path="a/w", shape=2),
    "open_array": lambda g, s: zarr.open_array(s, mode="w", path="a/w", shape=2),
    "open_group": lambda g, s: zarr.open_group(s, mode="w", path="a/w"),
    "open_group a": lambda g, s: zarr.open_group(s, mode="a", path="a/w"),
    "group": lambda g, s: zarr.group(s, path="a/w", overwrite=True),
    "create": lambda g, s: zarr.create(3, store=s, path="a/w", overwrite=True),
    "zeros": lambda g, s: zarr.zeros(3, store=s, path="a/w", overwrite=True),
    "array": lambda g, s: zarr.array([1], store=s, path="a/w", overwrite=True),
    "create_array": lambda g, s: zarr.create_array(
        s, name="a/w", shape=3, dtype="i4", overwrite=True
    ),
    "create_hierarchy": lambda g, s: zarr.create_hierarchy(
        store=s, nodes={"a/w": GROUP[g.zarr_format]}, overwrite=True
    ),
    "Group.create_dataset": lambda g, s: g.create_dataset("a/w", shape=3, overwrite=True),
    "Group.require_dataset": lambda g, s: g.require_dataset("a/w", shape=3, overwrite=True),
    "Group.create_array": lambda g, s: g.create_array("a/w", shape=3, dtype="i4", overwrite=True),
    "Group.create_group": lambda g, s: g.create_group("a/w", overwrite=True),
    "Group.require_group": lambda g, s: g.require_group("a/w/v", overwrite=True),
    "Group.full_like": lambda g, s: g.full_like("a/w", g["a"], fill_value=1, overwrite=True),
    "Group.move": lambda g, s: g.move("b", "a/w"),
    "asynchronous": lambda g, s: asyncio.run(
        zarr.api.asynchronous.create_group(store=s, path="a/w", overwrite=True)
    ),
    "copy": lambda g, s: zarr.copy(g["b"], g, name="a/w", if_exists="replace"),
    "copy_all": lambda g, s: zarr.copy(g["c"], g, name="a/w", if_exists="replace"),
}


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(params=[2, 3])
def group(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = zarr.open_group(str(tmp_path / "x.zarr"), mode="w", zarr_format=request.param)
    for name in ("a", "b", "c/d"):
        made[name] = np.arange(4)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_a_write_below_an_array_is_an_error_and_changes_nothing(way: str, group: Any) -> None:
    folder = Path(group.store.path)
    before = state(folder)
    with pytest.raises(ContainsArrayError, match="a' is an array, so nothing can be created below"):
        WAYS[way](group, group.store.path)
    assert state(folder) == before


@pytest.mark.parametrize("below", ["a/w", "a/w/v", "link/w"])
def test_a_folder_of_its_own_below_an_array_is_an_error(group: Any, below: str) -> None:
    folder = Path(group.store.path)
    (folder / "link").symlink_to("a")
    before = state(folder)
    for write in (
        lambda path: zarr.save(path, [1]),
        lambda path: zarr.open_group(path, mode="w"),
        lambda path: zarr.open(path, mode="a", path="x", shape=3),
        lambda path: zarr.save(f"{path}.zip", [1]),
        lambda path: zarr.save(zarr.storage.FSStore(f"file://{path}"), [1]),
    ):
        with pytest.raises(ContainsArrayError, match=r"x.zarr/a' is an array"):
            write(str(folder / below))
    assert state(folder) == before


def test_a_hierarchy_in_the_folder_of_a_group_is_none_of_its_business(group: Any) -> None:
    zarr.save(f"{group.store.path}/c/new", [1])
    assert zarr.load(f"{group.store.path}/c/new") == [1]


@pytest.mark.parametrize("name", ["", "/", "/c", "//"])
def test_a_group_is_not_replaced_through_itself(group: Any, name: str) -> None:
    inside = group["c"]
    before = state(Path(group.store.path))
    for write in (
        lambda: inside.__setitem__(name, [1]),
        lambda: inside.create_dataset(name, shape=1, overwrite=True),
        lambda: inside.create_array(name, shape=1, dtype="i4", overwrite=True),
        lambda: inside.zeros(name, shape=1, overwrite=True),
        lambda: inside.create_group(name, overwrite=True),
    ):
        with pytest.raises(InvalidKeyError, match="and not a member of it"):
            write()
    assert state(Path(group.store.path)) == before
    assert inside.require_group("") == inside


@pytest.mark.parametrize(("above", "new"), [(2, 3), (3, 2)])
def test_formats_are_not_mixed(above: int, new: int, tmp_path: Path) -> None:
    group = zarr.open_group(str(tmp_path / "x"), mode="w", zarr_format=above)
    group.create_group("a")
    before = state(tmp_path)
    nodes = {"a/w": GROUP[new]}
    with pytest.raises(ValueError, match=f"is a v{above} group, and its members are v{above}"):
        zarr.create_hierarchy(store=str(tmp_path / "x"), nodes=nodes)
    assert state(tmp_path) == before


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_root_whose_store_was_cleared_is_created_again(zarr_format: int) -> None:
    # As anndata writes: it clears the store of the group it was given, and requires "/".
    store = zarr.MemoryStore()
    root = zarr.open_group(store, mode="w", zarr_format=zarr_format)
    root["a"] = np.arange(3)
    store.clear()
    made = root.require_group("/")
    assert (made.path, made.zarr_format) == ("", zarr_format)
    made["b"] = np.arange(4)
    assert sorted(zarr.open_group(store, mode="r")) == ["b"]
    inner = root.create_group("x")
    del root["x"]
    assert inner.create_group("/x").path == "x"
    with pytest.raises(InvalidKeyError, match="and not a member of it"):
        inner.create_group("/x", overwrite=True)
