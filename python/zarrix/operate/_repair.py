"""`repair`: renames broken values, so that the rest can be read; it never deletes.

Then a broken chunk reads as the fill value, a broken document is treated as missing, and a chunk
outside its array cannot come back when the array grows. A renamed value keeps its bytes, under its
key with the suffix ``.broken``; `verify` names it until it is deleted or renamed back. Everything
is verified once. Then each broken value is checked again, under the lock of its writers.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zarrix._array.access import document_key_of, io_of
from zarrix._array.array import Array
from zarrix._display.printable import lines
from zarrix._display.progress import Progress, phase
from zarrix._display.table import Printed
from zarrix._errors import ZarrixError
from zarrix._stores.base import Store
from zarrix._stores.keys import ZMETADATA
from zarrix.operate._place import Place, place_of
from zarrix.operate._survey import Problem, Survey
from zarrix.operate._verify import Verification, chunk_fault, examine

__all__ = ["Repair", "repair", "repair_into"]


@dataclass
class Repair(Printed):
    """The keys that `repair` has renamed; printable, and `to_json` for programs.

    Attributes
    ----------
    set_aside : dict of str to str
        The key of each broken value, and its new key.
    kept : list of Problem
        Problems that were not changed, because a writer has replaced the value meanwhile, or
        because there is nothing to rename: metadata is missing, or is stale inside the document of
        a valid group. A value that the system does not read may be sound, and stays, too.
    before : Verification
        The result of the verification.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = {}
    >>> z = zarr.array([1, 2, 3, 4], chunks=2, store=store)
    >>> store["0"] = b"damaged"
    >>> report = zarr.repair(store)
    >>> list(report.set_aside), z[:]
    (['0'], array([0, 0, 3, 4]))
    """

    set_aside: dict[str, str] = field(default_factory=dict)
    kept: list[Problem] = field(default_factory=list)
    before: Verification = field(default_factory=Verification)

    def to_json(self) -> str:
        """Everything, as JSON text.

        Returns
        -------
        str

        Examples
        --------
        >>> import json, zarrix as zarr
        >>> sorted(json.loads(zarr.repair(zarr.zeros(3)).to_json()))
        ['before', 'kept', 'set_aside']
        """
        return json.dumps(asdict(self), indent=2)

    def __str__(self) -> str:
        rows = [f"put aside: {old} -> {new}" for old, new in self.set_aside.items()]
        rows += [f"left as it is: {problem}" for problem in self.kept]
        if not rows:
            rows.append("nothing was broken" if self.before.ok else "nothing was put aside")
        return lines(rows)


class _DoneError(Exception):
    """Aborts a change."""


def repair(
    store: Any,
    *,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | Progress = False,
) -> Repair:
    """Rename everything broken, so that the rest can be read. Nothing is deleted.

    Everything is verified once. Then each broken value is checked again under its lock; a value
    that a writer has replaced meanwhile stays. After an error or an interrupt, the keys renamed so
    far stay renamed, and a note names them.

    Parameters
    ----------
    store : Store, mapping, URL, str, Path, Array or Group
        Anything that `zarrix.open` takes or returns.
    path : str, optional
        Only nodes at and below this path.
    storage_options : mapping, optional
        Options for a URL.
    progress : bool or callable
        As in `verify`; then it gets the values that are renamed.

    Returns
    -------
    Repair

    Raises
    ------
    PathNotFoundError
        The path has neither a node nor remains of one (also a ``FileNotFoundError``).
    ReadOnlyError
        The store is read-only.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.TempStore()
    >>> z = zarr.open(store, mode="w", shape=6, chunks=2, compressor=None, dtype="i4")
    >>> z[:] = 7
    >>> store["1"] = b"too short"
    >>> zarr.repair(store).set_aside
    {'1': '1.broken'}
    >>> z[:]
    array([7, 7, 0, 0, 7, 7], dtype=int32)
    """
    result = Repair()
    try:
        repair_into(result, place_of(store, path, storage_options), progress)
    except BaseException as error:
        if result.set_aside:
            error.add_note(f"until then:\n{result}")
        raise
    return result


def repair_into(result: Repair, place: Place, progress: bool | Progress = False) -> None:
    """`repair`, which records each change in ``result`` at once."""
    place.store._forbid_changes()
    place.chunks._forbid_changes()
    result.before, found = examine(place, progress=progress)
    problems = [problem for problem in result.before.problems if problem.kind != "aside"]
    tell = phase(progress, "problems")
    for done, problem in enumerate(problems):
        _settle(result, found, problem)
        tell(done + 1, len(problems))


def _settle(result: Repair, survey: Survey, problem: Problem) -> None:
    """Rename a broken value, unless it has been repaired meanwhile."""
    key = problem.key
    is_chunk = problem.kind == "chunk" or (problem.kind == "orphan" and key in survey.outside)
    is_document = problem.kind in ("metadata", "consolidated") and key in survey.documents
    # If the document of a group has stale metadata of its members, the group itself is valid.
    if is_document and problem.kind == "consolidated":
        is_document = key.rpartition("/")[2] == ZMETADATA
    if not (is_chunk or is_document):
        result.kept.append(problem)
        return
    store = survey.place.chunks if is_chunk else survey.place.store
    path = survey.array_above(key) or "" if is_chunk else ""
    # Under the lock of the array's document no chunk of it is written.
    anchor = document_key_of(survey.arrays[path]) if is_chunk else key

    def move(old: bytes | None) -> bytes | None:
        if _is_broken(survey.place, path, problem) if is_chunk else old == survey.documents[key]:
            # Recorded first, and corrected below, because an interrupt may come between any two
            # steps.
            new = result.set_aside[key] = _free_name(store, key)
            store._engine.move_node(store.engine_path(key), store.engine_path(new), [])
        raise _DoneError

    try:
        with contextlib.suppress(_DoneError):
            store.update_value(anchor, move)
    finally:
        if key in result.set_aside and result.set_aside[key] not in store:
            del result.set_aside[key]
    if key not in result.set_aside:
        result.kept.append(problem)


def _is_broken(place: Place, path: str, problem: Problem) -> bool:
    """Whether a chunk still has the problem, according to the current metadata."""
    store, _, chunk_store = place
    try:
        array = Array(store, path=path, read_only=True, chunk_store=chunk_store)
    except (ZarrixError, ValueError, TypeError):
        return False
    if problem.kind == "orphan":
        return not io_of(array).stored_chunks([problem.key])
    return chunk_fault(array, problem.key) is not None


def _free_name(store: Store, key: str) -> str:
    name, number = f"{key}.broken", 1
    while name in store:
        number += 1
        name = f"{key}.broken-{number}"
    return name
