"""The documents of a result: made when a job is planned, and stored when all else is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zarrix._array.access import metadata_of, opened_at
from zarrix._errors import GroupNotFoundError, JobError
from zarrix._hierarchy.group import Group
from zarrix._metadata import v3
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.json import json_loads
from zarrix._metadata.literals import Format
from zarrix._metadata.translate import zattrs
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import consolidate, update_consolidated
from zarrix._nodes.location import Location
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZGROUP, ZMETADATA, key_of
from zarrix.jobs._running.operation import array_at
from zarrix.jobs._running.places import Place

__all__ = [
    "array_documents",
    "below",
    "consolidated_as",
    "group_documents",
    "opened",
    "store_all",
    "walk",
]

Documents = Mapping[str, bytes]
"""The documents of a node by name."""


def below(place: Place, path: str) -> Place:
    """A node at a path below a place."""
    if not path:
        return place
    return place._replace(path=key_of(place.path, path))


def walk(place: Place) -> Iterator[tuple[str, nodes.Node]]:
    """The node of a place and all below it, by paths relative to it.

    Raises
    ------
    GroupNotFoundError
        Nothing is there.
    JobError
        A member cannot be opened.
    """
    location = Location(place.store, place.path, None, place.chunk_store)
    root = location.find()
    if root is None:
        raise GroupNotFoundError(f"neither an array nor a group at {location.describe()}")
    yield from _walk(place, "", root)


def _walk(root: Place, path: str, node: nodes.Node) -> Iterator[tuple[str, nodes.Node]]:
    if node.kind == "broken":
        raise JobError(
            f"the member {path!r} of {nodes.describe(root.store, root.path)} cannot be opened; "
            "zarrix verify names the reason"
        )
    yield path, node
    if node.kind == "group":
        whole = below(root, path).path
        for name, one in nodes.members(root.store, whole, node.zarr_format):
            yield from _walk(root, key_of(path, name), one)


def array_documents(place: Place, document: Mapping[str, Any], attributes: Any) -> Documents:
    """The documents of an array with its attributes."""
    if document.get("zarr_format") == 2:
        array = array_at(place, document)
        return {**zattrs(attributes), ZARRAY: nodes.array_document(metadata_of(array))}
    array = array_at(place, {**document, "attributes": attributes})
    return {ZARR_JSON: nodes.array_document(metadata_of(array))}


def group_documents(zarr_format: Format, attributes: Any) -> Documents:
    """The documents of a group with its attributes."""
    if zarr_format == 2:
        return {**zattrs(attributes), ZGROUP: nodes.group_document(GroupMetadata(zarr_format=2))}
    return {ZARR_JSON: nodes.group_document(v3.new_group(attributes))}


def store_all(place: Place, documents: Iterable[tuple[str, Documents]]) -> None:
    """Store the documents of nodes, the root last: nothing exists there before it is complete."""
    ordered = sorted(documents, key=lambda one: (one[0].count("/"), one[0] != ""), reverse=True)
    zarr_format: Format = 3
    for path, names in ordered:
        here = below(place, path)
        zarr_format = 3 if ZARR_JSON in names else 2
        # The document that makes the node comes after its attributes.
        for name in sorted(names, key=lambda name: name in (ZARRAY, ZGROUP)):
            here.store[key_of(here.path, name)] = names[name]
    update_consolidated(place.store, place.path, zarr_format, deep=True)


def consolidated_as(source: Place, dest: Place, zarr_format: Format) -> None:
    """Consolidate the metadata of a result if that of its source is."""
    if zarr_format == 2:
        has_it = source.store._value(key_of(source.path, ZMETADATA)) is not None
    else:
        document = source.store._value(key_of(source.path, ZARR_JSON))
        members = json_loads(document) if document is not None else {}
        has_it = isinstance(members, dict) and bool(members.get("consolidated_metadata"))
    if has_it:
        consolidate(dest.store, dest.path, zarr_format, ZMETADATA)


def opened(place: Place) -> Any:
    """The array or group of a place."""
    location = Location(place.store, place.path, None, place.chunk_store)
    node = location.find()
    if node is None:
        raise GroupNotFoundError(f"neither an array nor a group at {location.describe()}")
    if node.kind == "array":
        return opened_at(location, node)
    return Group(place.store, place.path, chunk_store=place.chunk_store)
