"""One listing for a walk over a whole tree, where each listing goes over all keys.

A plain mapping cannot list what lies below a path. A walk that asks for the names in each group
would go over all keys for each: the square of what is stored. For the duration of a walk the names
are taken from one listing instead. What is created meanwhile may be missed, as in any iteration;
what is stored under the names is read when it is looked at.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator

from zarrix import _engine

__all__ = ["listed_once", "names_below"]


class _Listed(threading.local):
    """Of each thread: names by folder, by the identity of the engine store."""

    def __init__(self) -> None:
        self.folders: dict[int, dict[str, list[str]]] = {}


_listed = _Listed()


@contextlib.contextmanager
def listed_once(engine: _engine.Store) -> Iterator[None]:
    """Meanwhile `names_below` answers from one listing, in this thread."""
    if not isinstance(engine, _engine.MappingStore) or id(engine) in _listed.folders:
        yield
        return
    _listed.folders[id(engine)] = _folders(engine.list_prefix(""))
    try:
        yield
    finally:
        del _listed.folders[id(engine)]


def names_below(engine: _engine.Store, path: str) -> list[str]:
    """Names directly below ``path`` that have keys below them."""
    folders = _listed.folders.get(id(engine))
    return engine.list_dir(path)[1] if folders is None else folders.get(path, [])


def _folders(keys: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    seen = {""}
    for key in keys:
        folder = key.rpartition("/")[0]
        while folder not in seen:
            seen.add(folder)
            above, _, name = folder.rpartition("/")
            found.setdefault(above, []).append(name)
            folder = above
    return found
