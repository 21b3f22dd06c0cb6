"""Arrays that tests stream into."""

from typing import Any

import zarrix as zarr

__all__ = ["make"]


def make(store: Any, shape: tuple[int, ...], layout: str = "v2", **options: Any) -> zarr.Array:
    """An array of three axes, of v2, v3 or with shards."""
    options = {"dtype": "i4", "chunks": (4, 3, 5), **options}
    if layout == "v2":
        return zarr.create(shape, store=store, **options)
    shards = (8, 3, 5) if layout == "shards" else None
    return zarr.create_array(store, shape=shape, shards=shards, **options)
