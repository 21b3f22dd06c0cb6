"""TIFF, BigTIFF and OME-TIFF: tifffile reads the structure, and decodes what Zarr cannot.

Tiles that are stored without a predictor, as they are or by deflate or zstd, are chunks. Images
that lie in one block are read by position. Levels of a pyramid become ``0``, ``1``, ...
"""

from __future__ import annotations

import importlib
import itertools
import math
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._array.dimension_names import names_of
from zarrix._errors import ConversionError
from zarrix.convert._flat import flat_array
from zarrix.convert._source import Encoded, OpenFile, Part, Region, Source, SourceArray

__all__ = ["open_source", "save"]

_CODECS = {1: None, 8: {"id": "zlib", "level": 6}, 32946: {"id": "zlib", "level": 6},
           50000: {"id": "zstd", "level": 3}}  # fmt: skip
_TILE = 256
_MOST_PAGES = 1_000_000


def library() -> Any:
    """The module tifffile.

    Raises
    ------
    ImportError
        It is not installed.
    """
    try:
        # Optional package: extra [convert].
        return importlib.import_module("tifffile")
    except ImportError:
        raise ImportError(
            "TIFF needs the package tifffile: pip install 'zarrix[convert]'"
        ) from None


def open_source(path: Path) -> Source:
    """The series of a file; a series with levels is a group of arrays."""
    tifffile = library()
    file = OpenFile(path)
    try:
        opened = tifffile.TiffFile(path)
    except Exception as error:
        file.close()
        raise ConversionError(f"{path} is not a TIFF file, or is damaged: {error}") from None

    def close() -> None:
        opened.close()
        file.close()

    try:
        return _source(opened, file, path, close)
    except BaseException as error:
        close()
        if isinstance(error, ConversionError | MemoryError | KeyboardInterrupt):
            raise
        raise ConversionError(f"{path} is damaged: {error}") from None


def _source(opened: Any, file: OpenFile, path: Path, close: Any) -> Source:
    source = Source(str(path), {}, identity=file.identity, close=close)
    series = opened.series
    if not series:
        raise ConversionError(f"{path} has no image")
    single = len(series) == 1 and len(series[0].levels) == 1
    if not single:
        source.groups[""] = {}
    for number, one in enumerate(series):
        prefix = "" if len(series) == 1 else f"{number}"
        levels = one.levels
        if prefix:
            source.groups[prefix] = {}
        for depth, level in enumerate(levels):
            if len(levels) == 1:
                name = prefix
                if prefix:
                    source.groups.pop(prefix, None)
            else:
                name = f"{prefix}/{depth}" if prefix else f"{depth}"
            source.arrays[name] = _array(level, file)
        if len(levels) > 1:
            source.groups[prefix] = _multiscales(one, opened)
    if single:
        attributes = _physical(opened)
        if attributes:
            source.arrays[""].attributes = attributes
    return source


def _physical(opened: Any) -> dict[str, Any]:
    """Sizes of a pixel, by axis, from OME-XML."""
    text = (opened.ome_metadata or "")[: 2**20]
    found = {
        axis.lower(): float(value)
        for axis, value in re.findall(r'PhysicalSize([XYZ])="([0-9.eE+-]+)"', text)
    }
    units = dict(re.findall(r'PhysicalSize([XYZ])Unit="([^"]+)"', text))
    if not found:
        return {}
    return {"pixel_size": found, "pixel_unit": {k.lower(): v for k, v in units.items()}}


def _multiscales(series: Any, opened: Any) -> dict[str, Any]:
    """The metadata of OME-Zarr 0.5 for the levels of a series."""
    axes = [one.lower() for one in series.axes]
    sizes = _physical(opened).get("pixel_size", {})
    kinds = {"t": "time", "c": "channel", "s": "channel"}
    base = series.levels[0].shape
    return {
        "ome": {
            "version": "0.5",
            "multiscales": [
                {
                    "axes": [
                        {"name": one, "type": kinds.get(one, "space" if one in "xyz" else "other")}
                        for one in axes
                    ],
                    "datasets": [
                        {
                            "path": f"{depth}",
                            "coordinateTransformations": [
                                {
                                    "type": "scale",
                                    "scale": [
                                        sizes.get(axis, 1.0) * whole / max(1, part)
                                        for axis, whole, part in zip(
                                            axes, base, level.shape, strict=True
                                        )
                                    ],
                                }
                            ],
                        }
                        for depth, level in enumerate(series.levels)
                    ],
                }
            ],
        }
    }


def _array(series: Any, file: OpenFile) -> SourceArray:
    shape = tuple(int(n) for n in series.shape)
    if len(series.pages) > _MOST_PAGES:
        raise ConversionError(f"{file.path} has more than {_MOST_PAGES} pages")
    dtype = np.dtype(series.dtype)
    names = [one.lower() for one in series.axes]
    key = series.keyframe
    stored = dtype.newbyteorder(key.parent.byteorder)
    if series.dataoffset is not None and key.compression == 1 and key.predictor == 1:
        one = flat_array(file, int(series.dataoffset), shape, stored)
        one.dimension_names = names
        return one
    pages = _Pages(series, file, shape, dtype)
    one = SourceArray(
        shape, stored, pages.read, chunks=pages.chunks, dimension_names=names,
        why_decoded="its tiles are not chunks of Zarr",
    )  # fmt: skip
    if pages.tiles_are_chunks:
        one.encoded = pages.encoded()
    return one


class _Pages:
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

    def encoded(self) -> Encoded:
        """The tiles as chunks."""
        grid = [-(-n // c) for n, c in zip(self._shape, self.chunks or (), strict=True)]
        inner = grid[len(self._outer or ()) :]

        def find(coords: tuple[int, ...]) -> Part | None:
            outer = len(self._outer or ())
            page = self._page_at(_flat(coords[:outer], grid[:outer]))
            index = _flat(coords[outer:], inner)
            if page is None or index >= len(page.dataoffsets):
                return None
            length = int(page.databytecounts[index])
            return Part(coords, int(page.dataoffsets[index]), length) if length else None

        def parts() -> Iterator[Part]:
            for coords in itertools.product(*map(range, grid)):
                part = find(coords)
                if part is not None:
                    yield part

        codec = _CODECS[int(self._key.compression)]
        return Encoded(self.chunks or (), None, codec, self._file, parts, find)

    def _page_at(self, index: int) -> Any:
        # tifffile reads the entries of a page when it is first used, at the position of its file.
        with self._turn:
            return self._series.pages[index]

    def read(self, region: Region) -> Any:
        if self._outer is None:
            return np.asarray(self._series.asarray())[region]
        outer = len(self._outer)
        out = np.zeros([one.stop - one.start for one in region], self._dtype)
        for at in itertools.product(*(range(one.start, one.stop) for one in region[:outer])):
            page = self._page_at(_flat(at, self._outer))
            here = tuple(i - one.start for i, one in zip(at, region[:outer], strict=True))
            if page is not None:
                self._read_page(page, region[outer:], out[here])
        return out

    def _read_page(self, page: Any, region: Region, out: Any) -> None:
        """Decode the segments of a page that a region needs."""
        if int(self._key.imagedepth) > 1:
            out[...] = page.asarray()[region]
            return
        tables = self._key.jpegtables
        grid = [-(-n // c) for n, c in zip(self._page, self._tile, strict=True)]
        axes = (
            range(one.start // n, -(-one.stop // n))
            for one, n in zip(region, self._tile, strict=True)
        )
        for coords in itertools.product(*axes):
            index = _flat(coords, grid)
            if index >= len(page.dataoffsets) or not page.databytecounts[index]:
                continue
            data = self._file.read(int(page.dataoffsets[index]), int(page.databytecounts[index]))
            segment, _, extent = self._key.decode(data, index, jpegtables=tables, _fullsize=False)
            if segment is None:
                continue
            start = [i * n for i, n in zip(coords, self._tile, strict=True)]
            shape = [
                min(n, length - s)
                for n, length, s in zip(self._tile, self._page, start, strict=True)
            ]
            # Depth, length, width and samples become the axes of the page.
            tile = np.asarray(segment)[0]
            separate = len(self._page) == 3 and int(self._key.planarconfig) == 2
            height, width = shape[1:] if separate else shape[:2]
            value = tile[:height, :width]
            if separate or len(self._page) == 2:
                value = value[..., 0]
            if separate:
                value = value[np.newaxis]
            if list(value.shape) != shape:
                raise ConversionError(f"{self._file.path}: a tile is {extent}, and not {shape}")
            into, of = [], []
            for s, n, one in zip(start, shape, region, strict=True):
                low, high = max(one.start, s), min(one.stop, s + n)
                into.append(slice(low - one.start, high - one.start))
                of.append(slice(low - s, high - s))
            out[tuple(into)] = value[tuple(of)]


def _flat(coords: Any, grid: Any) -> int:
    index = 0
    for i, n in zip(coords, grid, strict=True):
        index = index * int(n) + int(i)
    return index


def save(
    node: Any, path: Path, job: Any, *, compression: str | None = "zlib", tile: int = _TILE
) -> None:
    """Write an array as tiled BigTIFF: the last two axes are an image, or three with colours last.

    Big-endian elements make a big-endian file.
    """
    tifffile = library()
    array = job.array()
    if array.dtype.kind not in "uifc" or array.dtype.itemsize > 16 or array.ndim < 2:
        raise ConversionError(
            f"TIFF has numbers in 2 or more axes, and the array has {array.shape} of {array.dtype}"
        )
    if 0 in array.shape:
        raise ConversionError(f"TIFF has no images without pixels, and the array has {array.shape}")
    names = names_of(array)
    colour = array.ndim > 2 and array.shape[-1] in (3, 4) and array.dtype.kind == "u"
    colour = colour and (not names or names[-1] in ("s", "c", None)) and array.dtype.itemsize < 4
    order = ">" if array.dtype.byteorder == ">" else "<"
    side = max(16, tile // 16 * 16)
    with tifffile.TiffWriter(path, bigtiff=True, byteorder=order) as writer:
        writer.write(
            _tiles(array, side, colour, job),
            shape=array.shape,
            dtype=array.dtype,
            tile=(side, side),
            compression=compression,
            photometric="rgb" if colour else "minisblack",
            metadata={},
        )


def _tiles(array: Any, side: int, colour: bool, job: Any) -> Iterator[Any]:
    """The tiles of all images in order; a row of tiles of one image is in memory."""
    inner = 3 if colour else 2
    outer = array.shape[: array.ndim - inner]
    height, width = array.shape[array.ndim - inner : array.ndim - inner + 2]
    for at in np.ndindex(*outer):
        for top in range(0, height, side):
            rows = array[(*at, slice(top, min(top + side, height)))]
            for left in range(0, width, side):
                yield np.ascontiguousarray(rows[:, left : left + side])
            job.done += 1
