"""Runs of chunk keys of many arrays, as tasks: for what treats stored values one by one."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zarrix._array.access import ArrayOptions, metadata_of, opened_at
from zarrix._errors import JobError
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix.jobs._running.documents import below, walk
from zarrix.jobs._running.places import Place, digest_of
from zarrix.jobs._running.tiling import Tiling, keys_of

__all__ = ["KeyRanges", "arrays_of", "check_arrays"]

# A task has about as many bytes of chunks, decoded, and at most as many keys.
_TASK_BYTES = 64 << 20
_MOST_KEYS = 1000


def arrays_of(
    source: Place, nodes_below: Mapping[str, nodes.Node]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What `KeyRanges` needs of each array below a place, as JSON values."""
    for path, node in nodes_below.items():
        if node.kind != "array":
            continue
        there = below(source, path)
        location = Location(there.store, there.path, None, there.chunk_store)
        metadata = metadata_of(opened_at(location, node, ArrayOptions(read_only=True)))
        chunk_bytes = math.prod(metadata.chunk_shape) * max(1, metadata.dtype.itemsize)
        encoding = (metadata.key_encoding[0], metadata.dimension_separator, metadata.key_suffix)
        yield (
            path,
            {
                "path": path,
                "digest": digest_of(metadata),
                "grid": list(Tiling.of(metadata).counts),
                "encoding": list(encoding),
                "chunk_bytes": chunk_bytes,
                "keys": max(1, min(_MOST_KEYS, _TASK_BYTES // max(1, chunk_bytes))),
            },
        )


class KeyRanges:
    """The tasks of some arrays: each is a run of chunks in C order.

    Parameters
    ----------
    arrays : sequence of mapping
        From `arrays_of`.
    """

    def __init__(self, arrays: Sequence[Mapping[str, Any]]) -> None:
        self.arrays = arrays
        self._firsts = [0]
        for one in arrays:
            self._firsts.append(self._firsts[-1] + -(-math.prod(one["grid"]) // one["keys"]))

    def __len__(self) -> int:
        return self._firsts[-1]

    @property
    def keys(self) -> int:
        """The number of keys of all arrays."""
        return sum(math.prod(one["grid"]) for one in self.arrays)

    @property
    def decoded_bytes(self) -> int:
        """The decoded bytes of all chunks."""
        return sum(math.prod(one["grid"]) * one["chunk_bytes"] for one in self.arrays)

    @property
    def longest_bytes(self) -> int:
        """The bytes of the largest decoded chunk."""
        return max((one["chunk_bytes"] for one in self.arrays), default=0)

    def of(self, number: int) -> tuple[Mapping[str, Any], list[str]]:
        """The array of a task, and its keys there."""
        # Arrays without chunks have no tasks.
        at = bisect.bisect_right(self._firsts, number) - 1
        one = self.arrays[at]
        begin = (number - self._firsts[at]) * one["keys"]
        end = min(begin + one["keys"], math.prod(one["grid"]))
        places = (_coords(n, one["grid"]) for n in range(begin, end))
        name, separator, suffix = one["encoding"]
        return one, list(keys_of((name, separator, suffix), places))


def check_arrays(source: Place, arrays: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error if arrays of a plan are not those below a place.

    Raises
    ------
    JobError
    """
    found = dict(arrays_of(source, dict(walk(source))))
    for one in arrays:
        if found.get(one["path"]) != one:
            raise JobError(
                f"the array {one['path']!r} of the source is not as the job says; plan it again"
            )


def _coords(number: int, grid: Sequence[int]) -> tuple[int, ...]:
    place = []
    for count in reversed(grid):
        number, at = divmod(number, count)
        place.append(at)
    return tuple(reversed(place))
