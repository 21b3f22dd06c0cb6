"""The functions of zarr-python 3 that are awaited: those of `zarrix.api.synchronous`, in threads.

Where those give arrays and groups, these give `AsyncArray` and `AsyncGroup`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from zarrix._hierarchy.asynchronous import AsyncArray as AsyncArray
from zarrix._hierarchy.asynchronous import AsyncGroup as AsyncGroup
from zarrix._hierarchy.asynchronous import as_async, iterate, twin
from zarrix.api import synchronous

__all__: list[str] = []
__all__ += synchronous.__all__


async def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> AsyncIterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata; see `zarrix.create_hierarchy`."""
    create = synchronous.create_hierarchy
    async for made in iterate(lambda: create(store=store, nodes=nodes, overwrite=overwrite)):
        yield as_async(made)


array = twin(synchronous.array)
consolidate_metadata = twin(synchronous.consolidate_metadata)
copy = twin(synchronous.copy)
copy_all = twin(synchronous.copy_all)
copy_store = twin(synchronous.copy_store)
create = twin(synchronous.create)
create_array = twin(synchronous.create_array)
create_group = twin(synchronous.create_group)
empty = twin(synchronous.empty)
empty_like = twin(synchronous.empty_like)
from_array = twin(synchronous.from_array)
full = twin(synchronous.full)
full_like = twin(synchronous.full_like)
group = twin(synchronous.group)
load = twin(synchronous.load)
ones = twin(synchronous.ones)
ones_like = twin(synchronous.ones_like)
open = twin(synchronous.open)
open_array = twin(synchronous.open_array)
open_consolidated = twin(synchronous.open_consolidated)
open_group = twin(synchronous.open_group)
open_like = twin(synchronous.open_like)
save = twin(synchronous.save)
save_array = twin(synchronous.save_array)
save_group = twin(synchronous.save_group)
tree = twin(synchronous.tree)
zeros = twin(synchronous.zeros)
zeros_like = twin(synchronous.zeros_like)

for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
