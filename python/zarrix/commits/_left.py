"""The key spaces that commits have left: entries in the consolidated metadata of the root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from zarrix._metadata.consolidated import commit_member
from zarrix._metadata.literals import Format
from zarrix.commits._spaces import KeySpace, parse_space

__all__ = ["GRACE", "PROMISED", "Left", "left_in"]

GRACE = 3600.0
"""Seconds for which an old key space stays if a commit says nothing else."""
PROMISED = 10.0
"""Seconds for which an old key space stays in any case."""


class Left(NamedTuple):
    """A key space that a commit has left.

    Attributes
    ----------
    path : str
        Of the array, relative to the topmost group.
    space : KeySpace
    since : float
        When another one became visible, in seconds of the clock of the file system.
    ndim : int
        Axes of what is in it.
    grace : float or None
        Seconds after which it may be deleted; None for only when `sweep` is called.
    digest : str, optional
        On servers: of the keys and tags in it when it was left.
    is_late : bool
        On servers: whether one that was overtaken may still delete in it, so that it stays unused.
    """

    path: str
    space: KeySpace
    since: float
    ndim: int
    grace: float | None
    digest: str | None = None
    is_late: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        further: dict[str, Any] = {} if self.digest is None else {"digest": self.digest}
        if self.is_late:
            further["late"] = True
        return {
            "path": self.path,
            "space": str(self.space),
            "since": self.since,
            "ndim": self.ndim,
            "grace": self.grace,
            **further,
        }

    def is_over(self, now: float) -> bool:
        """Whether its grace is over."""
        return self.grace is not None and now >= self.since + max(self.grace, PROMISED)


def left_in(document: bytes | None, zarr_format: Format) -> list[Left]:
    """The key spaces that consolidated metadata names as left; other entries are ignored."""
    if document is None or b'"space"' not in document:
        # The document may be long, and few have any.
        return []
    member = commit_member(document, zarr_format)
    entries = member.get("sweep") if isinstance(member, Mapping) else None
    found = []
    for entry in entries if isinstance(entries, list) else ():
        one = _parsed(entry)
        if one is not None:
            found.append(one)
    return found


def _parsed(entry: Any) -> Left | None:
    if not isinstance(entry, Mapping):
        return None
    path, since, ndim, grace = (entry.get(name) for name in ("path", "since", "ndim", "grace"))
    space = entry.get("space")
    parsed = parse_space(space) if isinstance(space, str) else None
    if not isinstance(path, str) or parsed is None or type(ndim) is not int or ndim < 0:
        return None
    if not _is_number(since) or not (grace is None or _is_number(grace)):
        return None
    digest = entry.get("digest")
    digest = digest if isinstance(digest, str) else None
    return Left(path, parsed, since, ndim, grace, digest, entry.get("late") is True)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
