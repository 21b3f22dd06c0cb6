"""The pages of a TIFF series: segments (tiles or strips) that are chunks, or are decoded here."""

from __future__ import annotations

import base64
import contextlib
import itertools
import math
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._source import Encoded, OpenFile, Part, Region

__all__ = ["Pages", "native_reader"]

_CODECS = {1: None, 8: {"id": "zlib", "level": 6}, 32946: {"id": "zlib", "level": 6},
           50000: {"id": "zstd", "level": 3}}  # fmt: skip
_JPEG = 7
# By photometric interpretation and samples: the color spaces of the tiles and of the pixels.
_JPEG_SPACES: dict[tuple[int, int], dict[str, str]] = {
    (1, 1): {},
    (2, 3): {"colorspace_jpeg": "RGB", "colorspace_data": "RGB"},
    (6, 3): {"colorspace_jpeg": "YCBCR", "colorspace_data": "RGB"},
}
# No program writes segments of so many bytes; a header that claims them is damaged.
_MOST_SEGMENT = 2**31
# What tifffile decodes at once to compare with: in memory, and in a temporary file.
_IN_MEMORY, _IN_FILE = 2**26, 2**32


def native_reader(series: Any, read: Any) -> Any:
    """Reads regions by tifffile alone: of the whole series if it is small, else of a page.

    ``read`` takes the place of pages that are too large for a temporary file.
    """
    shape = tuple(int(n) for n in series.shape)
    page = tuple(int(n) for n in series.keyframe.shape)
    outer = shape[: len(shape) - len(page)] if shape[len(shape) - len(page) :] == page else None
    itemsize = np.dtype(series.dtype).itemsize
    cached: dict[Any, Any] = {}

    def of_page(index: int) -> Any:
        if index not in cached:
            cached.clear()
            nbytes = math.prod(page) * itemsize
            with contextlib.ExitStack() as stack:
                out = (
                    None if nbytes <= _IN_MEMORY else stack.enter_context(tempfile.TemporaryFile())
                )
                cached[index] = series.pages[index].asarray(out=out).reshape(page)
        return cached[index]

    def native(region: Region) -> Any:
        if math.prod(shape) * itemsize <= _IN_MEMORY:
            if not cached:
                cached[0] = np.asarray(series.asarray()).reshape(shape)
            return cached[0][region]
        if outer is None or math.prod(page) * itemsize > _IN_FILE or series.dataoffset is not None:
            return read(region)
        out = np.empty([one.stop - one.start for one in region], series.dtype)
        for at in itertools.product(*(range(one.start, one.stop) for one in region[: len(outer)])):
            here = tuple(i - one.start for i, one in zip(at, region[: len(outer)], strict=True))
            out[here] = of_page(_flat(at, outer))[region[len(outer) :]]
        return out

    return native


class Pages:
    """The pages of a series, which are decoded by segments: tiles or strips."""

    def __init__(
        self, series: Any, file: OpenFile, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._series, self._file, self._shape, self._dtype = series, file, shape, dtype
        self._key = key = series.keyframe
        self._turn = threading.Lock()
        page = tuple(int(n) for n in key.shape)
        self._count = math.prod(page)
        self._page = page
        # The axes of the series before those of a page.
        self._outer = (
            shape[: len(shape) - len(page)] if shape[len(shape) - len(page) :] == page else None
        )
        separate = int(key.planarconfig) == 2
        height = int(key.tilelength if key.is_tiled else key.rowsperstrip)
        width = int(key.tilewidth if key.is_tiled else key.imagewidth)
        samples = () if len(page) == 2 else (page[-1],) if not separate else ()
        tile = (min(height, int(key.imagelength)) if not key.is_tiled else height, width, *samples)
        if separate and len(page) == 3:
            tile = (1, height, width)
        self._tile = tile if len(tile) == len(page) else page
        self._segments = math.prod(-(-n // c) for n, c in zip(page, self._tile, strict=True))
        self.fill_value = _fill_of(key, dtype)
        if math.prod(self._tile) * dtype.itemsize > _MOST_SEGMENT:
            raise ConversionError(
                f"{file.path} is damaged: its tiles or strips of {self._tile} would have more than "
                f"{_MOST_SEGMENT:,} bytes"
            )
        self._check(key)
        self.chunks = None
        if self._outer is not None:
            self.chunks = (*(1,) * len(self._outer), *self._tile)

    @property
    def tiles_are_chunks(self) -> bool:
        """Whether the bytes of a tile are those of a chunk."""
        key = self._key
        whole = key.is_tiled or self._page[0] % self._tile[0] == 0
        plain = (
            int(key.compression) in _CODECS
            and int(key.predictor) == 1
            and int(key.fillorder) == 1
            and int(key.imagedepth) == 1
            and int(key.planarconfig) == 1
            and key.bitspersample == self._dtype.itemsize * 8
            and key.jpegtables is None
        )
        fits = key.is_tiled is False or len(self._page) in (2, 3)
        return bool(plain and whole and fits and self._outer is not None and self.chunks)

    @property
    def picture(self) -> dict[str, Any] | None:
        """The codec of tiles that are JPEG pictures of chunks; None if they are not."""
        key = self._key
        whole = key.is_tiled or self._page[0] % self._tile[0] == 0
        space = _JPEG_SPACES.get((int(key.photometric), int(key.samplesperpixel)))
        if (
            int(key.compression) != _JPEG
            or space is None
            or not whole
            or self._dtype != np.uint8
            or int(key.predictor) != 1
            or int(key.imagedepth) != 1
            or int(key.planarconfig) != 1
            or self._outer is None
            or key.jpegheader is not None
        ):
            return None
        codec: dict[str, Any] = {"id": "imagecodecs_jpeg", **space}
        if key.jpegtables is not None:
            codec["tables"] = base64.b64encode(key.jpegtables).decode()
        return codec

    def _check(self, page: Any) -> None:
        """Refuse a page with fewer segments than its header says, before any of them is visited."""
        found = min(len(page.dataoffsets), len(page.databytecounts))
        if found < self._segments and int(self._key.imagedepth) == 1 and not self._key.jpegheader:
            raise ConversionError(
                f"{self._file.path} is truncated: a page of {self._page} has {self._segments:,} "
                f"tiles or strips of {self._tile}, and {found:,} are there"
            )

    def encoded(self) -> Encoded:
        """The tiles as chunks."""
        grid = [-(-n // c) for n, c in zip(self._shape, self.chunks or (), strict=True)]
        inner = grid[len(self._outer or ()) :]

        def find(coords: tuple[int, ...]) -> Part | None:
            outer = len(self._outer or ())
            page = self._page_at(_flat(coords[:outer], grid[:outer]))
            index = _flat(coords[outer:], inner)
            if page is None:
                return None
            self._check(page)
            length = int(page.databytecounts[index])
            return Part(coords, int(page.dataoffsets[index]), length) if length else None

        def parts() -> Iterator[Part]:
            for coords in itertools.product(*map(range, grid)):
                part = find(coords)
                if part is not None:
                    yield part

        codec = self.picture or _CODECS[int(self._key.compression)]
        return Encoded(self.chunks or (), None, codec, self._file, parts, find)

    def _page_at(self, index: int) -> Any:
        # tifffile reads the entries of a page when it is first used, at the position of its file.
        with self._turn, self._reading(f"page {index}"):
            return self._series.pages[index]

    def _decoded(self, data: bytes, index: int, tables: Any) -> tuple[Any, Any]:
        """A segment and its extent; None if it is empty."""
        with self._reading(f"segment {index}"):
            segment, _, extent = self._key.decode(data, index, jpegtables=tables, _fullsize=False)
        return segment, extent

    @contextlib.contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turn the errors of tifffile and its codecs into one of a damaged file."""
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:
            raise ConversionError(
                f"{self._file.path} is damaged: {what} cannot be decoded: {error}"
            ) from None

    def read(self, region: Region) -> Any:
        if self._outer is None:
            with self._reading("the series"):
                return np.asarray(self._series.asarray())[region]
        outer = len(self._outer)
        extent = [one.stop - one.start for one in region]
        out = np.full(extent, self.fill_value, self._dtype)
        for at in itertools.product(*(range(one.start, one.stop) for one in region[:outer])):
            page = self._page_at(_flat(at, self._outer))
            here = tuple(i - one.start for i, one in zip(at, region[:outer], strict=True))
            if page is not None:
                self._read_page(page, region[outer:], out[here])
        return out

    def _read_page(self, page: Any, region: Region, out: Any) -> None:
        """Decode the segments of a page that a region needs."""
        if int(self._key.imagedepth) > 1:
            with self._reading("a page"):
                out[...] = page.asarray()[region]
            return
        self._check(page)
        tables = page.jpegtables
        grid = [-(-n // c) for n, c in zip(self._page, self._tile, strict=True)]
        axes = (
            range(one.start // n, -(-one.stop // n))
            for one, n in zip(region, self._tile, strict=True)
        )
        for coords in itertools.product(*axes):
            index = _flat(coords, grid)
            if not page.databytecounts[index]:
                continue
            data = self._file.read(int(page.dataoffsets[index]), int(page.databytecounts[index]))
            segment, extent = self._decoded(data, index, tables)
            if segment is None:
                continue
            start = [i * n for i, n in zip(coords, self._tile, strict=True)]
            shape = [
                min(n, length - s)
                for n, length, s in zip(self._tile, self._page, start, strict=True)
            ]
            value = self._in_page(segment, shape)
            if list(value.shape) != shape:
                raise ConversionError(f"{self._file.path}: a tile is {extent}, and not {shape}")
            into, of = [], []
            for s, n, one in zip(start, shape, region, strict=True):
                low, high = max(one.start, s), min(one.stop, s + n)
                into.append(slice(low - one.start, high - one.start))
                of.append(slice(low - s, high - s))
            out[tuple(into)] = value[tuple(of)]

    def _in_page(self, segment: Any, shape: list[int]) -> Any:
        """A segment of depth, length, width and samples, with the axes of the page."""
        tile = np.asarray(segment)[0]
        separate = len(self._page) == 3 and int(self._key.planarconfig) == 2
        height, width = shape[1:] if separate else shape[:2]
        value = tile[:height, :width]
        if separate or len(self._page) == 2:
            value = value[..., 0]
        return value[np.newaxis] if separate else value


def _flat(coords: Any, grid: Any) -> int:
    index = 0
    for i, n in zip(coords, grid, strict=True):
        index = index * int(n) + int(i)
    return index


def _fill_of(key: Any, dtype: np.dtype[Any]) -> Any:
    """What segments without bytes read as: the value of GDAL's tag, or 0."""
    try:
        return np.asarray(key.nodata).astype(dtype)[()]
    except (TypeError, ValueError, OverflowError):
        return dtype.type(0)
