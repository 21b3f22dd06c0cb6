"""The location of a node: the store, path and format of a call, resolved once.

Every public function that takes a store creates one `Location` and passes it on. The functions
below take nothing else, so that store, path and format are resolved once per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.on_demand import on_demand
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.mapping import KVStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import StorePath, normalize_storage_path

__all__ = ["Found", "Location", "in_memory"]


class Location(NamedTuple):
    """A store, a path in it, and the format of the node.

    Attributes
    ----------
    store : Store
    path : str
        Normalized; empty for the root.
    zarr_format : {2, 3} or None
        None for either format.
    chunk_store : Store or None
        The store of the chunks, if it is not ``store``.
    """

    store: Store
    path: str = ""
    zarr_format: Format | None = None
    chunk_store: Store | None = None

    @classmethod
    def of(
        cls,
        store: Any,
        path: Any = None,
        zarr_version: Any = None,
        zarr_format: Any = None,
        *,
        chunk_store: Any = None,
        storage_options: Mapping[str, Any] | None = None,
        chunk_options: Mapping[str, Any] | None = None,
        durability: str | None = None,
        version: str | None = None,
    ) -> Location:
        """The location for these arguments of a public function.

        A location instead of a store is returned as it is, and so is that of a `Found`. A
        `StorePath` has a part of the path. With ``version``, the location is in that version.
        """
        if version is not None:
            store, path = on_demand("at_version")(store, path, version, storage_options)
            storage_options = None
        if type(store) is Location:
            return store
        if type(store) is Found:
            return store.location
        if isinstance(store, StorePath):
            path = key_of(normalize_storage_path(store.path), normalize_storage_path(path))
            store = store.store
        return cls(
            as_store(store, storage_options, durability),
            "" if path is None else normalize_storage_path(path),
            None
            if zarr_version is None and zarr_format is None
            else nodes.check_format(zarr_version, zarr_format),
            None if chunk_store is None else as_store(chunk_store, chunk_options),
        )

    @property
    def chunks(self) -> Store:
        """The store of the chunks."""
        return self.store if self.chunk_store is None else self.chunk_store

    def find(self) -> nodes.Node | None:
        """The node at the location; None if there is none."""
        return nodes.find(self.store, self.path, self.zarr_format)

    def at(self, path: str, zarr_format: Format | None) -> Location:
        """Another path in the same stores."""
        return Location(self.store, path, zarr_format, self.chunk_store)

    def choose_format(self, default: Format, word: str | None = None) -> Location:
        """The same with the format of a new node; see `nodes.choose_format`."""
        chosen = nodes.choose_format(self.store, self.path, self.zarr_format, default, word)
        return self.at(self.path, chosen)

    def describe(self) -> str:
        """The location, for messages."""
        return nodes.describe(self.store, self.path)


class Found(NamedTuple):
    """A location and the node that was found there, which is not to be looked up again: functions
    that open nodes take it in place of a store.
    """

    location: Location
    node: nodes.Node


def in_memory() -> Store:
    """The store where none is passed: one in memory, under 2.18's name for it."""
    return KVStore(MemoryStore())
