"""The same array by other handles of its stores."""

from __future__ import annotations

from collections.abc import Callable

from zarrix._array.array import Array
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._stores.base import Store

__all__ = ["with_stores"]


def with_stores(array: Array, change: Callable[[Store], Store]) -> Array:
    """An array, which is not a view, with each of its stores changed; nothing is read."""
    options = array.__getstate__()
    store, path, chunk_store = (options.pop(name) for name in ("store", "path", "chunk_store"))
    chunks = None if chunk_store is None else change(chunk_store)
    assert array._document is not None  # That of the node that it was opened from.
    node = nodes.Node(array._metadata.zarr_format, "array", array._document)
    return Array._at(Location(change(store), path, None, chunks), node, **options)
