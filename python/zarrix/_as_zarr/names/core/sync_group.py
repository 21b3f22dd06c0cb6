"""Names of ``zarr.core.sync_group``: functions of ``zarr.core.group`` that are not awaited."""

from __future__ import annotations

from typing import Any

from zarrix._hierarchy import open as _open
from zarrix._hierarchy.open import create_hierarchy

__all__ = ["create_hierarchy", "get_node"]


def get_node(store: Any, path: str, zarr_format: Any) -> Any:
    """The array or group at a path of a store.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    return _open.open(store=store, path=path, zarr_format=zarr_format, mode="r+")
