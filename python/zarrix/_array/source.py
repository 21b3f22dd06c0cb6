"""The initial data of a new array, which may be computed of stored arrays that it replaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._nodes.location import Location
from zarrix._stores.overlap import relation

__all__ = ["safe_source", "stored_arrays"]

# What a task of dask, a literal in a graph, and a layer for blocks that are alike, have inside.
_OF_TASKS = ("task", "args", "kwargs", "value")
# Lazy arrays and variables of xarray, and views of zarrix.
_OF_WRAPPERS = ("variable", "_data", "array", "_array")


def safe_source(data: Any, location: Location) -> Any:
    """``data`` as an array; loaded into memory, if clearing the location would delete it."""
    if not hasattr(data, "shape"):
        return np.asanyarray(data)
    written = [(store, location.path) for store in (location.store, location.chunks)]
    for source in stored_arrays(data):
        stores = source._stores() if isinstance(source, Array) else [source.store]
        if any(
            relation(*target, store, source.path) in ("same", "around")
            for target in written
            for store in stores
        ):
            return data[...] if data is source else np.asarray(data)
    return data


def stored_arrays(value: Any) -> Iterator[Any]:
    """The arrays of zarrix and of zarr-python that a lazy value is computed of.

    They are found in graphs of dask, and in the wrappers of xarray; arrays that a function opens by
    itself in a task are not.
    """
    waiting = [value]
    # Values hold each other in circles, and graphs have one value in many tasks.
    seen: dict[int, Any] = {}
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, Array) or _is_of_zarr_python(one):
            yield one
        else:
            waiting.extend(_inside(one))


def _is_of_zarr_python(one: Any) -> bool:
    is_theirs = type(one).__module__.partition(".")[0] == "zarr"
    return is_theirs and hasattr(one, "store") and isinstance(getattr(one, "path", None), str)


def _inside(one: Any) -> Iterable[Any]:
    if isinstance(one, list | tuple | set):
        return one
    package = type(one).__module__.partition(".")[0]
    if package == "dask":
        return _inside_dask(one)
    if isinstance(one, Mapping):
        return list(one.values())
    if package in ("xarray", "zarrix"):
        return [getattr(one, name) for name in _OF_WRAPPERS if hasattr(one, name)]
    return ()


def _inside_dask(one: Any) -> list[Any]:
    graph = getattr(one, "__dask_graph__", None)
    if graph is not None:
        return [graph()]
    if hasattr(one, "layers"):
        return list(one.layers.values())
    if hasattr(one, "indices"):
        # One task stands for all blocks of the layer, whose values would be a task each.
        return [one.task, *(source for source, _ in one.indices)]
    if isinstance(one, Mapping):
        return list(one.values())
    return [getattr(one, name) for name in _OF_TASKS if hasattr(one, name)]
