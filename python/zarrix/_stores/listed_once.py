"""One listing for a walk over a tree, in stores where each listing visits all keys.

A plain mapping cannot list the keys below a path. A walk that asks for the names in each group
would visit all keys for each group, which is quadratic. During a walk, the names are taken from one
listing instead. Keys created meanwhile may be missed, as in any iteration; values are read when
they are used.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator

from zarrix import _engine
from zarrix._stores.mapping_values import MappingValues, listed_keys

__all__ = ["listed_once", "names_below"]


class _Listed(threading.local):
    """For each thread: names by folder, by the identity of the engine store."""

    def __init__(self) -> None:
        self.folders: dict[int, dict[str, list[str]]] = {}


_listed = _Listed()


@contextlib.contextmanager
def listed_once(engine: _engine.Store) -> Iterator[None]:
    """During the context, listings in this thread are parts of one listing."""
    values = engine.values if isinstance(engine, _engine.PythonStore) else None
    # Other stores do not visit all keys for each listing.
    if not isinstance(values, MappingValues) or id(engine) in _listed.folders:
        yield
        return
    keys = sorted(engine.list_prefix(""))
    _listed.folders[id(engine)] = _folders(keys)
    listed_keys.by_values[id(values)] = keys
    try:
        yield
    finally:
        del _listed.folders[id(engine)]
        del listed_keys.by_values[id(values)]


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
