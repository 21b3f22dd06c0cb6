"""A mapping of str to bytes-like, as the engine calls it.

The engine reads and writes single values by item access. This class has the calls for many keys. A
`KeyError` means that a value is missing; every other error of a mapping is raised.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._stores.values import Values

__all__ = ["MappingValues", "engine_of", "listed_keys"]


class _ListedKeys(threading.local):
    """For each thread: all keys, sorted, of the mappings that it has listed for a walk."""

    def __init__(self) -> None:
        self.by_values: dict[int, list[str]] = {}


listed_keys = _ListedKeys()
"""Set by `zarrix._stores.listed_once`, so that a walk is not quadratic."""


class MappingValues(Values):
    """The values of a mapping.

    Parameters
    ----------
    mapping : MutableMapping
        Many values are asked for at once by a ``getitems`` of fsspec, which tells absence from
        failure, or of a store for zarr 2.18, which leaves out keys that are not stored.
    """

    def __init__(self, mapping: MutableMapping[str, Any]) -> None:
        self._mapping = mapping
        getitems = getattr(mapping, "getitems", None)
        self._takes_contexts = getitems is not None and _is_of_zarr_2(getitems)
        self._fetches_many = self._takes_contexts or (
            getitems is not None and hasattr(mapping, "fs")
        )

    def _read(self, key: str) -> Any:
        try:
            return _given(self._mapping[key])
        except KeyError:
            return None

    def _fetch(self, keys: Sequence[str]) -> list[Any]:
        # A mapping need not have it; this one does.
        getitems: Callable[..., Mapping[str, Any]] = self._mapping.getitems  # type: ignore[attr-defined]
        if self._takes_contexts:
            stored = getitems(keys, contexts={})
            return [_given(stored[key]) if key in stored else None for key in keys]
        found = getitems(keys, on_error="return")
        return [None if isinstance(found[key], KeyError) else _given(found[key]) for key in keys]

    def _size(self, key: str) -> int | None:
        value = self._read(key)
        if value is None or isinstance(value, bytes):
            return None if value is None else len(value)
        return int(value.nbytes) if isinstance(value, np.ndarray) else memoryview(value).nbytes

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        # The engine puts values itself; here a rename moves one as the mapping gave it.
        self._mapping[key] = value.tobytes() if isinstance(value, np.ndarray) else bytes(value)

    def _drop(self, key: str, fsync: bool) -> bool:
        try:
            del self._mapping[key]
        except KeyError:
            return False
        except Exception:
            # fsspec's mappings raise what their file system raises for a missing file.
            if key in self._mapping:
                raise
            return False
        return True

    def _list(self, prefix: str) -> list[str]:
        known = listed_keys.by_values.get(id(self))
        if known is not None:
            # "0" is the character behind "/".
            first, last = f"{prefix}/", f"{prefix}0"
            return known[bisect_left(known, first) : bisect_left(known, last)] if prefix else known
        # `list(mapping)` would also call `len`, which some mappings compute by listing.
        keys = [*iter(self._mapping)]
        return [key for key in keys if str.startswith(key, f"{prefix}/")] if prefix else keys


def _is_of_zarr_2(getitems: Callable[..., Any]) -> bool:
    """Whether the method is a user's with the ``contexts`` of zarr 2.18.

    The one that every store of this package has asks for one value after the other.
    """
    function = getattr(getitems, "__func__", getitems)
    if getattr(function, "__module__", "zarrix").partition(".")[0] == "zarrix":
        return False
    code = getattr(function, "__code__", None)
    return code is not None and "contexts" in code.co_varnames


def _given(value: Any) -> Any:
    """A value of a mapping, of which None would mean a missing value to the engine."""
    if value is None:
        raise TypeError("a bytes-like object is required, not 'NoneType'")
    return value


def engine_of(
    mapping: MutableMapping[str, Any], identity: str | None = None, path: str | None = None
) -> _engine.PythonStore:
    """The engine store of a mapping.

    Two stores of one mapping exclude each other's writers. So do two stores of one ``identity``,
    such as a file system, where ``path`` and key name the same file.
    """
    return _engine.PythonStore(
        MappingValues(mapping), None, identity or f"mapping {id(mapping):#x}", path
    )
