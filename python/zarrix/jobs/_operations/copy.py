"""`copy`: stored bytes from one place to another, without decoding them.

A task copies a run of chunk keys of one array. Metadata is copied by `finish`, arrays first and the
root last, so that the copy does not exist before it is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from zarrix._hierarchy.copy_store import copied
from zarrix._nodes import nodes
from zarrix._runtime.signatures import takes
from zarrix._stores.keys import DOCUMENTS_OF_A_NODE, ZMETADATA, key_of
from zarrix.jobs._operations.ranges import KeyRanges, arrays_of, check_arrays
from zarrix.jobs._running.documents import below, opened, store_all, walk
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import (
    Done,
    Operation,
    Setting,
    Stage,
    check_sources,
    source_array,
)
from zarrix.jobs._running.places import Place, place_of
from zarrix.jobs._running.run import Running, run_or_plan

__all__ = ["Copy", "copy"]

_IN_FLIGHT = 8


class Copy(Operation):
    """Copies a node with all below it, encoded as it is."""

    kind = "copy"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._ranges = KeyRanges(self.parameters["arrays"])

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage: the chunks of all arrays."""
        ranges = self._ranges
        return [
            Stage(
                "copy",
                len(ranges),
                memory=_IN_FLIGHT * ranges.longest_bytes,
                bytes_in=ranges.decoded_bytes,
                bytes_out=ranges.decoded_bytes,
                gets=ranges.keys,
                puts=ranges.keys,
            )
        ]

    def check(self) -> None:
        """Every array must be the one that was planned for."""
        planned = {one["path"]: one["digest"] for one in self._ranges.arrays}
        check_sources(self.places["source"], planned)

    def check_task(self, stage: int, number: int) -> None:
        """The array of a task."""
        one, _ = self._ranges.of(number)
        source_array(below(self.places["source"], one["path"]), one["digest"])

    def run(self, stage: int, number: int) -> Done:
        """Copy the chunks of a run of numbers; missing ones stay missing."""
        one, names = self._ranges.of(number)
        source, dest = (below(self.places[name], one["path"]) for name in ("source", "destination"))
        pairs = [(key_of(source.path, key), key_of(dest.path, key)) for key in names]
        moved = 0
        self.before_writing()
        for _, nbytes in copied(source.chunks, dest.chunks, pairs, _IN_FLIGHT, locks=False):
            moved += nbytes
            self.before_writing()
        return Done(None, moved, moved)

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Any:
        """Copy the documents, deepest first."""
        self.check()
        source, dest = self.places["source"], self.places["destination"]
        names = (*DOCUMENTS_OF_A_NODE[self.parameters["format"]], ZMETADATA)
        found = []
        for path in self.parameters["nodes"]:
            there = below(source, path)
            stored = {name: there.store._value(key_of(there.path, name)) for name in names}
            found.append((path, {k: bytes(v) for k, v in stored.items() if v is not None}))
        store_all(dest, found)
        return opened(dest)

    def begin(self) -> None:
        """Create the groups above the destination, or raise an error if one is an array."""
        store, path = self.places["destination"][:2]
        nodes.require_parents(store, path, self.parameters["format"])

    def check_plan(self) -> None:
        """The arrays must be those of the source."""
        check_arrays(self.places["source"], self.parameters["arrays"])

    def read_places(self) -> Mapping[str, Place]:
        """Every array."""
        return {
            one["path"] or "source": below(self.places["source"], one["path"])
            for one in self._ranges.arrays
        }

    @property
    def marked(self) -> Place | None:
        """The first array."""
        arrays = self._ranges.arrays
        return below(self.places["destination"], arrays[0]["path"]) if arrays else None

    def explain(self) -> Iterator[str]:
        """Why nothing is decoded."""
        yield "stored bytes are copied; nothing is decoded"


@takes(Running, like=Job.run)
def copy(
    source: Any,
    dest: Any,
    *,
    overwrite: bool = False,
    run: bool = True,
    **running: Unpack[Running],
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
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

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
    return run_or_plan(job, run, **running)


def _planned(source: Place) -> dict[str, Any]:
    found = dict(walk(source))
    arrays = [told for _, told in arrays_of(source, found)]
    return {"format": found[""].zarr_format, "nodes": sorted(found), "arrays": arrays}
