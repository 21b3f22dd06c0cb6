"""Which chunks would make a loader decode less, counted on the windows of an epoch.

Nothing is read. A proposal is counted with the windows that the loader asks for, and not by a
formula, so that it says what the same loader would decode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix.ml._reading.decoding import bytes_of_chunks, used_bytes
from zarrix.ml._reading.fetch import Entry

__all__ = ["chunk_advice"]

# An array is worth a proposal from here on, and a proposal if it decodes so many times less.
_MUCH = 2.0
_WORTH = 1.25
# Smaller chunks cost more in requests and headers than they spare.
_LEAST_BYTES = 2**15


def chunk_advice(calls: Sequence[Sequence[Entry]]) -> list[str]:
    """For each array of which much more is decoded than used, the chunks that would help most.

    Each call has the entries that are read together, whose chunks are decoded once.
    """
    by_array: dict[int, list[list[Entry]]] = {}
    names: dict[int, str] = {}
    for entries in calls:
        of_call: dict[int, list[Entry]] = {}
        for entry in entries:
            if isinstance(entry.source.array, Array):
                of_call.setdefault(id(entry.source.array), []).append(entry)
                names.setdefault(id(entry.source.array), entry.column.name)
        for key, own in of_call.items():
            by_array.setdefault(key, []).append(own)
    advice: dict[str, str] = {}
    for key, own_calls in by_array.items():
        # Groups have arrays of one kind: the first one of a name stands for all.
        if names[key] not in advice and (sentence := _of_array(names[key], own_calls)):
            advice[names[key]] = sentence
    return list(advice.values())


def _of_array(name: str, calls: list[list[Entry]]) -> str:
    array = calls[0][0].source.array
    grid = metadata_of(array).inner_grid
    if not all(axis.even for axis in grid):
        return ""
    used = sum(used_bytes(entry) for entries in calls for entry in entries)
    chunks = tuple(axis.even for axis in grid)
    decoded = bytes_of_chunks(calls, chunks)
    if not used or decoded < _MUCH * used:
        return ""
    best, least = chunks, decoded
    while len(candidates := _smaller(best, array)):
        costs = {candidate: bytes_of_chunks(calls, candidate) for candidate in candidates}
        candidate = min(costs, key=lambda chunk: costs[chunk])
        if costs[candidate] * 1.05 > least:
            break
        best, least = candidate, costs[candidate]
    if least * _WORTH > decoded:
        return ""
    return (
        f"{name}: chunks of {best} would decode {least / used:.1f} times what samples use, and "
        f"chunks of {chunks} decode {decoded / used:.1f} times"
    )


def _smaller(chunks: tuple[int, ...], array: Any) -> list[tuple[int, ...]]:
    """The chunks of half the length along one axis, if they are not too small."""
    if math.prod(chunks) * int(array.dtype.itemsize) < 2 * _LEAST_BYTES:
        return []
    return [
        (*chunks[:axis], -(-length // 2), *chunks[axis + 1 :])
        for axis, length in enumerate(chunks)
        if length > 1
    ]
