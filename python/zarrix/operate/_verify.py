"""`verify`: whether everything that is stored can be read, and what there is that is not read.

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

from zarrix._array.array import Array
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._errors import ZarrixError
from zarrix._metadata.checksum import is_checked
from zarrix.operate._digests import changes
from zarrix.operate._leftovers import find_leftovers, remove_leftovers
from zarrix.operate._orphans import missing_groups, sort_orphans
from zarrix.operate._place import Place, nothing_at, place_of
from zarrix.operate._survey import Problem, Survey, survey

__all__ = ["Problem", "Verification", "chunk_fault", "examine", "verify"]

# What a report calls problems that are not broken values.
_LABELS = {
    "codec": "cannot be checked",
    "missing": "missing",
    "orphan": "orphaned",
    "aside": "put aside",
}


@dataclass
class Verification:
    """What `verify` found. True if all is well; printable, and `to_json` for programs.

    Attributes
    ----------
    arrays, groups, chunks : int
        How many were looked at.
    empty : int
        How many of the arrays have elements and store no chunk: they read as their fill value.
    checksummed : int
        How many of the chunks have a checksum, so that damage in them cannot have gone unnoticed.
    stored_bytes : int
        Of the chunks.
    seconds : float
    problems : list of Problem
        What is broken, lost, or was put aside; while there are any, all is not well.
    orphans : list of str
        Keys of chunks and documents that belong to no node; the problems speak of them.
    strangers : list of str
        Keys of everything else that belongs to no node, such as a ``README.txt``: no problem.
    ignored : dict of str to int
        Keys of chunks with bytes behind their compressed data, and how many: the chunks read, and
        these bytes are ignored, as other readers do: no problem.
    leftovers : list of str
        Files of writers that were killed, or that are at work.
    removed : list of str
        The leftovers that ``clean=True`` has removed.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = {}
    >>> z = zarr.array([1, 2, 3, 4], chunks=2, store=store)
    >>> store["0"] = b"damaged"
    >>> report = zarr.verify(store)
    >>> report.ok, report.chunks, [problem.key for problem in report.problems]
    (False, 2, ['0'])
    """

    arrays: int = 0
    groups: int = 0
    chunks: int = 0
    empty: int = 0
    checksummed: int = 0
    stored_bytes: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    leftovers: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def to_json(self) -> str:
        """Everything found, as JSON text.

        Returns
        -------
        str

        Examples
        --------
        >>> import json, zarrix as zarr
        >>> z = zarr.array([1, 2, 3, 4], chunks=2)
        >>> found = json.loads(zarr.verify(z).to_json())
        >>> found["ok"], found["arrays"], found["chunks"]
        (True, 1, 2)
        """
        return json.dumps({"ok": self.ok, **asdict(self)}, indent=2)

    def __str__(self) -> str:
        empty = f" ({self.empty:,} without a stored chunk)" if self.empty else ""
        rows = [
            f"{counted(self.arrays, 'array')}{empty}, {counted(self.groups, 'group')}, "
            f"{counted(self.chunks, 'chunk')} of {counted(self.stored_bytes, 'byte')} "
            f"in {self.seconds:.2f} s; {counted(self.checksummed, 'chunk')} with a checksum",
        ]
        for problem in self.problems:
            label = _LABELS.get(problem.kind, f"broken ({problem.kind})")
            rows.append(f"{label}: {problem}")
        rows += [f"note: not a part of any array or group: {key}" for key in self.strangers]
        if self.ignored:
            rows.append(_told_of(self.ignored))
        removed = set(self.removed)
        rows += [
            f"leftover of a writer{', removed' if key in removed else ''}: {key}"
            for key in self.leftovers
        ]
        rows.append("all is well" if self.ok else counted(len(self.problems), "problem"))
        return lines(rows)


def _told_of(ignored: Mapping[str, int]) -> str:
    first, *more = ignored
    others = f" and of {counted(len(more), 'other chunk')}" if more else ""
    return (
        f"note: {counted(ignored[first], 'byte')} behind the compressed data of {first}{others} "
        "are ignored"
    )


def verify(
    store: Any,
    *,
    path: str | None = None,
    clean: bool = False,
    digests: Mapping[str, str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | Progress = False,
) -> Verification:
    """Check everything that is stored: documents, chunks, checksums, and keys that are not read.

    Every stored chunk is decoded to its declared size, every document parsed; consolidated metadata
    must say what the documents say. A chunk without its array, nodes in a folder that is not a
    group, and what `repair` has put aside are problems, too. Others may read and write meanwhile.

    Parameters
    ----------
    store : Store, mapping, URL, str, Path, Array or Group
        Whatever `zarrix.open` takes, or what it gave.
    path : str, optional
        Only what is at and below this path.
    clean : bool
        Remove what killed writers have left. A file that may be a living writer's is left alone.
    digests : mapping, optional
        What `zarrix.digests` gave: every value that has changed since is a problem, too, also a
        chunk that lies in the place of another.
    storage_options : mapping, optional
        For a store that is named by a URL.
    progress : bool or callable
        True draws a bar on stderr; a callable is told how many are done, and of how many: first of
        the documents, then of the chunks, then of the digests.

    Returns
    -------
    Verification
        True in a condition if there is no problem.

    Raises
    ------
    PathNotFoundError
        Neither a node nor anything of one is there (also a ``FileNotFoundError``).

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
    place = place_of(store, path, storage_options)
    return examine(place, clean=clean, digests=digests, progress=progress)[0]


def examine(
    place: Place,
    *,
    clean: bool = False,
    digests: Mapping[str, str] | None = None,
    progress: bool | Progress = False,
) -> tuple[Verification, Survey]:
    """`verify`, and the survey that it is made of."""
    begun = time.monotonic()
    found = survey(place, progress)
    opened, where, _ = place
    result = Verification(groups=len(found.groups), arrays=len(found.arrays))
    orphans = sort_orphans(found)
    result.problems = [*found.problems, *missing_groups(found), *orphans.problems]
    if not (found.names or any(problem.kind == "aside" for problem in orphans.problems)):
        raise nothing_at(opened, where, orphans.keys)
    _verify_chunks(found, result, progress)
    if digests is not None:
        tell = phase(progress, "values")
        result.problems += changes(opened, found.keys, digests, tell)
    result.orphans, result.strangers = orphans.keys, orphans.strangers
    result.leftovers = find_leftovers(opened, where)
    if clean:
        anchors = [array._key(array._name) for array in found.arrays.values()]
        result.removed = remove_leftovers(opened, result.leftovers, anchors)
    result.problems.sort(key=lambda problem: problem.key)
    result.seconds = round(time.monotonic() - begun, 3)
    return result, found


def _verify_chunks(found: Survey, result: Verification, progress: bool | Progress) -> None:
    tell = phase(progress, "chunks")
    total = sum(map(len, found.chunks.values()))
    done = 0
    for path, array in found.arrays.items():
        keys = found.chunks.get(path, [])

        def watch(count: int, before: int = done) -> None:
            tell(before + count, total)

        chunks, stored_bytes, broken, ignored = array._io.verify(watch if progress else None, keys)
        result.chunks += chunks
        result.empty += not chunks and 0 not in array.shape
        result.stored_bytes += stored_bytes
        result.checksummed += chunks if is_checked(array._metadata.codecs) else 0
        result.problems += [Problem("chunk", key, message) for key, message in broken]
        result.ignored.update(ignored)
        result.problems += _verify_objects(array, keys, {key for key, _ in broken})
        done += len(keys)
        if keys:
            tell(done, total)


def _verify_objects(array: Array, keys: list[str], broken: set[str]) -> list[Problem]:
    """Chunks of strings and objects: that the bytes decode says little of the elements."""
    if array.dtype.kind not in "OT":
        return []
    problems = []
    for key, coords in array._io.stored_chunks(keys):
        if key in broken:
            continue
        try:
            array[array._metadata.chunk_region(coords)]
        except ZarrixError as error:
            problems.append(Problem("chunk", key, str(error)))
    return problems


def chunk_fault(array: Array, key: str) -> str | None:
    """What is wrong with one stored chunk, which is looked at again; None if nothing is."""
    broken = array._io.verify(None, [key])[2]
    problems = broken or [(one.key, one.message) for one in _verify_objects(array, [key], set())]
    return problems[0][1] if problems else None
