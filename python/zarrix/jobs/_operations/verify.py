"""`verify`: every stored chunk decodes, checked by any number of workers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._metadata.checksum import is_checked
from zarrix._runtime.signatures import takes
from zarrix._stores.keys import key_of
from zarrix.jobs._operations.ranges import KeyRanges, arrays_of, check_arrays
from zarrix.jobs._running.documents import below, walk
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, source_array
from zarrix.jobs._running.places import Place, place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.operate._survey import Problem
from zarrix.operate._verify import Verification, verify_keys

__all__ = ["Verify", "verify"]

_SAMPLES = 2**32
_IN_FLIGHT = 32


class Verify(Operation):
    """Decodes the chunks of a hierarchy; nothing is written."""

    kind = "verify"
    destination = None
    # What was decoded before a change was decoded.
    needs_still_sources = False

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._ranges = KeyRanges(self.parameters["arrays"])
        self._arrays: dict[str, Array] = {}
        self._begun = time.monotonic()

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage: runs of chunks of all arrays."""
        ranges = self._ranges
        share = self.parameters["sample"]
        return [
            Stage(
                "verify",
                len(ranges),
                memory=2 * ranges.longest_bytes,
                bytes_in=int(ranges.decoded_bytes * share),
                gets=int(ranges.keys * share),
            )
        ]

    def run(self, stage: int, number: int) -> Done:
        """Decode the chunks of a run of keys."""
        if not self._is_drawn(number):
            return Done()
        one, names = self._ranges.of(number)
        array = self._array(one)
        keys = [array.chunk_store.engine_path(key_of(array.path, name)) for name in names]
        there = _stored(array, keys)
        if not there:
            return Done()
        chunks, nbytes, problems, ignored = verify_keys(array, there)
        value = {
            "chunks": chunks,
            "bytes": nbytes,
            "checked": chunks if is_checked(metadata_of(array).codecs) else 0,
            "problems": [[problem.key, problem.message] for problem in problems],
            "ignored": dict(ignored),
        }
        return Done(value, nbytes)

    def _is_drawn(self, number: int) -> bool:
        """Whether a task is in the sample, which is the same in every process."""
        drawn = hashlib.blake2b(str(number).encode(), digest_size=4).digest()
        share: float = self.parameters["sample"]
        return int.from_bytes(drawn) < share * _SAMPLES

    def check_plan(self) -> None:
        """The arrays must be those of the source."""
        check_arrays(self.places["source"], self.parameters["arrays"])

    def read_places(self) -> Mapping[str, Place]:
        """Every array."""
        return {
            one["path"] or "source": below(self.places["source"], one["path"])
            for one in self._ranges.arrays
        }

    def _array(self, described: Mapping[str, Any]) -> Array:
        found = self._arrays.get(described["path"])
        if found is None:
            found = source_array(
                below(self.places["source"], described["path"]), described["digest"]
            )
            self._arrays[described["path"]] = found
        return found

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Verification:
        """One report of all tasks, with problems sorted by key."""
        report = Verification(arrays=len(self._ranges.arrays), groups=self.parameters["groups"])
        for one in values[0].values():
            report.chunks += one["chunks"]
            report.stored_bytes += one["bytes"]
            report.checksummed += one["checked"]
            report.problems += [Problem("chunk", *said) for said in one["problems"]]
            report.ignored.update(one["ignored"])
        report.problems.sort(key=lambda problem: problem.key)
        report.seconds = round(time.monotonic() - self._begun, 3)
        return report


def _stored(array: Array, keys: list[str]) -> list[str]:
    """Those of the keys of chunks that are stored."""
    size = array.chunk_store._engine.size
    if not array.chunk_store.is_remote:
        return [key for key in keys if size(key) is not None]
    with ThreadPoolExecutor(_IN_FLIGHT) as pool:
        sizes = list(pool.map(size, keys))
    return [key for key, one in zip(keys, sizes, strict=True) if one is not None]


@takes(Running, like=Job.run)
def verify(
    source: Any,
    *,
    sample: float = 1.0,
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Check that every stored chunk decodes, with any number of workers.

    Metadata is parsed, and chunks are decoded, in tasks of a thousand keys at most: no list of all
    keys is made. `zarrix.verify` in one process also finds keys that belong to no node.

    Parameters
    ----------
    source : Array, Group, Store, str or Path
    sample : float
        The share of tasks to do, from 0 to 1; the same ones in every run.
    run : bool
        False returns the `Job`, and checks nothing.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Verification or Job
        As of `zarrix.verify`; true if there is no problem.

    Raises
    ------
    GroupNotFoundError
        Nothing is there.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.create_array("a.zarr", shape=(100,), chunks=(10,), dtype="i4")
    >>> z[:] = 1
    >>> report = zarr.jobs.verify("a.zarr", executor="threads")
    >>> report.ok, report.chunks
    (True, 10)
    """
    if not 0 < sample <= 1:
        raise ValueError(f"sample={sample!r}; expected more than 0 and at most 1")
    place = place_of(source)
    found = dict(walk(place))
    parameters = {
        "sample": float(sample),
        "groups": sum(node.kind == "group" for node in found.values()),
        "arrays": [told for _, told in arrays_of(place, found)],
    }
    job = Job("verify", Setting(parameters, {"source": place}))
    running.setdefault("resume", False)
    return run_or_plan(job, run, **running)
