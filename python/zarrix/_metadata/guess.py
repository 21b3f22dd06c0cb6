"""Shapes of chunks and shards if the user names none, or a size in bytes.

The guessed chunk shapes are exactly those of zarr 2.18, because stored data and printed listings
depend on them.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["chunks_of_bytes", "guess_chunks", "guess_shards"]

_CHUNK_BASE_BYTES = 256 * 1024
_CHUNK_LEAST_BYTES = 128 * 1024
_CHUNK_MOST_BYTES = 64 * 1024 * 1024


def guess_chunks(shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """The chunk shape that zarr 2.18 guesses.

    Axes are halved in turn, beginning with the first, until a chunk is close to a target size. The
    target grows slowly with the array: 256 KiB for 1 MiB, doubled for each factor of ten, within
    128 KiB and 64 MiB.

    Parameters
    ----------
    shape : tuple of int
    typesize : int
        Bytes of one element.

    Returns
    -------
    tuple of int
        As many as ``shape`` has, each at least 1.

    Raises
    ------
    TypeError, ValueError
        ``shape`` or ``typesize`` does not hold numbers.

    Examples
    --------
    >>> from zarrix.util import guess_chunks
    >>> guess_chunks((1000, 1000, 100), 8)
    (125, 125, 13)
    """
    lengths = np.maximum(np.array(shape, dtype="f8"), 1)
    # NumPy's float arithmetic is used on purpose, because the result can depend on its rounding.
    array_bytes = np.prod(lengths) * typesize
    target = _CHUNK_BASE_BYTES * 2 ** np.log10(array_bytes / 2**20)
    target = min(max(target, _CHUNK_LEAST_BYTES), _CHUNK_MOST_BYTES)
    axis = 0
    while True:
        elements = np.prod(lengths)
        chunk_bytes = elements * typesize
        near = chunk_bytes < target or abs(chunk_bytes - target) / target < 0.5
        if (near and chunk_bytes < _CHUNK_MOST_BYTES) or elements == 1:
            return tuple(int(length) for length in lengths)
        lengths[axis] = np.ceil(lengths[axis] / 2)
        axis = (axis + 1) % len(shape)


def chunks_of_bytes(
    shape: tuple[int, ...], typesize: int, target: int, divide: bool = False
) -> tuple[int, ...]:
    """Chunks of at most ``target`` bytes, near a cube: the longest axis is halved until they fit.

    With ``divide``, every length divides that of ``shape``, as inner chunks must divide a shard.

    Parameters
    ----------
    shape : tuple of int
    typesize : int
        Bytes of one element.
    target : int
        Bytes of a chunk, at most.
    divide : bool
        Have every length divide that of ``shape``, as inner chunks must divide a shard.

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError
        ``shape``, ``typesize`` or ``target`` does not hold numbers.

    Examples
    --------
    >>> from zarrix.util import chunks_of_bytes
    >>> chunks_of_bytes((1000, 1000, 100), 8, 2**20)
    (32, 63, 50)
    >>> chunks_of_bytes((1000, 1000), 1, 10**5, divide=True)
    (250, 250)
    """
    lengths = [max(length, 1) for length in shape]
    parts = [1] * len(lengths)
    whole = list(lengths)
    while math.prod(lengths) * typesize > target and max(lengths) > 1:
        axis = max(range(len(lengths)), key=lengths.__getitem__)
        parts[axis] *= 2
        if divide:
            lengths[axis] = next(
                n for n in range(lengths[axis] // 2, 0, -1) if whole[axis] % n == 0
            )
        else:
            lengths[axis] = -(-whole[axis] // parts[axis])
    return tuple(lengths)


def guess_shards(
    shape: tuple[int, ...], chunks: tuple[int, ...], typesize: int, target: int | None = None
) -> tuple[int, ...]:
    """Shards of whole chunks, of at most ``target`` bytes before compression (64 MiB).

    A shard grows along the axis with the most chunks left, so that it has the proportions of the
    array.

    Parameters
    ----------
    shape, chunks : tuple of int
    typesize : int
        Bytes of one element.
    target : int, optional
        Bytes of a shard before compression, at most; 64 MiB when omitted.

    Returns
    -------
    tuple of int
        Each a multiple of the length of a chunk.

    Raises
    ------
    ValueError
        ``shape`` and ``chunks`` have different lengths.

    Examples
    --------
    >>> from zarrix.util import guess_shards
    >>> guess_shards((4000, 4000), (100, 100), 4, 2**20)
    (400, 400)
    """
    limit = target or _CHUNK_MOST_BYTES
    most = [-(-max(size, 1) // chunk) for size, chunk in zip(shape, chunks, strict=True)]
    counts = [1] * len(chunks)
    while True:
        room = [axis for axis in range(len(counts)) if counts[axis] < most[axis]]
        if not room:
            break
        axis = max(room, key=lambda i: most[i] / counts[i])
        grown = min(2 * counts[axis], most[axis])
        if math.prod(chunks) * typesize * math.prod(counts) // counts[axis] * grown > limit:
            break
        counts[axis] = grown
    return tuple(count * chunk for count, chunk in zip(counts, chunks, strict=True))
