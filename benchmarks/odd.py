"""Arrays of odd sizes, drawn from a seed: a second one in every family of the table.

Nothing was tuned for them. Extents are odd, chunks divide nothing, elements have 3 and 10 bytes,
one array has one long axis and one has five axes. Each release draws its own: the seed follows from
the version, unless one is given, and is printed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.contenders import AnyArray
from benchmarks.data import Layout, Shape

_TINY_EXTENT, _TINY_CHUNK = 9, 4
"""The arrays that test the harness have these axes; pictures have to be larger."""


_SHORT = 8
"""Up to here an axis counts things, such as the colours of a picture."""


def seed_of(version: str) -> int:
    """The seed of a release."""
    return zlib.crc32(version.encode())


def is_odd(name: str) -> bool:
    """Whether the layout of this name is one of these."""
    return name in _FAMILIES


@lru_cache
def layout(name: str, seed: int) -> Layout:
    """The array of a family that this seed draws."""
    family = _FAMILIES[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    chunks = tuple(_odd(rng, extent) for extent in family.chunks)
    shape = tuple(
        _indivisible(rng, extent, chunk) for extent, chunk in zip(family.shape, chunks, strict=True)
    )
    tiny = tuple(min(_TINY_EXTENT * family.tiny, n) for n in shape)
    tiny_chunks = tuple(min(_TINY_CHUNK * family.tiny, n) for n in chunks)
    shards = None
    sizes: tuple[Shape, ...] = (tiny, tiny_chunks)
    if family.inner:
        shards = tuple(chunk * family.inner for chunk in chunks)
        sizes += (tuple(2 * n for n in tiny_chunks),)
    file = name.replace(" ", "-")
    return replace(family.like, name=file, shape=shape, chunks=chunks, shards=shards, tiny=sizes)


def _odd(rng: np.random.Generator, extent: int) -> int:
    """An odd number within a tenth of ``extent``; the length of a short axis stays."""
    if extent < _SHORT:
        return extent
    return int(rng.integers(int(0.9 * extent), int(1.1 * extent) + 1)) | 1


def _indivisible(rng: np.random.Generator, extent: int, chunk: int) -> int:
    """The same, and not a multiple of ``chunk``."""
    drawn = _odd(rng, extent)
    while drawn >= _SHORT and chunk > 1 and drawn % chunk == 0:
        drawn += 2
    return drawn


@dataclass(frozen=True)
class _Family:
    """About how large an array is.

    like : the data type, values and codec; the shape and chunks are drawn
    inner : how many chunks a shard has along each axis; 0 for no shards
    tiny : how many times as long the axes of its tiny array are
    """

    like: Layout
    shape: Shape
    chunks: Shape
    inner: int = 0
    tiny: int = 1


def _plain(
    dtype: str, compressor: tuple[str, int, int] | tuple[str, int] | None, values: Any
) -> Layout:
    return Layout("", dtype, (), (), (), compressor, values)


def _labels(length: int) -> Callable[[Shape], AnyArray]:
    """Byte strings of one length, a few thousand different ones."""

    def make(shape: Shape) -> AnyArray:
        rng = np.random.default_rng(9)
        letters = rng.integers(97, 123, (4096, length), np.uint8)
        return letters.view(f"S{length}")[rng.integers(4096, size=shape), 0]

    return make


_labels3, _labels10 = _labels(3), _labels(10)


def _walk(shape: Shape) -> AnyArray:
    """One long signal, int32: each sample is a step from the one before it."""
    return np.random.default_rng(10).integers(-9, 10, shape, np.int32).cumsum(dtype=np.int32)


def _whole(family: str, **changed: Any) -> Layout:
    """A layout of the table, whose values are drawn for another shape."""
    return replace(data.LAYOUTS[family], copies=(), **changed)


_FAMILIES: dict[str, _Family] = {
    "odd video": _Family(_whole("video-zstd"), (3, 3, 1080, 1920), (1, 3, 400, 400), tiny=20),
    "odd planes": _Family(_whole("planes"), (1000, 1000, 50), (1200, 1200, 1)),
    "odd tiles": _Family(_whole("tiles"), (3000, 4000), (64, 64)),
    "odd shards": _Family(_whole("shards"), (4000, 5000), (48, 64), 24),
    "odd volume": _Family(_whole("volume"), (300, 350, 400), (32, 32, 32), 3),
    "odd datetimes": _Family(_whole("datetimes"), (4_000_000,), (700_000,)),
    "odd records": _Family(_whole("records"), (2_000_000,), (300_000,)),
    "odd big-endian": _Family(_whole("big-endian"), (1500, 3000), (250, 900)),
    "odd 3 bytes": _Family(_plain("S3", ("lz4", 5, 1), _labels3), (9_000_000,), (800_000,)),
    "odd 10 bytes": _Family(_plain("S10", ("zstd", 3, 1), _labels10), (2000, 1500), (170, 400)),
    "odd long axis": _Family(_plain("i4", ("lz4", 5, 1), _walk), (20_000_000,), (100_000,)),
    "odd five axes": _Family(
        _plain("f4", ("zstd", 3, 1), data.field), (7, 5, 30, 120, 130), (2, 3, 8, 50, 60)
    ),
}

NAMES = tuple(_FAMILIES)
