"""Names of ``zarr.storage._common``: a private module that programs import."""

from __future__ import annotations

from typing import Any

from zarrix._stores.open import as_store
from zarrix._stores.path import StorePath

__all__ = ["StoreLike", "StorePath", "make_store", "make_store_path"]

StoreLike = Any


async def make_store(
    store_like: Any = None,
    *,
    mode: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Any:
    """The store that an argument stands for; read-only for the mode "r"."""
    made = await make_store_path(store_like, mode=mode, storage_options=storage_options)
    return made.store


async def make_store_path(
    store_like: Any = None,
    *,
    path: str | None = "",
    mode: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> StorePath:
    """The path in the store that an argument stands for.

    ``mode`` is that of zarr-python; only "r" has an effect, by which the store is read-only.
    """
    if isinstance(store_like, StorePath):
        return store_like / path if path else store_like
    store = as_store({} if store_like is None else store_like, storage_options=storage_options)
    if mode == "r" and not store.read_only:
        store = store.with_read_only(True)
    return StorePath(store, path or "")
