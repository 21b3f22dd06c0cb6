"""Opening looks at each thing once: the store, the path, the format, and every document."""

import ast
import inspect
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import zarrix as zarr
from zarrix._nodes.nodes import check_format
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path

LOOKS = {
    inspect.unwrap(function).__code__: function.__name__
    for function in (as_store, normalize_storage_path, check_format)
}


class Recording(zarr.DirectoryStore):
    """A store that lists the keys of the documents that are read from it."""

    read: list[str]

    def get(self, key: str, default: Any = None) -> Any:
        self.read.append(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> bytes:
        self.read.append(key)
        return super().__getitem__(key)


def calls_of(function: Callable[[], Any]) -> Counter[str]:
    """How often `function` looks at a store, a path and a format."""
    found: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in LOOKS:
            found[LOOKS[frame.f_code]] += 1

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


@pytest.fixture(params=[2, 3])
def store(request: Any, tmp_path: Path) -> Recording:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=request.param)
    root.create_dataset("g/a", shape=3, dtype="i4")
    found = Recording(tmp_path)
    found.read = []
    return found


@pytest.mark.parametrize("opener", [zarr.open, zarr.open_array])
def test_an_array_is_opened_with_one_look_at_everything(store: Recording, opener: Any) -> None:
    looks = {"as_store": 1, "normalize_storage_path": 1}
    assert calls_of(lambda: opener(store, mode="r", path="g/a")) == looks
    assert len(store.read) == len(set(store.read)) <= 2
    zarr_format = zarr.open_group(store, mode="r").zarr_format
    asked = calls_of(lambda: opener(store, mode="r", path="g/a", zarr_format=zarr_format))
    assert asked == {**looks, "check_format": 1}


@pytest.mark.parametrize("opener", [zarr.open, zarr.open_group])
def test_a_group_is_opened_with_one_look_at_everything(store: Recording, opener: Any) -> None:
    looks = {"as_store": 1, "normalize_storage_path": 1}
    assert calls_of(lambda: opener(store, mode="r", path="g")) == looks
    assert len(store.read) == len(set(store.read)) <= 3


@pytest.mark.parametrize("name", ["g", "g/a"])
def test_a_member_is_opened_with_one_look_at_its_path(store: Recording, name: str) -> None:
    root = zarr.open_group(store, mode="r")
    store.read.clear()
    assert calls_of(lambda: root[name]) == {"normalize_storage_path": 1}
    assert len(store.read) == len(set(store.read)) <= 2


def test_one_function_says_where_attributes_are() -> None:
    package = Path(zarr.__file__).parent
    named = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name) and node.id == "ATTRIBUTES_DOCUMENT":
                named.add(path.relative_to(package).as_posix())
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Attributes":
                named.add(path.relative_to(package).as_posix())
    assert named == {"_nodes/attributes.py", "_stores/keys.py"}
