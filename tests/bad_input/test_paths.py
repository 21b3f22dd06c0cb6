"""Paths with nothing there, with something else there, and out of the store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

from bad_input.refusing import Case, at, cases, refused, root_group

MISSING: dict[str, Case] = {
    "open r": (lambda f: zarr.open(str(f / "no.zarr"), "r"), FileNotFoundError, ("no.zarr",)),
    "open r+": (lambda f: zarr.open(str(f / "no.zarr"), "r+"), KeyError, ("no.zarr",)),
    "open below": (lambda f: zarr.open(at(f, "g/no"), "r"), ValueError, ("g/no",)),
    "open by path": (lambda f: zarr.open(at(f), "r", path="no"), FileNotFoundError, ("no",)),
    "array r": (lambda f: zarr.open_array(str(f / "no"), "r"), FileNotFoundError, ("no array",)),
    "array r+": (lambda f: zarr.open_array(str(f / "no"), "r+"), ValueError, ("no array",)),
    "group r": (lambda f: zarr.open_group(str(f / "no"), "r"), FileNotFoundError, ("no group",)),
    "group r+": (lambda f: zarr.open_group(str(f / "no"), "r+"), ValueError, ("no group",)),
    "load": (lambda f: zarr.load(str(f / "no.zarr")), FileNotFoundError, ("no.zarr",)),
    "Array": (lambda f: zarr.Array(str(f / "no")), FileNotFoundError, ("no array",)),
    "Group": (lambda f: zarr.Group(str(f / "no")), FileNotFoundError, ("no group",)),
    "member": (lambda f: zarr.open(at(f))["no"], KeyError, ("no",)),
    "deep member": (lambda f: zarr.open(at(f))["g/no/b"], KeyError, ("g/no/b",)),
    "member of an array": (lambda f: zarr.open(at(f))["a/b"], KeyError, ("a/b",)),
    "attribute of a group": (lambda f: zarr.open(at(f)).nothing, AttributeError, ("nothing",)),
    "delete": (lambda f: zarr.open(at(f)).__delitem__("no"), KeyError, ("no",)),
    "move": (lambda f: zarr.open(at(f)).move("no", "elsewhere"), ValueError, ("no",)),
    "a file": (
        lambda f: zarr.open(at(f, "a/.zarray"), "r"),
        NotADirectoryError,
        (".zarray", "is a file"),
    ),
}


@cases(MISSING)
def test_a_path_with_nothing_there_is_named(
    folder: Path, call: Callable[[Path], Any], kind: type[Exception], words: tuple[str, ...]
) -> None:
    with refused(folder, kind, *words):
        call(folder)


WRONG_KIND: dict[str, Case] = {
    **{
        f"open_array {mode} of a group": (
            lambda f, mode=mode: zarr.open_array(at(f), mode, shape=3),
            ValueError,
            ("x.zarr", "group"),
        )
        for mode in ("r", "r+", "a", "w-")
    },
    **{
        f"open_group {mode} of an array": (
            lambda f, mode=mode: zarr.open_group(at(f, "a"), mode),
            ValueError,
            ("x.zarr/a", "array"),
        )
        for mode in ("r", "r+", "a", "w-")
    },
    "Array of a group": (lambda f: zarr.Array(at(f, "g")), ValueError, ("is a group",)),
    "Group of an array": (lambda f: zarr.Group(at(f, "a")), ValueError, ("contains an array",)),
    "open w- of a group": (lambda f: zarr.open(at(f), "w-"), ValueError, ("contains a group",)),
    "open w- of an array": (
        lambda f: zarr.open(at(f, "a"), "w-", shape=3),
        ValueError,
        ("contains an array",),
    ),
    "create on an array": (
        lambda f: zarr.create(3, store=at(f, "a")),
        ValueError,
        ("contains an array", "overwrite"),
    ),
    "create_dataset on an array": (
        lambda f: root_group(f).create_dataset("a", shape=3),
        ValueError,
        ("contains an array", "overwrite"),
    ),
    "create_dataset on a group": (
        lambda f: root_group(f).create_dataset("g", shape=3),
        ValueError,
        ("contains a group",),
    ),
    "create_group on an array": (
        lambda f: root_group(f).create_group("a"),
        ValueError,
        ("contains an array",),
    ),
    "create_group twice": (
        lambda f: root_group(f).create_group("g"),
        ValueError,
        ("contains a group",),
    ),
    "create_dataset below an array": (
        lambda f: root_group(f).create_dataset("a/below/it", shape=3),
        ValueError,
        ("x.zarr/a", "is an array"),
    ),
    "create_group below an array": (
        lambda f: root_group(f).create_group("a/below"),
        ValueError,
        ("x.zarr/a", "is an array"),
    ),
    "require_group of an array": (
        lambda f: root_group(f).require_group("a"),
        ValueError,
        ("contains an array",),
    ),
    "require_dataset of another shape": (
        lambda f: root_group(f).require_dataset("a", shape=(6, 11), dtype="i4"),
        TypeError,
        ("(6, 11)", "(6, 10)"),
    ),
    "require_dataset of another dtype": (
        lambda f: root_group(f).require_dataset("a", shape=(6, 10), dtype="i2"),
        TypeError,
        ("int16", "int32"),
    ),
    "mode": (lambda f: zarr.open(at(f), "rw"), ValueError, ("'rw'", "'r+'")),
    "mode of an array": (lambda f: zarr.open_array(at(f, "a"), "q"), ValueError, ("'q'", "'w-'")),
}


@cases(WRONG_KIND)
def test_an_array_is_no_group_and_a_group_no_array(
    folder: Path, call: Callable[[Path], Any], kind: type[Exception], words: tuple[str, ...]
) -> None:
    with refused(folder, kind, *words):
        call(folder)


HOSTILE = {
    "parent": "../y",
    "parent inside": "g/../../y",
    "current": "./../y",
    "NUL": "g\0y",
    "backslashes": "..\\y",
}
USES: dict[str, Callable[[Path, str], Any]] = {
    "open": lambda f, path: zarr.open(at(f), "a", path=path, shape=3),
    "open_group": lambda f, path: zarr.open_group(at(f), "w", path=path),
    "create": lambda f, path: zarr.create(3, store=at(f), path=path),
    "member": lambda f, path: root_group(f)[path],
    "create_group": lambda f, path: root_group(f).create_group(path),
    "create_dataset": lambda f, path: root_group(f).create_dataset(path, shape=3),
    "move": lambda f, path: root_group(f).move("a", path),
    "delete": lambda f, path: root_group(f).__delitem__(path),
    "store get": lambda f, path: zarr.DirectoryStore(at(f))[path],
    "store set": lambda f, path: zarr.DirectoryStore(at(f)).__setitem__(path, b"x"),
    "store delete": lambda f, path: zarr.DirectoryStore(at(f)).__delitem__(path),
    "save": lambda f, path: zarr.save(at(f), np.ones(3), path=path),
    "copy": lambda f, path: zarr.copy(root_group(f)["a"], root_group(f), name=path),
}


@pytest.mark.parametrize("path", HOSTILE.values(), ids=[name.replace(" ", "-") for name in HOSTILE])
@pytest.mark.parametrize("use", USES.values(), ids=[name.replace(" ", "-") for name in USES])
def test_a_path_that_leaves_the_store_is_refused(
    folder: Path, use: Callable[[Path, str], Any], path: str
) -> None:
    (folder / "y").mkdir()
    (folder / "y" / ".zarray").write_text("not ours")
    with refused(folder, ValueError):
        use(folder, path)
