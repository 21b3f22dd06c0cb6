"""What all tests share: the switch for long ones, and one fixture per kind of store.

Hypothesis draws the same examples in every run; where ZARRIX_EXPLORE is set, as many others. It has
no deadline: how long an example takes says more about the machine than about the code.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from hypothesis import settings

EXPLORE = os.environ.get("ZARRIX_EXPLORE")

settings.register_profile(
    "zarrix",
    derandomize=EXPLORE is None,
    max_examples=int(EXPLORE or 100),
    deadline=None,
    database=None,
)
settings.load_profile("zarrix")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="minutes long; run with --long"))


@pytest.fixture(params=["directory", "nested", "memory", "dict", "zip"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An empty store of each kind that arrays and groups are used on."""
    kinds: dict[str, Callable[[], Any]] = {
        "directory": lambda: zarr.DirectoryStore(tmp_path / "store.zarr"),
        "nested": lambda: zarr.NestedDirectoryStore(tmp_path / "store.zarr"),
        "memory": zarr.MemoryStore,
        "dict": lambda: zarr.KVStore({}),
        "zip": lambda: zarr.ZipStore(tmp_path / "store.zip"),
    }
    return kinds[request.param]()
