"""Every public function that takes a store takes every kind of it that `open` takes.

The functions are found by their parameters, in every public module: a new one is asked here, too.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage

_numbers = itertools.count()


def _mapper(folder: Path) -> Any:
    fsspec = pytest.importorskip("fsspec")
    return fsspec.get_mapper(f"memory://zarrix-kinds/{next(_numbers)}")


# What `open` takes, by what it is called here: a new place each.
KINDS: dict[str, Callable[[Path], Any]] = {
    "a path": lambda folder: str(folder / "x.zarr"),
    "a Path": lambda folder: folder / "x.zarr",
    "a path of an archive": lambda folder: str(folder / "x.zip"),
    "a Path of an archive": lambda folder: folder / "x.zip",
    "DirectoryStore": lambda folder: zarr.DirectoryStore(folder / "x.zarr"),
    "LocalStore": lambda folder: storage.LocalStore(folder / "x.zarr"),
    "MemoryStore": lambda folder: zarr.MemoryStore(),
    "a dict": lambda folder: {},
    "KVStore": lambda folder: zarr.KVStore({}),
    "ZipStore": lambda folder: zarr.ZipStore(folder / "x.zip"),
    "SQLiteStore": lambda folder: storage.SQLiteStore(folder / "x.sqlite"),
    "WrapperStore": lambda folder: storage.WrapperStore(zarr.MemoryStore()),
    "memory://": lambda folder: f"memory://kinds-{next(_numbers)}",
    "file://": lambda folder: f"file://{folder}/x.zarr",
    "a mapper of fsspec": _mapper,
}

GROUP_2 = {"zarr_format": 2}
SIX = np.arange(6, dtype="i4")

# What else a function is given.
CALLS: dict[str, dict[str, Any]] = {
    "array": {"data": SIX, "path": "new"},
    "create": {"shape": 6, "path": "new"},
    "create_array": {"name": "new", "shape": 6, "dtype": "i4", "zarr_format": 2},
    "create_group": {"path": "new", "zarr_format": 2},
    "create_hierarchy": {"nodes": {"new": GROUP_2}},
    "empty": {"shape": 6, "path": "new"},
    "empty_like": {"a": SIX, "path": "new"},
    "from_array": {"data": SIX, "name": "new"},
    "full": {"shape": 6, "fill_value": 1, "path": "new"},
    "full_like": {"a": SIX, "fill_value": 1, "path": "new"},
    "init_array": {"shape": 6, "path": "new"},
    "init_group": {"path": "new"},
    "init_store": {"shape": 6, "path": "new"},
    "load": {"path": "a"},
    "ones": {"shape": 6, "path": "new"},
    "ones_like": {"a": SIX, "path": "new"},
    "open_array": {"path": "a"},
    "rename": {"src_path": "a", "dst_path": "b"},
    "rmdir": {"path": "a"},
    "save_array": {"arr": SIX, "path": "new"},
    "zeros": {"shape": 6, "path": "new"},
    "zeros_like": {"a": SIX, "path": "new"},
}
# Where the store is not the keyword "store".
SPECIAL: dict[str, Callable[[Any], Any]] = {
    "check_store": lambda store: None,  # of the conformance suite: every store has its own test
    "copy_store": lambda store: (zarr.copy_store(store, {}), zarr.copy_store({"k": b""}, store)),
    "diff": lambda store: zarr.diff(store, store),
    "open_like": lambda store: zarr.open_like(SIX, store, mode="w"),
    "save": lambda store: zarr.save(store, SIX, path="new"),
    "save_group": lambda store: zarr.save_group(store, SIX, path="new"),
}
# Of groups and arrays of any library.
OTHERS = {"copy", "copy_all", "tree"}


def modules() -> Iterator[Any]:
    """The public modules of the package."""
    yield zarr
    for found in pkgutil.walk_packages(zarr.__path__, "zarrix."):
        hidden = any(part.startswith("_") for part in found.name.split("."))
        if not hidden and not found.name.startswith("zarrix.cli"):
            yield importlib.import_module(found.name)


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Names and functions of the package that a user may call, without those that are awaited."""
    for module in modules():
        for name in {*getattr(module, "__all__", ()), *dir(module)}:
            if name.startswith("_"):
                continue
            try:
                function = getattr(module, name)
            except ImportError:
                continue  # of an extra that is not installed
            is_ours = str(getattr(function, "__module__", "")).startswith("zarrix")
            # What is awaited makes the same calls in threads.
            is_awaited = inspect.iscoroutinefunction(function)
            if inspect.isfunction(function) and is_ours and not is_awaited:
                yield name, function


FUNCTIONS = {
    name: function
    for name, function in public()
    if name not in OTHERS
    and ("store" in inspect.signature(function).parameters or name in {*SPECIAL, *CALLS})
}


def filled(kind: str, folder: Path) -> Any:
    """A place with a consolidated group of format 2 and an array in it."""
    folder.mkdir(parents=True)
    place = KINDS[kind](folder)
    root = zarr.open_group(place, mode="w")
    root.create_dataset("a", data=SIX, chunks=2)
    zarr.consolidate_metadata(root.store)
    if "archive" in kind:
        root.store.close()
    return place


def outcome(name: str, kind: str, folder: Path) -> tuple[str, dict[str, bytes]]:
    """Of what class the result is, and what is stored afterwards."""
    place = filled(kind, folder)
    if name in SPECIAL:
        given = SPECIAL[name](place)
    else:
        given = FUNCTIONS[name](store=place, **CALLS.get(name, {}))
    kept = "Store" if isinstance(given, zarr.storage.Store) else type(given).__name__
    if "archive" in kind:
        # What was written by a path is there when the last handle is gone.
        del given
        gc.collect()
    stored = zarr.storage.as_store(place)
    return kept, {key: bytes(stored[key]) for key in sorted(stored)}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_takes_every_kind_of_store(name: str, tmp_path: Path) -> None:
    expected = outcome(name, "MemoryStore", tmp_path / "expected")
    for kind in KINDS:
        found = outcome(name, kind, tmp_path / kind.replace("/", ""))
        assert found == expected, kind


def test_no_function_that_could_take_a_store_was_overlooked() -> None:
    """One that is added says here how it is called, or that it takes none."""
    known = {*FUNCTIONS, *OTHERS}
    for name, function in public():
        first = next(iter(inspect.signature(function).parameters), "")
        assert name in known or first not in ("store", "source", "dest"), name
    assert {*CALLS, *SPECIAL} <= {*FUNCTIONS}
