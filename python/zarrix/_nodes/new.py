"""Storing a new node: its metadata and attributes, or after a failure neither."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from zarrix._metadata import v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._nodes import nodes
from zarrix._nodes.attributes import put_first_attributes, require_json
from zarrix._nodes.location import Location
from zarrix._nodes.undo import or_nothing
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.keys import key_of

__all__ = ["group_metadata", "new_node"]


def group_metadata(
    zarr_format: int | None, attributes: Mapping[str, Any] | None = None
) -> GroupMetadata:
    """The metadata of a new group; attributes are part of it in v3."""
    return GroupMetadata(zarr_format=2) if zarr_format == 2 else v3.new_group(attributes)


@contextlib.contextmanager
def new_node(
    location: Location,
    metadata: ArrayMetadata | GroupMetadata,
    document: bytes | None = None,
    *,
    overwrite: bool,
    attributes: Mapping[str, Any] | None = None,
) -> Iterator[None]:
    """Store a new node, and delete it again if the block fails.

    Parameters
    ----------
    location : Location
    metadata : ArrayMetadata or GroupMetadata
        Valid already, and of the format that the location is to have.
    document : bytes, optional
        That of the metadata, if the caller has opened it already.
    overwrite : bool
        Replace an existing node.
    attributes : mapping, optional
        In v3 they are also part of ``metadata``.
    """
    store, path, _, chunk_store = location
    if document is None:
        require_json(attributes)
        document = nodes.checked_document(store, path, chunk_store, metadata)
    replaces = nodes.create(store, path, chunk_store, metadata, document, overwrite)
    if isinstance(metadata, GroupMetadata):
        # A group has no chunks to delete.
        chunk_store = None
    with or_nothing(store, path, chunk_store, metadata, replaces=replaces):
        # zarr-python 3 writes them for a node without attributes, too.
        if metadata.zarr_format == 2 and (attributes or DIALECT.is_zarr3):
            key = key_of(path, metadata.document_name)
            put_first_attributes(store, path, attributes or {}, {key: document})
        yield
