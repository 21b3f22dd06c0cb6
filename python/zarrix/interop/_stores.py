"""The engine's store for a store of zarr-python 3.

Stores of local files, fsspec, obstore and `ZarrStore` are the engine's own. A store in memory is a
mapping. Icechunk's store is called, by many requests at once. Every other store, and every subclass
of these, is left to zarr-python: its methods may do anything, and may belong to an event loop.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Any

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.mapping import KVStore
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.open import as_store
from zarrix._stores.sites import Site

__all__ = ["store_of"]

_SERVED = frozenset(
    {
        ("zarrix.interop", "ZarrStore"),
        ("zarr.storage._local", "LocalStore"),
        ("zarr.storage._fsspec", "FsspecStore"),
        ("zarr.storage._obstore", "ObjectStore"),
        ("icechunk.store", "IcechunkStore"),
    }
)
_IN_MEMORY = frozenset({"MemoryStore", "ManagedMemoryStore"})


def store_of(store: Any) -> Store | None:
    """The store of zarrix with the values of ``store``; None if it is not one of those served."""
    kind = type(store)
    found: Store | None = None
    if any(callable(getattr(kind, name, None)) for name in store.__dict__):
        # A method was replaced in the instance, by a test or a tool.
        found = None
    elif (kind.__module__, kind.__name__) in _SERVED:
        found = as_store(store)
    elif kind.__module__.startswith("zarr.storage.") and kind.__name__ in _IN_MEMORY:
        found = _BufferStore(store)
    return found


class _Buffers(MutableMapping[str, Any]):
    """The dictionary of a store in memory, whose values are buffers of zarr-python."""

    def __init__(self, values: MutableMapping[str, Any]) -> None:
        self._values = values
        self._to_buffer = importlib.import_module("zarr.core.buffer.cpu").Buffer.from_bytes

    def __getitem__(self, key: str) -> Any:
        return self._values[key].as_numpy_array()

    def __setitem__(self, key: str, value: bytes) -> None:
        self._values[key] = self._to_buffer(bytes(value))

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)


class _BufferStore(KVStore):
    """A store in memory of zarr-python. Two of them that share a dictionary share its locks."""

    def __init__(self, store: Any) -> None:
        values = self._values = store._store_dict
        super().__init__(_Buffers(values))
        # A store that is opened by a path in its dictionary has keys below that path.
        self._prefix = getattr(store, "path", "")
        self._shared = f"mapping {id(values):#x}"

    def _open_engine(self) -> _engine.Store:
        return engine_of(self._mutable_mapping, self._shared)

    def _sites(self, path: str) -> list[Site]:
        return of_object(self._values, self.engine_path(path))

    def engine_path(self, path: str) -> str:
        return f"{self._prefix}/{path}".strip("/") if self._prefix else path
