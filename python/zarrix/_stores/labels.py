"""Where a value or a node of a store is, as messages say it."""

from __future__ import annotations

from typing import Any

from zarrix._stores.redaction import public_url

__all__ = ["describe", "place"]


def place(store: Any, key: str) -> str:
    """Where the value of ``key`` is: its file, or its key."""
    root = getattr(store, "path", None)
    return f"{public_url(root.rstrip('/'))}/{key}" if isinstance(root, str) else key


def describe(store: Any, path: str) -> str:
    """Where a node is: its path on disk, or its name and kind of store."""
    if isinstance(getattr(store, "path", None), str):
        return repr(place(store, path).rstrip("/"))
    return f"{'/' + path!r} of the {type(store).__name__}"
