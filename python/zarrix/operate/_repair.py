"""`repair`: what is broken is put aside, so that the rest reads; nothing is ever deleted.

A broken chunk then reads as the fill value, a broken document as if it were not there. What was put
aside keeps its bytes, under its key with ``.broken`` behind it, for whoever can make more of it.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from zarrix._array import Array
from zarrix._progress import Progress
from zarrix._store import Store
from zarrix.operate._survey import Problem, place_of
from zarrix.operate._verify import Verification, verify

__all__ = ["Repair", "repair"]


@dataclass
class Repair:
    """What `repair` has put aside; printable, and `to_json` for programs.

    Attributes
    ----------
    set_aside : dict of str to str
        The key of each broken value, and the one under which it is now.
    kept : list of Problem
        What was broken and is where it was: a writer has replaced it meanwhile, or it is stale
        consolidated metadata inside the document of a sound group.
    before : Verification
        What was found.
    """

    set_aside: dict[str, str] = field(default_factory=dict)
    kept: list[Problem] = field(default_factory=list)
    before: Verification = field(default_factory=Verification)

    def to_json(self) -> str:
        """Everything, as JSON text."""
        return json.dumps(asdict(self), indent=2)

    def __str__(self) -> str:
        if not self.set_aside:
            return "nothing was broken" if self.before.ok else "nothing was put aside"
        return "\n".join(f"put aside: {old} -> {new}" for old, new in self.set_aside.items())


class _DoneError(Exception):
    """Ends a change without making one."""


def repair(store: Any, *, path: str | None = None, progress: bool | Progress = False) -> Repair:
    """Put everything broken aside, so that the rest reads. Nothing is deleted.

    Each value is looked at again under its lock: one that a writer has replaced meanwhile stays.

    Parameters
    ----------
    store : Store, mapping, str, Path, Array or Group
    path : str, optional
        Only what is at and below this path.
    progress : bool or callable
        As in `verify`.

    Returns
    -------
    Repair

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
    opened, where = place_of(store, path)
    before = verify(opened, path=where, progress=progress)
    result = Repair(before=before)
    for problem in before.problems:
        new = _set_aside(opened, problem)
        if new is None:
            result.kept.append(problem)
        else:
            result.set_aside[problem.key] = new
    return result


def _set_aside(store: Store, problem: Problem) -> str | None:
    """The new key of what is broken; None if it is no longer broken."""
    key = problem.key
    if problem.kind == "consolidated" and key.rpartition("/")[2] == "zarr.json":
        # The group itself is in that document, and is sound.
        return None
    array = _array_of(store, key) if problem.kind == "chunk" else None
    document = store.get(key)
    moved: str | None = None

    def move(old: bytes | None) -> bytes | None:
        nonlocal moved
        if array is None:
            still_broken = old == document
        else:
            still_broken = any(broken == key for broken, _ in array._io.verify()[2])
        if still_broken:
            moved = _free_name(store, key)
            store._engine.move_node(store.engine_path(key), store.engine_path(moved), [])
        raise _DoneError

    with contextlib.suppress(_DoneError):
        # Under the lock of the array's document no chunk of it is written.
        store.update_value(key if array is None else array._key(array._name), move)
    return moved


def _array_of(store: Store, key: str) -> Array:
    """The array that a chunk's key belongs to: the nearest above it."""
    folders = key.split("/")[:-1]
    for depth in range(len(folders), -1, -1):
        path = "/".join(folders[:depth])
        if any(store.get(f"{path}/{name}".lstrip("/")) for name in (".zarray", "zarr.json")):
            return Array(store, path=path, read_only=True)
    raise KeyError(key)


def _free_name(store: Store, key: str) -> str:
    name, number = f"{key}.broken", 1
    while name in store:
        number += 1
        name = f"{key}.broken-{number}"
    return name
