"""The streams of a Blosc 1 frame: what is decompressed by itself, and what is unshuffled then."""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["Frame", "Stream", "streams_of"]

_HEADER = struct.Struct("<BBBBiii")
_MAX_SPLITS, _MIN_STREAM = 16, 128
_BYTE_SHUFFLE, _STORED, _BIT_SHUFFLE, _RESERVED, _NO_SPLIT = 1, 2, 4, 8, 16
# By the format in the header; the others have no decoder on a device.
_CODECS = {1: "lz4", 3: "zlib", 4: "zstd"}


class Stream(NamedTuple):
    """Where encoded bytes are in a frame, and where decoded ones are in the chunk."""

    codec: str
    source: int
    source_bytes: int
    destination: int
    destination_bytes: int


class Frame(NamedTuple):
    """The streams of a frame; its blocks are unshuffled by themselves, each of ``block_bytes``."""

    streams: list[Stream]
    shuffle: str
    itemsize: int
    block_bytes: int


def streams_of(frame: bytes, size: int) -> Frame | None:
    """The streams of a frame that decodes to ``size`` bytes.

    None if it cannot be divided so: it has another compressor or version, or contradicts itself;
    who decodes the whole frame says why.
    """
    if len(frame) < 16:
        return None
    version, _, flags, itemsize, decoded, block, encoded = _HEADER.unpack_from(frame)
    is_known = version == 2 and not flags & _RESERVED and itemsize > 0
    if not is_known or decoded != size or not 0 < block <= max(size, 1) or encoded > len(frame):
        return None
    if flags & _BYTE_SHUFFLE and itemsize > 1:
        shuffle = "byte"
    else:
        shuffle = "bit" if flags & _BIT_SHUFFLE else "none"
    if flags & _STORED:
        if encoded != size + 16:
            return None
        # Stored frames are not shuffled.
        return Frame([Stream("none", 16, size, 0, size)], "none", itemsize, block)
    codec = _CODECS.get(flags >> 5)
    if codec is None:
        return None
    streams: list[Stream] = []
    for number in range(-(-size // block)):
        begin = number * block
        length = min(block, size - begin)
        is_split = not flags & _NO_SPLIT and length == block and itemsize <= _MAX_SPLITS
        parts = itemsize if is_split and block // itemsize >= _MIN_STREAM else 1
        if 16 + 4 * (number + 1) > encoded or length % parts:
            return None
        (at,) = struct.unpack_from("<i", frame, 16 + 4 * number)
        for part in range(parts):
            if not 16 <= at <= encoded - 4:
                return None
            (count,) = struct.unpack_from("<i", frame, at)
            room = length // parts
            at += 4
            if not 0 < count <= min(room, encoded - at):
                return None
            # A stream that would not be shorter is stored.
            name = "none" if count == room else codec
            streams.append(Stream(name, at, count, begin + part * room, room))
            at += count
    return Frame(streams, shuffle, itemsize, block)
