"""What a store holds: its documents, its nodes, and the keys that belong to none of them.

One listing of all keys, then every document is read and parsed. Nothing here stops at what is
broken: that is noted under its key, and the rest is looked at as if it were not there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from zarrix import _nodes
from zarrix._array import Array
from zarrix._errors import MetadataError, ZarrixError
from zarrix._group import Group
from zarrix._metadata import v2, v3
from zarrix._metadata.checks import members_of
from zarrix._stores import Store, as_store
from zarrix.util import json_loads, normalize_storage_path

__all__ = ["SET_ASIDE", "Problem", "Survey", "place_of", "survey"]

SET_ASIDE = re.compile(r"\.broken(-\d+)?$")
"""What ends the name of a key that `repair` has set aside."""

_DOCUMENTS = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with one key.

    Attributes
    ----------
    kind : {"chunk", "metadata", "consolidated", "digest"}
        What does not decode, does not parse, says what is no longer so, or is not what it was.
    key : str
        In the store.
    message : str
    """

    kind: str
    key: str
    message: str

    def __str__(self) -> str:
        return self.message if self.key in self.message else f"{self.key}: {self.message}"


@dataclass
class Survey:
    """The nodes of a store, before any chunk was looked at."""

    store: Store
    path: str
    keys: list[str] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def strangers(self) -> Iterator[str]:
        """Keys that are neither documents of a node nor chunks of an array."""
        chunks = {
            key
            for array in self.arrays.values()
            for key in _stored_keys(array)
            if array.chunk_store is array.store
        }
        nodes = {*self.arrays, *self.groups}
        broken = {_parent(problem.key) for problem in self.problems}
        for key in self.keys:
            name = key.rsplit("/", 1)[-1]
            is_document = name in _DOCUMENTS and (_parent(key) in nodes or _parent(key) in broken)
            # Below what does not open nobody can say what is a chunk.
            unknown = any(_is_within(key, path) and path not in nodes for path in broken)
            if not (is_document or unknown or key in chunks or SET_ASIDE.search(name)):
                yield key


def place_of(target: Any, path: str | None = None) -> tuple[Store, str]:
    """The store and path that an array, a group, a store, or a file name means."""
    inside = normalize_storage_path(path)
    if isinstance(target, (Array, Group)):
        return target.store, _join(target.path, inside)
    store = as_store(target)
    root = getattr(store, "path", None)
    if isinstance(root, str) and not os.path.isdir(root):
        raise FileNotFoundError(f"{root!r} is no directory that could be a store")
    return store, inside


def survey(store: Store, path: str) -> Survey:
    """Read and parse every document at and below ``path``."""
    found = Survey(store, path)
    prefix = store.engine_path(path)
    found.keys = store._engine.list_prefix(prefix)
    present = set(found.keys)
    for key in found.keys:
        name = key.rsplit("/", 1)[-1]
        reader = _READERS.get(name)
        if reader is None:
            continue
        try:
            reader(found, key, present)
        except (ZarrixError, OSError, ValueError, TypeError, KeyError) as error:
            kind = "consolidated" if name == ".zmetadata" else "metadata"
            found.problems.append(Problem(kind, key, str(error)))
    return found


def _read_array(found: Survey, key: str, present: set[str]) -> None:
    path = _parent(key)
    found.arrays[path] = Array(found.store, path=path, read_only=True, zarr_version=2)


def _read_group(found: Survey, key: str, present: set[str]) -> None:
    v2.parse_group(found.store[key], where=_nodes.place(found.store, key))
    found.groups.append(_parent(key))


def _read_attributes(found: Survey, key: str, present: set[str]) -> None:
    v2.parse_attributes(found.store[key], where=_nodes.place(found.store, key))


def _read_node(found: Survey, key: str, present: set[str]) -> None:
    path, where = _parent(key), _nodes.place(found.store, key)
    document = found.store[key]
    if v3.node_type(document, where) == "array":
        found.arrays[path] = Array(found.store, path=path, read_only=True, zarr_version=3)
        return
    v3.parse_group(document, where=where)
    found.groups.append(path)
    consolidated = members_of(document, where).get("consolidated_metadata")
    if isinstance(consolidated, dict) and isinstance(consolidated.get("metadata"), dict):
        told = {
            _join(path, name, "zarr.json"): one for name, one in consolidated["metadata"].items()
        }
        _compare(found, key, told, present, ("zarr.json",))


def _read_consolidated(found: Survey, key: str, present: set[str]) -> None:
    path = _parent(key)
    members = members_of(found.store[key], _nodes.place(found.store, key))
    if not isinstance(members.get("metadata"), dict):
        raise ValueError(f"{_nodes.place(found.store, key)}: lacks the key 'metadata'")
    told = {_join(path, name): one for name, one in members["metadata"].items()}
    _compare(found, key, told, present, (".zarray", ".zgroup", ".zattrs"))


def _compare(
    found: Survey, key: str, told: dict[str, Any], present: set[str], names: tuple[str, ...]
) -> None:
    """Note the documents of which the consolidated ones under ``key`` say something else."""
    below = _parent(key)
    stale = [f"{one!r} is not stored" for one in told if one not in present]
    for one in sorted(present):
        is_told_of = one.rsplit("/", 1)[-1] in names and _is_within(one, below) and one != key
        if not is_told_of:
            continue
        if one not in told:
            stale.append(f"{one!r} is missing")
        elif _plain(found.store[one]) != _without_consolidated(told[one]):
            stale.append(f"{one!r} has changed")
    if stale:
        more = f", and {len(stale) - 3} more" if len(stale) > 3 else ""
        found.problems.append(
            Problem(
                "consolidated",
                key,
                f"{_nodes.place(found.store, key)}: is out of date: {', '.join(stale[:3])}{more}; "
                "consolidate again",
            )
        )


def _plain(document: bytes) -> Any:
    try:
        return _without_consolidated(json_loads(document))
    except MetadataError:
        # Noted under its own key.
        return None


def _without_consolidated(members: Any) -> Any:
    """A document as its own group's consolidated metadata has it: without those of its members."""
    if not isinstance(members, dict):
        return members
    return {name: value for name, value in members.items() if name != "consolidated_metadata"}


def _stored_keys(array: Array) -> list[str]:
    return [key for key, _ in array._io.stored_chunks()]


def _parent(key: str) -> str:
    return key.rpartition("/")[0]


def _join(*names: str) -> str:
    return "/".join(name for name in names if name)


def _is_within(key: str, path: str) -> bool:
    return not path or key == path or key.startswith(f"{path}/")


_READERS = {
    ".zarray": _read_array,
    ".zgroup": _read_group,
    ".zattrs": _read_attributes,
    ".zmetadata": _read_consolidated,
    "zarr.json": _read_node,
}
