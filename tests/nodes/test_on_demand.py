"""What arrays and groups give but are not built on is imported when first asked for."""

import importlib
from pathlib import Path

import pytest
import zarrix as zarr
from zarrix._nodes.on_demand import HOMES, on_demand

# The packages that the modules of these names need.
NEEDS = {"data_array": "xarray.backends", "dataset": "xarray.backends", "widget_of": "anywidget"}


@pytest.mark.parametrize("name", HOMES)
def test_a_name_is_found_in_the_module_that_defines_it(name: str) -> None:
    pytest.importorskip(NEEDS.get(name, "zarrix"))
    found = on_demand(name)
    assert found is getattr(importlib.import_module(HOMES[name]), name)
    assert found.__name__ == name


def test_an_array_gives_its_group_and_both_give_their_asynchronous_counterparts() -> None:
    z = zarr.group().create_dataset("a/b", shape=3)
    assert z.parent == zarr.open_group(z.store, path="a")
    assert z.async_array.array == z
    assert z.file.async_group.group == z.file


def test_the_page_of_the_design_counts_the_names() -> None:
    page = (Path(__file__).parents[2] / "docs/design.md").read_text(encoding="utf-8")
    number = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    assert f" and {number[len(HOMES)]} names that a node gives its user" in " ".join(page.split())
