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

    __slots__ = ("asked", "below", "free", "is_there", "names", "relied_on")

    def __init__(self) -> None:
        self.below: dict[str, _Known] = {}
        self.is_there = False
        # All names that may be in use; None where these are not known.
        self.names: set[str] | None = None
        self.asked = 0
        # Names that were found to be free, until something is stored there.
        self.free: set[str] = set()
        # Its path, if a node was stored in it without asking for it.
        self.relied_on: str | None = None

    def use(self, name: str) -> None:
        """Something may be stored under this name."""
        self.free.discard(name)
        if self.names is not None:
            self.names.add(name)


class KnownGroups:
    """Groups of one store and one format."""

    def __init__(self) -> None:
        self._root = _Known()
        self._lock = threading.Lock()

    def _above(self, engine_path: str) -> tuple[_Known, int] | None:
        """The next group above a path that is known, and the number of names in its own path."""
        known, found = self._root, None
        for depth, name in enumerate(engine_path.split("/") if engine_path else ()):
            if known.is_there:
                found = known, depth
            below = known.below.get(name)
            if below is None:
                break
            known = below
        return found

    def missing_above(self, store: Store, path: str) -> list[str] | None:
        """The paths above ``path`` that have no group, from the root down; None if not known.

        The caller is about to store a node at ``path``.
        """
        names = path.split("/") if path else []
        with self._lock:
            # The engine's spelling may have a prefix.
            place = store.engine_path(path)
            found = self._above(place)
            depth = -1 if found is None else found[1] + len(names) - len(place.split("/"))
            if found is None or depth < 0:
                return None
            found[0].relied_on = "/".join(names[:depth])
        missing = ["/".join(names[:end]) for end in range(depth + 1, len(names))]
        return missing if not missing or self.is_free(store, missing[0]) else None

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
        place, is_near = store.engine_path(path), _is_near(store)
        names = place.split("/")
        with self._lock:
            found = self._above(place)
            if found is None:
                return False
            known, depth = found
            if known.names is None and not is_near:
                known.asked += names[depth] not in known.free
                if known.asked > _ASKED and isinstance(store._engine, LISTED):
                    # Another thread notes the name of its node in this group after that.
                    above = "/".join(names[:depth])
                    known.names = {one for part in store._engine.list_dir(above) for one in part}
            if known.names is not None:
                return names[depth] not in known.names
            if names[depth] in known.free:
                return True
        is_free = nothing_at(store, path)
        if is_free and not is_near and depth == len(names) - 1:
            with self._lock:
                known.free.add(names[depth])
        return is_free

    def stored(self, store: Store, path: str) -> None:
        """Something was stored at ``path``, so that its name is in use."""
        place = store.engine_path(path)
        with self._lock:
            found = self._above(place)
            if found is not None:
                known, depth = found
                known.use(place.split("/")[depth])

    def forget(self, store: Store, path: str) -> None:
        """What is at and below ``path`` may have been removed, moved or replaced."""
        self.stored(store, path)
        above, _, name = store.engine_path(path).rpartition("/")
        with self._lock:
            known: _Known | None = self._root
            for one in above.split("/") if above else ():
                known = known and known.below.get(one)
            if not name:
                self._root = _Known()
            elif known is not None:
                known.below.pop(name, None)

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
