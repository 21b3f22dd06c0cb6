"""A path that may lead into a file: ``run.h5/u`` is the array ``u`` of ``run.h5``."""

from __future__ import annotations

import os

from zarrix._stores.path import is_url
from zarrix.convert._formats import format_of

__all__ = ["split"]

# Files of zarrix that have something inside.
_ARCHIVES = (".zip", ".ozx", ".json")


def split(path: str) -> tuple[str, str, str | None]:
    """A path as a file or store, the path inside of it, and its format if it is another one."""
    if is_url(path) or os.path.isdir(path):
        return path, "", None
    head, inside = path, ""
    while head and not os.path.lexists(head):
        parent, name = os.path.split(head.rstrip("/"))
        if parent == head:
            break
        head, inside = parent, f"{name}/{inside}" if inside else name
    if os.path.isfile(head):
        return head, inside, None if head.endswith(_ARCHIVES) else format_of(head)
    return path, "", None
