"""`copy`: stored bytes from one place to another, without decoding them.

A task copies a run of chunk keys of one array. Metadata is copied by `finish`, arrays first and the
root last, so that the copy does not exist before it is complete.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zarrix._array.array import Array
from zarrix._display.progress import Progress
from zarrix._hierarchy.copy_store import copied
from zarrix._metadata.array import ArrayMetadata
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._stores.keys import DOCUMENTS_OF_A_NODE, ZMETADATA, key_of
from zarrix.jobs._documents import below, opened, store_all, walk
from zarrix.jobs._job import Job
from zarrix.jobs._operation import Done, Operation, Setting, Stage, source_array
from zarrix.jobs._places import Place, digest_of, place_of
from zarrix.jobs._run import run_or_plan
from zarrix.jobs._tiling import Tiling, keys_of

__all__ = ["Copy", "copy"]

# A task copies about as many bytes of chunks, decoded, and at most as many keys.
_TASK_BYTES = 64 << 20
_MOST_KEYS = 1000
_IN_FLIGHT = 8


class Copy(Operation):
    """Copies a node with all below it, encoded as it is."""

    kind = "copy"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._arrays: Sequence[Mapping[str, Any]] = self.parameters["arrays"]
        firsts = [0]
        for one in self._arrays:
            firsts.append(firsts[-1] + -(-math.prod(one["grid"]) // one["keys"]))
        self._firsts = firsts

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage: the chunks of all arrays."""
        keys = sum(math.prod(one["grid"]) for one in self._arrays)
        total = sum(math.prod(one["grid"]) * one["chunk_bytes"] for one in self._arrays)
        biggest = max((one["chunk_bytes"] for one in self._arrays), default=0)
        return [
            Stage(
                "copy",
                self._firsts[-1],
                memory=_IN_FLIGHT * biggest,
                bytes_in=total,
                bytes_out=total,
                gets=keys,
                puts=keys,
            )
        ]

    def check(self) -> None:
        """Every array must be the one that was planned for."""
        for one in self._arrays:
            source_array(below(self.places["source"], one["path"]), one["digest"])

    def run(self, stage: int, number: int) -> Done:
        """Copy the chunks of a run of numbers; missing ones stay missing."""
        at = _last_at_most(self._firsts, number)
        one = self._arrays[at]
        source, dest = (below(self.places[name], one["path"]) for name in ("source", "destination"))
        begin = (number - self._firsts[at]) * one["keys"]
        end = min(begin + one["keys"], math.prod(one["grid"]))
        places = (_coords(n, one["grid"]) for n in range(begin, end))
        name, separator, suffix = one["encoding"]
        names = keys_of((name, separator, suffix), places)
        pairs = [(key_of(source.path, key), key_of(dest.path, key)) for key in names]
        moved = sum(copied(source.chunks, dest.chunks, pairs, _IN_FLIGHT, skips_missing=True))
        return Done(None, moved, moved)

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Any:
        """Copy the documents, deepest first."""
        self.check()
        source, dest = self.places["source"], self.places["destination"]
        names = (*DOCUMENTS_OF_A_NODE[self.parameters["format"]], ZMETADATA)
        found = []
        for path in self.parameters["nodes"]:
            there = below(source, path)
            stored = {name: there.store.get(key_of(there.path, name)) for name in names}
            found.append((path, {k: bytes(v) for k, v in stored.items() if v is not None}))
        store_all(dest, found)
        return opened(dest)

    def begin(self) -> None:
        """Create the groups above the destination, or raise an error if one is an array."""
        store, path, chunk_store = self.places["destination"]
        nodes.require_parents(store, path, chunk_store, False, self.parameters["format"])

    def explain(self) -> Iterator[str]:
        """Why nothing is decoded."""
        yield "stored bytes are copied; nothing is decoded"


def copy(
    source: Any,
    dest: Any,
    *,
    overwrite: bool = False,
    run: bool = True,
    executor: Any = None,
    resume: Any = True,
    retries: int = 3,
    patience: float = 300.0,
    progress: bool | Progress = False,
) -> Any:
    """Copy an array or a group, as it is stored, with any number of workers.

    The copy becomes visible when it is complete. After an interruption, the same call goes on.

    Parameters
    ----------
    source : Array, Group, Store, str or Path
    dest : Store, str or Path
        Where nothing is stored yet.
    overwrite : bool
        Replace what is at ``dest``.
    run : bool
        False returns the `Job` with its plan, and copies nothing.
    executor : optional
        As for `Job.run`, and so are all arguments below.
    resume : bool, str, Path or Store
    retries : int
    patience : float
    progress : bool or callable

    Returns
    -------
    Array or Group, or Job
        The copy; the job with ``run=False``.

    Raises
    ------
    ContainsArrayError
        Something is at ``dest``.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> group = zarr.open_group("one.zarr", mode="w")
    >>> group["a"] = [1, 2, 3]
    >>> zarr.jobs.copy("one.zarr", "two.zarr")["a"][:]
    array([1, 2, 3])
    """
    places = {"source": place_of(source), "destination": place_of(dest)}
    job = Job("copy", Setting(_planned(places["source"]), places), overwrite=overwrite)
    return run_or_plan(
        job, run, executor, resume=resume, retries=retries, patience=patience, progress=progress
    )


def _planned(source: Place) -> dict[str, Any]:
    found = dict(walk(source))
    arrays = []
    for path, node in found.items():
        if node.kind == "array":
            there = below(source, path)
            location = Location(there.store, there.path, None, there.chunk_store)
            arrays.append(_entry(path, Array._at(location, node, read_only=True)._metadata))
    return {"format": found[""].zarr_format, "nodes": sorted(found), "arrays": arrays}


def _entry(path: str, metadata: ArrayMetadata) -> dict[str, Any]:
    grid = list(Tiling.of(metadata).counts)
    chunk_bytes = math.prod(metadata.chunk_shape) * max(1, metadata.dtype.itemsize)
    encoding = (metadata.key_encoding[0], metadata.dimension_separator, metadata.key_suffix)
    return {
        "path": path,
        "digest": digest_of(metadata),
        "grid": grid,
        "encoding": list(encoding),
        "chunk_bytes": chunk_bytes,
        "keys": max(1, min(_MOST_KEYS, _TASK_BYTES // max(1, chunk_bytes))),
    }


def _last_at_most(firsts: Sequence[int], number: int) -> int:
    """The array that a task belongs to; arrays without chunks have no tasks."""
    return bisect.bisect_right(firsts, number) - 1


def _coords(number: int, grid: Sequence[int]) -> tuple[int, ...]:
    place = []
    for count in reversed(grid):
        number, at = divmod(number, count)
        place.append(at)
    return tuple(reversed(place))
