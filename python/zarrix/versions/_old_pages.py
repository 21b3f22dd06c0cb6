"""Removing pages that no version names, on servers, where no lock keeps another process out.

A page is removed once it was unnamed for a day, by the clocks of the processes that looked: a
version that is being made uses pages that are there, and is stored long before.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from zarrix._metadata.checks import members_of
from zarrix._stores.base import Store
from zarrix._stores.labels import place
from zarrix.versions._catalogue import all_versions
from zarrix.versions._names import CATALOGUE, PAGES, page_key

__all__ = ["remove_old_pages", "stored_digests"]

_GRACE = timedelta(days=1)
_MEMBER = "unnamed"
"""The member of ``versions.json`` that says since when pages are unnamed."""


def stored_digests(store: Store) -> set[str]:
    """The digests of the pages that are stored."""
    rows = (row for page in store.list_pages(PAGES) for row in page)
    return {row.key.rpartition("/")[2].partition(".")[0] for row in rows}


def remove_old_pages(store: Store) -> list[str]:
    """Remove pages that were unnamed a day ago, and note the others; returns the removed keys."""
    if CATALOGUE not in store:
        return []
    stored = stored_digests(store)
    unnamed = stored - {page.digest for one in all_versions(store) for page in one.pages}
    now = datetime.now(UTC)
    doomed: set[str] = set()

    def note(old: bytes | None) -> bytes:
        members = dict(members_of(old, place(store, CATALOGUE)))
        since = members.get(_MEMBER)
        known = since if isinstance(since, dict) else {}
        doomed.clear()
        doomed.update(one for one in unnamed if _is_old(known.get(one), now))
        told = now.isoformat(timespec="seconds")
        left = {one: known.get(one, told) for one in sorted(unnamed - doomed)}
        members[_MEMBER] = left
        if not left:
            del members[_MEMBER]
        return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()

    store.update_value(CATALOGUE, note)
    keys = sorted(map(page_key, doomed))
    for key in keys:
        store.pop(key, None)
    return keys


def _is_old(since: Any, now: datetime) -> bool:
    try:
        return now - datetime.fromisoformat(since) > _GRACE
    except (TypeError, ValueError):
        # Not noted yet, or by no zarrix.
        return False
