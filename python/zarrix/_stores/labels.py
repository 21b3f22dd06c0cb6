"""Labels of values and nodes of a store, for messages."""

from __future__ import annotations

from typing import Any

from zarrix._stores.redaction import public_url

__all__ = ["describe", "place"]


def place(store: Any, key: str) -> str:
    """The label of the value of ``key``: its file, or its key."""
    root = getattr(store, "path", None)
    if not isinstance(root, str):
        return key
    root = root.rstrip("/")
    return f"{public_url(root) if '://' in root else root}/{key}"


def describe(store: Any, path: str) -> str:
    """The label of a node: its path on disk, or its name and kind of store."""
    root = getattr(store, "path", None)
    if not isinstance(root, str):
        return f"{'/' + path!r} of the {type(store).__name__}"
    root = root.rstrip("/")
    return repr(f"{public_url(root) if '://' in root else root}/{path}".rstrip("/"))
