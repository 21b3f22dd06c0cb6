"""Where a node is: what a call names as store, path and format, resolved once.

Every public function that takes a store makes one `Location`, and hands it on. What opens and
creates below takes nothing else, so that a store, a path and a format are looked at once a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from zarrix._metadata.keywords import Format
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.mapping import KVStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path

__all__ = ["Location", "in_memory"]


class Location(NamedTuple):
    """A store, a path in it, and the format of the node that is looked for.

    Attributes
    ----------
    store : Store
    path : str
        Normalized; empty for the root.
    zarr_format : {2, 3} or None
        None where either is looked for.
    chunk_store : Store or None
        Where chunks are, if not in ``store``.
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
    ) -> Location:
        """The location that these arguments of a public function name.

        A location in the place of a store is returned as it is.
        """
        if type(store) is Location:
            return store
        return cls(
            as_store(store, storage_options, durability),
            normalize_storage_path(path),
            nodes.check_format(zarr_version, zarr_format),
            None if chunk_store is None else as_store(chunk_store, chunk_options),
        )

    @property
    def chunks(self) -> Store:
        """The store that holds the chunks."""
        return self.store if self.chunk_store is None else self.chunk_store

    def find(self) -> nodes.Node | None:
        """What is stored there; None if nothing is."""
        return nodes.find(self.store, self.path, self.zarr_format)

    def at(self, path: str, zarr_format: Format | None) -> Location:
        """Another path in the same stores."""
        return Location(self.store, path, zarr_format, self.chunk_store)

    def choose_format(self, default: Format, word: str | None = None) -> Location:
        """The same with the format of a new node; see `nodes.choose_format`."""
        chosen = nodes.choose_format(self.store, self.path, self.zarr_format, default, word)
        return self.at(self.path, chosen)

    def describe(self) -> str:
        """The place, for messages."""
        return nodes.describe(self.store, self.path)


def in_memory(store: Any) -> Any:
    """``store``, or where an array is that names none: memory, under 2.18's name for it."""
    return KVStore(MemoryStore()) if store is None else store
