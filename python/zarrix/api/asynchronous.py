"""The functions of zarr-python 3 that are awaited: those of `zarrix.api.synchronous`, in threads.

They return `AsyncArray` and `AsyncGroup` instead of arrays and groups.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from zarrix._hierarchy.asynchronous import AsyncArray as AsyncArray
from zarrix._hierarchy.asynchronous import AsyncGroup as AsyncGroup
from zarrix._hierarchy.counterpart import as_async, awaitable, iterate
from zarrix.api import synchronous

__all__: list[str] = []
__all__ += synchronous.__all__


async def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> AsyncIterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata; see `zarrix.create_hierarchy`.

    Parameters
    ----------
    store : Store, mapping, URL, str or Path
    nodes : mapping of str to ArrayMetadata or GroupMetadata
        By path; the root is ``""``.
    overwrite : bool
        Delete what is stored at these paths first.

    Yields
    ------
    tuple of (str, AsyncArray or AsyncGroup)

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at one of the paths, and ``overwrite`` is false.

    Examples
    --------
    >>> import asyncio, zarrix as zarr
    >>> from zarrix.api.asynchronous import create_hierarchy
    >>> nodes = {"": zarr.create_group().metadata, "a": zarr.zeros(3, zarr_format=3).metadata}
    >>> async def paths(store):
    ...     return [path async for path, node in create_hierarchy(store=store, nodes=nodes)]
    >>> asyncio.run(paths({}))
    ['', 'a']
    """
    create = synchronous.create_hierarchy
    async for made in iterate(lambda: create(store=store, nodes=nodes, overwrite=overwrite)):
        yield as_async(made)


array = awaitable(synchronous.array)
consolidate_metadata = awaitable(synchronous.consolidate_metadata)
copy = awaitable(synchronous.copy)
copy_all = awaitable(synchronous.copy_all)
copy_store = awaitable(synchronous.copy_store)
create = awaitable(synchronous.create)
create_array = awaitable(synchronous.create_array)
create_group = awaitable(synchronous.create_group)
empty = awaitable(synchronous.empty)
empty_like = awaitable(synchronous.empty_like)
from_array = awaitable(synchronous.from_array)
full = awaitable(synchronous.full)
full_like = awaitable(synchronous.full_like)
group = awaitable(synchronous.group)
load = awaitable(synchronous.load)
ones = awaitable(synchronous.ones)
ones_like = awaitable(synchronous.ones_like)
open = awaitable(synchronous.open)
open_array = awaitable(synchronous.open_array)
open_consolidated = awaitable(synchronous.open_consolidated)
open_group = awaitable(synchronous.open_group)
open_like = awaitable(synchronous.open_like)
save = awaitable(synchronous.save)
save_array = awaitable(synchronous.save_array)
save_group = awaitable(synchronous.save_group)
tree = awaitable(synchronous.tree)
zeros = awaitable(synchronous.zeros)
zeros_like = awaitable(synchronous.zeros_like)

for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
