"""The routes ``stored``, ``chunk`` and ``plan``: what is behind a picture.

A missing chunk reads as the fill value. The viewer hatches it, so that missing is never taken for
zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from zarrix._array.stored import (
    MOST_LOCAL,
    MOST_REMOTE,
    box_of,
    chunk_key,
    inner_sizes,
    stored_sizes,
)
from zarrix._metadata.checksum import is_checked
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import item_bytes
from zarrix.viewer._limits import MOST_CHUNKS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots

__all__ = ["chunk", "plan", "stored"]

# Shards whose index is read.
_MOST_INDEXES = 1024

Box = list[tuple[int, int]]


def stored(roots: Roots, given: Parameters) -> Answer:
    """Which chunks that a selection touches are stored, as runs; with shards, also which shards."""
    array = roots.array(given.text("path"))
    axes = given.selection(array).axes
    metadata = array._metadata
    outer = box_of(metadata.grid, axes)
    count = math.prod(end - begin for begin, end in outer)
    most = MOST_REMOTE if array.chunk_store.is_remote else MOST_LOCAL
    if count > most:
        raise Refused(413, f"{count:,} stored values are more than {most:,}", "too-large")
    sizes = stored_sizes(array, outer)
    if metadata.shard_codec is None:
        return json_answer({**_runs(sizes, outer), "unit": "chunk", "shards": None})
    shards = _runs(sizes, outer)
    inner = box_of(metadata.inner_grid, axes)
    found = _inner(array, sizes, outer, inner)
    if found is None:
        return json_answer({**shards, "unit": "shard", "shards": shards})
    return json_answer({**_runs(found, inner), "unit": "chunk", "shards": shards})


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


def _inner(array: Any, sizes: Any, outer: Box, inner: Box) -> Any:
    """The lengths of the inner chunks in their box; None if too many, or if they are not known."""
    shape = [end - begin for begin, end in inner]
    indexes = int((sizes >= 0).sum())
    if math.prod(shape) > MOST_CHUNKS or indexes > _MOST_INDEXES:
        return None
    metadata = array._metadata
    ratio = [
        -(-long // short)
        for long, short in zip(metadata.chunk_shape, metadata.inner_chunk_shape, strict=True)
    ]
    found = np.full(shape, -1, np.int64)
    for at in np.argwhere(sizes >= 0).tolist():
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


def chunk(roots: Roots, given: Parameters) -> Answer:
    """One chunk: its key, its bytes as stored and decoded, and the shard that it is in."""
    array = roots.array(given.text("path"))
    metadata = array._metadata
    coords = given.wholes("coords", 64)
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
        lengths = inner_sizes(array, outer) if size >= 0 else None
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


def plan(roots: Roots, given: Parameters) -> Answer:
    """What reading a selection touches and fetches."""
    array = roots.array(given.text("path"))
    found = array.plan(given.selection(array).key)
    return json_answer(
        {
            **dataclasses.asdict(found),
            "bytes_touched": found.bytes_touched,
            "bytes_used": found.bytes_used,
            "amplification": found.amplification,
            "text": str(found),
        }
    )
