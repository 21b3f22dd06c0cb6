"""Storing a document where there is none, by one request to a server that keeps conditions."""

from __future__ import annotations

from collections.abc import Callable

from zarrix._stores.base import Store

__all__ = ["put_new"]


def put_new(store: Store, key: str, document: bytes, taken: Callable[[bytes], bytes]) -> bool:
    """Store a document unless there is one; return whether it was stored.

    Parameters
    ----------
    store : Store
    key : str
    document : bytes
    taken : callable
        Called with the document that is there; returns it, or raises an error.
    """
    inner = store._user_store
    if inner.is_remote and not store._is_staged and store.keeps_conditions(key):
        outcome = store.put_if(key, document, None)
        if outcome.is_stored:
            return True
        if outcome.result == "unclear":
            # What was stored nonetheless has the name of this change.
            found = store.get_tagged(key)
            if found is not None and outcome.name in found.changes.split():
                return True
    is_new = False

    def first(old: bytes | None) -> bytes:
        nonlocal is_new
        is_new = old is None
        return document if old is None else taken(old)

    store.update_value(key, first)
    return is_new
