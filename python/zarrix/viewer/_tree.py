"""The route ``tree``: the members of a group, and those whose path has a text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from zarrix._display.printable import printable
from zarrix._engine import CancelToken
from zarrix._nodes.broken import CANNOT_OPEN, BrokenMember
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Answer, json_answer
from zarrix.viewer._badges import badges_of
from zarrix.viewer._limits import MOST_MEMBERS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going
from zarrix.viewer._roots import Roots, is_array
from zarrix.viewer._text import dtype_text

__all__ = ["described", "tree"]

# Nodes that are looked at for a text; of a remote store, by requests.
_MOST_VISITED = {False: 20_000, True: 2000}
_BROKEN_TEXT = 300
_NO_NODE = BrokenMember("", ValueError("this is neither an array nor a group"))


def tree(roots: Roots, parameters: Parameters) -> Answer:
    """The members of a group, or those below it whose path has the text ``filter``."""
    path = parameters.text("path")
    offset = parameters.whole("offset", 0, 0, 2**31)
    limit = parameters.whole("limit", 500, 1, MOST_MEMBERS)
    wanted = parameters.text("filter").casefold()
    if wanted:
        found = _matching(path, wanted, roots, parameters.cancel)
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
    names = sorted(roots.names(path), key=_natural)
    is_large = len(names) > MOST_MEMBERS
    if is_large:
        # Only what is shown is opened, so that other folders count as well.
        names, total = names[offset : offset + limit], len(names)
    opened = dict(roots.members(path, MOST_MEMBERS, names))
    if not is_large:
        names = [name for name in names if name in opened]
        names, total = names[offset : offset + limit], len(names)
    shown = [described(key_of(path, name), opened.get(name, _NO_NODE)) for name in names]
    return json_answer({"path": path, "total": total, "offset": offset, "members": shown})


def _matching(path: str, text: str, roots: Roots, cancel: CancelToken) -> Iterator[dict[str, Any]]:
    waiting = deque([path])
    most, visited = _MOST_VISITED[roots.is_remote(path)], 0
    while waiting and visited < most:
        above = waiting.popleft()
        for name, member in roots.members(above, most - visited):
            check_going(cancel)
            visited += 1
            below = key_of(above, name)
            if text in below.casefold():
                yield described(below, member)
            if not is_array(member) and not isinstance(member, BrokenMember):
                waiting.append(below)


def described(path: str, node: Any) -> dict[str, Any]:
    """A member in one line of the tree; one whose attributes cannot be read is broken."""
    try:
        return _described(path, node)
    except CANNOT_OPEN as error:
        return _described(path, BrokenMember(path, error))


def _described(path: str, node: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"path": path, "name": path.rpartition("/")[2]}
    if isinstance(node, BrokenMember):
        reason = printable(str(node.reason))[:_BROKEN_TEXT]
        return {**found, "kind": "broken", "reason": reason, "badges": []}
    if is_array(node):
        found |= {"kind": "array", "shape": node.shape, "dtype": dtype_text(node.dtype)}
        found["nbytes"] = node.nbytes
    else:
        found["kind"] = "group"
    return {**found, "badges": badges_of(node)}


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """A sort key in which ``frame10`` comes after ``frame9``."""
    # Digits by their number and then as text: Python makes no number of thousands of them.
    parts = ((one.isdecimal(), one.lstrip("0"), one) for one in re.split("([0-9]+)", name))
    return [
        (True, len(bare), bare) if is_number else (False, 0, one) for is_number, bare, one in parts
    ]
