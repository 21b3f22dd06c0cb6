"""`digests`: what is stored under every key, to tell later what is no longer the same.

A chunk that lies in another one's place decodes well, checksum and all; so does one from an older
copy. Only who knows what was stored where can tell. The digests are kept by the user, apart from
the store: what changes the one should not be able to change the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrix._config import config
from zarrix._stores import Store
from zarrix.operate._survey import SET_ASIDE, Problem, place_of

__all__ = ["changes", "digests"]


def digests(store: Any, *, path: str | None = None) -> dict[str, str]:
    """SHA-256 of every stored value: of documents and chunks, as they are stored.

    Given to `verify` later, they name each value that is another one, was lost or has come.

    Parameters
    ----------
    store : Store, mapping, str, Path, Array or Group
    path : str, optional
        Only what is at and below this path.

    Returns
    -------
    dict of str to str
        64 hexadecimal digits by key, sorted by key.

    Raises
    ------
    FileNotFoundError
        There is no such directory.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore()
    >>> z = zarr.open(store, mode="w", shape=20, chunks=10, dtype="i4")
    >>> z[:] = range(20)
    >>> before = zarr.digests(store)
    >>> store["0"], store["1"] = store["1"], store["0"]
    >>> zarr.verify(store).ok
    True
    >>> [problem.key for problem in zarr.verify(store, digests=before).problems]
    ['0', '1']
    """
    opened, where = place_of(store, path)
    return _digests(opened, opened._engine.list_prefix(opened.engine_path(where)))


def changes(store: Store, keys: list[str], before: Mapping[str, str]) -> Iterator[Problem]:
    """How the values of ``keys``, which are all that are stored, differ from what was before."""
    now = _digests(store, keys)
    for key in sorted({*before, *now}):
        if SET_ASIDE.search(key):
            continue
        if key not in now:
            yield Problem("digest", key, f"{key!r} is gone; the digests have it")
        elif key not in before:
            yield Problem("digest", key, f"{key!r} is new; the digests do not have it")
        elif before[key] != now[key]:
            yield Problem("digest", key, f"{key!r} is not what the digests say was stored")


def _digests(store: Store, keys: list[str]) -> dict[str, str]:
    def digest(key: str) -> str | None:
        value = store._engine.get(key)
        return None if value is None else hashlib.sha256(value).hexdigest()

    with ThreadPoolExecutor(config.threads) as pool:
        found = zip(keys, pool.map(digest, keys), strict=True)
        return {key: one for key, one in found if one is not None}
