"""Layouts by purpose: what ``preset=`` of an import means where nothing else is asked."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from zarrix._metadata.guess import chunks_of_bytes, guess_shards
from zarrix._runtime.sizes import is_size, parse_size
from zarrix.convert._source import SourceArray

__all__ = ["PRESETS", "Preset", "layout"]

Preset = Literal["measure", "training", "archive", "cloud"]
PRESETS: tuple[str, ...] = get_args(Preset)

# Axes of so few elements beside those of a picture are colours or components.
_FEW = 4
_SIDE = 512
_MANY_CHUNKS = 20_000
_INNER = 512 * 2**10
_SHARDS = {"training": 64 * 2**20, "archive": 256 * 2**20, "cloud": 64 * 2**20}


def layout(
    preset: str, source_array: SourceArray, chunks: Any
) -> tuple[Any, tuple[int, ...] | None]:
    """Chunks, and shards or None; ``chunks`` are those of an import without a preset.

    training: one picture with all colours, in tiles of at most 512 x 512; shards of 64 MiB if there
    are more than 20,000 chunks. cloud: chunks of 512 KiB in shards of 64 MiB. archive: shards of
    256 MiB.
    """
    shape = source_array.shape
    if preset == "measure" or not shape or 0 in shape:
        return chunks, None
    if preset == "cloud":
        chunks = chunks_of_bytes(shape, source_array.itemsize, _INNER)
    elif isinstance(chunks, str):
        target = parse_size(chunks, "chunks") if is_size(chunks) else _INNER
        chunks = chunks_of_bytes(shape, source_array.itemsize, target)
    if preset == "training" and len(shape) > 2:
        chunks = _frames(shape)
    count = math.prod(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    if count == 1 or (preset == "training" and count <= _MANY_CHUNKS):
        return chunks, None
    shards = guess_shards(shape, chunks, source_array.itemsize, _SHARDS[preset])
    return chunks, None if shards == tuple(chunks) else shards


def _frames(shape: tuple[int, ...]) -> tuple[int, ...]:
    last = len(shape) - 2 if shape[-1] <= _FEW else len(shape) - 1
    return tuple(
        min(n, _SIDE) if axis in (last - 1, last) else n if axis and n <= _FEW else 1
        for axis, n in enumerate(shape)
    )
