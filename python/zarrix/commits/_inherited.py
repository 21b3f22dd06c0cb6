"""What a claim that was taken over leaves to the next commit on a server.

The old holder may only rest, and go on later: what it was about to store is harmless, as conditions
and complete contents keep it apart, but a deletion has no condition. So no commit deletes chunks of
a key space, or a node, without a claim that says so. The one that takes such a claim over notes in
the same put that a deletion may still come: that key space, and that path, are not used again.
Neither is the key space that a visible commit has left whose own documents may still come.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from zarrix._metadata.consolidated import Documents
from zarrix._metadata.intent import Intent
from zarrix._stores.keys import ARRAY_DOCUMENT, key_of
from zarrix.commits._left import Left
from zarrix.commits._spaces import parse_space

__all__ = ["changed_entries", "inherited", "late_in"]


def late_in(member: Any) -> list[str]:
    """The paths of nodes that a commit which was overtaken may still delete."""
    found = member.get("late") if isinstance(member, Mapping) else None
    return [path for path in found if isinstance(path, str)] if isinstance(found, list) else []


def changed_entries(entries: Any, added: Sequence[Left], swept: Sequence[Left]) -> list[Any]:
    """The entries of key spaces that are left, without those that are swept."""
    gone = {(one.path, str(one.space)) for one in [*swept, *added]}
    kept = [one for one in _entries(entries) if (one.get("path"), one.get("space")) not in gone]
    return [*kept, *(one.to_json() for one in added if one not in swept)]


def _entries(entries: Any) -> list[dict[str, Any]]:
    known = entries if isinstance(entries, list) else []
    return [dict(one) for one in known if isinstance(one, Mapping)]


def inherited(member: Mapping[str, Any], left: Intent, known: Documents) -> dict[str, Any]:
    """The members that note what the holder of a claim has left, or may still do.

    Parameters
    ----------
    member : mapping
        What is noted, with the id of the last commit that became visible.
    left : Intent
        Of the claim that is taken over.
    known : dict of key to JSON
        The consolidated documents.
    """
    has_happened = member.get("id") == left.id
    entries = _entries(member.get("sweep"))
    # Its documents replace those that name the old key spaces, and only these: where tags are those
    # of contents, they must not come back.
    old = [(path, space) for path, (space, _) in left.flips.items()] if has_happened else []
    sweeps = {*left.sweeps, *old}
    for entry in entries:
        if (entry.get("path"), entry.get("space")) in sweeps:
            entry["late"] = True
    noted = {(entry.get("path"), entry.get("space")) for entry in entries}
    for path, (_, space) in left.flips.items():
        parsed = parse_space(space)
        if not has_happened and parsed is not None and (path, space) not in noted:
            axes = _axes(known, path, left)
            entries.append(Left(path, parsed, time.time(), axes, 0.0).to_json())
    found: dict[str, Any] = {"sweep": entries}
    late = {*late_in(member), *(left.deletes if has_happened else ())}
    if late:
        found["late"] = sorted(late)
    return found


def _axes(known: Documents, path: str, left: Intent) -> int:
    start = len(left.root) + 1 if left.root else 0
    document = known.get(key_of(path[start:], ARRAY_DOCUMENT[left.zarr_format]))
    shape = document.get("shape") if isinstance(document, Mapping) else None
    return len(shape) if isinstance(shape, list) else 0
