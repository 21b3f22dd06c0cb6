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
    store, path, _, chunk_store = array._location
    snapshot = array._snapshot
    assert snapshot.document is not None  # That of the node that it was opened from.
    node = nodes.Node(snapshot.metadata.zarr_format, "array", snapshot.document)
    chunks = None if chunk_store is None else change(chunk_store)
    location = Location(change(store), path, None, chunks)
    return Array._at(location, node, array._options._replace(order=snapshot.order))
