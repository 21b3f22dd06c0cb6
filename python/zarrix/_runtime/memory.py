"""The memory that this process may use: that of the machine, or the limit of its cgroup.

A container or a job of a batch system has a limit that ``sysconf`` does not return. The limit is in
the memory controller of cgroup v2 or v1, and each parent group may have a lower one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

__all__ = ["memory_bytes"]

_UNKNOWN = 4 << 30


# Paths are strings here: importing pathlib would take a third of the import time of zarrix.
def memory_bytes(root: str | os.PathLike[str] = "/") -> int:
    """Return the bytes of memory that this process may use; 4 GiB if the system does not say.

    Parameters
    ----------
    root : str or PathLike
        Where ``proc`` and ``sys`` are mounted.
    """
    return min([_physical(), *_limits(os.fspath(root))])


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN


def _limits(root: str) -> Iterator[int]:
    """The limits of this process's groups and of all their parents."""
    groups = _text(os.path.join(root, "proc/self/cgroup")) or ""
    for line in groups.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            mount, name = os.path.join(root, "sys/fs/cgroup"), "memory.max"
        elif "memory" in controllers.split(","):
            mount, name = os.path.join(root, "sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        else:
            continue
        # In a container the mount may begin at the group itself; then the path below does not
        # exist.
        names = [part for part in group.split("/") if part]
        for depth in range(len(names), -1, -1):
            limit = _text(os.path.join(mount, *names[:depth], name))
            if limit is not None and limit.isdecimal():
                yield int(limit)


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return None
