"""The end of a commit on a server: the documents of the nodes, and what a dead committer left."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrix._metadata.consolidated import commit_of
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._metadata.merged import ConflictError, bare, encoded, merged
from zarrix._nodes.consolidate import update_consolidated
from zarrix._stores.base import Store
from zarrix._stores.labels import place
from zarrix.commits._claim import Claim
from zarrix.commits._steps import delete_nodes

__all__ = ["finish_left", "recover_on_server", "store_documents"]

_AT_ONCE = 32


def store_documents(store: Store, claim: Claim, intent: Intent) -> None:
    """S6: the documents of the changed nodes, deletions, and other consolidated metadata."""
    assert intent.documents is not None
    claim.verify()
    pairs = [(key, *pair) for key, pair in sorted(intent.documents.items()) if key != claim.key]
    kept = [(key, before, after) for key, before, after in pairs if after is not None]

    def settle(change: tuple[str, Any, Any]) -> None:
        store.update_value(change[0], _settled(store, *change))

    with ThreadPoolExecutor(max(1, min(_AT_ONCE, len(kept)))) as pool:
        list(pool.map(settle, kept))
    if intent.deletes:
        claim.verify()
        delete_nodes(store, intent)
    for path in intent.paths():
        update_consolidated(store, path, intent.zarr_format, apart=intent.root)


def _settled(
    store: Store, key: str, before: Any, after: Any
) -> Callable[[bytes | None], bytes | None]:
    """A document after the commit. What others have changed since then is newer, and stays."""

    def change(old: bytes | None) -> bytes | None:
        theirs = None if old is None else json_loads(old, place(store, key))
        try:
            found = merged(key, before, after, bare(theirs))
        except ConflictError:
            return old
        return old if found == bare(theirs) or found is None else encoded(found, key)

    return change


def finish_left(store: Store, claim: Claim) -> None:
    """Finish the commit whose claim was taken over, if it had become visible.

    Chunks of one that had not stay where no reader looks: the next commit that makes the array
    longer replaces them.
    """
    left = claim.left
    if left is None or left.documents is None or left.root != claim.root:
        return
    if commit_of(store._value(claim.key), left.zarr_format) == left.id:
        store_documents(store, claim, left)


def recover_on_server(store: Store, claim: Claim, wait: float, *, dry_run: bool) -> Any:
    """Finish the commit whose claim is stored, if it is visible, and remove the claim.

    Returns
    -------
    (bool, Intent) or None
        Whether it had become visible; None if nothing was there.
    """
    left = claim.stored_intent()
    if left is None:
        return None
    forward = commit_of(store._value(claim.key), left.zarr_format) == left.id
    if not dry_run:
        claim.acquire(wait)
        try:
            finish_left(store, claim)
            claim.end()
        finally:
            claim.release()
    return forward, left
