"""Which chunks of an array are stored, and in how many bytes: asked key by key, without a listing.

Maps of chunks (`Array.chunk_map`) and the viewer show it. A listing would ask for all chunks, and
these ask for those of a plane.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._array.handle import ArrayHandle
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._selection.basic import parse_basic
from zarrix._stores.keys import key_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrix._display.chunk_map import ChunkMap

__all__ = [
    "MOST_LOCAL",
    "MOST_REMOTE",
    "box_of",
    "chunk_key",
    "inner_sizes",
    "map_of",
    "stored_sizes",
]

MOST_REMOTE = 4096
"""Values of a remote store that one call asks for, by a request each."""

MOST_LOCAL = 2**17
"""Values of any other store that one call asks for."""

_MISSING = -1
# Requests to a remote store in flight.
_AT_ONCE = 32
# Offset and length of an inner chunk that is missing.
_NONE = np.uint64(2**64 - 1)
_CHECKSUM_BYTES = 4


def chunk_key(metadata: ArrayMetadata, coords: Sequence[int]) -> str:
    """The key of a chunk (or shard), below the path of the array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> metadata = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), dtype="u1").metadata
    >>> chunk_key(metadata, (1, 0))
    'c/1/0'
    """
    name, separator = metadata.key_encoding
    separator = separator or metadata.dimension_separator
    numbers = [str(number) for number in coords]
    parts = ["c", *numbers] if name == "default" else numbers or ["0"]
    return f"{separator.join(parts)}{metadata.key_suffix}"


def box_of(grid: Sequence[AxisGrid], axes: Sequence[Any]) -> list[tuple[int, int]]:
    """The chunks along each axis that a selection touches: the first, and one after the last.

    Parameters
    ----------
    grid : sequence of AxisGrid
    axes : sequence of int or (start, step, count)
    """
    found = []
    for axis, selected in zip(grid, axes, strict=True):
        start, step, count = (selected, 1, 1) if isinstance(selected, int) else selected
        if not count:
            found.append((0, 0))
            continue
        ends = sorted((start, start + step * (count - 1)))
        found.append((axis.find(ends[0]).chunk, axis.find(ends[1]).chunk + 1))
    return found


def map_of(array: ArrayHandle, selection: Any) -> ChunkMap:
    """`Array.chunk_map`."""
    # Import time: few programs ask for it.
    from zarrix._display.chunk_map import ChunkMap

    metadata = array._current().metadata
    axes, _, _ = parse_basic(selection, metadata.shape)
    box = box_of(metadata.grid, axes)
    count = math.prod(end - begin for begin, end in box)
    most = MOST_REMOTE if array.chunk_store.is_remote else MOST_LOCAL
    if count > most:
        raise ValueError(f"the selection touches {count:,} values; a map is of at most {most:,}")
    # An axis of which one chunk is selected by an integer is not drawn.
    kept = [k for k, axis in enumerate(axes) if not isinstance(axis, int)]
    sizes = stored_sizes(array, box).reshape([box[k][1] - box[k][0] for k in kept])
    noun = "chunk" if metadata.shard_codec is None else "shard"
    return ChunkMap(sizes, [box[k] for k in kept], noun)


def stored_sizes(array: ArrayHandle, box: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """The lengths of the stored values in a box of chunk (or shard) coordinates; -1 if missing.

    Parameters
    ----------
    array : Array
    box : sequence of (int, int)
        The first chunk along each axis, and one after the last.
    """
    metadata, store = array._snapshot.metadata, array.chunk_store
    ask = store._engine.size
    shape = tuple(end - begin for begin, end in box)
    coords = itertools.product(*(range(begin, end) for begin, end in box))
    keys = (store.engine_path(key_of(array.path, chunk_key(metadata, one))) for one in coords)
    found = np.empty(math.prod(shape), np.int64)
    if store.is_remote:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            sizes = pool.map(ask, keys)
            found[:] = [_MISSING if size is None else size for size in sizes]
    else:
        for at, key in enumerate(keys):
            size = ask(key)
            found[at] = _MISSING if size is None else size
    return found.reshape(shape)


def inner_sizes(array: ArrayHandle, coords: Sequence[int]) -> npt.NDArray[np.int64] | None:
    """The lengths of the inner chunks of a shard; -1 if missing.

    None if the shard is missing, or if its index is encoded otherwise than as numbers with or
    without a CRC-32C.
    """
    metadata = array._snapshot.metadata
    shard: Any = metadata.shard_codec
    names = [codec["name"] for codec in shard["index_codecs"]]
    if names not in (["bytes"], ["bytes", "crc32c"]):
        return None
    endian = (shard["index_codecs"][0].get("configuration") or {}).get("endian", "little")
    shape = tuple(
        -(-outer // inner)
        for outer, inner in zip(metadata.chunk_shape, shard["chunk_shape"], strict=True)
    )
    length = math.prod(shape) * 16 + (_CHECKSUM_BYTES if len(names) == 2 else 0)
    store = array.chunk_store
    key = store.engine_path(key_of(array.path, chunk_key(metadata, coords)))
    if shard.get("index_location", "end") == "end":
        index = store._engine.get_last(key, length)
    else:
        index = store._engine.get_slice(key, 0, length)
    if index is None or len(index) != length:
        return None
    order = "<u8" if endian == "little" else ">u8"
    pairs = np.frombuffer(index, order, math.prod(shape) * 2).reshape(-1, 2)
    missing = (pairs == _NONE).all(axis=1)
    return np.where(missing, _MISSING, pairs[:, 1].astype(np.int64)).reshape(shape)
