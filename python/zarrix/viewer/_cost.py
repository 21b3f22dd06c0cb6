"""What a selection decodes, computed from the chunk grid alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._array.stored import MOST_LOCAL, MOST_REMOTE, box_of
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix.viewer._answers import Refused
from zarrix.viewer._limits import MOST_CHUNKS, MOST_DECODED_BYTES

__all__ = [
    "check_cost",
    "check_touched",
    "chunk_range",
    "decoded_bytes",
    "is_affordable",
    "is_listable",
    "item_bytes",
    "touched",
]

# Codecs that only arrange bytes: parts of such chunks are read as ranges.
_PLAIN = frozenset({"bytes", "transpose"})


def item_bytes(array: Any) -> int:
    """Bytes of an element; of variable-length ones, what a short one takes in memory."""
    return 64 if array.dtype.kind in "OT" else max(1, int(array.dtype.itemsize))


def chunk_range(grid: AxisGrid, axis: int | tuple[int, int, int]) -> tuple[int, int]:
    """The chunks along one axis that a selection touches: the first, and one after the last."""
    return box_of([grid], [axis])[0]


def _elements(grid: AxisGrid, axis: int | tuple[int, int, int]) -> int:
    """The length, along one axis, of the chunks that a selection touches."""
    first, end = chunk_range(grid, axis)
    if end <= first:
        return 0
    touched = end - first if isinstance(axis, int) else min(end - first, axis[2])
    whole = grid.chunk(end - 1).end - grid.chunk(first).begin
    return -(-whole * touched // (end - first))


def decoded_bytes(array: Any, axes: Any) -> int:
    """Bytes of the decoded chunks that a selection touches.

    The engine reads only the selected part of chunks that are stored as they are.
    """
    metadata = metadata_of(array)
    shard = metadata.shard_codec
    chain = metadata.codecs if shard is None else shard["codecs"]
    if all(codec["name"] in _PLAIN for codec in chain):
        counts = [1 if isinstance(axis, int) else axis[2] for axis in axes]
    else:
        counts = [_elements(*pair) for pair in zip(metadata.inner_grid, axes, strict=True)]
    return math.prod(counts) * item_bytes(array)


def touched(grid: Sequence[AxisGrid], axes: Any) -> int:
    """How many chunks of a grid a selection touches, stored or not."""
    found = 1
    for one, axis in zip(grid, axes, strict=True):
        first, end = chunk_range(one, axis)
        found *= end - first if isinstance(axis, int) else min(end - first, axis[2])
    return found


def _excess(array: Any, axes: Any) -> str | None:
    """What a selection touches too many of: stored values (chunks or shards), or inner chunks."""
    metadata = metadata_of(array)
    most = MOST_REMOTE if array.chunk_store.is_remote else MOST_LOCAL
    values = touched(metadata.grid, axes)
    if values > most:
        return f"{values:,} stored values, and one request asks for at most {most:,}"
    chunks = touched(metadata.inner_grid, axes)
    if chunks > MOST_CHUNKS:
        return f"{chunks:,} chunks, and one request touches at most {MOST_CHUNKS:,}"
    return None


def is_affordable(array: Any, axes: Any, most_bytes: int = MOST_DECODED_BYTES) -> bool:
    """Whether one request may read a selection: by its chunks, stored or not, and their bytes."""
    return decoded_bytes(array, axes) <= most_bytes and _excess(array, axes) is None


def is_listable(array: Any, axes: Any) -> bool:
    """Whether one request may ask which of the chunks that a selection touches are stored."""
    return _excess(array, axes) is None


def check_touched(array: Any, axes: Any) -> None:
    """Refuse a selection that touches too many chunks for one request, stored or not."""
    excess = _excess(array, axes)
    if excess is not None:
        raise Refused(413, f"this touches {excess}; select less", "too-large")


def check_cost(array: Any, axes: Any) -> None:
    """Refuse a selection whose chunks are too many, or too large, for one request."""
    check_touched(array, axes)
    needed = decoded_bytes(array, axes)
    if needed > MOST_DECODED_BYTES:
        raise Refused(
            413,
            f"this needs {needed / 2**20:,.0f} MiB of decoded chunks, and one request decodes at "
            f"most {MOST_DECODED_BYTES >> 20} MiB",
            "too-large",
        )
