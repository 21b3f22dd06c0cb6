"""Opening the group of a dataset, as the modes and the options of xarray say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from zarrix._errors import PathNotFoundError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open_consolidated, open_group
from zarrix._hierarchy.state import location_below
from zarrix._nodes.location import Location
from zarrix._stores.base import Store

if TYPE_CHECKING:
    from zarrix._metadata.literals import Mode

__all__ = ["groups_below", "location_of", "only_consolidated", "open_root"]


def open_root(store: Any, mode: str, path: str | None, options: Mapping[str, Any]) -> Group:
    """The group at ``path`` in a store, opened or created by ``mode``; a new one is v3 by default.

    Consolidated metadata is used if ``options["consolidated"]`` is true. If it is None, it is used
    where it saves requests, in remote stores that have it. Local documents are as fast to read, and
    always up to date.
    """
    path = (path or "").strip("/")
    if isinstance(store, Group) and mode in ("r", "r+"):
        found: Group = store[path] if path else store
        return found
    location, zarr_format = location_of(store, path, options), options.get("zarr_format")
    consolidated = options.get("consolidated", False)
    if mode not in ("r", "r+"):
        mode = "a" if mode == "a-" else mode
        if mode != "a" or location.find() is None:
            location = location.choose_format(3)
        return open_group(location, cast("Mode", mode))
    if consolidated or (consolidated is None and location.store.is_remote):
        found_consolidated = _consolidated(location.store, mode, path, zarr_format)
        if found_consolidated is not None:
            return found_consolidated
        if consolidated:
            raise PathNotFoundError(
                f"no consolidated metadata in {location.store!r}; write it with "
                "zarrix.consolidate_metadata(), or open with consolidated=None or False"
            )
    return open_group(location, "r" if mode == "r" else "r+")


def location_of(store: Any, path: str | None, options: Mapping[str, Any]) -> Location:
    """The location of the group at ``path`` in a store, which need not exist."""
    if type(store) is Location:
        return store
    path, zarr_format = (path or "").strip("/"), options.get("zarr_format")
    if isinstance(store, Group):
        location = location_below(store, path)
        return location.at(location.path, zarr_format)
    store = os.fspath(store) if isinstance(store, os.PathLike) else store
    storage_options = options.get("storage_options")
    return Location.of(store, path, None, zarr_format, storage_options=storage_options)


def only_consolidated(group: Group, mode: str) -> Group | None:
    """The group through consolidated metadata: a copy may have no other documents."""
    return _consolidated(group.store, mode, group.path, group.zarr_format)


def _consolidated(store: Store, mode: str, path: str, zarr_format: Any) -> Group | None:
    """The group at ``path`` through the consolidated metadata of the root; None if it has none."""
    try:
        root = open_consolidated(store, mode="r" if mode == "r" else "r+", zarr_format=zarr_format)
    except PathNotFoundError:
        return None
    found: Group = root[path] if path else root
    return found


def groups_below(top: Group, path: str) -> Iterator[tuple[str, Group, dict[str, Any]]]:
    """Path, group and members of ``top`` and of every group below it; every member is opened once.

    ``path`` is that of ``top``.
    """
    members = top._read_members()
    yield path, top, members
    for name, member in members.items():
        if isinstance(member, Group):
            yield from groups_below(member, f"{path.rstrip('/')}/{name}")
