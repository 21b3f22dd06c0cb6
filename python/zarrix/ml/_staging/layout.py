"""Which part of an array is staged together, and the layout of the staged array.

A unit is a chunk, or in a shard a box of inner chunks of about 1 MiB: it is decoded and stored
together. In the stage a unit is a shard of small inner chunks, so that a window reads and decodes
only those that it touches.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from zarrix._array.create_array import create_array
from zarrix._codecs.classes import BloscCodec, BytesCodec, Crc32cCodec, ShardingCodec
from zarrix._metadata.array import ArrayMetadata
from zarrix._stores.keys import ZARR_JSON
from zarrix._stores.memory import MemoryStore

__all__ = ["UnitLayout", "document_of", "layout_of"]

_UNIT_BYTES = 1 << 20
_MOST_UNIT_BYTES = 1 << 28
_BLOCK_BYTES = 1 << 15
_LEAST_BLOCK_BYTES = 1 << 10
_MOST_UNITS = 1 << 31


class UnitLayout(NamedTuple):
    """The shapes of a staged array.

    Attributes
    ----------
    unit : tuple of int
        What is staged together.
    block : tuple of int
        What is decoded together of a staged unit.
    counts : tuple of int
        How many units there are along each axis.
    per_value : tuple of int
        How many units along each axis a stored value of the source, a chunk or shard, has.
    """

    unit: tuple[int, ...]
    block: tuple[int, ...]
    counts: tuple[int, ...]
    per_value: tuple[int, ...]


def layout_of(metadata: ArrayMetadata) -> UnitLayout | None:
    """How an array is staged; None if it is not: only regular grids of numbers are."""
    dtype, shape = metadata.dtype, metadata.shape
    is_number = dtype.kind in "biufc" and dtype.isnative
    if not is_number or not shape or not all(shape):
        return None
    if not all(axis.even for axis in (*metadata.grid, *metadata.inner_grid)):
        return None
    value = tuple(axis.even for axis in metadata.grid)
    unit = _grown(tuple(axis.even for axis in metadata.inner_grid), value, dtype.itemsize)
    counts = tuple(-(-length // size) for length, size in zip(shape, unit, strict=True))
    is_small = math.prod(unit) * dtype.itemsize <= _MOST_UNIT_BYTES
    if not is_small or math.prod(counts) > _MOST_UNITS:
        return None
    per_value = tuple(whole // size for whole, size in zip(value, unit, strict=True))
    return UnitLayout(unit, _divided(unit, dtype.itemsize), counts, per_value)


def _grown(inner: tuple[int, ...], value: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The box of inner chunks that is a unit: as many as fit, from the last axis on.

    Examples
    --------
    >>> _grown((1, 64), (1000, 64), 4), _grown((8, 8), (8, 8), 1)
    ((1000, 64), (8, 8))
    """
    unit = list(inner)
    for axis in reversed(range(len(unit))):
        room = _UNIT_BYTES // (math.prod(unit) * itemsize)
        unit[axis] *= _divisor(value[axis] // inner[axis], max(1, room))
    return tuple(unit)


def _divided(unit: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The blocks of a unit: all axes but the last two are cut first, so that a row or a frame is
    read alone, and then the longer of these two, so that crops are.

    Examples
    --------
    >>> _divided((1, 3, 360, 640), 1), _divided((64, 3, 64, 64), 1), _divided((4, 7), 8)
    ((1, 1, 180, 160), (2, 3, 64, 64), (4, 7))
    """
    block = list(unit)
    for axis in range(len(block) - 2):
        rest = math.prod(block) * itemsize // block[axis]
        block[axis] = _divisor(block[axis], max(1, _BLOCK_BYTES // rest))
    while math.prod(block) * itemsize > _BLOCK_BYTES:
        # The last axis of two equal ones stays, because rows are contiguous.
        longest = max(range(len(block)), key=lambda axis: (block[axis], -axis))
        if block[longest] == 1:
            break
        block[longest] = _divisor(block[longest], block[longest] // 2)
    # Lengths without divisors would make blocks of single elements.
    is_tiny = math.prod(block) * itemsize < min(_LEAST_BLOCK_BYTES, math.prod(unit) * itemsize)
    return unit if is_tiny else tuple(block)


def _divisor(number: int, limit: int) -> int:
    """The largest divisor of a number that is not more than ``limit``."""
    best = 1
    for one in range(1, math.isqrt(number) + 1):
        if number % one == 0:
            best = max(best, max(d for d in (one, number // one, 1) if d <= limit))
    return best


def document_of(metadata: ArrayMetadata, layout: UnitLayout, codec: str) -> bytes:
    """The metadata document of the staged array; its index comes first in each value, so that what
    was staged of which generation can follow at the end.
    """
    codecs: list[Any] = [BytesCodec()]
    if codec == "lz4":
        shuffle = "shuffle" if metadata.dtype.itemsize > 1 else "noshuffle"
        typesize = metadata.dtype.itemsize
        codecs.append(BloscCodec(cname="lz4", clevel=1, shuffle=shuffle, typesize=typesize))
    serializer = ShardingCodec(
        chunk_shape=layout.block, codecs=(*codecs, Crc32cCodec()), index_location="start"
    )
    store = MemoryStore()
    create_array(
        store,
        shape=metadata.shape,
        dtype=metadata.dtype,
        chunks=layout.unit,
        filters=None,
        compressors=None,
        serializer=serializer,
        chunk_key_encoding={"name": "default", "separator": "."},
    )
    return bytes(store[ZARR_JSON])
