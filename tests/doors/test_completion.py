"""What completion in IPython and editors offers, and what a notebook shows of a lazy view."""

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix._hierarchy.asynchronous import AsyncArray

CLASSES = {
    thing
    for module in (zarr, *(importlib.import_module(f"zarrix.{name}") for name in zarr._MODULES))
    for thing in (getattr(module, name) for name in dir(module))
    if isinstance(thing, type) and thing.__module__.startswith("zarrix")
} | {type(zarr.config), type(zarr.zeros(3).lazy), AsyncArray}


def properties() -> Iterator[tuple[str, Any]]:
    for one in sorted(CLASSES, key=lambda one: one.__qualname__):
        for name, value in inspect.getmembers_static(one):
            if isinstance(value, property) and value.fget is not None:
                yield f"{one.__qualname__}.{name}", value


def test_no_property_is_annotated_with_a_literal_which_ends_completion() -> None:
    """jedi evaluates what properties return, and fails at a Literal for the whole object."""
    literal = re.compile(r"\b(Literal|Format|Order|Mode|Separator|Durability)\b")
    noted = {name: value.fget.__annotations__.get("return", "") for name, value in properties()}
    assert len(noted) > 80
    assert [name for name, one in noted.items() if literal.search(str(one))] == []


def test_keys_of_a_group_are_offered_with_what_is_below_them() -> None:
    g = zarr.group()
    g["lr/rgb"] = np.arange(3)
    g["lr/deep/x"] = np.arange(3)
    g["top"] = np.arange(3)
    offered = g._ipython_key_completions_()
    assert offered[:2] == ["lr", "top"]
    assert set(offered) == {"lr", "top", "lr/rgb", "lr/deep", "lr/deep/x"}


def test_no_more_paths_are_offered_than_can_be_read() -> None:
    g = zarr.group()
    for name in range(40):
        inner = g.create_group(f"{name:02}")
        for below in range(20):
            inner.create_group(f"{below:02}")
    offered = g._ipython_key_completions_()
    assert offered[:40] == list(g)
    assert len(offered) == 500


def test_names_of_fields_and_of_attributes_are_offered() -> None:
    s = zarr.zeros(3, dtype=[("a", "i4"), ("b", "f4")])
    assert s._ipython_key_completions_() == ["a", "b"]
    assert zarr.zeros(3)._ipython_key_completions_() == []
    s.attrs["unit"] = "mm"
    assert s.attrs._ipython_key_completions_() == ["unit"]


def test_a_lazy_view_shows_what_it_is_in_a_notebook_and_reads_nothing() -> None:
    store = zarr.MemoryStore()
    zarr.array(np.arange(6), chunks=3, store=store)
    del store["0"], store["1"]
    html = zarr.open_array(store, mode="r").lazy[1:4]._repr_html_()
    assert "lazy view" in html
    assert "(3,)" in html
    assert "int64" in html
