"""Keys that belong to no node: lost data, and files that are not part of the Zarr format.

A chunk whose array is gone, attributes without a node, and a folder of nodes that is not a group
are problems, because their data cannot be found by name. So is a key that `repair` has renamed, as
long as nothing is stored under the old key. A file of another program, such as a ``README.txt``
next to the data, is a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from zarrix._array.access import io_of
from zarrix._array.array import Array
from zarrix._display.printable import counted
from zarrix._errors import ArrayNotFoundError
from zarrix._stores.keys import (
    DOCUMENT_PATTERN,
    JOB_MARK,
    NODE_DOCUMENTS,
    ZARR_JSON,
    ZGROUP,
    key_of,
)
from zarrix.operate._survey import Problem, Survey

__all__ = ["SET_ASIDE", "Orphans", "missing_groups", "sort_orphans"]

SET_ASIDE = re.compile(r"\.broken(-\d+)?$")
"""The suffix of a key that `repair` has renamed."""

_NUMBER = r"(?:0|[1-9]\d*)"
_CHUNK = re.compile(rf"(?:.*/)?(?:c[./])?{_NUMBER}(?:[./]{_NUMBER})*|(?:.*/)?c")
_DOCUMENT = re.compile(rf"(?:.*/)?(?:{DOCUMENT_PATTERN})")


@dataclass
class Orphans:
    """The result of `sort_orphans`.

    Attributes
    ----------
    keys : list of str
        Chunks and documents without a node.
    strangers : list of str
        All other keys without a node.
    problems : list of Problem
        Problems with these chunks and documents, and with renamed keys.
    """

    keys: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def sort_orphans(survey: Survey) -> Orphans:
    """Classify the keys that are neither documents of a node nor chunks of an array."""
    chunks = {
        key
        for path, keys in survey.chunks.items()
        for array in (survey.arrays[path], survey.twins.get(path))
        if array is not None
        for key, _ in io_of(array).stored_chunks(keys)
    }
    stored, unknown = {*survey.keys, *survey.chunk_keys}, _unknown(survey)
    result = Orphans()
    folders: dict[str, list[str]] = {}
    for key in sorted(stored):
        if key in chunks or _is_known(survey, key, unknown):
            continue
        before = SET_ASIDE.sub("", key)
        if before != key and _is_zarr(before):
            _note_aside(result, key, before, stored)
        elif not _is_zarr(key):
            result.strangers.append(key)
        else:
            folders.setdefault(_lost_node(survey, key), []).append(key)
    for folder, keys in folders.items():
        for problem, lost in _lost(survey, folder, keys):
            if _is_lost(survey, folder, lost):
                result.problems.append(problem)
                result.keys += lost
    result.keys.sort()
    return result


def missing_groups(survey: Survey) -> list[Problem]:
    """Folders above nodes that are not groups, so that the nodes are not members of a group."""
    nodes = {*survey.arrays, *survey.groups, *_unknown(survey)}
    name = ZARR_JSON if any(key.endswith(ZARR_JSON) for key in survey.names) else ZGROUP
    held: dict[str, list[str]] = {}
    for path in sorted(nodes):
        at = path
        while at != survey.place.path:
            at = at.rpartition("/")[0]
            if at in nodes:
                break
            held.setdefault(at, []).append(path)
    problems = [_missing(folder, below, name) for folder, below in held.items()]
    return [problem for problem in problems if problem.key not in survey.place.store]


def _unknown(survey: Survey) -> set[str]:
    """The paths of existing nodes that cannot be opened."""
    places = (problem.key.rpartition("/") for problem in survey.problems)
    return {folder for folder, _, name in places if name in NODE_DOCUMENTS} - {
        *survey.arrays,
        *survey.groups,
    }


def _missing(folder: str, below: list[str], name: str) -> Problem:
    more = f" and {len(below) - 1} more" if len(below) > 1 else ""
    return Problem(
        "missing",
        key_of(folder, name),
        f"{'/' + folder!r} is not a group, so that {'/' + below[0]!r}{more} cannot be found from "
        f"above: {name!r} is missing there; zarrix.open_group(store, 'a', path={folder!r}) "
        "writes it",
    )


def _is_zarr(key: str) -> bool:
    return bool(_CHUNK.fullmatch(key) or _DOCUMENT.fullmatch(key))


def _is_known(survey: Survey, key: str, unknown: set[str]) -> bool:
    """Whether a key is a document or mark of a node, or is below a broken document."""
    folder, _, name = key.rpartition("/")
    if name == JOB_MARK and folder in survey.arrays:
        return True
    if _DOCUMENT.fullmatch(key):
        return folder in survey.arrays or folder in survey.groups or folder in unknown
    # Below a broken node, chunks cannot be identified.
    while True:
        if folder in survey.arrays or folder in survey.groups:
            return False
        if folder in unknown:
            return True
        if not folder:
            return False
        folder = folder.rpartition("/")[0]


def _note_aside(result: Orphans, key: str, before: str, stored: set[str]) -> None:
    if before in stored:
        # The data was written again since: nothing is lost.
        result.strangers.append(key)
        return
    reads = "the chunk reads as the fill value" if _CHUNK.fullmatch(before) else "it is not read"
    way_out = "rename it back, write the data again, or delete it"
    result.problems.append(
        Problem("aside", key, f"{key!r} was put aside by repair, and {reads}: {way_out}")
    )


def _lost_node(survey: Survey, key: str) -> str:
    """The path of the former node of an orphan, as far as its key shows."""
    above = survey.node_above(key)
    if above is not None and above in survey.arrays:
        return above
    if _DOCUMENT.fullmatch(key):
        return key.rpartition("/")[0]
    start = survey.place.path if above is None else above
    rest = key[len(start) + 1 :] if start else key
    name, deeper, _ = rest.partition("/")
    if not deeper or name == "c" or (above is None and name.isdecimal()):
        return start
    return key_of(start, name)


def _lost(survey: Survey, folder: str, keys: list[str]) -> list[tuple[Problem, list[str]]]:
    """The problem with the orphans of a node, and the keys."""
    if folder in survey.arrays:
        survey.outside.update(keys)
        shape = survey.arrays[folder].shape
        said = f"is not a chunk of the array {'/' + folder!r}, {shape}"
        return [(Problem("orphan", key, f"{key!r} {said}"), [key]) for key in keys]
    problems = [
        (Problem("orphan", key, f"{key!r} belongs to no node"), [key])
        for key in keys
        if _DOCUMENT.fullmatch(key)
    ]
    chunks = [key for key in keys if not _DOCUMENT.fullmatch(key)]
    if chunks:
        belong = "belongs" if len(chunks) == 1 else "belong"
        message = (
            f"{counted(len(chunks), 'chunk')} below {'/' + folder!r}, {chunks[0]!r} the first, "
            f"{belong} to no array: its metadata, '.zarray' or 'zarr.json', is missing"
        )
        problems.append((Problem("orphan", folder or chunks[0], message), chunks))
    return problems


def _is_lost(survey: Survey, folder: str, keys: list[str]) -> bool:
    """Whether orphans still have no node: other processes may have created, resized or deleted
    their array.
    """
    store, chunk_store = survey.place.store, survey.place.chunk_store
    if keys[0] not in store and keys[0] not in survey.place.chunks:
        return False
    if folder in survey.arrays:
        try:
            array = Array(store, path=folder, chunk_store=chunk_store)
        except ArrayNotFoundError:
            return True
        return not io_of(array).stored_chunks(keys)
    documents = (key_of(folder, name) for name in NODE_DOCUMENTS)
    return folder in survey.groups or not any(document in store for document in documents)
