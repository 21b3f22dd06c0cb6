"""Three states of one metadata document become one: before a change, after it, and as stored now.

A commit changes documents that others may change meanwhile. Members that only one side has changed
are taken from it, and so are attributes, name by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zarrix._metadata.json import json_dumps
from zarrix._stores.keys import ZARR_JSON, ZATTRS

__all__ = ["ConflictError", "bare", "encoded", "merged", "shows"]

_CONSOLIDATED = "consolidated_metadata"
_ABSENT: Any = object()


class ConflictError(Exception):
    """Both sides have changed ``what``, the name of a member, in different ways."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def bare(document: Any) -> Any:
    """A parsed document without the consolidated metadata in it."""
    if not isinstance(document, Mapping) or _CONSOLIDATED not in document:
        return document
    return {name: value for name, value in document.items() if name != _CONSOLIDATED}


def encoded(document: Any, key: str) -> bytes:
    """A document as zarrix stores it under ``key``."""
    if key.rpartition("/")[2] == ZARR_JSON:
        return json_dumps(document, indent=2, sort_keys=False)
    return json_dumps(document)


def merged(key: str, before: Any, mine: Any, theirs: Any, *, settled: bool = False) -> Any:
    """The document of ``key`` with my change of it and with theirs; None where there is none.

    Parameters
    ----------
    key : str
    before, mine, theirs : JSON object or None
        What my change began from, what it made of that, and what is stored now.
    settled : bool
        Whether my change has happened already: then no change is a conflict. Theirs came later,
        and their attributes win; but the array is as I have written its chunks.

    Raises
    ------
    ConflictError
        Both have changed one member, or one attribute.
    """
    if _same(theirs, before) or _same(theirs, mine):
        return mine
    if _same(mine, before):
        return theirs
    if not isinstance(mine, Mapping) or not isinstance(theirs, Mapping):
        if settled:
            return mine
        raise ConflictError("node")
    old = before if isinstance(before, Mapping) else {}
    if key.rpartition("/")[2] == ZATTRS:
        return _by_name((old, mine, theirs), settled)
    result: dict[str, Any] = {}
    for name in [*theirs, *(name for name in mine if name not in theirs)]:
        values = [one.get(name, _ABSENT) for one in (old, mine, theirs)]
        if name == "attributes":
            parts = ({} if one is _ABSENT else one for one in values)
            result[name] = _by_name([*parts], settled)
        else:
            value = _one(values, name, "mine" if settled else "")
            if value is not _ABSENT:
                result[name] = value
    return result


def _by_name(documents: Sequence[Any], settled: bool) -> dict[str, Any]:
    _, mine, theirs = documents
    result = {}
    for name in [*theirs, *(name for name in mine if name not in theirs)]:
        values = [one.get(name, _ABSENT) for one in documents]
        value = _one(values, f"attribute {name}", "theirs" if settled else "")
        if value is not _ABSENT:
            result[name] = value
    return result


def _one(values: Sequence[Any], name: str, winner: str) -> Any:
    before, mine, theirs = values
    if _same(theirs, before) or _same(theirs, mine):
        return mine
    if _same(mine, before):
        return theirs
    if not winner:
        raise ConflictError(name)
    return mine if winner == "mine" else theirs


def shows(key: str, before: Any, after: Any, stored: Any) -> bool:
    """Whether a document has a change: one member or attribute that is as the change made it."""
    before, after, stored = bare(before), bare(after), bare(stored)
    if not isinstance(after, Mapping):
        return stored is None and before is not None
    if not isinstance(stored, Mapping):
        return False
    old = before if isinstance(before, Mapping) else {}
    parts = [(old, after, stored)]
    if key.rpartition("/")[2] != ZATTRS:
        attributes = [one.get("attributes", {}) for one in (old, after, stored)]
        rest = [
            {name: value for name, value in one.items() if name != "attributes"}
            for one in (old, after, stored)
        ]
        parts = [(rest[0], rest[1], rest[2]), (attributes[0], attributes[1], attributes[2])]
    return any(
        not _same(was.get(name, _ABSENT), will.get(name, _ABSENT))
        and _same(now.get(name, _ABSENT), will.get(name, _ABSENT))
        for was, will, now in parts
        if isinstance(was, Mapping) and isinstance(will, Mapping) and isinstance(now, Mapping)
        for name in {*was, *will}
    )


def _same(a: Any, b: Any) -> bool:
    if a is _ABSENT or b is _ABSENT:
        return a is b
    # As text, because NaN is not equal to itself.
    return bool(a == b) or json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
