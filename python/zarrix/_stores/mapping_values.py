"""A mapping of str to bytes-like, as the engine calls it.

The engine reads and writes single values by item access. This class has the calls for many keys. A
`KeyError` means that a value is missing; every other error of a mapping is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._stores.values import Values

__all__ = ["MappingValues", "engine_of"]


class MappingValues(Values):
    """The values of a mapping.

    Parameters
    ----------
    mapping : MutableMapping
        With fsspec's ``getitems``, which tells absence from failure, many values are asked for at
        once.
    """

    def __init__(self, mapping: MutableMapping[str, Any]) -> None:
        self._mapping = mapping
        self._fetches_many = hasattr(mapping, "getitems") and hasattr(mapping, "fs")

    def _read(self, key: str) -> Any:
        try:
            return _given(self._mapping[key])
        except KeyError:
            return None

    def _fetch(self, keys: Sequence[str]) -> list[Any]:
        found: Mapping[str, Any] = self._mapping.getitems(keys, on_error="return")  # type: ignore[attr-defined]
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
        # `list(mapping)` would also call `len`, which some mappings compute by listing.
        keys = [*iter(self._mapping)]
        return [key for key in keys if str.startswith(key, f"{prefix}/")] if prefix else keys


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
