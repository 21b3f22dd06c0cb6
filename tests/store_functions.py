"""The public functions that take a store, and with what else each is called.

The functions are found by their parameters, in every public module, so that a new one is
tested too.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import zarrix as zarr

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
    "sync_store": lambda store: (zarr.sync_store(store, {}), zarr.sync_store({"k": b""}, store)),
    "save": lambda store: zarr.save(store, SIX, path="new"),
    "save_group": lambda store: zarr.save_group(store, SIX, path="new"),
}
# For groups and arrays of any library, for files of other formats, for folders only, and for stores
# that tell versions of values.
OTHERS = {"build_index", "copy", "copy_all", "tree", "import_", "export", "snapshot"}
# Packages above the house, which resolve what they are given by `zarrix.open`, and whose names
# are also names of other functions. Their own tests pass them stores.
DOORS = ("convert", "dask", "interop", "jobs", "ml", "xarray")


def modules() -> Iterator[Any]:
    """The public modules of the package."""
    yield zarr
    for found in pkgutil.walk_packages(zarr.__path__, "zarrix."):
        if found.name == "zarrix.as_zarr":
            continue  # Importing it would install the alias in this process.
        parts = found.name.split(".")
        hidden = parts[1] in DOORS or any(part.startswith("_") for part in parts)
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
