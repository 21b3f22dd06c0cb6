"""Files of pictures whose bytes are chunks: JPEG, PNG and WebP that decode to the pixels of Pillow.

Only the header of a file is read. A file that Pillow decodes in another way than the codec of
imagecodecs is not one of them: palettes, transparent colors, animations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix._engine import heads_of
from zarrix.convert._source import Encoded, OpenFile, Part

__all__ = ["PictureHeader", "as_chunks", "picture_header", "picture_headers"]

# Most headers are in the first bytes; EXIF and previews may come before.
_FIRST, _MOST = 4096, 1 << 20
# Files whose first bytes are in memory at once.
_AT_ONCE = 2048
_CHANNELS_OF_PNG = {0: (), 2: (3,), 4: (2,), 6: (4,)}
_UINT8, _UINT16 = np.dtype("u1"), np.dtype("<u2")


class PictureHeader(NamedTuple):
    """What the header of a picture says.

    Attributes
    ----------
    codec : str
        The codec that decodes the file.
    shape : tuple of int
    dtype : dtype
    """

    codec: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def picture_header(path: str | os.PathLike[str]) -> PictureHeader | None:
    """The header of a file that can be a chunk; None for others, which Pillow opens."""
    with open(path, "rb", buffering=0) as file:
        data = file.read(_FIRST)
        reader = _READERS.get(data[:2])
        found = None if reader is None else reader(data)
        if reader is not None and found is None and len(data) == _FIRST:
            found = reader(data + file.read(_MOST))
    # The codec leaves out axes of length 1, by which a row of pixels would be another picture.
    return found[0] if found is not None and min(found[0].shape[:2]) > 1 else None


def picture_headers(paths: Sequence[str]) -> list[PictureHeader | None]:
    """The header of each of many files, whose first bytes are read on all threads."""
    headers: list[PictureHeader | None] = []
    # Files of one program begin with the same bytes, up to which a header was understood.
    last: tuple[PictureHeader | None, bytes] = None, b""
    while len(headers) < len(paths):
        header, known = last
        some = paths[len(headers) : len(headers) + (_AT_ONCE if headers else 1)]
        for path, data in zip(some, heads_of(some, _FIRST, known), strict=True):
            if data is None:
                headers.append(header)
                continue
            reader = _READERS.get(data[:2])
            found = None if reader is None else reader(data)
            if found is not None and min(found[0].shape[:2]) > 1:
                last = found[0], data[: found[1]]
                headers.append(found[0])
            else:
                # What is asked for may lie behind the first bytes.
                headers.append(None if reader is None else picture_header(path))
    return headers


_Read = tuple[PictureHeader, int]
"""A header, and the number of bytes that say it."""


def _jpeg(data: bytes) -> _Read | None:
    at = 2
    while at + 10 <= len(data) and data[at] == 0xFF:
        kind, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= kind <= 0xC2:
            height, width = (int.from_bytes(data[at + n : at + n + 2], "big") for n in (5, 7))
            channels = {1: (), 3: (3,)}.get(data[at + 9])
            if channels is None or data[at + 4] != 8 or not height or not width:
                return None
            return PictureHeader("imagecodecs_jpeg", (height, width, *channels), _UINT8), at + 10
        if kind in (0xDA, 0xFF) or (0xC3 <= kind <= 0xCF and kind not in (0xC4, 0xCC)):
            return None
        at += 2 + length
    return None


def _png(data: bytes) -> _Read | None:
    width, height = (int.from_bytes(data[n : n + 4], "big") for n in (16, 20))
    at, names = 8, []
    while at + 8 <= len(data):
        names.append(data[at + 4 : at + 8])
        if names[-1] == b"IDAT":
            break
        at += 12 + int.from_bytes(data[at : at + 4], "big")
    if len(data) < 33 or names[0] != b"IHDR" or names[-1] != b"IDAT":
        return None
    depth, color = data[24], data[25]
    if color not in _CHANNELS_OF_PNG or depth not in ((8, 16) if color == 0 else (8,)):
        return None
    if not {b"tRNS", b"acTL"}.isdisjoint(names):
        return None
    dtype = _UINT16 if depth == 16 else _UINT8
    shape = (height, width, *_CHANNELS_OF_PNG[color])
    return PictureHeader("imagecodecs_png", shape, dtype), at + 8


def _webp(data: bytes) -> _Read | None:
    if data[8:12] != b"WEBP" or len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        channels = 4 if bits >> 28 & 1 else 3
        shape = ((bits >> 14 & 0x3FFF) + 1, (bits & 0x3FFF) + 1, channels)
    elif kind == b"VP8 ":
        width, height = (int.from_bytes(data[n : n + 2], "little") & 0x3FFF for n in (26, 28))
        shape = (height, width, 3)
    else:
        return None
    return PictureHeader("imagecodecs_webp", shape, _UINT8), 30


_READERS: dict[bytes, Callable[[bytes], _Read | None]] = {
    b"\xff\xd8": _jpeg,
    b"\x89P": _png,
    b"RI": _webp,
}


def as_chunks(files: Sequence[str], header: PictureHeader, *, stacked: bool) -> Encoded:
    """The files as chunks, byte for byte."""
    outer = (1,) if stacked else ()
    rest = (0,) * len(header.shape)

    def find(coords: tuple[int, ...]) -> Part | None:
        with open(files[coords[0] if stacked else 0], "rb") as opened:
            value = opened.read()
        return Part(coords, 0, len(value), value)

    def listed() -> Iterator[Part]:
        for number in range(len(files)):
            part = find((number, *rest) if stacked else rest)
            if part is not None:
                yield part

    file = OpenFile(files[0])
    file.close()
    config: dict[str, Any] = {"id": header.codec}
    if header.codec == "imagecodecs_webp" and header.shape[2] == 4:
        # Without it, imagecodecs leaves out alpha that is opaque everywhere.
        config["hasalpha"] = True
    every = [((n, *rest) if stacked else rest, path) for n, path in enumerate(files)]
    return Encoded((*outer, *header.shape), None, config, file, listed, find, every)
