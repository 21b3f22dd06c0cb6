"""PNG, JPEG and WebP: one image, or a folder of them as one array with a first axis of frames."""

from __future__ import annotations

import importlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.dimension_names import names_of
from zarrix._codecs.images import is_image
from zarrix._errors import ConversionError
from zarrix.convert._encoded import key_in
from zarrix.convert._picture_files import PictureHeader, as_chunks, picture_header, picture_headers
from zarrix.convert._source import (
    OpenFile,
    Region,
    Source,
    SourceArray,
    folders_of,
    identities_of,
    identity_of,
    names_below,
    natural,
)

__all__ = ["SUFFIXES", "decoded", "open_listed", "open_source", "save", "shape_and_dtype"]

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
_SUFFIX_OF = {"imagecodecs_png": ".png", "imagecodecs_webp": ".webp"}
_THREADS = 4
_MOST_PIXELS = 1 << 30
_MODES = {"1": "?", "L": "u1", "P": "u1", "I;16": "<u2", "I;16B": ">u2", "I": "i4", "F": "f4",
          **dict.fromkeys(("RGB", "RGBA", "LA", "CMYK", "YCbCr", "PA"), "u1")}  # fmt: skip
_BANDS = {"RGB": 3, "RGBA": 4, "LA": 2, "CMYK": 4, "YCbCr": 3, "PA": 2}


def library() -> Any:
    """The module PIL.Image.

    Raises
    ------
    ImportError
        Pillow is not installed.
    """
    try:
        # Optional package: extra [convert].
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError("images need the package pillow: pip install 'zarrix[convert]'") from None


def open_source(path: Path, *, labels: str | None = None, channels: str = "last") -> Source:
    """One image, or all images of a folder in natural order.

    With ``labels="folder"`` images lie in a folder for each label. ``channels="first"`` puts the
    axis of colours before the image's.
    """
    library()
    if channels not in ("first", "last") or labels not in (None, "folder"):
        raise ConversionError("channels is 'first' or 'last', and labels is 'folder'")
    if path.is_file():
        file = OpenFile(path)
        file.close()
        header = picture_header(path)
        one = _frames([str(path)], [header], channels, stacked=False)
        source = Source(str(path), {"": one}, identity=[file.identity])
        palette = _palette_of(str(path)) if header is None else []
        if palette:
            one.attributes = {"palette": palette}
            source.notes.append("pixels are numbers of colours, which the attribute 'palette' has")
        return source
    identity = identity_of(path, 2 if labels else 1)
    files = _listed(path, labels)
    if not files:
        raise ConversionError(f"{path} has no image ({', '.join(SUFFIXES)})")
    source = _stacked(files, str(path), channels)
    source.identity = [identity]
    if labels == "folder":
        folders = [os.path.basename(os.path.dirname(one)) for one in files]
        known = sorted({*folders})
        values = np.array([known.index(one) for one in folders], "i4")
        source.arrays["label"] = _small(values, values.dtype, 0)
        source.arrays["label"].attributes = {"names": known}
    return source


def open_listed(files: list[str], *, channels: str = "last") -> Source:
    """Images as one array with a first axis of frames, in this order."""
    library()
    if channels not in ("first", "last"):
        raise ConversionError("channels is 'first' or 'last'")
    identity = []
    found, plain = identities_of(files)
    for path, known in zip(files, found, strict=True):
        if known is None:
            # It says what is there instead.
            OpenFile(path).close()
            raise ConversionError(f"{path} has changed while it was read")
        identity.append(known)
    folders = folders_of(path for path, *_ in identity)
    source = _stacked(files, os.path.commonpath(folders), channels)
    source.identity, source.plain = identity, plain
    return source


def _stacked(files: list[str], path: str, channels: str) -> Source:
    """An array of all files, and their names below ``path``."""
    headers = picture_headers(files)
    first, header = _kind_of(files[0], headers[0]), headers[0]
    # Files of one program have one header.
    others = [
        (path, _kind_of(path, one))
        for path, one in zip(files, headers, strict=True)
        if one is None or one is not header
    ]
    odd = [path for path, kind in others if kind != first]
    if odd:
        raise ConversionError(
            f"{path}: {len(odd)} images differ from {os.path.basename(files[0])} ({first[0]} of "
            f"{first[1]}), the first is {os.path.basename(odd[0])}; import images of one kind"
        )
    source = Source(path, {}, {"": {}})
    indexed = headers[0] is None and _is_indexed(files[0])
    palettes = [_palette_of(one) for one in files] if indexed else []
    if palettes and any(one != palettes[0] for one in palettes):
        raise ConversionError(f"{path}: images have different palettes; convert them to RGB")
    source.arrays["image"] = _frames(files, headers, channels, stacked=True)
    if palettes:
        source.arrays["image"].attributes = {"palette": palettes[0]}
    names = np.array(names_below(path, files), dtype=object)
    source.arrays["name"] = _small(names, str, "")
    return source


def _is_indexed(path: str) -> bool:
    with library().open(path) as image:
        return image.mode in ("P", "PA")


def _palette_of(path: str) -> list[list[int]]:
    """The colours that the pixels of an image are numbers of; empty if they are none."""
    with library().open(path) as image:
        if image.mode not in ("P", "PA") or image.palette is None:
            return []
        mode, colours = image.palette.mode, image.getpalette(image.palette.mode) or []
    return [colours[i : i + len(mode)] for i in range(0, len(colours), len(mode))]


def _small(values: Any, dtype: Any, fill: Any) -> SourceArray:
    return SourceArray(
        values.shape, dtype, values.__getitem__, fill_value=fill, dimension_names=["frame"]
    )


def _listed(path: Path, labels: str | None) -> list[str]:
    folders = [one for one in path.iterdir() if one.is_dir()] if labels == "folder" else [path]
    files = []
    for folder in folders:
        # Entries know whether they are files, without a call for each.
        with os.scandir(folder) as entries:
            files += [
                one.path
                for one in entries
                if os.path.splitext(one.name)[1].lower() in SUFFIXES and one.is_file()
            ]
    return sorted(files, key=natural)


def shape_and_dtype(file: Any, shown: str = "") -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an image, from its header.

    Raises
    ------
    ConversionError
        It is not an image, or Pillow would change its values.
    """
    image_of = library()
    shown = shown or str(file)
    try:
        with image_of.open(file) as image:
            width, height = image.size
            mode, format = image.mode, image.format
    except Exception as error:
        raise ConversionError(f"{shown} is not an image: {error}") from None
    if width * height > _MOST_PIXELS:
        raise ConversionError(f"{shown} has {width} x {height} pixels, above {_MOST_PIXELS}")
    if mode not in _MODES:
        raise ConversionError(f"{shown} has pixels of {mode!r}, which are not supported")
    if format == "PNG" and mode in _BANDS and _png_depth(file) == 16:
        raise ConversionError(
            f"{shown} has 16 bits a colour, which Pillow reduces to 8; convert it to TIFF"
        )
    bands = (_BANDS[mode],) if mode in _BANDS else ()
    return (height, width, *bands), np.dtype(_MODES[mode])


def _kind_of(path: str, header: PictureHeader | None) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if header is None or header.shape[0] * header.shape[1] > _MOST_PIXELS:
        return shape_and_dtype(path)
    return header.shape, header.dtype


def _png_depth(file: Any) -> int:
    if hasattr(file, "seek"):
        file.seek(24)
        return int(file.read(1)[0])
    with open(file, "rb") as opened:
        opened.seek(24)
        return int(opened.read(1)[0])


def decoded(file: Any, shown: str = "") -> Any:
    """The pixels of an image, as Pillow gives them.

    Raises
    ------
    ConversionError
        It is damaged.
    """
    image_of = library()
    try:
        with image_of.open(file) as image:
            pixels = np.asarray(image)
            # Pillow's booleans have the byte 255, which NumPy's operators and other readers do not
            # expect.
            return pixels.view(np.uint8) != 0 if pixels.dtype == np.bool_ else pixels
    except Exception as error:
        raise ConversionError(f"{shown or file} is damaged: {error}") from None


def _frames(
    files: list[str], headers: list[PictureHeader | None], channels: str, *, stacked: bool
) -> SourceArray:
    shape, dtype = _kind_of(files[0], headers[0])
    every: list[str | None] = ["y", "x", "c"]
    names = every[: len(shape)]
    first = channels == "first" and len(shape) == 3
    one_shape = (shape[2], *shape[:2]) if first else shape
    if first:
        names[:] = ["c", "y", "x"]

    def one(index: int) -> Any:
        value = decoded(files[index])
        if value.shape != shape or value.dtype != dtype:
            raise ConversionError(f"{files[index]} has changed while it was read")
        return np.moveaxis(value, 2, 0) if first else value

    def read(region: Region) -> Any:
        if not stacked:
            return np.ascontiguousarray(one(0)[region])
        frames = range(region[0].start, region[0].stop)
        with ThreadPoolExecutor(_THREADS) as threads:
            return np.stack([value[region[1:]] for value in threads.map(one, frames)])

    extent = (len(files), *one_shape) if stacked else one_shape
    chunks = [min(n, 512) for n in one_shape]
    if len(shape) == 3:
        chunks[0 if first else 2] = shape[2]
    pictures = None
    header = headers[0]
    if header is not None and not first and all(one is header or one == header for one in headers):
        pictures = as_chunks(files, header, stacked=stacked)
    return SourceArray(
        extent, dtype, read,
        chunks=(1, *chunks) if stacked else tuple(chunks),
        dimension_names=["frame", *names] if stacked else names,
        sequential=stacked,
        pictures=pictures,
        why_decoded="images are compressed in another way",
    )  # fmt: skip


def makes_folder(target: Path) -> bool:
    """Whether an export makes a folder of that name, and not one image."""
    return target.suffix.lower() not in SUFFIXES


def save(node: Any, path: Path, job: Any, *, keep_chunks: bool = False) -> None:
    """Write an image of 2 or 3 axes, or a folder of numbered PNG files, one for each frame.

    With ``keep_chunks``, chunks that are pictures become files, byte for byte, under the names
    that an import has stored.
    """
    array = job.arrays().get("image") if not hasattr(node, "shape") else node
    if array is None:
        raise ConversionError("a group is exported as images if it has an array 'image'")
    if keep_chunks:
        _save_chunks(node, array, path, job)
        return
    image_of = library()
    names = list(names_of(array))
    single = job.target.suffix.lower() in SUFFIXES
    frame = array.shape if single else array.shape[1:]
    first = len(frame) == 3 and (names[-3:-2] == ["c"] or frame[-1] not in (2, 3, 4))
    bands = frame[0 if first else 2] if len(frame) == 3 else 1
    grey = len(frame) == 2 and array.dtype in (np.uint8, np.uint16, np.bool_)
    if not grey and not (len(frame) == 3 and bands in (2, 3, 4) and array.dtype == np.uint8):
        raise ConversionError(
            f"PNG has 8 bits of 1 to 4 colours, or 16 bits of one, and frames are {frame} of "
            f"{array.dtype}"
        )

    if 0 in frame:
        raise ConversionError(f"PNG has no images without pixels, and frames are {frame}")

    def write(value: Any, file: Path) -> None:
        pixels = np.ascontiguousarray(np.moveaxis(value, 0, 2) if first else value)
        plain = pixels.astype(pixels.dtype.newbyteorder("="))
        image_of.fromarray(plain).save(file, job.target.suffix[1:].upper() if single else "PNG")
        job.done += 1

    if single:
        if job.target.suffix.lower() != ".png":
            raise ConversionError("only PNG is written, because the others lose values")
        write(array[...], path)
        return
    path.mkdir()
    digits = max(6, len(str(array.shape[0])))
    for index in range(array.shape[0]):
        write(array[index], path / f"{index:0{digits}}.png")


def _save_chunks(node: Any, array: Any, path: Path, job: Any) -> None:
    """Write each chunk as a file; the checksum behind it, if it has one, is left out."""
    # In v2, "bytes" stands before the codec.
    every = [str(one["name"]) for one in metadata_of(array).codecs]
    names = [name for name in every if name != "bytes"]
    checked = names[1:] == ["crc32c"]
    single = job.target.suffix.lower() in SUFFIXES
    frame = array.shape if single else array.shape[1:]
    whole = tuple(array.chunks) == (frame if single else (1, *frame))
    if not names or not is_image(names[0]) or names[1:] not in ([], ["crc32c"]) or not whole:
        raise ConversionError(
            f"keep_chunks writes chunks that are one picture each, and the array has chunks of "
            f"{array.chunks} by {', '.join(names)}"
        )
    rest = (0,) * len(frame)
    if single:
        path.write_bytes(_stored(array, rest, checked))
        return
    path.mkdir()
    suffix = _SUFFIX_OF.get(names[0].removeprefix("numcodecs."), ".jpg")
    for index, name in enumerate(_names_of(node, array.shape[0], suffix)):
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "xb") as made:
            made.write(_stored(array, (index, *rest), checked))
        job.done += 1


def _stored(array: Any, coords: tuple[int, ...], checked: bool) -> Any:
    key = key_in(array, coords)
    value = array.chunk_store.get(key)
    if value is None:
        raise ConversionError(f"chunk {key!r} is not stored")
    return memoryview(value)[:-4] if checked else value


def _names_of(node: Any, count: int, suffix: str) -> list[str]:
    """The names of the files, as an import has stored them, else numbers."""
    stored = None if hasattr(node, "shape") else node.get("name")
    if stored is None or stored.shape != (count,):
        digits = max(6, len(str(count)))
        return [f"{index:0{digits}}{suffix}" for index in range(count)]
    names = [str(name) for name in stored[:]]
    for name in names:
        pure = PurePath(name)
        if not name or pure.is_absolute() or ".." in pure.parts or "\0" in name:
            raise ConversionError(f"the array 'name' has {name!r}, which is not the name of a file")
    if len(set(names)) != count:
        raise ConversionError("the array 'name' has a name twice")
    return names
