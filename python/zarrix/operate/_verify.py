"""`verify`: checks that everything stored can be read, and finds keys that are not read.

The engine decodes chunks in parallel and drops the result; documents are parsed as on opening.
Damage that a codec without a checksum does not detect is not detected by `verify` either; it
reports how many chunks have a checksum.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zarrix._array.access import document_key_of, io_of, metadata_of
from zarrix._array.array import Array
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._errors import ZarrixError
from zarrix._metadata.checksum import is_checked
from zarrix._nodes.member import location_of
from zarrix.operate._digests import changes
from zarrix.operate._leftovers import find_leftovers, remove_leftovers
from zarrix.operate._orphans import missing_groups, sort_orphans
from zarrix.operate._place import Place, nothing_at, place_of
from zarrix.operate._survey import Problem, Survey, survey

__all__ = ["Problem", "Verification", "chunk_fault", "examine", "verify", "verify_keys"]

# Problems that HTML lists.
_MOST_SHOWN = 50

# The names, in a report, of problems that are not broken values.
_LABELS = {
    "codec": "cannot be checked",
    "unread": "cannot be read",
    "missing": "missing",
    "orphan": "orphaned",
    "aside": "put aside",
}


@dataclass
class Verification:
    """The result of `verify`. True if all is well; printable, and `to_json` for programs.

    Attributes
    ----------
    arrays, groups, chunks : int
        The number of checked arrays, groups and chunks.
    empty : int
        The number of arrays with elements but without a stored chunk, which read as their fill
        value.
    checksummed : int
        The number of chunks with a checksum, in which damage is detected.
    stored_bytes : int
        Of the chunks.
    seconds : float
    problems : list of Problem
        Broken, lost or renamed values; if there are any, all is not well.
    orphans : list of str
        Keys of chunks and documents that belong to no node; each has a problem.
    strangers : list of str
        All other keys that belong to no node, such as a ``README.txt``; not a problem.
    ignored : dict of str to int
        Keys of chunks with bytes after their compressed data, and the number of these bytes. The
        chunks can be read, and the bytes are ignored, as by other readers; not a problem.
    leftovers : list of str
        Partial files of killed or running writers.
    removed : list of str
        The partial files that ``clean=True`` has removed.

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

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.table import info_table

        rows: list[tuple[str, Any]] = [
            ("Result", "all is well" if self.ok else counted(len(self.problems), "problem")),
            ("Arrays", f"{self.arrays:,}"),
            ("Groups", f"{self.groups:,}"),
            ("Chunks", f"{self.chunks:,}, {self.checksummed:,} with a checksum"),
            ("Stored", f"{counted(self.stored_bytes, 'byte')} in {self.seconds:.2f} s"),
        ]
        shown = self.problems[:_MOST_SHOWN]
        rows += [(_LABELS.get(one.kind, f"broken ({one.kind})"), one) for one in shown]
        if len(self.problems) > _MOST_SHOWN:
            rows.append(("", f"and {len(self.problems) - _MOST_SHOWN:,} more"))
        return info_table(rows)

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

    Every stored chunk is decoded to its declared size, and every document is parsed. Consolidated
    metadata must agree with the documents. A chunk without its array, nodes in a folder that is not
    a group, and keys that `repair` has renamed are problems, too. Other processes may read and
    write meanwhile.

    Parameters
    ----------
    store : Store, mapping, URL, str, Path, Array or Group
        Anything that `zarrix.open` takes or returns.
    path : str, optional
        Only nodes at and below this path.
    clean : bool
        Remove the partial files of killed writers. A file that may belong to a running writer is
        kept.
    digests : mapping, optional
        A result of `zarrix.digests`: every value that has changed since is a problem, too,
        including swapped chunks.
    storage_options : mapping, optional
        Options for a URL.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of finished items and the total:
        first for the documents, then for the chunks, then for the digests.

    Returns
    -------
    Verification
        True in a condition if there is no problem.

    Raises
    ------
    PathNotFoundError
        The path has neither a node nor remains of one (also a ``FileNotFoundError``).

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
    """`verify`, and its survey."""
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
        anchors = [document_key_of(array) for array in found.arrays.values()]
        result.removed = remove_leftovers(opened, result.leftovers, anchors)
    result.problems.sort(key=lambda problem: problem.key)
    result.seconds = round(time.monotonic() - begun, 3)
    return result, found


def _verify_chunks(survey: Survey, result: Verification, progress: bool | Progress) -> None:
    tell = phase(progress, "chunks")
    total = sum(map(len, survey.chunks.values()))
    done = 0
    for path, array in survey.arrays.items():
        keys = survey.chunks.get(path, [])

        def watch(count: int, before: int = done) -> None:
            tell(before + count, total)

        chunks, stored_bytes, problems, ignored = verify_keys(
            array, keys, watch if progress else None
        )
        result.chunks += chunks
        result.empty += not chunks and 0 not in array.shape
        result.stored_bytes += stored_bytes
        result.checksummed += chunks if is_checked(metadata_of(array).codecs) else 0
        result.problems += problems
        result.ignored.update(ignored)
        done += len(keys)
        if keys:
            tell(done, total)


def verify_keys(
    array: Array, keys: list[str], watch: Callable[[int], object] | None = None
) -> tuple[int, int, list[Problem], list[tuple[str, int]]]:
    """Decode chunks: how many there are, their bytes, problems, and keys with ignored bytes."""
    chunks, stored_bytes, broken, ignored = io_of(array).verify(watch, keys)
    problems = [
        Problem("chunk" if _is_read(array, key) else "unread", key, message)
        for key, message in broken
    ]
    problems += _verify_objects(array, keys, {key for key, _ in broken})
    return chunks, stored_bytes, problems, ignored


def _is_read(array: Array, key: str) -> bool:
    """Whether the bytes of a chunk can be read; if not, they may be sound."""
    try:
        location_of(array).chunks._value(key)
    except OSError:
        return False
    except ZarrixError:
        return True
    return True


def _verify_objects(array: Array, keys: list[str], broken: set[str]) -> list[Problem]:
    """For chunks of strings and objects, decoding the bytes does not check the elements."""
    if array.dtype.kind not in "OT":
        return []
    problems = []
    for key, coords in io_of(array).stored_chunks(keys):
        if key in broken:
            continue
        try:
            array[metadata_of(array).chunk_region(coords)]
        except ZarrixError as error:
            problems.append(Problem("chunk", key, str(error)))
    return problems


def chunk_fault(array: Array, key: str) -> str | None:
    """The problem with one stored chunk, which is checked again; None if there is none."""
    problems = verify_keys(array, [key])[2]
    return next((one.message for one in problems if one.kind == "chunk"), None)
