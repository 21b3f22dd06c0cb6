"""What killed writers leave beside the chunks, and removing it without hurting a living one.

A writer that holds the lock of a key writes to ``<key>.partial``: with the lock in our hands, what
has that name belongs to nobody. Writers without a lock, ours and those of other libraries, have
names of their own; such a file is taken for a leftover when nobody has touched it for an hour.
So is a folder that was set aside to be deleted.
"""

from __future__ import annotations

import os
import re
import shutil
import time

from zarrix._stores import DirectoryStore, Store

__all__ = ["find_leftovers", "remove_leftovers"]

_SUFFIX = ".partial"
_ABANDONED_S = 3600
_LOCKED = re.compile(r"(?:.*/)?(?:\.zarray|\.zgroup|\.zattrs|\.zmetadata|zarr\.json|c|[\d.]+)")
"""Keys whose writers, if they are ours and may lock, write to this name and no other."""


class _DoneError(Exception):
    """Ends a change without making one."""


def find_leftovers(store: Store, path: str) -> list[str]:
    """Keys, below ``path``, of what is being written or deleted, or was when who did it ended."""
    if not isinstance(store, DirectoryStore):
        return []
    found = []
    top = store.dir_path(path)
    for folder, folders, names in os.walk(top):
        inside = os.path.relpath(folder, store.path)
        prefix = "" if inside == "." else inside.replace(os.sep, "/") + "/"
        found += [f"{prefix}{name}" for name in (*folders, *names) if name.endswith(_SUFFIX)]
        folders[:] = [name for name in folders if not name.endswith(_SUFFIX)]
    return sorted(found)


def remove_leftovers(store: Store, leftovers: list[str], anchors: list[str]) -> list[str]:
    """Remove those of the leftovers that no living writer has; returns them.

    Parameters
    ----------
    anchors : list of str
        Keys of the documents of all arrays: whoever has the lock of one has those of its chunks.
    """
    return [key for key in leftovers if _remove(store, key, anchors)]


def _remove(store: Store, leftover: str, anchors: list[str]) -> bool:
    file = os.path.join(store.path, *leftover.split("/"))  # type: ignore[attr-defined]
    key = leftover.removesuffix(_SUFFIX)
    removed = False

    def remove(old: bytes | None) -> bytes | None:
        nonlocal removed
        removed = _unlink(file)
        raise _DoneError

    try:
        if time.time() - os.lstat(file).st_mtime > _ABANDONED_S:
            return _unlink(file)
        if _LOCKED.fullmatch(key):
            store.update_value(_anchor_of(key, anchors), remove)
    except (_DoneError, FileNotFoundError):
        pass
    return removed


def _anchor_of(key: str, anchors: list[str]) -> str:
    """The document whose lock includes that of ``key``: its array's, or it is one itself."""
    folders = {anchor.rpartition("/")[0]: anchor for anchor in anchors}
    name = key.rpartition("/")[2]
    if not name[-1:].isdigit() and name != "c":
        return key
    within = [folder for folder in folders if not folder or key.startswith(f"{folder}/")]
    return folders[max(within, key=len)] if within else key


def _unlink(file: str) -> bool:
    try:
        if os.path.isdir(file) and not os.path.islink(file):
            shutil.rmtree(file)
        else:
            os.unlink(file)
    except FileNotFoundError:
        # The next writer of the key was faster.
        return False
    return True
