"""Key spaces that commits on servers have left: deleted under a claim that says so."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from zarrix._errors import LateWriteWarning
from zarrix._metadata import v2, v3
from zarrix._metadata.intent import Intent
from zarrix._nodes import nodes
from zarrix._runtime.caller import warn_caller
from zarrix._stores.base import Store
from zarrix._stores.labels import describe
from zarrix.commits._claim import Claim
from zarrix.commits._left import Left, left_in
from zarrix.commits._server_carry import AT_ONCE, digest_of, listed_below
from zarrix.commits._server_steps import finish_left
from zarrix.commits._spaces import KeySpace, space_of

__all__ = ["chunks_in", "delete_left", "sweep_due", "sweep_on_server"]


def chunks_in(
    keys: Iterable[str], path: str, space: KeySpace, own: tuple[KeySpace, int] | None = None
) -> list[str]:
    """The keys of a key space, with any number of axes, without those of the array's ``own``."""
    is_key = space.any_keys().fullmatch
    start = len(path) + 1
    is_own = None if own is None else own[0].keys(own[1]).fullmatch
    return sorted(
        key
        for key in keys
        if is_key(key[start:]) and not (is_own is not None and is_own(key[start:]))
    )


def delete_left(store: Store, claim: Claim, intent: Intent, entries: list[Left]) -> int:
    """Delete the chunks of key spaces, and forget these; returns how many chunks.

    The claim says it before the first deletion, and until the last one is answered.
    """
    if not entries:
        return 0
    intent.sweeps = [(one.path, str(one.space)) for one in entries]
    claim.store(intent)
    deleted = 0
    for one in entries:
        try:
            count = _delete(store, claim, intent, one)
        except Exception:
            # Some of its chunks may be gone, and another writer has not changed them.
            claim.leave([one._replace(digest=None)])
            raise
        if count is None:
            # For another call that asks for it.
            claim.leave([one._replace(grace=None, digest=None)])
        else:
            claim.forget([one])
            deleted += count
    intent.sweeps = []
    claim.store(intent)
    return deleted


def _delete(store: Store, claim: Claim, intent: Intent, left: Left) -> int | None:
    """Delete what is in one of them; None if others have written to it since it was left."""
    node = nodes.find(store, left.path, intent.zarr_format)
    if node is None or node.kind != "array":
        return 0
    parse = v2.parse_array if intent.zarr_format == 2 else v3.parse_array
    metadata = parse(node.document, describe(store, left.path))
    own, path = space_of(metadata), store.engine_path(left.path)
    if own == left.space:
        return 0
    tags = listed_below(store, path)
    keys = chunks_in(tags, path, left.space, (own, metadata.ndim))
    if _is_changed(tags, keys, left):
        warn_caller(
            f"chunks of {describe(store, left.path)} were written after a commit had replaced the "
            f"array, by a program that did not see it. No reader sees them; the {len(keys)} old "
            f"chunks with keys of the form {str(left.space)!r} are kept until "
            "zarrix.sweep(root, now=True)",
            LateWriteWarning,
        )
        return None

    def delete(key: str) -> bool:
        if not claim.is_fresh():
            claim.verify()
        return store._engine.delete(key)

    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(keys)))) as pool:
        return sum(pool.map(delete, keys))


def _is_changed(tags: Mapping[str, str], keys: list[str], left: Left) -> bool:
    if left.digest is None or left.is_late:
        return False
    return digest_of((key, tags[key]) for key in keys) != left.digest


def _entries(store: Store, claim: Claim, intent: Intent) -> list[Left]:
    return left_in(store._value(claim.key), intent.zarr_format)


def sweep_due(store: Store, claim: Claim, intent: Intent) -> int:
    """Delete the key spaces whose grace is over; returns how many chunks."""
    now = time.time()
    due = [one for one in _entries(store, claim, intent) if one.is_over(now) and not one.is_late]
    return delete_left(store, claim, intent, due)


def sweep_on_server(store: Store, claim: Claim, intent: Intent, wait: float, *, now: bool) -> int:
    """`sweep` of a hierarchy on a server."""
    claim.acquire(wait)
    try:
        finish_left(store, claim)
        if now:
            deleted = delete_left(store, claim, intent, _entries(store, claim, intent))
            claim.pardon()
        else:
            deleted = sweep_due(store, claim, intent)
        claim.end()
        return deleted
    finally:
        claim.release()
