"""TIFF, BigTIFF and OME-TIFF: tifffile reads the structure, and decodes what Zarr cannot.

Tiles that are stored without a predictor, as they are or by deflate or zstd, are chunks. Images
that lie in one block are read by position. Levels of a pyramid become ``0``, ``1``, ...
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from zarrix._array.dimension_names import names_of
from zarrix._errors import ConversionError, OptionError
from zarrix.convert._flat import flat_array
from zarrix.convert._source import OpenFile, Source, SourceArray
from zarrix.convert._tiff_pages import Pages, native_reader

__all__ = ["open_source", "save"]

_TILE = 256
_MOST_TILE = 8192
# tifffile's names of codecs that lose nothing.
_NAMES = {
    "zlib": "ADOBE_DEFLATE", "deflate": "DEFLATE", "lzma": "LZMA", "zstd": "ZSTD", "lzw": "LZW",
    "packbits": "PACKBITS",
}  # fmt: skip
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
    source = Source(str(path), {}, identity=[file.identity], close=close)
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
    attributes = _physical(opened) if single else {}
    told = _geography(opened)
    if told:
        attributes["geotiff"] = told
    if single:
        source.arrays[""].attributes = {**source.arrays[""].attributes, **attributes}
    else:
        source.groups[""] = {**source.groups[""], **attributes}
    if any("palette" in one.attributes for one in source.arrays.values()):
        source.notes.append("pixels are numbers of colours, which the attribute 'palette' has")
    return source


def _geography(opened: Any) -> dict[str, Any]:
    """The tags of GeoTIFF and of GDAL as JSON values; empty if there are none."""
    found: dict[str, Any] = {}
    with contextlib.suppress(Exception):
        # The pixels can be read if the tags of geography are damaged.
        found = dict(opened.geotiff_metadata or {})
    with contextlib.suppress(Exception):
        if opened.gdal_metadata:
            found["GDALMetadata"] = dict(opened.gdal_metadata)
    return _as_json(found) if found else {}


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _as_json(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, tuple | list):
        return [_as_json(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


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
    else:
        pages = Pages(series, file, shape, dtype)
        one = SourceArray(
            shape, stored, pages.read, chunks=pages.chunks, dimension_names=names,
            fill_value=pages.fill_value, why_decoded="its tiles are not chunks of Zarr",
        )  # fmt: skip
        if pages.tiles_are_chunks:
            one.encoded = pages.encoded()
        elif pages.picture is not None and pages.chunks:
            one.pictures = pages.encoded()
    one.native = native_reader(series, one.read)
    palette = key.colormap
    if palette is not None:
        one.attributes = {"palette": np.asarray(palette).T.tolist()}
    return one


def save(
    node: Any,
    path: Path,
    job: Any,
    *,
    compression: Literal["zlib", "deflate", "lzma", "zstd", "lzw", "packbits"] | None = "zlib",
    tile: int = _TILE,
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
    if tile % 16 or not 16 <= tile <= _MOST_TILE:
        raise OptionError(f"tile={tile} is not a multiple of 16 from 16 to {_MOST_TILE}")
    side = tile
    _require(tifffile, compression)
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


def _require(tifffile: Any, compression: str | None) -> None:
    """Raise `ImportError` for a codec that tifffile has from another package."""
    try:
        if compression is not None:
            tifffile.TIFF.COMPRESSORS[tifffile.COMPRESSION[_NAMES[compression]]]
    except (KeyError, ImportError):
        raise ImportError(
            f"TIFF with compression={compression!r} needs the package imagecodecs: pip install "
            "imagecodecs; 'zlib' needs none"
        ) from None


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
