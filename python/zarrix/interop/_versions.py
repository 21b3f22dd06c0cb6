"""Which versions of zarr-python `accelerate` knows, and how it tries a newer one.

Kinds of results have changed between versions: ``z[0]`` was a scalar once and is an array without
axes now. The calls here depend on all that has changed so far.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np

__all__ = ["answers", "is_known", "refuse_old"]

_FIRST = (3, 4)
_KNOWN = (3, 4)


def refuse_old() -> None:
    """Raise RuntimeError for a zarr-python older than the first that is known."""
    if _version() < _FIRST:
        raise RuntimeError(
            f"accelerate() needs zarr-python {_FIRST[0]}.{_FIRST[1]} or newer; "
            f"{importlib.import_module('zarr').__version__} is installed"
        )


def is_known() -> bool:
    """Whether the results of the installed version were compared by the tests of zarrix."""
    return _version() == _KNOWN


def _version() -> tuple[int, int]:
    numbers = re.findall(r"\d+", importlib.import_module("zarr").__version__)
    return int(numbers[0]), int(numbers[1])


def answers() -> list[Any]:
    """What a few calls of each kind return: types, shapes and values."""
    zarr = importlib.import_module("zarr")
    found: list[Any] = []
    for zarr_format in (2, 3):
        for shape in ((5, 6), (5,), ()):
            array = zarr.create_array(
                zarr.storage.MemoryStore(),
                shape=shape,
                chunks=tuple(2 for _ in shape),
                dtype="i4",
                zarr_format=zarr_format,
            )
            array[...] = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
            found += [_described(array, name, key) for name, key in _calls(len(shape))]
    return found


def _calls(ndim: int) -> list[tuple[str, Any]]:
    first, two = (0,) * ndim, (slice(1, 3),) * ndim
    calls: list[tuple[str, Any]] = [("__getitem__", key) for key in (first, two, ...)]
    calls += [("get_basic_selection", key) for key in (first, two, ...)]
    if ndim:
        lists = ([3, 1],) * ndim
        calls += [
            ("__getitem__", key) for key in (1, np.int64(1), [3, 1], (*first[1:], np.int64(1)))
        ]
        calls += [("get_orthogonal_selection", key) for key in (first, two, lists)]
        calls += [("get_coordinate_selection", key) for key in (first, lists)]
        calls += [("get_block_selection", key) for key in (first, 1)]
    return calls


def _described(array: Any, name: str, key: Any) -> Any:
    try:
        found = getattr(array, name)(key)
    except Exception as error:
        return type(error)
    return type(found), np.shape(found), np.asarray(found).tolist()
