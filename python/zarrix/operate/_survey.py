"""A survey of a store: its documents, its nodes, and the keys that belong to none of them.

All keys are listed once. Then every document is read, many at once, and parsed. A broken document
does not stop the survey: it is recorded under its key, and treated as missing. Everything else uses
that listing, so that the cost is linear in the number of keys.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from zarrix._array.access import ArrayOptions, opened_at
from zarrix._array.array import Array
from zarrix._display.progress import Progress, phase
from zarrix._errors import MetadataError, UnknownCodecError, ZarrixError
from zarrix._metadata import v2, v3
from zarrix._metadata.checks import members_of
from zarrix._metadata.json import json_loads
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._stores.keys import DOCUMENTS, ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, key_of
from zarrix.operate._place import Place

__all__ = ["Problem", "Survey", "above_of", "survey"]

# The number of documents in one request.
_BATCH = 256


@dataclass(frozen=True)
class Problem:
    """A problem with one key.

    Attributes
    ----------
    kind : str
        ``"chunk"``, ``"metadata"``, ``"codec"``, ``"unread"``, ``"consolidated"``, ``"digest"``,
        ``"missing"``, ``"orphan"`` or ``"aside"``: a value that does not decode or parse; an array
        that cannot be opened here although its metadata is valid; a value that the system does not
        read, because of a permission or a fault of the disk; stale consolidated metadata, or a
        value that differs from its digest; missing metadata above nodes; chunks and attributes
        without a node; a key that `repair` has renamed.
    key : str
        The key in the store; for several orphans, their folder.
    message : str

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = {".zarray": b"not JSON"}
    >>> problem = zarr.verify(store).problems[0]
    >>> problem.kind, problem.key
    ('metadata', '.zarray')
    >>> print(problem)
    .zarray: not JSON (Expecting value: line 1 column 1 (char 0))
    """

    kind: str
    key: str
    message: str

    def __str__(self) -> str:
        return self.message if self.key in self.message else f"{self.key}: {self.message}"


@dataclass
class Survey:
    """The nodes of a store, before any chunk is read.

    Attributes
    ----------
    place : Place
    keys : list of str
        All stored keys, sorted.
    chunk_keys : list of str
        All keys of the store of the chunks, if it is another one.
    names : list of str
        Keys of all documents, sorted.
    documents : dict of str to bytes
        By key, the documents that could be read.
    arrays : dict of str to Array
        By path.
    groups : dict of str to int
        Their formats, by path.
    chunks : dict of str to list of str
        Keys that may be chunks, by the path of the array.
    twins : dict of str to Array
        By path, arrays of v3 documents at paths where a v2 document takes precedence.
    outside : set of str
        Keys in the form of an array's chunk keys, but outside its shape.
    problems : list of Problem
    """

    place: Place
    keys: list[str] = field(default_factory=list)
    chunk_keys: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    chunks: dict[str, list[str]] = field(default_factory=dict)
    twins: dict[str, Array] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def array_above(self, key: str) -> str | None:
        """The path of the array of a chunk key: the nearest array above it."""
        return next((path for path in above_of(key) if path in self.arrays), None)

    def node_above(self, key: str) -> str | None:
        """The path of the nearest node above a key."""
        found = (path for path in above_of(key) if path in self.arrays or path in self.groups)
        return next(found, None)

    def documents_below(self, path: str) -> list[str]:
        """Keys of the documents at and below a path, sorted."""
        if not path:
            return self.names
        # "0" is the character that follows "/".
        ends = (bisect.bisect_left(self.names, f"{path}{end}") for end in "/0")
        return self.names[slice(*ends)]


def survey(place: Place, progress: bool | Progress = False) -> Survey:
    """Read and parse every document at and below a path."""
    store, path, _ = place
    found = Survey(place)
    found.keys = sorted(store._engine.list_prefix(store.engine_path(path)))
    found.names = [key for key in found.keys if _parts(key)[1] in DOCUMENTS]
    _read_documents(found, phase(progress, "documents"))
    for key, document in found.documents.items():
        _noted(found, key, document)
    if place.chunks is not store:
        listed = place.chunks._engine.list_prefix(place.chunks.engine_path(path))
        found.chunk_keys = sorted(listed)
    for key in found.keys if place.chunks is store else found.chunk_keys:
        array = None if _parts(key)[1] in DOCUMENTS else found.array_above(key)
        if array is not None:
            found.chunks.setdefault(array, []).append(key)
    return found


def _read_documents(survey: Survey, tell: Progress) -> None:
    for begin in range(0, len(survey.names), _BATCH):
        part = survey.names[begin : begin + _BATCH]
        survey.documents.update(_read_all(survey, part))
        tell(begin + len(part), len(survey.names))


def _read_all(survey: Survey, keys: list[str]) -> dict[str, bytes]:
    try:
        return {
            key: bytes(one) for key, one in survey.place.store.getitems(keys, contexts={}).items()
        }
    except (ZarrixError, OSError, ValueError, TypeError):
        # One of them fails; reading them one by one shows which.
        read = ((key, _read_one(survey, key)) for key in keys)
        return {key: one for key, one in read if one is not None}


def _read_one(survey: Survey, key: str) -> bytes | None:
    try:
        stored = survey.place.store._value(key)
        return None if stored is None else bytes(stored)
    except (ZarrixError, OSError, ValueError, TypeError) as error:
        kind = "unread" if isinstance(error, OSError) else "metadata"
        survey.problems.append(Problem(kind, key, _sentence(survey, key, error)))
        return None


def _noted(survey: Survey, key: str, document: bytes) -> None:
    try:
        _READERS[_parts(key)[1]](survey, key, document)
    except (ZarrixError, OSError, ValueError, TypeError, KeyError, ImportError) as error:
        kind = "consolidated" if key.endswith(ZMETADATA) else "metadata"
        if isinstance(error, UnknownCodecError | ImportError):
            kind = "codec"
        survey.problems.append(Problem(kind, key, _sentence(survey, key, error)))


def _sentence(survey: Survey, key: str, error: Exception) -> str:
    text = str(error)
    return text if key in text else f"{_where(survey, key)}: {text}"


def _where(survey: Survey, key: str) -> str:
    return nodes.place(survey.place.store, key)


def _read_array(survey: Survey, key: str, document: bytes) -> None:
    _open_array(survey, key, nodes.Node(2, "array", document), v2.parse_array)


def _open_array(survey: Survey, key: str, node: nodes.Node, parse: Callable[..., object]) -> None:
    path = _parts(key)[0]
    store, _, chunk_store = survey.place
    try:
        location = Location(store, path, node.zarr_format, chunk_store)
        opened = opened_at(location, node, ArrayOptions(read_only=True))
    except (ZarrixError, ValueError, TypeError, ImportError) as error:
        # Metadata that parses is valid, even if the array cannot be opened here because of pickles
        # or missing codecs.
        parse(node.document, _where(survey, key))
        survey.problems.append(Problem("codec", key, _sentence(survey, key, error)))
    else:
        # A path with documents of both formats is a v2 node, so that v2 is read first.
        (survey.twins if path in survey.arrays else survey.arrays)[path] = opened


def _read_group(survey: Survey, key: str, document: bytes) -> None:
    v2.parse_group(document, label=_where(survey, key))
    survey.groups[_parts(key)[0]] = 2


def _read_attributes(survey: Survey, key: str, document: bytes) -> None:
    v2.parse_attributes(document, label=_where(survey, key))


def _read_node(survey: Survey, key: str, document: bytes) -> None:
    path, where = _parts(key)[0], _where(survey, key)
    if v3.node_type(document, where) == "array":
        _open_array(survey, key, nodes.Node(3, "array", document), v3.parse_array)
        return
    v3.parse_group(document, label=where)
    survey.groups.setdefault(path, 3)
    consolidated = members_of(document, where).get("consolidated_metadata")
    if isinstance(consolidated, dict) and isinstance(consolidated.get("metadata"), dict):
        told = {
            key_of(path, key_of(name, ZARR_JSON)): one
            for name, one in consolidated["metadata"].items()
        }
        _compare(survey, key, told, (ZARR_JSON,))


def _read_consolidated(survey: Survey, key: str, document: bytes) -> None:
    path = _parts(key)[0]
    members = members_of(document, _where(survey, key))
    if not isinstance(members.get("metadata"), dict):
        raise ValueError(f"{_where(survey, key)}: lacks the key 'metadata'")
    told = {key_of(path, name): one for name, one in members["metadata"].items()}
    _compare(survey, key, told, (ZARRAY, ZGROUP, ZATTRS))


def _compare(
    survey: Survey, key: str, consolidated: dict[str, Any], names: tuple[str, ...]
) -> None:
    """Record the documents that differ from the consolidated ones under ``key``."""
    stored = survey.documents_below(_parts(key)[0])
    stale = [f"{one!r} is not stored" for one in sorted({*consolidated}.difference(stored))]
    for one in stored:
        if _parts(one)[1] not in names or one == key or one not in survey.documents:
            continue
        if one not in consolidated:
            stale.append(f"{one!r} is missing")
        elif _plain(survey.documents[one]) != _without_consolidated(consolidated[one]):
            stale.append(f"{one!r} has changed")
    if stale:
        more = f", and {len(stale) - 3} more" if len(stale) > 3 else ""
        survey.problems.append(
            Problem(
                "consolidated",
                key,
                f"{_where(survey, key)}: is out of date: {', '.join(stale[:3])}{more}; "
                "consolidate again",
            )
        )


def _plain(document: bytes) -> Any:
    try:
        return _without_consolidated(json_loads(document))
    except MetadataError:
        # Recorded under its own key.
        return None


def _without_consolidated(members: Any) -> Any:
    """A document in the form of its own group's consolidated metadata: without those of its
    members.
    """
    if not isinstance(members, dict):
        return members
    return {name: value for name, value in members.items() if name != "consolidated_metadata"}


def above_of(key: str) -> Iterator[str]:
    """The folders of a key, the nearest first, the root last."""
    while key:
        key = _parts(key)[0]
        yield key


def _parts(key: str) -> tuple[str, str]:
    """The folder of a key, and its name there."""
    folder, _, name = key.rpartition("/")
    return folder, name


_READERS = {
    ZARRAY: _read_array,
    ZGROUP: _read_group,
    ZATTRS: _read_attributes,
    ZMETADATA: _read_consolidated,
    ZARR_JSON: _read_node,
}
