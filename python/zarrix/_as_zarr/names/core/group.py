"""Names of ``zarr.core.group`` that zarrix has elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from zarrix._hierarchy.asynchronous import AsyncGroup
from zarrix.api import asynchronous
from zarrix.api.asynchronous import create_hierarchy

__all__ = [
    "AsyncGroup",
    "create_hierarchy",
    "create_nodes",
    "create_rooted_hierarchy",
    "get_node",
    "parse_attributes",
    "parse_node_type",
    "parse_zarr_format",
]


async def create_nodes(*, store: Any, nodes: Mapping[str, Any]) -> AsyncIterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata, by path, and replace what is there."""
    async for made in create_hierarchy(store=store, nodes=nodes, overwrite=True):
        yield made


async def create_rooted_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> Any:
    """Create arrays and groups from their metadata, and return the one that is above the others.

    Raises
    ------
    ValueError
        None of the nodes is above all others.
    """
    root = root_of(nodes)
    made = {
        path.strip("/"): node
        async for path, node in create_hierarchy(store=store, nodes=nodes, overwrite=overwrite)
    }
    return made[root]


def root_of(nodes: Mapping[str, Any]) -> str:
    """The path that is above all others.

    Raises
    ------
    ValueError
        There is none.
    """
    paths = {path.strip("/") for path in nodes}
    root = min(paths, key=lambda path: (path.count("/") + bool(path), path), default=None)
    below = f"{root}/" if root else ""
    if root is None or any(path != root and not path.startswith(below) for path in paths):
        raise ValueError(f"the nodes {sorted(paths)} do not have one root")
    return root


async def get_node(store: Any, path: str, zarr_format: Any) -> Any:
    """The array or group at a path of a store.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    return await asynchronous.open(store=store, path=path, zarr_format=zarr_format, mode="r+")


def parse_zarr_format(data: Any) -> Any:
    """A format that exists.

    Raises
    ------
    ValueError
        It is neither 2 nor 3.
    """
    if data in (2, 3) and type(data) is int:
        return data
    raise ValueError(f"Invalid zarr_format. Expected one of 2 or 3. Got {data}.")


def parse_node_type(data: Any) -> Any:
    """The type of a node.

    Raises
    ------
    ValueError
        It is neither "array" nor "group".
    """
    if data in ("array", "group"):
        return data
    raise ValueError(f"Invalid value for 'node_type'. Expected 'array' or 'group'. Got {data!r}.")


def parse_attributes(data: Any) -> dict[str, Any]:
    """Attributes as a dict; an empty one for None.

    Raises
    ------
    TypeError
        They are not a mapping.
    """
    if data is None:
        return {}
    if isinstance(data, Mapping):
        return dict(data)
    raise TypeError(f"Expected a mapping with keys of str. Got {type(data)} instead.")
