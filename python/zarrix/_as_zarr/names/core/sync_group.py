"""Names of ``zarr.core.sync_group``: functions of ``zarr.core.group`` that are not awaited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zarrix._as_zarr.names.core.group import root_of
from zarrix._hierarchy import open as _open
from zarrix._hierarchy.open import create_hierarchy

__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]


def create_nodes(*, store: Any, nodes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata, by path, and replace what is there."""
    yield from create_hierarchy(store=store, nodes=nodes, overwrite=True)


def create_rooted_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> Any:
    """Create arrays and groups from their metadata, and return the one that is above the others.

    Raises
    ------
    ValueError
        None of the nodes is above all others.
    """
    root = root_of(nodes)
    made = create_hierarchy(store=store, nodes=nodes, overwrite=overwrite)
    return {path.strip("/"): node for path, node in made}[root]


def get_node(store: Any, path: str, zarr_format: Any) -> Any:
    """The array or group at a path of a store.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    return _open.open(store=store, path=path, zarr_format=zarr_format, mode="r+")
