"""What a commit in the source has written, or is writing, that is not part of its state."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from zarrix._errors import MetadataError
from zarrix._hierarchy.sync_sides import Side
from zarrix._metadata.checks import members_of
from zarrix._metadata.consolidated import commit_member
from zarrix._metadata.json import json_dumps
from zarrix._nodes.pending import intent_above, read_intent
from zarrix._stores.keys import COMMIT_INTENT, COMMIT_MEMBER, ZARR_JSON, ZMETADATA

__all__ = ["Pending", "without_claim"]

_NUMBERS = re.compile(r"\d+(?:([./])\d+)*")


class Pending:
    """Keys that a sync neither copies nor deletes.

    They are the intent of a commit, the new nodes and key spaces that no document names yet, and
    the old key spaces that wait for their sweep: handles of the copy may read them.

    Parameters
    ----------
    source : Side
    roots : mapping of str to bytes
        The documents of its root, by key.
    """

    def __init__(self, source: Side, roots: Mapping[str, bytes]) -> None:
        self._nodes: set[str] = set()
        self._spaces: set[tuple[str, str]] = set()
        for zarr_format, name in ((2, ZMETADATA), (3, ZARR_JSON)):
            member = commit_member(roots.get(name), zarr_format)
            if isinstance(member, Mapping):
                self._spaces.update(_swept(member.get("sweep")))
                claim = member.get("claim")
                if isinstance(claim, Mapping) and isinstance(claim.get("intent"), Mapping):
                    self._add_claimed(claim["intent"])
        self._add_intent(source)

    def _add_intent(self, source: Side) -> None:
        """Add what the intent in a folder names, which may be above the source."""
        folder = intent_above(source.store, source.path)
        intent = None
        # One that is damaged names nothing.
        with suppress(MetadataError):
            intent = None if folder is None else read_intent(folder)
        if intent is None or folder is None:
            return
        own = source.store._folder_at(source.path)
        above = os.path.relpath(own or folder, folder).replace(os.sep, "/")
        start = "" if above == "." else f"{above}/"
        for path in intent.creates:
            if path.startswith(start):
                self._nodes.add(path[len(start) :])
        for path, (_, space) in intent.flips.items():
            if f"{path}/".startswith(start):
                self._spaces.add((path[len(start) :], _plain(space)))

    def _add_claimed(self, intent: Mapping[str, Any]) -> None:
        creates, flips = intent.get("creates"), intent.get("flips")
        if isinstance(creates, list):
            self._nodes.update(path for path in creates if isinstance(path, str) and path)
        if isinstance(flips, Mapping):
            for path, flip in flips.items():
                space = flip.get("to") if isinstance(flip, Mapping) else None
                if isinstance(space, str):
                    self._spaces.add((path, _plain(space)))

    def has(self, key: str) -> bool:
        """Whether a key is one of them."""
        if key.rpartition("/")[2] == COMMIT_INTENT:
            return True
        if not (self._nodes or self._spaces):
            return False
        names = key.split("/")
        for depth in range(len(names)):
            path = "/".join(names[:depth])
            if path in self._nodes:
                return True
            if self._spaces and (path, _space_of(names[depth:])) in self._spaces:
                return True
        return key in self._nodes


def _swept(sweep: Any) -> Iterator[tuple[str, str]]:
    for entry in sweep if isinstance(sweep, list) else ():
        if isinstance(entry, Mapping):
            path, space = entry.get("path"), entry.get("space")
            if isinstance(path, str) and isinstance(space, str):
                yield path, _plain(space)


def _plain(space: str) -> str:
    """The name of a key space; those of v2 have no encoding before their separator."""
    return space if space.startswith("default") else space[-1:]


def _space_of(names: list[str]) -> str | None:
    """The key space of a chunk, by the names of its key below its array."""
    rest = "/".join(names)
    if rest == "c" or rest.startswith("c/"):
        return "default/"
    if rest.startswith("c."):
        return "default."
    found = _NUMBERS.fullmatch(rest)
    return None if found is None else found[1] or "/"


def without_claim(name: str, document: bytes) -> bytes:
    """A document of the root without the claim of a commit that is running in the source."""
    zarr_format = {ZMETADATA: 2, ZARR_JSON: 3}.get(name)
    if zarr_format is None or b'"claim"' not in document:
        return document
    member = commit_member(document, zarr_format)
    if not isinstance(member, Mapping) or member.get("claim") is None:
        return document
    members = dict(members_of(document, name))
    plain = {**member, "claim": None}
    if zarr_format == 2:
        return json_dumps({**members, COMMIT_MEMBER: plain})
    inline = {**members["consolidated_metadata"], COMMIT_MEMBER: plain}
    members["consolidated_metadata"] = inline
    return json_dumps(members, indent=2, sort_keys=False)
