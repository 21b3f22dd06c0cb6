"""What other rooms may use of an array besides its public interface.

Nothing outside this room takes an attribute of `Array` that begins with an underscore; a test looks
for that in every file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from zarrix import _engine
from zarrix._array.array import Array
from zarrix._array.boxes import BoxesIO
from zarrix._array.options import ArrayOptions
from zarrix._array.snapshot import ArraySnapshot
from zarrix._metadata.array import ArrayMetadata
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node

__all__ = [
    "ArrayOptions",
    "change_metadata",
    "current_snapshot",
    "document_key_of",
    "io_of",
    "is_made_of_boxes",
    "location_of",
    "metadata_of",
    "opened_at",
    "options_of",
    "show_as",
    "snapshot_of",
    "syncs_of",
    "writing",
]


_DEFAULT = ArrayOptions()


def opened_at(location: Location, node: Node, options: ArrayOptions = _DEFAULT) -> Array:
    """The array of a node that was found already; nothing is read."""
    return Array._at(location, node, options)


def options_of(array: Array) -> ArrayOptions:
    """How an array was opened."""
    return array._options


def snapshot_of(array: Array) -> ArraySnapshot:
    """What is known of an array now, without a look into the store."""
    return array._snapshot


def current_snapshot(array: Array) -> ArraySnapshot:
    """The same; metadata that is not cached is read again first."""
    return array._current()


def metadata_of(array: Array) -> ArrayMetadata:
    """The metadata as in the snapshot; `Array.metadata` has the attributes of v2 as well."""
    return array._snapshot.metadata


def document_key_of(array: Array) -> str:
    """The key of the document of an array."""
    return array._document_key()


def io_of(array: Array) -> _engine.ArrayIO:
    """The engine's array."""
    return array._snapshot.io


def location_of(array: Array) -> Location:
    """The store and the path of an array."""
    return array._location


def is_made_of_boxes(array: Array) -> bool:
    """Whether there is no engine's array: its elements are those of other arrays."""
    return isinstance(array._snapshot.io, BoxesIO)


def show_as(array: Array, metadata: ArrayMetadata) -> None:
    """Make an array that nothing else uses a view of its chunks with other metadata."""
    array._reopen(metadata)


def syncs_of(array: Array) -> bool:
    """Whether writes are synced, as set for the store or in the current config."""
    return array._fsync


def writing(array: Array) -> AbstractContextManager[Any]:
    """The lock of a write; an error if the array is read-only."""
    return array._writing()


def change_metadata(array: Array, change: Callable[[ArrayMetadata], ArrayMetadata]) -> None:
    """Replace the stored metadata by the result of ``change``, under its lock."""
    array._rewrite(change)
