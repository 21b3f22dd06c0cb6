"""`verify`: whether everything that is stored can be read, and what there is that nobody reads.

Chunks are decoded by the engine, in parallel and without keeping anything; documents are parsed as
they are on opening. What codecs without a checksum cannot tell, `verify` cannot tell either: it
says how many chunks have one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zarrix._array import Array
from zarrix._checksum import is_checked
from zarrix._errors import ZarrixError
from zarrix._progress import Progress, bar_of
from zarrix.operate._digests import changes
from zarrix.operate._leftovers import find_leftovers, remove_leftovers
from zarrix.operate._survey import Problem, Survey, place_of, survey

__all__ = ["Problem", "Verification", "verify"]


@dataclass
class Verification:
    """What `verify` found. True if nothing is broken; printable, and `to_json` for programs.

    Attributes
    ----------
    arrays, groups, chunks : int
        How many were looked at.
    checksummed : int
        How many of the chunks have a checksum, so that damage in them cannot have gone unnoticed.
    stored_bytes : int
        Of the chunks.
    seconds : float
    problems : list of Problem
        What is broken.
    strangers : list of str
        Keys that belong to nothing: no node's document and no array's chunk.
    leftovers : list of str
        Files of writers that were killed, or that are at work.
    removed : list of str
        The leftovers that ``clean=True`` has removed.
    """

    arrays: int = 0
    groups: int = 0
    chunks: int = 0
    checksummed: int = 0
    stored_bytes: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def to_json(self) -> str:
        """Everything found, as JSON text."""
        return json.dumps({"ok": self.ok, **asdict(self)}, indent=2)

    def __str__(self) -> str:
        rows = [
            f"{_count(self.arrays, 'array')}, {_count(self.groups, 'group')}, "
            f"{_count(self.chunks, 'chunk')} of {self.stored_bytes:,} bytes "
            f"in {self.seconds:.2f} s; {self.checksummed:,} chunks have a checksum",
            *(f"broken ({problem.kind}): {problem}" for problem in self.problems),
            *(f"belongs to nothing: {key}" for key in self.strangers),
        ]
        removed = set(self.removed)
        rows += [
            f"leftover of a writer{', removed' if key in removed else ''}: {key}"
            for key in self.leftovers
        ]
        rows.append("all is well" if self.ok else f"{_count(len(self.problems), 'problem')}")
        return "\n".join(rows)


def verify(
    store: Any,
    *,
    path: str | None = None,
    clean: bool = False,
    digests: Mapping[str, str] | None = None,
    progress: bool | Progress = False,
) -> Verification:
    """Check everything that is stored: documents, chunks, checksums, and keys that nobody reads.

    Every stored chunk is decoded to its declared size, every document parsed; consolidated metadata
    must say what the documents say. Others may read and write meanwhile.

    Parameters
    ----------
    store : Store, mapping, str, Path, Array or Group
    path : str, optional
        Only what is at and below this path.
    clean : bool
        Remove what killed writers have left. A file that may be a living writer's is left alone.
    digests : mapping, optional
        What `zarrix.digests` gave: every value that has changed since is a problem, too, also a
        chunk that lies in the place of another.
    progress : bool or callable
        True draws a bar on stderr; a callable is told how many chunks are done, and of how many.

    Returns
    -------
    Verification
        True in a condition if nothing is broken.

    Raises
    ------
    FileNotFoundError
        There is no such directory.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.TempStore()
    >>> z = zarr.open(store, mode="w", shape=100, chunks=10, compressor=None)
    >>> z[:] = 1
    >>> zarr.verify(store).ok
    True
    >>> store["3"] = b"too short"
    >>> [problem.key for problem in zarr.verify(store).problems]
    ['3']
    """
    begun = time.monotonic()
    opened, where = place_of(store, path)
    found = survey(opened, where)
    result = Verification(groups=len(found.groups), arrays=len(found.arrays))
    result.problems = list(found.problems)
    _verify_chunks(found, result, progress)
    if digests is not None:
        result.problems += changes(opened, found.keys, digests)
    result.strangers = sorted(found.strangers())
    result.leftovers = find_leftovers(opened, where)
    if clean:
        anchors = [array._key(array._name) for array in found.arrays.values()]
        result.removed = remove_leftovers(opened, result.leftovers, anchors)
    result.problems.sort(key=lambda problem: problem.key)
    result.seconds = round(time.monotonic() - begun, 3)
    return result


def _verify_chunks(found: Survey, result: Verification, progress: bool | Progress) -> None:
    tell = bar_of("chunks") if progress is True else progress or None
    arrays = list(found.arrays.values())
    total = sum(len(array._io.stored_chunks()) for array in arrays) if tell else 0
    for array in arrays:
        before = result.chunks
        watcher = None if tell is None else (lambda done, n=before: tell(n + done, total))
        chunks, stored_bytes, broken = array._io.verify(watcher)
        result.chunks += chunks
        result.stored_bytes += stored_bytes
        result.checksummed += chunks if is_checked(array._metadata.codecs) else 0
        result.problems += [Problem("chunk", key, message) for key, message in broken]
        result.problems += _verify_objects(array, {key for key, _ in broken})
        if tell is not None:
            tell(result.chunks, total)


def _verify_objects(array: Array, broken: set[str]) -> list[Problem]:
    """Chunks of strings and objects: that the bytes decode says little of the elements."""
    if array.dtype.kind not in "OT":
        return []
    problems = []
    for key, coords in array._io.stored_chunks():
        if key in broken:
            continue
        try:
            array[array._metadata.chunk_region(coords)]
        except ZarrixError as error:
            problems.append(Problem("chunk", key, str(error)))
    return problems


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
