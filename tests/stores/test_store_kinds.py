"""Every public function that takes a store takes every kind of it that `open` takes.

The functions are found by their parameters, in every public module: a new one is asked here, too.
"""

from __future__ import annotations

import gc
import inspect
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from store_functions import CALLS, FUNCTIONS, OTHERS, SIX, SPECIAL, public
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


def filled(kind: str, folder: Path) -> Any:
    """A place with a consolidated group of v2 and an array in it."""
    folder.mkdir(parents=True)
    place = KINDS[kind](folder)
    root = zarr.open_group(place, mode="w")
    root.create_dataset("a", data=SIX, chunks=2)
    zarr.consolidate_metadata(root.store)
    if "archive" in kind:
        root.store.close()
    return place


def outcome(name: str, kind: str, folder: Path) -> tuple[str, dict[str, bytes]]:
    """The class of the result, and the stored keys afterwards."""
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


@pytest.fixture(scope="module")
def _little_garbage() -> None:
    """What lives by now is not looked at when garbage is collected, which would take 0.2 s."""
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("_little_garbage")
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
