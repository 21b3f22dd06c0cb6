"""The route ``tree``: the members of a group, and those whose path has a text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from zarrix._display.printable import printable
from zarrix._nodes.broken import BrokenMember
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Answer, json_answer
from zarrix.viewer._badges import badges_of
from zarrix.viewer._limits import MOST_MEMBERS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots, is_array

__all__ = ["described", "tree"]

_MOST_VISITED = 20_000
_BROKEN_TEXT = 300


def tree(roots: Roots, given: Parameters) -> Answer:
    """The members of a group, or those below it whose path has the text ``filter``."""
    path = given.text("path")
    offset = given.whole("offset", 0, 0, 2**31)
    limit = given.whole("limit", 500, 1, MOST_MEMBERS)
    wanted = given.text("filter").casefold()
    if wanted:
        found = _matching(path, wanted, roots)
        shown = [one for _, one in zip(range(limit + 1), found, strict=False)]
        return json_answer(
            {
                "path": path,
                "total": min(limit, len(shown)),
                "offset": 0,
                "members": shown[:limit],
                "truncated": len(shown) > limit,
            }
        )
    members = sorted(roots.members(path), key=lambda one: _natural(one[0]))
    part = members[offset : offset + limit]
    shown = [described(key_of(path, name), one) for name, one in part]
    return json_answer({"path": path, "total": len(members), "offset": offset, "members": shown})


def _matching(path: str, wanted: str, roots: Roots) -> Iterator[dict[str, Any]]:
    waiting = deque([path])
    visited = 0
    while waiting and visited < _MOST_VISITED:
        above = waiting.popleft()
        for name, member in roots.members(above):
            visited += 1
            below = key_of(above, name)
            if wanted in below.casefold():
                yield described(below, member)
            if not is_array(member) and not isinstance(member, BrokenMember):
                waiting.append(below)


def described(path: str, node: Any) -> dict[str, Any]:
    """A member in one line of the tree."""
    found: dict[str, Any] = {"path": path, "name": path.rpartition("/")[2]}
    if isinstance(node, BrokenMember):
        reason = printable(str(node.reason))[:_BROKEN_TEXT]
        return {**found, "kind": "broken", "reason": reason, "badges": []}
    if is_array(node):
        found |= {"kind": "array", "shape": node.shape, "dtype": str(node.dtype)}
        found["nbytes"] = node.nbytes
    else:
        found["kind"] = "group"
    return {**found, "badges": badges_of(node)}


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """A sort key in which ``frame10`` comes after ``frame9``."""
    parts = re.split(r"(\d+)", name)
    return [(True, int(one), "") if one.isdecimal() else (False, 0, one) for one in parts]
