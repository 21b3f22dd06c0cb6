"""What killed writers leave beside the chunks, and removing it without hurting a living one.

A writer that holds the lock of a key writes to ``<key>.partial``: with the lock in our hands, what
has that name is not in use. Writers without a lock, ours and those of zarr-python, have names of
their own; such a file is taken for a leftover when it was not changed for an hour. So is a folder
that was set aside to be deleted. Other names that end in ``.partial`` are those of other programs,
and are never touched: the engine tells them apart.
"""

from __future__ import annotations

import re
from datetime import timedelta

from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENT_PATTERN
from zarrix.operate._survey import above_of

__all__ = ["find_leftovers", "remove_leftovers"]

_SUFFIX = ".partial"
_ABANDONED = timedelta(hours=1)
_LOCKED = re.compile(rf"(?:.*/)?(?:{DOCUMENT_PATTERN}|c|(?:c\.)?\d+(?:\.\d+)*)")
"""Keys whose writers, if they are ours and may lock, write to this name and no other."""


class _DoneError(Exception):
    """Ends a change without making one."""


def find_leftovers(store: Store, path: str) -> list[str]:
    """Keys, below ``path``, of what is being written or deleted, or was when who did it ended."""
    return store._engine.leftovers(store.engine_path(path))


def remove_leftovers(store: Store, leftovers: list[str], anchors: list[str]) -> list[str]:
    """Remove those of the leftovers that no living writer has; returns them.

    Parameters
    ----------
    anchors : list of str
        Keys of the documents of all arrays: whoever has the lock of one has those of its chunks.
    """
    folders = {anchor.rpartition("/")[0]: anchor for anchor in anchors}
    return [key for key in leftovers if _remove(store, key, folders)]


def _remove(store: Store, leftover: str, folders: dict[str, str]) -> bool:
    name = store.engine_path(leftover)
    key = leftover.removesuffix(_SUFFIX)
    if store._engine.remove_leftover(name, _ABANDONED):
        return True
    removed = False

    def remove(old: bytes | None) -> bytes | None:
        nonlocal removed
        removed = store._engine.remove_leftover(name, timedelta(0))
        raise _DoneError

    try:
        if _LOCKED.fullmatch(key):
            store.update_value(_anchor_of(key, folders), remove)
    except (_DoneError, FileNotFoundError):
        pass
    return removed


def _anchor_of(key: str, folders: dict[str, str]) -> str:
    """The document whose lock includes that of ``key``: its array's, or it is one itself."""
    name = key.rpartition("/")[2]
    above = above_of(key) if name[-1:].isdigit() or name == "c" else iter(())
    return next((folders[folder] for folder in above if folder in folders), key)
