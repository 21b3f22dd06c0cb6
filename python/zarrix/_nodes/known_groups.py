"""What a batch knows about groups: those that exist, and the names in them that may be in use.

A call inside of a batch does not ask again for the groups above a new node, nor for a name that a
listing of its group does not have. A name may be said to be in use although it is not, and then it
is asked for. The other way round is possible only by another process, whose node is not replaced:
a new document is stored on the condition that there is none (`zarrix._nodes.put_new`). A group that
another process removes meanwhile is made again at the end of the batch, as the next call would.
"""

from __future__ import annotations

import threading

from zarrix import _engine
from zarrix._nodes.orphans import LISTED, nothing_at
from zarrix._stores.base import Store

__all__ = ["KnownGroups"]

# A group in which more names are asked for is listed, if its store is on a server.
_ASKED = 16


class _Known:
    """A group, or a folder above one."""

    __slots__ = ("asked", "below", "is_there", "names", "relied_on")

    def __init__(self) -> None:
        self.below: dict[str, _Known] = {}
        self.is_there = False
        # All names that may be in use; None where these are not known.
        self.names: set[str] | None = None
        self.asked = 0
        # Its path, if a node was stored in it without asking for it.
        self.relied_on: str | None = None


class KnownGroups:
    """Groups of one store and one format."""

    def __init__(self) -> None:
        self._root = _Known()
        self._lock = threading.Lock()

    def _find(self, path: str) -> _Known | None:
        found: _Known | None = self._root
        for name in path.split("/") if path else ():
            found = found and found.below.get(name)
        return found

    def has(self, store: Store, path: str) -> bool:
        """Whether a group is at ``path``, in which the caller is about to store a node."""
        with self._lock:
            found = self._find(store.engine_path(path))
            if found is None or not found.is_there:
                return False
            found.relied_on = path
            return True

    def add(self, store: Store, path: str, *, is_new: bool) -> None:
        """A group is at ``path``; if it is new, with nothing below."""
        with self._lock:
            known = self._root
            place = store.engine_path(path)
            for name in place.split("/") if place else ():
                known = known.below.setdefault(name, _Known())
            # Elsewhere a name is asked for in less time than its memory is worth.
            if is_new and not known.is_there and not _is_near(store):
                known.names = set()
            known.is_there = True

    def is_free(self, store: Store, path: str) -> bool:
        """Whether nothing is stored at and below ``path``; False if that is not known."""
        above, _, name = store.engine_path(path).rpartition("/")
        with self._lock:
            known = self._find(above)
            if known is None or not known.is_there:
                return False
            if known.names is None and not _is_near(store):
                known.asked += 1
                if known.asked > _ASKED and isinstance(store._engine, LISTED):
                    # Another thread notes the name of its node in this group after that.
                    known.names = {one for part in store._engine.list_dir(above) for one in part}
            names = known.names
            if names is not None:
                return name not in names
        return nothing_at(store, path)

    def stored(self, store: Store, path: str) -> None:
        """Something was stored at ``path``, so that its name is in use."""
        above, _, name = store.engine_path(path).rpartition("/")
        with self._lock:
            known = self._find(above)
            if known is not None and known.names is not None:
                known.names.add(name)

    def forget(self, store: Store, path: str) -> None:
        """What is at and below ``path`` may have been removed, moved or replaced."""
        above, _, name = store.engine_path(path).rpartition("/")
        with self._lock:
            if not name:
                self._root = _Known()
                return
            known = self._find(above)
            if known is not None:
                known.below.pop(name, None)
                if known.names is not None:
                    known.names.add(name)

    def relied_on(self) -> list[str]:
        """The groups that nodes were stored in without asking for the groups, from above."""
        found = []
        with self._lock:
            level = [self._root]
            while level:
                found += [one.relied_on for one in level if one.relied_on is not None]
                level = [below for one in level for below in one.below.values()]
        return found


def _is_near(store: Store) -> bool:
    engine = store._engine
    return isinstance(engine, LISTED) and not isinstance(engine, _engine.ObjectStore)
