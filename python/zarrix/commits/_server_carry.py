"""Carrying the chunks of an array on a server to another key space, which the server copies.

Until the end of the block, a chunk that the block has not changed stays under its old key, and is
read there. At the end the server copies what has remained, under two conditions: the source has the
tag that was listed, and the new key is free. Where a server ignores these conditions of copies, the
chunk is read, and put under conditions. The old key space is listed again until nothing in it has
changed, so that what others wrote meanwhile is carried, too, or is a conflict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from zarrix import _engine
from zarrix._errors import CommitBusyError, CommitConflictError
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.labels import place
from zarrix.commits._fenced import FencedValues
from zarrix.commits._spaces import KeySpace

__all__ = ["OldChunks", "Source", "carry_all", "digest_of", "listed_below", "old_chunks", "settle"]

AT_ONCE = 32
_ROUNDS = 5
# So many chunks are read and put, for fewer requests than a server is asked about copies.
_FEW = 4

Source = tuple[str, str, str | None]
"""Where a chunk is: key, tag, and the version of the object, if it is not the latest one."""


@dataclass
class OldChunks:
    """The chunks of an array that a commit on a server puts into another key space.

    Attributes
    ----------
    sources : dict of key to Source
        By the keys that they will have.
    copied : set of key
        What is carried.
    """

    sources: dict[str, Source]
    copied: set[str] = field(default_factory=set)


def listed_below(store: Store, path: str) -> dict[str, str]:
    """The tags of all values below a path, by key."""
    return {row.key: row.tag for page in store.list_pages(path) for row in page}


def old_chunks(
    tags: Mapping[str, str],
    path: str,
    spaces: tuple[KeySpace, KeySpace],
    ndim: int,
    is_seen: Callable[[str], bool],
) -> dict[str, Source]:
    """The sources of the chunks of an array, by their new keys, from what is listed.

    Parameters
    ----------
    tags : mapping of key to tag
    path : str
        Of the array.
    spaces : (KeySpace, KeySpace)
        The old and the new one.
    ndim : int
    is_seen : callable
        Whether a stored chunk belongs to the array: others were left behind.
    """
    old, new = spaces
    start = len(path) + 1
    is_key = old.keys(ndim).fullmatch
    return {
        key_of(path, old.respelled(key[start:], new, ndim)): (key, tag, None)
        for key, tag in tags.items()
        if is_key(key[start:]) and is_seen(key)
    }


def settle(
    store: Store,
    values: FencedValues,
    chunks: OldChunks,
    path: str,
    find: Callable[[dict[str, str]], dict[str, Source]],
) -> dict[str, str]:
    """Carry what the block has not changed; returns the listing after that.

    Parameters
    ----------
    store : Store
    values : FencedValues
    chunks : OldChunks
    path : str
        Of the array.
    find : callable
        From the tags of all values below the array to the sources.

    Raises
    ------
    CommitConflictError
        Another writer has changed a chunk that the block has changed, too.
    CommitBusyError
        Others change chunks all the time.
    """
    for _ in range(_ROUNDS):
        tags = listed_below(store, path)
        found = find(tags)
        for key in sorted(found.keys() | chunks.sources.keys()):
            if found.get(key) != chunks.sources.get(key):
                _require_ours_alone(store, values, chunks, path, key)
        moved = {key for key, source in found.items() if chunks.sources.get(key) != source}
        for key in chunks.copied - found.keys():
            values._drop(key, fsync=False)
        chunks.copied -= moved | (chunks.copied - found.keys())
        chunks.sources = found
        with values._mutex:
            values.old_keys.update({key: (old, tag) for key, (old, tag, _) in found.items()})
        waiting = [
            key
            for key in found
            if key not in chunks.copied and (key in moved or not values.is_changed(key))
        ]
        if not waiting:
            return tags
        sources = {key: found[key] for key in waiting}
        chunks.copied |= carry_all(store, values, sources, store._engine)
    raise CommitBusyError(
        f"other writers change chunks of {place(store, path)} all the time, which the commit is to "
        "carry to other keys; nothing of it is visible: make it when they are done"
    )


def _require_ours_alone(
    store: Store, values: FencedValues, chunks: OldChunks, path: str, key: str
) -> None:
    if values.is_changed(key) and key not in chunks.copied:
        old = chunks.sources.get(key, (key,))[0]
        raise CommitConflictError(
            f"another writer has changed the chunk {place(store, old)}, which the commit changes, "
            "too; nothing of the commit is visible: make it again",
            path,
            old,
            "chunk",
        )


def carry_all(
    store: Store, values: FencedValues, sources: Mapping[str, Source], reader: _engine.Store
) -> set[str]:
    """Carry chunks to their new keys; returns those of which the source was still the same.

    Parameters
    ----------
    store : Store
    values : FencedValues
    sources : mapping of key to Source
        By the new keys.
    reader : engine store
        What reads the sources where the server does not copy under conditions.
    """
    engine = store._engine
    assert isinstance(engine, _engine.ObjectStore)
    copies = len(sources) > _FEW and engine.keeps_copies(next(iter(sources)))

    def carry(key: str) -> str | None:
        old, tag, version = sources[key]
        known = values.stored.get(key)
        values.require_claim()
        if copies and known is None and values.copy(key, old, tag, version):
            return key
        found = reader.get_tagged(old, most=2**64 - 1)
        if found is None or found[1] != tag:
            return None
        values.put_unseen(key, found[0], known)
        return key

    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(sources)))) as pool:
        return {key for key in pool.map(carry, sources) if key is not None}


def digest_of(tagged: Iterable[tuple[str, str]]) -> str:
    """The digest of the keys and tags in an old key space, by which later writes show."""
    lines = sorted(f"{key}\0{tag}\n" for key, tag in tagged)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
