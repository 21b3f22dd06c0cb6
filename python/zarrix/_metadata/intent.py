"""The document of a commit that is not over: what it changes, and what was there before.

It is stored before the first chunk. After a crash, it and the documents of the nodes say whether
the commit happened. It may be foreign or damaged: everything is checked when it is parsed, and what
is removed because of it is decided by the documents of the nodes, and never by it alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zarrix._errors import InvalidKeyError, MetadataError, shorten
from zarrix._metadata.checks import MAX_LENGTH, members_of
from zarrix._metadata.consolidated import Documents
from zarrix._metadata.literals import Format
from zarrix._metadata.merged import bare, merged, shows
from zarrix._stores.keys import DOCUMENTS_OF_A_NODE, key_of
from zarrix._stores.path import normalize_storage_path

__all__ = ["Intent", "has_happened", "parse_intent", "with_commit"]

_VERSION = 1


@dataclass
class Intent:
    """What a commit changes. Paths and keys are relative to the folder that the intent is in.

    Attributes
    ----------
    id : str
        Of the commit.
    root : str
        Path of the node whose document is replaced to make the commit visible.
    zarr_format : {2, 3}
    holder : str
        The process that made the commit, for messages.
    message : str
    grows : dict of path to (shape, shape)
        Arrays that get longer: before and after.
    flips : dict of path to (key space, key space)
        Arrays whose chunks are under other keys afterwards.
    creates, deletes : list of path
    documents : dict of key to (JSON, JSON), or None
        The documents before and after; None until all chunks are stored.
    sweeps : list of (path, key space)
        On servers: what the commit deletes of former contents.
    """

    id: str
    root: str
    zarr_format: Format
    holder: str = ""
    message: str = ""
    grows: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    flips: dict[str, tuple[str, str]] = field(default_factory=dict)
    creates: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    documents: dict[str, tuple[Any, Any]] | None = None
    sweeps: list[tuple[str, str]] = field(default_factory=list)

    def encode(self) -> bytes:
        """The stored form."""
        documents = None
        if self.documents is not None:
            documents = {key: list(pair) for key, pair in self.documents.items()}
        members = {
            "zarrix_commit": _VERSION,
            "id": self.id,
            "root": self.root,
            "zarr_format": self.zarr_format,
            "holder": self.holder,
            "message": self.message,
            "grows": {path: {"from": a, "to": b} for path, (a, b) in self.grows.items()},
            "flips": {path: {"from": a, "to": b} for path, (a, b) in self.flips.items()},
            "creates": self.creates,
            "deletes": self.deletes,
            "documents": documents,
        }
        if self.sweeps:
            members["sweeps"] = [list(pair) for pair in self.sweeps]
        return json.dumps(members).encode()

    def paths(self) -> list[str]:
        """All nodes that are changed, sorted."""
        keys = {key.rpartition("/")[0] for key in self.documents or {}}
        return sorted({*self.grows, *self.flips, *self.creates, *self.deletes, *keys})


def parse_intent(document: bytes, label: str) -> Intent:
    """The intent in a stored document.

    Raises
    ------
    MetadataError
        It is not one, is of a later version, or names what is not below its folder.
    """
    members = members_of(document, label)

    def wrong(what: str) -> MetadataError:
        value = members.get(what)
        return MetadataError(
            f"{label}: key {what!r} is {shorten(value)}, which no commit of zarrix writes; if no "
            "process has a commit open, and the arrays are as they should be, delete the file"
        )

    if members.get("zarrix_commit") != _VERSION:
        raise wrong("zarrix_commit")
    zarr_format = members.get("zarr_format")
    if zarr_format not in (2, 3):
        raise wrong("zarr_format")
    texts = {name: members.get(name) for name in ("id", "root", "holder", "message")}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise wrong(name)
    root = str(texts["root"])
    found = Intent(str(texts["id"]), root, zarr_format, str(texts["holder"]), str(texts["message"]))
    if root != "" and not _is_path(root, ""):
        raise wrong("root")
    try:
        found.grows = _pairs(members["grows"], root, _is_shape)
        found.flips = _pairs(members["flips"], root, lambda one: isinstance(one, str))
        found.creates = _paths(members["creates"], root)
        found.deletes = _paths(members["deletes"], root)
        found.documents = _documents(members["documents"], root, zarr_format)
        found.sweeps = _sweeps(members.get("sweeps", []), root)
    except _WrongError as error:
        name = next(n for n, value in members.items() if value is error.value)
        raise wrong(name) from None
    except KeyError as error:
        raise wrong(str(error.args[0])) from None
    return found


class _WrongError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


def _is_path(path: Any, root: str) -> bool:
    try:
        is_normal = isinstance(path, str) and normalize_storage_path(path) == path
    except InvalidKeyError:
        return False
    return is_normal and (path == root or not root or path.startswith(f"{root}/"))


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and all(
        type(length) is int and 0 <= length <= MAX_LENGTH for length in shape
    )


def _pairs(value: Any, root: str, is_valid: Any) -> dict[str, tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise _WrongError(value)
    found = {}
    for path, pair in value.items():
        ends = (pair.get("from"), pair.get("to")) if isinstance(pair, Mapping) else (None, None)
        if not _is_path(path, root) or not all(map(is_valid, ends)):
            raise _WrongError(value)
        found[path] = ends
    return found


def _paths(value: Any, root: str) -> list[str]:
    if not isinstance(value, list) or not all(_is_path(path, root) for path in value):
        raise _WrongError(value)
    return value


def _sweeps(value: Any, root: str) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and _is_path(pair[0], root) for pair in value
    ):
        raise _WrongError(value)
    return [(path, str(space)) for path, space in value]


def _documents(value: Any, root: str, zarr_format: int) -> dict[str, tuple[Any, Any]] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise _WrongError(value)
    found = {}
    for key, pair in value.items():
        path, _, name = key.rpartition("/")
        is_known = name in DOCUMENTS_OF_A_NODE[zarr_format] and _is_path(path, root)
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_known or not is_pair or not all(one is None or _is_json(one) for one in pair):
            raise _WrongError(value)
        found[key] = (pair[0], pair[1])
    return found


def _is_json(value: Any) -> bool:
    return isinstance(value, dict)


def has_happened(intent: Intent, commit_id: Any, consolidated: Documents, own: Documents) -> bool:
    """Whether a commit has become visible, by what is stored now.

    Parameters
    ----------
    intent : Intent
    commit_id : object
        The id in the consolidated metadata of the intent's root, if there is one.
    consolidated, own : dict of key to JSON
        The documents of the changed nodes, in the consolidated metadata and on their own; those
        that are not there are left out. Keys are those of the intent.
    """
    if intent.documents is None:
        # Not all chunks are stored.
        return False
    if commit_id == intent.id:
        return True
    for key, (before, after) in intent.documents.items():
        if (consolidated or after is not None) and shows(
            key, before, after, consolidated.get(key, None if consolidated else before)
        ):
            return True
        if after is not None and shows(key, before, after, own.get(key)):
            return True
    return False


def with_commit(intent: Intent, documents: Documents, root: str, *, whole: bool) -> Documents:
    """Documents of nodes that a commit has changed already, but not their own documents yet.

    Parameters
    ----------
    intent : Intent
    documents : dict of key to JSON
        The own documents, by keys relative to ``root``.
    root : str
        The path, relative to the folder of the intent.
    whole : bool
        Whether the documents are those of all nodes: then new nodes are added.
    """
    start = len(root) + 1 if root else 0
    found = dict(documents)
    for key, (before, after) in (intent.documents or {}).items():
        if root and not key.startswith(f"{root}/"):
            continue
        below = key[start:]
        if below not in documents and not (whole and before is None):
            continue
        theirs = bare(documents.get(below))
        one = merged(key, bare(before), bare(after), theirs, settled=True)
        if one is None:
            found.pop(below, None)
        else:
            found[below] = one
    return found


def document_keys(intent: Intent) -> list[str]:
    """The keys of all documents of the nodes that a commit changes."""
    names = DOCUMENTS_OF_A_NODE[intent.zarr_format]
    return [key_of(path, name) for path in intent.paths() for name in names]
