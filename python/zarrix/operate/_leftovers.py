"""Partial files of killed writers, and how to remove them without disturbing running writers.

A writer that holds the lock of a key writes to ``<key>.<number>.partial``, whose number stands for
the processes that the lock excludes: while we hold the lock, a file with our number is not in use.
Writers without a lock, on other machines, and those of zarr-python, use other names; such a file is
a leftover if it has not changed for an hour. The same is true of a folder that was renamed to be
deleted. Other names that end in ``.partial`` belong to other programs, and are never touched; the
engine distinguishes them.
"""

from __future__ import annotations

import re
from datetime import timedelta

from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENT_PATTERN
from zarrix.operate._survey import above_of

__all__ = ["find_leftovers", "remove_leftovers"]

_ABANDONED = timedelta(hours=1)
_LOCKED = re.compile(
    rf"((?:.*/)?(?:{DOCUMENT_PATTERN}|c|(?:c\.)?\d+(?:\.\d+)*))(?:\.[0-9a-f]{{16}})?\.partial"
)
"""Files of writers that hold the lock of the key, which is the first group."""


class _DoneError(Exception):
    """Aborts a change."""


def find_leftovers(store: Store, path: str) -> list[str]:
    """Keys, below ``path``, of unfinished writes and deletions, whether running or killed."""
    return store._engine.leftovers(store.engine_path(path))


def remove_leftovers(store: Store, leftovers: list[str], anchors: list[str]) -> list[str]:
    """Remove the leftovers that no running writer uses; returns them.

    Parameters
    ----------
    anchors : list of str
        Keys of the documents of all arrays; the lock of a document covers the chunks of its array.
    """
    folders = {anchor.rpartition("/")[0]: anchor for anchor in anchors}
    return [key for key in leftovers if _remove(store, key, folders)]


def _remove(store: Store, leftover: str, folders: dict[str, str]) -> bool:
    name = store.engine_path(leftover)
    if store._engine.remove_leftover(name, _ABANDONED):
        return True
    removed = False

    def remove(old: bytes | None) -> bytes | None:
        nonlocal removed
        removed = store._engine.remove_leftover(name, None)
        raise _DoneError

    try:
        if locked := _LOCKED.fullmatch(leftover):
            store.update_value(_anchor_of(locked[1], folders), remove)
    except (_DoneError, FileNotFoundError):
        pass
    return removed


def _anchor_of(key: str, folders: dict[str, str]) -> str:
    """The document whose lock covers ``key``: that of its array, or ``key`` itself."""
    name = key.rpartition("/")[2]
    above = above_of(key) if name[-1:].isdigit() or name == "c" else iter(())
    return next((folders[folder] for folder in above if folder in folders), key)
