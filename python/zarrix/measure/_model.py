"""What a read costs in a layout, by arithmetic: requests, bytes and decoding.

The constants are those of one core of a laptop of 2024 and a local disk in the page cache. They
rank layouts; trials say what is true here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from zarrix._runtime.cached_property import cached_property
from zarrix.measure._access import Access

__all__ = ["Layout", "Use", "as_read", "candidates", "cost"]

_LEAST_CHUNK, _MOST_CHUNK = 16 * 2**10, 32 * 2**20
_MOST_CANDIDATES = 60
# Bytes a second that one thread decodes.
_SPEED = 1.2e9
_PLACES = {
    # Seconds of a request, bytes a second, requests in flight.
    "local": (25e-6, 3e9, 1.0),
    "remote": (30e-3, 100e6, 16.0),
}
_READ = 8e-6
# Bytes a second of copies out of decoded chunks, and seconds for each row.
_COPY, _ROW = 4e9, 15e-9
# From so many bytes on, all threads decode one chunk.
_DIVIDED = 2**20


@dataclass(frozen=True)
class Layout:
    """Chunks, and shards of them, if any."""

    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Use:
    """An array, and how it is read.

    Attributes
    ----------
    shape : sequence of int
    itemsize : int
    accesses : sequence of Access
    place : {'local', 'remote'}
        Where it is read from.
    threads : int
    """

    shape: Sequence[int]
    itemsize: int
    accesses: Sequence[Access]
    place: str = "local"
    threads: int = 2

    @cached_property
    def least_bytes(self) -> int:
        """The fewest bytes of a chunk; a small array has one chunk."""
        return min(_LEAST_CHUNK, math.prod(self.shape) * self.itemsize)


def cost(layout: Layout, use: Use, *, ratio: float = 2.0) -> float:
    """Expected seconds of an access, weighted."""
    latency, bandwidth, in_flight = _PLACES[use.place]
    nbytes = math.prod(layout.chunks) * use.itemsize
    total = weight = 0.0
    for one in use.accesses:
        chunks = 1.0
        for k, c, n in zip(one.extent, layout.chunks, use.shape, strict=True):
            k = min(k, n)
            # A box at a random place along an axis begins in a random place of a chunk.
            chunks *= min(math.ceil(n / c), (k - 1) / c + 1) if k < n else math.ceil(n / c)
        chunks *= one.count
        decoded = chunks * nbytes
        in_place = _in_place(one.extent, layout.chunks, use.shape)
        moved = 0.0 if in_place else _copied(one, layout, use.itemsize)
        workers = min(use.threads, max(1.0, chunks))
        # The engine divides the blocks of few large chunks among its threads.
        decoders = use.threads if decoded >= _DIVIDED else workers
        seconds = (
            _READ
            + chunks * latency / min(in_flight * workers, max(1.0, chunks))
            + decoded / ratio / bandwidth
            + (decoded / _SPEED + moved) / decoders
        )
        total += seconds * one.weight
        weight += one.weight
    return total / weight


def _in_place(extent: Sequence[int], chunks: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether chunks are decoded into the result: each is complete, and one piece of it."""
    divided = False
    for k, c, n in reversed([*zip(extent, chunks, shape, strict=True)]):
        if c > 1 and (k < n or divided):
            return False
        divided = divided or c < n
    return True


def _copied(access: Access, layout: Layout, itemsize: int) -> float:
    """Seconds to copy what a read uses out of decoded chunks, row by row."""
    elements, run = math.prod(access.extent) * access.count, 1
    for k, c in reversed([*zip(access.extent, layout.chunks, strict=True)]):
        run *= min(k, c)
        if k != c:
            break
    return elements * itemsize / _COPY + elements / run * _ROW


def as_read(use: Use) -> list[Layout]:
    """The layouts whose chunks are what one access reads."""
    found = [
        Layout(tuple(max(1, min(k, n)) for k, n in zip(one.extent, use.shape, strict=True)))
        for one in use.accesses
    ]
    return [one for one in found if _has_usual_size(one.chunks, use)]


def _has_usual_size(chunks: Sequence[int], use: Use) -> bool:
    return use.least_bytes <= math.prod(chunks) * use.itemsize <= _MOST_CHUNK


def candidates(use: Use) -> list[Layout]:
    """Layouts worth a look, the best by the model first, at most 60."""
    shape = use.shape
    if not shape or 0 in shape:
        return [Layout(tuple(max(1, n) for n in shape))]
    options = [_sides(axis, use) for axis in range(len(shape))]
    found = [
        Layout(chunks) for chunks in itertools.product(*options) if _has_usual_size(chunks, use)
    ]
    if not found:
        found = [Layout(tuple(sides[0] for sides in options))]
    found.sort(key=lambda one: (round(cost(one, use) * 1e7), -math.prod(one.chunks), one.chunks))
    return found[:_MOST_CANDIDATES]


def _sides(axis: int, use: Use) -> list[int]:
    """Lengths of chunks along an axis: few, because all combinations are looked at."""
    n = use.shape[axis]
    # Multiples of what is read, which come first, and steps of four up to the length.
    first = {1, n}
    for one in use.accesses:
        k = min(one.extent[axis], n)
        first |= {max(1, k // 4), max(1, k // 2), k, min(n, 2 * k), min(n, 4 * k)}
    steps = {-(-n // 4**j) for j in range(1, 40) if n > 4**j}
    sides = sorted(first | steps)
    while len(sides) > (40, 24, 14, 9, 6)[min(len(use.shape), 5) - 1]:
        inner = [side for side in sides[1:-1] if side not in first] or sides[1:-1]
        sides.remove(inner[len(inner) // 2])
    return sides
