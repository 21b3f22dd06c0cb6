"""Names of arrays and groups: what any may be called, what none may, and what only warns."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import InvalidKeyError

NAMES = (
    "a b",
    " ",
    "a.b",
    ".hidden",
    "x.y.z",
    "漢字",
    "\u00e9",
    "e\u0301",
    "%41",
    "a\nb",
    "\U0001f600",
)
KINDS = ("folder", "memory", "mapping", "zip")


def store_of(kind: str, tmp_path: Path) -> Any:
    if kind == "mapping":
        return {}
    if kind == "memory":
        return zarr.MemoryStore()
    if kind == "zip":
        return zarr.ZipStore(str(tmp_path / "x.zip"))
    return str(tmp_path / "x")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_names_with_dots_spaces_and_unicode_are_names(
    kind: str, zarr_format: int, tmp_path: Path
) -> None:
    g = zarr.open_group(store_of(kind, tmp_path), mode="w", zarr_format=zarr_format)
    for i, name in enumerate(NAMES):
        inner = g.create_group(name)
        inner[name] = np.arange(i, i + 3)
    assert sorted(g) == sorted(NAMES)
    for i, name in enumerate(NAMES):
        assert name in g
        assert list(g[name]) == [name]
        z = g[f"{name}/{name}"]
        assert (z.basename, z.path) == (name, f"{name}/{name}")
        assert z[:].tolist() == [i, i + 1, i + 2]
    if kind != "zip":
        for name in NAMES:
            del g[name]
        assert list(g) == []


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "...",
        "a/../b",
        "x\0",
        "c.partial",
        "c.partial/d",
        "zarr.json",
        ".zarray",
        ".zgroup",
    ],
)
def test_names_that_mean_something_else_are_refused(
    name: str, zarr_format: int, tmp_path: Path
) -> None:
    root = tmp_path / "x"
    g = zarr.open_group(str(root), mode="w", zarr_format=zarr_format)
    g.create_group("a")
    before = sorted(root.rglob("*"))
    makers: list[Any] = [
        lambda: g.create_group(name),
        lambda: g.require_group(name),
        lambda: g.create_dataset(name, shape=3),
        lambda: g.create_array(name, shape=3, dtype="f4"),
        lambda: g.__setitem__(name, np.ones(3)),
        lambda: zarr.save(str(root), np.ones(3), path=name),
        lambda: zarr.open_group(str(root), mode="a", path=name, zarr_format=zarr_format),
    ]
    for make in makers:
        with pytest.raises(InvalidKeyError, match="segment"):
            make()
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("name", ["", "/", "//"])
def test_an_empty_name_is_the_group_itself_and_never_replaces_it(name: str) -> None:
    g = zarr.group()
    g.create_group("a")
    for make in (g.create_group, lambda name: g.create_dataset(name, shape=3)):
        with pytest.raises(zarr.errors.InvalidKeyError, match="names the group"):
            make(name)
    assert list(g) == ["a"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_creating_a_reserved_name_warns_and_opening_one_does_not(
    zarr_format: int, tmp_path: Path
) -> None:
    """xarray writes such names."""
    path = str(tmp_path / "x")
    g = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    makers: list[Any] = [
        lambda: g.create_group("__a"),
        lambda: g.create_dataset("__b", data=np.arange(3)),
        lambda: g.create_array("__c", shape=3, dtype="f4"),
        lambda: g.create_dataset("__d/e", shape=3),
    ]
    for make in makers:
        with pytest.warns(UserWarning, match="names that begin with '__' are reserved"):
            make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = zarr.open_group(path, mode="r+")
        assert sorted(again) == ["__a", "__b", "__c", "__d"]
        assert again["__b"][:].tolist() == [0, 1, 2]
        again["__d/f"] = np.ones(2)
        again["__d"].create_group("a__")
        del again["__d"]
        assert sorted(zarr.open_group(path, mode="r")) == ["__a", "__b", "__c"]


def test_groups_of_format_2_without_a_document_are_passed_through_and_can_be_made(
    tmp_path: Path,
) -> None:
    """As in zarr 2: what lies below opens by its path, the group itself once it is made."""
    root = str(tmp_path / "x")
    zarr.create(store=root, path="g/h/a", shape=3, zarr_format=2)[...] = 7
    os.remove(tmp_path / "x/g/.zgroup")
    os.remove(tmp_path / "x/g/h/.zgroup")
    r = zarr.open_group(root, mode="r+")
    assert r["g/h/a"][:].tolist() == [7, 7, 7]
    assert zarr.open(root, mode="r", path="g/h/a")[0] == 7
    assert "g" not in r
    assert list(r) == []
    assert list(r.require_group("g/h")) == ["a"]
    assert list(r) == ["g"]
    assert r["g"]["h"]["a"][0] == 7


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", ["folder", "memory", "mapping"])
def test_an_array_over_a_group_and_a_group_over_an_array_leave_nothing_behind(
    kind: str, zarr_format: int, tmp_path: Path
) -> None:
    g = zarr.open_group(store_of(kind, tmp_path), mode="w", zarr_format=zarr_format)
    g.create_group("n").create_dataset("old", data=np.arange(8), chunks=2)
    g.create_dataset("n", data=np.arange(6), chunks=3, overwrite=True)
    assert "n/old" not in g
    assert g["n"][:].tolist() == [0, 1, 2, 3, 4, 5]
    g.create_dataset("n", shape=6, chunks=3, dtype="i4", fill_value=9, overwrite=True)
    assert g["n"][:].tolist() == [9] * 6
    n = g.create_group("n", overwrite=True)
    assert (list(n), [key for key in g.store if key.startswith("n/")]) == ([], [f"n/{document(g)}"])
    with pytest.raises(zarr.errors.ContainsGroupError):
        g.create_dataset("n", shape=3)
    g.create_dataset("m", data=np.arange(3))
    with pytest.raises(zarr.errors.ContainsArrayError):
        g.create_group("m/below")
    assert g["m"][:].tolist() == [0, 1, 2]
    del g["m"], g["n"]
    assert list(g.store) == [document(g)]


def document(g: zarr.Group) -> str:
    """The key of a group's document."""
    return ".zgroup" if g.zarr_format == 2 else "zarr.json"
