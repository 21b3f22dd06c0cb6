"""`repair`: what is broken is put aside, so that the rest reads; nothing is ever deleted.

A broken chunk then reads as the fill value, a broken document as if it were not there, and a chunk
outside of its array cannot come back when the array grows. What was put aside keeps its bytes,
under its key with ``.broken`` behind it; `verify` names it until it is deleted or in its place
again. Everything is verified once. Then each value that was found broken is looked at again, alone
and under the lock of its writers.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zarrix._array.array import Array
from zarrix._display.printable import lines
from zarrix._display.progress import Progress, phase
from zarrix._errors import ZarrixError
from zarrix._stores.base import Store
from zarrix._stores.keys import ZMETADATA
from zarrix.operate._place import Place, place_of
from zarrix.operate._survey import Problem, Survey
from zarrix.operate._verify import Verification, chunk_fault, examine

__all__ = ["Repair", "repair", "repair_into"]


@dataclass
class Repair:
    """What `repair` has put aside; printable, and `to_json` for programs.

    Attributes
    ----------
    set_aside : dict of str to str
        The key of each broken value, and the one under which it is now.
    kept : list of Problem
        What is where it was: a writer has replaced it meanwhile, or there is nothing to put aside,
        as where metadata is missing or is stale inside the document of a sound group.
    before : Verification
        What was found.

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
    """Ends a change without making one."""


def repair(
    store: Any,
    *,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | Progress = False,
) -> Repair:
    """Put everything broken aside, so that the rest reads. Nothing is deleted.

    All is verified once; then each broken value is looked at again under its lock: one that a
    writer has replaced meanwhile stays. An error or an interrupt in between leaves what was put
    aside until then, and says in a note what that is.

    Parameters
    ----------
    store : Store, mapping, URL, str, Path, Array or Group
        Whatever `zarrix.open` takes, or what it gave.
    path : str, optional
        Only what is at and below this path.
    storage_options : mapping, optional
        For a store that is named by a URL.
    progress : bool or callable
        As in `verify`; then it is told of the values that are put aside.

    Returns
    -------
    Repair

    Raises
    ------
    PathNotFoundError
        Neither a node nor anything of one is there (also a ``FileNotFoundError``).
    ReadOnlyError
        The store cannot be changed.

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
    """`repair`, which notes in ``result`` what it does as soon as it does it."""
    place.store._forbid_changes()
    place.chunks._forbid_changes()
    result.before, found = examine(place, progress=progress)
    problems = [problem for problem in result.before.problems if problem.kind != "aside"]
    tell = phase(progress, "problems")
    for done, problem in enumerate(problems):
        _settle(result, found, problem)
        tell(done + 1, len(problems))


def _settle(result: Repair, found: Survey, problem: Problem) -> None:
    """Put aside what is broken, unless it no longer is."""
    key = problem.key
    is_chunk = problem.kind == "chunk" or (problem.kind == "orphan" and key in found.outside)
    is_document = problem.kind in ("metadata", "consolidated") and key in found.documents
    # In the document of a group that has stale metadata of its members the group itself is sound.
    if is_document and problem.kind == "consolidated":
        is_document = key.rpartition("/")[2] == ZMETADATA
    if not (is_chunk or is_document):
        result.kept.append(problem)
        return
    store = found.place.chunks if is_chunk else found.place.store
    path = found.array_above(key) or "" if is_chunk else ""
    # Under the lock of the array's document no chunk of it is written.
    anchor = found.arrays[path]._key(found.arrays[path]._name) if is_chunk else key

    def move(old: bytes | None) -> bytes | None:
        if _is_broken(found.place, path, problem) if is_chunk else old == found.documents[key]:
            # Noted first, and corrected below: an interrupt may come between any two steps.
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
    """Whether a chunk is what the problem says, by the metadata that is stored now."""
    store, _, chunk_store = place
    try:
        array = Array(store, path=path, read_only=True, chunk_store=chunk_store)
    except (ZarrixError, ValueError, TypeError):
        return False
    if problem.kind == "orphan":
        return not array._io.stored_chunks([problem.key])
    return chunk_fault(array, problem.key) is not None


def _free_name(store: Store, key: str) -> str:
    name, number = f"{key}.broken", 1
    while name in store:
        number += 1
        name = f"{key}.broken-{number}"
    return name
