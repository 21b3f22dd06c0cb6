"""Names of ``zarr.storage._common``: a private module that programs import."""

from __future__ import annotations

import json
from typing import Any, Literal

from zarrix._as_zarr.names.core.common import ANY_ACCESS_MODE
from zarrix._errors import ContainsArrayError, ContainsGroupError
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZGROUP
from zarrix._stores.open import as_store
from zarrix._stores.path import StorePath, is_url

__all__ = [
    "StoreLike",
    "StorePath",
    "contains_array",
    "contains_group",
    "ensure_no_existing_node",
    "make_store",
    "make_store_path",
]

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

    Raises
    ------
    ValueError
        The mode is none of zarr-python's.
    TypeError
        The argument is not a store, or has no use for ``storage_options``.
    """
    if mode is not None and mode not in ANY_ACCESS_MODE:
        raise ValueError(f"Invalid mode: {mode}, expected one of {ANY_ACCESS_MODE}")
    if storage_options is not None and not (isinstance(store_like, str) and is_url(store_like)):
        raise TypeError("storage_options need a URL, such as 's3://bucket/data.zarr'")
    if isinstance(store_like, StorePath):
        return store_like / path if path else store_like
    store = as_store({} if store_like is None else store_like, storage_options=storage_options)
    if mode == "r" and not store.read_only:
        store = store.with_read_only(True)
    return StorePath(store._user_store, path or "")


async def contains_array(store_path: StorePath, zarr_format: Any) -> bool:
    """Whether an array of a format is stored at a path.

    Raises
    ------
    ValueError
        The format is neither 2 nor 3.
    """
    return await _contains(store_path, zarr_format, "array", ZARRAY)


async def contains_group(store_path: StorePath, zarr_format: Any) -> bool:
    """Whether a group of a format is stored at a path.

    Raises
    ------
    ValueError
        The format is neither 2 nor 3.
    """
    return await _contains(store_path, zarr_format, "group", ZGROUP)


async def _contains(store_path: StorePath, zarr_format: Any, kind: str, document: str) -> bool:
    if zarr_format == 3:
        return await _contains_node_v3(store_path) == kind
    if zarr_format == 2:
        return await (store_path / document).exists()
    raise ValueError(f"Invalid zarr_format provided. Got {zarr_format}, expected 2 or 3")


async def _contains_node_v3(store_path: StorePath) -> Literal["array", "group", "nothing"]:
    """What the v3 document of a path describes; "nothing" for one that is not valid."""
    document = await (store_path / ZARR_JSON).get()
    if document is None:
        return "nothing"
    try:
        members = json.loads(document.to_bytes())
    except (ValueError, RecursionError):
        return "nothing"
    kind = members.get("node_type") if isinstance(members, dict) else None
    return kind if kind in ("array", "group") else "nothing"


async def _contains_node_v2(store_path: StorePath) -> Literal["array", "group", "nothing"]:
    """What the v2 documents of a path describe.

    Raises
    ------
    ContainsArrayError
        There are documents of both.
    """
    has_array = await contains_array(store_path, 2)
    has_group = await contains_group(store_path, 2)
    if has_array and has_group:
        raise ContainsArrayError(
            f"{store_path} has a document of an array and one of a group: remove {ZARRAY} or "
            f"{ZGROUP}"
        )
    return "array" if has_array else "group" if has_group else "nothing"


async def ensure_no_existing_node(
    store_path: StorePath, zarr_format: Any, node_type: str | None = None
) -> None:
    """Refuse a path at which a node is stored, or only one of a type.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        There is one.
    """
    contains = _contains_node_v2 if zarr_format == 2 else _contains_node_v3
    kind = await contains(store_path)
    if kind == "array" and node_type != "group":
        raise ContainsArrayError(f"an array is stored at {store_path}")
    if kind == "group" and node_type != "array":
        raise ContainsGroupError(f"a group is stored at {store_path}")
