"""What a selection decodes, computed from the chunk grid alone."""

from __future__ import annotations

import math
from typing import Any

from zarrix._array.stored import box_of
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix.viewer._answers import Refused
from zarrix.viewer._limits import MOST_DECODED_BYTES

__all__ = ["check_cost", "chunk_range", "decoded_bytes", "item_bytes"]

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
    metadata = array._metadata
    shard = metadata.shard_codec
    chain = metadata.codecs if shard is None else shard["codecs"]
    if all(codec["name"] in _PLAIN for codec in chain):
        counts = [1 if isinstance(axis, int) else axis[2] for axis in axes]
    else:
        counts = [_elements(*pair) for pair in zip(metadata.inner_grid, axes, strict=True)]
    return math.prod(counts) * item_bytes(array)


def check_cost(array: Any, axes: Any) -> None:
    """Refuse a selection whose chunks are too large for one request."""
    needed = decoded_bytes(array, axes)
    if needed > MOST_DECODED_BYTES:
        raise Refused(
            413,
            f"this needs {needed / 2**20:,.0f} MiB of decoded chunks, and one request decodes at "
            f"most {MOST_DECODED_BYTES >> 20} MiB",
            "too-large",
        )
