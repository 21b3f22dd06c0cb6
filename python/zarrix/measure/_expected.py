"""How many bytes an array would take in a layout: some whole chunks of it are encoded."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.create_array import create_array

__all__ = ["Expected", "Encoding", "expected_bytes"]

# Chunks that are encoded: at least and, if there is time, at most; and at least of large ones.
_LEAST, _MOST, _LEAST_LARGE = 24, 48, 4
# What is read of one layout, if its chunks are large.
_MOST_BYTES = 64 * 2**20
# Offset and length of an inner chunk in the index of a shard, and the checksum of an index.
_ENTRY, _CHECKSUM = 16, 4
# Standard errors of an interval that holds in 19 of 20 cases.
_SURE = 1.96


class Expected(NamedTuple):
    """What an array takes in a layout.

    Attributes
    ----------
    nbytes : int
        Stored bytes of all chunks.
    error : float
        The part of them by which they may be wrong, in 19 of 20 cases; 0 if all were encoded.
    files : int
        Stored values: chunks that are not empty, or shards.
    """

    nbytes: int
    error: float
    files: int


class Encoding(NamedTuple):
    """A layout and a codec that chunks are encoded in.

    Attributes
    ----------
    chunks : tuple of int
    shards : tuple of int or None
    options : dict
        The codec, as `create_array` takes it.
    prepared : callable, optional
        What is done with values before they are encoded.
    """

    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    options: dict[str, Any]
    prepared: Any = None


def expected_bytes(node: Any, encoding: Encoding, seed: int, seconds: float) -> Expected:
    """The bytes that an array would take in a layout, from some of its chunks."""
    chunks = tuple(max(1, min(c, n)) for c, n in zip(encoding.chunks, node.shape, strict=True))
    grid = tuple(-(-n // c) for n, c in zip(node.shape, chunks, strict=True))
    count = math.prod(grid)
    if not count:
        return Expected(0, 0.0, 0)
    sizes = _encoded(node, encoding, chunks, _drawn(count, seed), seconds, grid)
    mean = float(np.mean(sizes))
    left = 1 - len(sizes) / count
    spread = float(np.std(sizes, ddof=1)) if len(sizes) > 1 else mean
    error = _SURE * spread * math.sqrt(left / len(sizes)) / mean if mean and left else 0.0
    # Chunks of the fill value alone are not stored.
    total, files = count * mean, round(count * np.count_nonzero(sizes) / len(sizes))
    if encoding.shards is not None:
        # Shards of which each chunk is empty are not stored; how many is not known.
        files = math.prod(-(-n // s) for n, s in zip(node.shape, encoding.shards, strict=True))
        inner = math.prod(-(-s // c) for s, c in zip(encoding.shards, chunks, strict=True))
        total += files * (inner * _ENTRY + _CHECKSUM)
    return Expected(round(total), error, files)


def _drawn(count: int, seed: int) -> list[int]:
    """Some of so many chunks: all if they are few, else one from each part of the array."""
    if count <= _MOST:
        return list(range(count))
    rng = np.random.default_rng(seed)
    edges = np.linspace(0, count, _MOST + 1).astype(np.int64)
    found = [int(rng.integers(low, high)) for low, high in pairwise(edges)]
    return [found[at] for at in rng.permutation(_MOST)]


def _encoded(
    node: Any,
    encoding: Encoding,
    chunks: tuple[int, ...],
    drawn: Sequence[int],
    seconds: float,
    grid: tuple[int, ...],
) -> list[int]:
    begun, sizes, nbytes = time.perf_counter(), [], 0
    store: dict[str, Any] = {}
    made = create_array(
        store, shape=chunks, dtype=node.dtype, chunks=chunks, fill_value=node.fill_value,
        zarr_format=2 if node.metadata.zarr_format == 2 else None,
        config={"write_empty_chunks": False},
        **encoding.options,
    )  # fmt: skip
    documents = set(store)
    for flat in drawn:
        at = np.unravel_index(flat, grid)
        box = tuple(slice(int(a) * c, min(int(a) * c + c, n))
                    for a, c, n in zip(at, chunks, node.shape, strict=True))  # fmt: skip
        values = np.asarray(node[box])
        if encoding.prepared is not None:
            values = encoding.prepared(values)
        for key in set(store) - documents:
            del store[key]
        made[tuple(slice(0, n) for n in values.shape)] = values
        sizes.append(sum(len(store[key]) for key in set(store) - documents))
        nbytes += math.prod(chunks) * max(1, node.dtype.itemsize)
        is_late = time.perf_counter() - begun > seconds and len(sizes) >= _LEAST
        if is_late or (nbytes > _MOST_BYTES and len(sizes) >= _LEAST_LARGE):
            break
    return sizes
