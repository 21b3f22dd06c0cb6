"""`digests`: a digest of every stored value, to detect changes later.

A chunk under the key of another one decodes without an error, even with a checksum, and so does a
chunk from an older copy. Only digests can detect this. The user keeps them apart from the store, so
that a failure that changes the one does not change the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrix._display.progress import Progress, phase
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import JOB_MARK
from zarrix.operate._orphans import SET_ASIDE
from zarrix.operate._place import nothing_at, place_of
from zarrix.operate._survey import Problem

__all__ = ["changes", "digests"]

# The number of values between two checks for Ctrl-C and updates of the bar.
_BATCH = 256


def digests(
    store: Any,
    *,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | Progress = False,
) -> dict[str, str]:
    """SHA-256 of every stored value: documents and chunks, as they are stored.

    With these digests, a later `verify` names each value that has changed, was lost, or is new.

    Parameters
    ----------
    store : Store, mapping, URL, str, Path, Array or Group
        Anything that `zarrix.open` takes or returns.
    path : str, optional
        Only nodes at and below this path.
    storage_options : mapping, optional
        Options for a URL.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of finished values and the total.

    Returns
    -------
    dict of str to str
        64 hexadecimal digits by key, sorted by key.

    Raises
    ------
    PathNotFoundError
        Nothing is stored at the path (also a ``FileNotFoundError``).

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
    opened, where, chunk_store = place_of(store, path, storage_options)
    keys = opened._engine.list_prefix(opened.engine_path(where))
    if not keys:
        raise nothing_at(opened, where)
    if chunk_store is not None and chunk_store is not opened:
        raise ValueError(
            "digests are for the values of one store, but the chunks are in another: call "
            "digests() for the store and for its chunk_store"
        )
    return _digests(opened, keys, phase(progress, "values"))


def changes(
    store: Store, keys: list[str], before: Mapping[str, str], tell: Progress
) -> Iterator[Problem]:
    """Problems for each of ``keys``, all that are stored, that differs from the digests."""
    now = _digests(store, keys, tell)
    for key in sorted({*before, *now}):
        if SET_ASIDE.search(key):
            continue
        if key not in now:
            yield Problem("digest", key, f"{key!r} is gone; the digests have it")
        elif key not in before:
            yield Problem("digest", key, f"{key!r} is new; the digests do not have it")
        elif before[key] != now[key]:
            yield Problem("digest", key, f"{key!r} is not what the digests say was stored")


def _digests(store: Store, keys: list[str], tell: Progress) -> dict[str, str]:
    def digest(key: str) -> str | None:
        value = store._engine.get(key)
        return None if value is None else hashlib.sha256(value).hexdigest()

    # The mark of a job names the job that has made an array, and is not a part of it.
    keys = [key for key in keys if key.rpartition("/")[2] != JOB_MARK]
    found = {}
    with ThreadPoolExecutor(config.threads) as pool:
        for begin in range(0, len(keys), _BATCH):
            part = keys[begin : begin + _BATCH]
            pairs = zip(part, pool.map(digest, part), strict=True)
            found.update({key: one for key, one in pairs if one is not None})
            tell(begin + len(part), len(keys))
    return found
