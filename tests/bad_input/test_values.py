"""Values and selections that do not fit, and arrays that are open for reading."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

from bad_input.refusing import NUMBERS, Case, array_of, at, cases, refused

VALUES: dict[str, Case] = {
    "too long": (
        lambda f: array_of(f).__setitem__(slice(0, 2), np.ones((2, 11))),
        ValueError,
        ("(2, 11)", "(2, 10)"),
    ),
    "too many axes": (
        lambda f: array_of(f).__setitem__(0, np.ones((2, 10))),
        ValueError,
        ("(2, 10)", "(10,)"),
    ),
    "text": (lambda f: array_of(f).__setitem__(0, "many"), ValueError, ("many",)),
    "ragged": (lambda f: array_of(f).__setitem__(slice(0, 2), [[1], [2, 3]]), ValueError, ()),
    "an object": (lambda f: array_of(f).__setitem__(0, object()), TypeError, ()),
    "too large": (lambda f: array_of(f).__setitem__(0, 2**40), OverflowError, ()),
    "append of another width": (
        lambda f: array_of(f).append(np.ones((2, 9))),
        ValueError,
        ("(2, 9)", "(6, 10)"),
    ),
    "append along no axis": (
        lambda f: array_of(f).append(np.ones((2, 10)), axis=2),
        ValueError,
        ("axis 2",),
    ),
    "resize to another rank": (lambda f: array_of(f).resize(3), ValueError, ("2",)),
    "resize below zero": (lambda f: array_of(f).resize(-1, 10), ValueError, ("-1",)),
    "out of another shape": (
        lambda f: array_of(f).get_basic_selection(0, out=np.empty(9, "i4")),
        ValueError,
        ("(9,)", "(10,)"),
    ),
    "out of another dtype": (
        lambda f: array_of(f).get_basic_selection(0, out=np.empty(10, "f8")),
        ValueError,
        ("float64", "int32"),
    ),
}


@cases(VALUES)
def test_a_value_that_does_not_fit_is_refused(
    folder: Path, call: Callable[[Path], Any], kind: type[Exception], words: tuple[str, ...]
) -> None:
    with refused(folder, kind, *words):
        call(folder)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (6, ("index 6", "axis 0", "size 6")),
        (-7, ("index -7", "axis 0", "size 6")),
        ((0, 10), ("index 10", "axis 1", "size 10")),
        ((slice(None), -11), ("index -11", "axis 1", "size 10")),
        ((..., 10), ("index 10", "axis 1", "size 10")),
        ((0, 0, 0), ("2 axes", "3")),
        ((..., 0, ...), ("Ellipsis",)),
        (1.5, ("1.5", "axis 0")),
        (True, ("True", "axis 0")),
        ("name", ("'name'",)),
        ({}, ("{}", "axis 0")),
    ],
    ids=repr,
)
def test_an_index_out_of_range_names_axis_index_and_size(
    folder: Path, key: Any, words: tuple[str, ...]
) -> None:
    with refused(folder, IndexError, *words):
        array_of(folder)[key]
    with refused(folder, IndexError, *words):
        array_of(folder)[key] = 1


READ_ONLY: dict[str, Callable[[Any, Any], Any]] = {
    "assign": lambda _, z: z.__setitem__(0, 1),
    "assign with a bad value": lambda _, z: z.__setitem__(0, np.ones(99)),
    "set_basic_selection": lambda _, z: z.set_basic_selection(..., 1),
    "resize": lambda _, z: z.resize(1, 1),
    "append": lambda _, z: z.append(NUMBERS),
    "shape": lambda _, z: setattr(z, "shape", (1, 1)),
    "array attribute": lambda _, z: z.attrs.__setitem__("unit", "km"),
    "delete an array attribute": lambda _, z: z.attrs.__delitem__("unit"),
    "group attribute": lambda group, _: group.attrs.update(title="lost"),
    "clear attributes": lambda group, _: group.attrs.clear(),
    "create_group": lambda group, _: group.create_group("new"),
    "require_group": lambda group, _: group.require_group("new"),
    "create_dataset": lambda group, _: group.create_dataset("new", shape=3),
    "require_dataset": lambda group, _: group.require_dataset("new", shape=3),
    "array": lambda group, _: group.array("new", NUMBERS),
    "zeros": lambda group, _: group.zeros("new", shape=3),
    "assign a member": lambda group, _: group.__setitem__("new", NUMBERS),
    "delete": lambda group, _: group.__delitem__("a"),
    "clear": lambda group, _: group.clear(),
    "pop": lambda group, _: group.pop("a"),
    "move": lambda group, _: group.move("a", "b"),
    "copy": lambda group, z: zarr.copy(z, group, name="new"),
    "copy_all": lambda group, _: zarr.copy_all(group["g"], group),
    "through a member": lambda group, _: group["g/b"].__setitem__(0, 1),
}


@pytest.mark.parametrize("change", READ_ONLY.values(), ids=[n.replace(" ", "-") for n in READ_ONLY])
def test_what_is_open_for_reading_refuses_every_change(
    folder: Path, change: Callable[[Any, Any], Any]
) -> None:
    group = zarr.open(at(folder), mode="r")
    for kind in (PermissionError, zarr.errors.ReadOnlyError):
        with refused(folder, kind, "read-only"):
            change(group, group["a"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_a_permission_error(folder: Path) -> None:
    os.chmod(at(folder, "a"), 0o500)
    try:
        with refused(folder, PermissionError):
            array_of(folder)[0] = 1
    finally:
        os.chmod(at(folder, "a"), 0o700)
