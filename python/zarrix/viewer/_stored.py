"""The routes ``stored``, ``chunk`` and ``plan``: what is behind a picture.

A missing chunk reads as the fill value. The viewer hatches it, so that missing is never taken for
zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.stored import (
    box_of,
    chunk_key,
    inner_sizes,
    stored_sizes,
)
from zarrix._engine import CancelToken
from zarrix._metadata.checksum import is_checked
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import check_touched, item_bytes
from zarrix.viewer._limits import MOST_CHUNKS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going
from zarrix.viewer._roots import Roots

__all__ = ["Box", "chunk", "inner_sizes_of", "plan", "sizes_of", "stored"]

# Shards whose index is read, and entries of all these indexes.
_MOST_INDEXES = 1024
_MOST_ENTRIES = 4 * MOST_CHUNKS
# Values that are asked for between two looks at the connection.
_STEP = 4096

Box = list[tuple[int, int]]


def stored(roots: Roots, parameters: Parameters) -> Answer:
    """Which chunks that a selection touches are stored, as runs; with shards, also which shards."""
    array = roots.array(parameters.text("path"))
    axes = parameters.selection(array).axes
    metadata = metadata_of(array)
    outer = box_of(metadata.grid, axes)
    # All chunks of the box, also those between the steps.
    check_touched(array, [_without_step(axis) for axis in axes])
    sizes = sizes_of(array, outer, parameters.cancel)
    if metadata.shard_codec is None:
        return json_answer({**_runs(sizes, outer), "unit": "chunk", "shards": None})
    shards = _runs(sizes, outer)
    inner = box_of(metadata.inner_grid, axes)
    found = inner_sizes_of(array, sizes, outer, inner, parameters.cancel)
    if found is None:
        return json_answer({**shards, "unit": "shard", "shards": shards})
    return json_answer({**_runs(found, inner), "unit": "chunk", "shards": shards})


def _without_step(axis: Any) -> Any:
    if isinstance(axis, int):
        return axis
    start, step, count = axis
    last = start + step * (count - 1)
    return min(start, last), 1, abs(last - start) + 1 if count else 0


def sizes_of(array: Any, box: Box, cancel: CancelToken) -> Any:
    """`stored_sizes`, in steps between which the request can end."""
    lengths = [end - begin for begin, end in box]
    count = math.prod(lengths)
    if count <= _STEP:
        return stored_sizes(array, box)
    axis = max(range(len(box)), key=lambda one: lengths[one])
    by = max(1, _STEP // (count // lengths[axis]))
    found = []
    for begin in range(*box[axis], by):
        check_going(cancel)
        part = (begin, min(begin + by, box[axis][1]))
        found.append(stored_sizes(array, [*box[:axis], part, *box[axis + 1 :]]))
    return np.concatenate(found, axis=axis)


def _runs(sizes: Any, box: Box) -> dict[str, Any]:
    """Run lengths in C order, the missing ones first."""
    flat = (sizes >= 0).ravel()
    changes = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff([0, *changes.tolist(), flat.size]).tolist() if flat.size else []
    if flat.size and flat[0]:
        runs = [0, *runs]
    return {
        "box": box,
        "runs": runs,
        "stored": int(flat.sum()),
        "bytes": int(sizes[sizes >= 0].sum()),
    }


def _ratio(metadata: Any) -> list[int]:
    """How many inner chunks a shard has along each axis."""
    pairs = zip(metadata.chunk_shape, metadata.inner_chunk_shape, strict=True)
    return [-(-long // short) for long, short in pairs]


def inner_sizes_of(array: Any, sizes: Any, outer: Box, inner: Box, cancel: CancelToken) -> Any:
    """The lengths of the inner chunks in their box; None if too many, or if they are not known."""
    shape = [end - begin for begin, end in inner]
    indexes = int((sizes >= 0).sum())
    if math.prod(shape) > MOST_CHUNKS or indexes > _MOST_INDEXES:
        return None
    ratio = _ratio(metadata_of(array))
    if indexes * math.prod(ratio) > _MOST_ENTRIES:
        return None
    found = np.full(shape, -1, np.int64)
    for at in np.argwhere(sizes >= 0).tolist():
        check_going(cancel)
        coords = [begin + one for (begin, _), one in zip(outer, at, strict=True)]
        lengths = inner_sizes(array, coords)
        if lengths is None:
            return None
        here, there = [], []
        for shard, count, (begin, end) in zip(coords, ratio, inner, strict=True):
            first, last = max(begin, shard * count), min(end, (shard + 1) * count)
            here.append(slice(first - begin, last - begin))
            there.append(slice(first - shard * count, last - shard * count))
        found[tuple(here)] = lengths[tuple(there)]
    return found


def chunk(roots: Roots, parameters: Parameters) -> Answer:
    """One chunk: its key, its bytes as stored and decoded, and the shard that it is in."""
    array = roots.array(parameters.text("path"))
    metadata = metadata_of(array)
    coords = parameters.wholes("coords", 64)
    counts = [a.count(n) for a, n in zip(metadata.inner_grid, array.shape, strict=True)]
    if len(coords) != array.ndim or any(a >= n for a, n in zip(coords, counts, strict=True)):
        raise Refused(400, f"coords={coords} is not a chunk; there are {counts}", "out-of-bounds")
    extents = [axis.chunk(at) for axis, at in zip(metadata.inner_grid, coords, strict=True)]
    raw = math.prod(one.end - one.begin for one in extents) * item_bytes(array)
    found: dict[str, Any] = {"coords": coords, "raw_bytes": raw, "shard": None}
    outer = [a.find(e.begin).chunk for a, e in zip(metadata.grid, extents, strict=True)]
    size = int(stored_sizes(array, [(at, at + 1) for at in outer]).item())
    key = key_of(array.path, chunk_key(metadata, outer))
    if metadata.shard_codec is not None:
        found["shard"] = {"coords": outer, "key": key, "bytes": max(size, 0), "stored": size >= 0}
        is_known = size >= 0 and math.prod(_ratio(metadata)) <= _MOST_ENTRIES
        lengths = inner_sizes(array, outer) if is_known else None
        if lengths is not None:
            size = int(lengths[tuple(a % n for a, n in zip(coords, lengths.shape, strict=True))])
    return json_answer(
        {
            **found,
            "key": key,
            "stored": size >= 0,
            "bytes": max(size, 0),
            "ratio": round(raw / size, 3) if size > 0 else None,
            "checksum": is_checked(metadata.codecs),
        }
    )


def plan(roots: Roots, parameters: Parameters) -> Answer:
    """What reading a selection touches and fetches."""
    array = roots.array(parameters.text("path"))
    selected = parameters.selection(array)
    check_touched(array, selected.axes)
    found = array.plan(selected.key)
    return json_answer(
        {
            **dataclasses.asdict(found),
            "bytes_touched": found.bytes_touched,
            "bytes_used": found.bytes_used,
            "amplification": found.amplification,
            "text": str(found),
        }
    )
