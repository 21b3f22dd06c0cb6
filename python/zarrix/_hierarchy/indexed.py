"""Indexes of large hierarchies on servers: building one, and opening nodes by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._array.array import Array
from zarrix._errors import PathNotFoundError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._nodes.index_build import build
from zarrix._nodes.indexed_store import IndexedStore, beside
from zarrix._nodes.location import Location
from zarrix._runtime.signatures import takes
from zarrix._stores.base import Store
from zarrix._stores.keys import CONSOLIDATED_DOCUMENT
from zarrix._stores.open import as_store
from zarrix._stores.overlap import refuse_overlap
from zarrix._stores.path import is_url

__all__ = ["build_index", "open_indexed"]


@takes()
def build_index(
    store: Any, *, index: Any = None, storage_options: Mapping[str, Any] | None = None
) -> int:
    """Write an index of a hierarchy beside it, by which `open_indexed` finds nodes.

    The index is made of the consolidated metadata of the root, in bounded memory, and is used while
    that does not change: build it again after the hierarchy has changed. A process that is killed
    leaves a part of an index, which is recognised and not used.

    Parameters
    ----------
    store : Store, str or Path
        The root of a hierarchy with consolidated metadata.
    index : Store, str or Path, optional
        Where the index is; by default in the group NAME.index beside the hierarchy NAME.
    storage_options : dict, optional
        For stores named by a URL.

    Returns
    -------
    int
        The number of arrays and groups.

    Raises
    ------
    PathNotFoundError
        The root lacks consolidated metadata.
    MetadataError
        The consolidated metadata is damaged, or is replaced again and again; or the store, such as
        one in memory, does not tell versions of values.
    ContainsGroupError
        Something other than an index is stored where it would be.
    ValueError
        The store has nothing beside it, or the index would be inside of it.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group("many.zarr")
    >>> made = [root.create_array(f"{n}", shape=3, dtype="i4") for n in range(5)]
    >>> _ = zarr.consolidate_metadata("many.zarr")
    >>> zarr.build_index("many.zarr"), list(zarr.open_group("many.zarr.index"))
    (6, ['blocks', 'groups'])
    """
    location = Location.of(store, None, storage_options=storage_options)
    if location.path:
        raise ValueError(
            f"an index is of a whole hierarchy, and {location.describe()} is inside of one: pass "
            "its root"
        )
    root, beside_it = location.store, _index_of(location.store, index, storage_options)
    for key in (CONSOLIDATED_DOCUMENT[2], CONSOLIDATED_DOCUMENT[3]):
        if root._engine.head(root.engine_path(key)) is not None:
            nodes = build(root, key, beside_it)
            if nodes:
                return nodes
    raise PathNotFoundError(
        f"no consolidated metadata in {root!r}, which an index is made of; write it with "
        "consolidate_metadata()"
    )


@takes()
def open_indexed(
    store: Any,
    path: str = "",
    *,
    index: Any = None,
    verify: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | Group:
    """Open an array or group of a large hierarchy on a server by its index, for reading.

    Two requests find one of a million arrays: one reads a part of the index, and the other asks
    whether the consolidated metadata is still the one that the index was made of. If it is not, or
    if a part is missing or damaged, nodes are looked for in the store, as by `open`. So what is
    opened is what the consolidated metadata says now. A change by a program that does not update
    consolidated metadata is not seen, unless ``verify`` is true. A store on this machine is asked
    directly.

    Parameters
    ----------
    store : Store, str or Path
        The root of the hierarchy.
    path : str
        Of the node.
    index : Store, str or Path, optional
        Where the index is, as for `build_index`.
    verify : bool
        Read the document of each node from the store, by one request for each.
    storage_options : dict, optional
        For stores named by a URL.

    Returns
    -------
    Array or Group
        Read-only. Members are found by the index, too.

    Raises
    ------
    PathNotFoundError
        The hierarchy has no node at ``path``.

    Warns
    -----
    StaleMetadataWarning
        There is an index, but it cannot be used.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group("indexed.zarr")
    >>> made = root.create_array("a/b", shape=3, dtype="i4")
    >>> _ = zarr.consolidate_metadata("indexed.zarr")
    >>> nodes = zarr.build_index("indexed.zarr")
    >>> zarr.open_indexed("indexed.zarr", "a/b")
    <zarrix.core.Array '/a/b' (3,) int32 read-only>
    """
    location = Location.of(store, path, storage_options=storage_options)
    if location.store.is_remote:
        where = _index_of(location.store, index, storage_options)
        through = IndexedStore(location.store, where, verify=verify)
        if through.validate(location.path):
            location = location._replace(store=through)
    return open_node(location, "r")


def _index_of(store: Store, index: Any, options: Mapping[str, Any] | None) -> Store:
    """The store of the index of a hierarchy."""
    if index is None:
        return beside(store)
    where = as_store(index, options if isinstance(index, str) and is_url(index) else None)
    refuse_overlap("keep an index in", (where, ""), [(store, "")])
    return where
