"""The ways to keep the same frames on disk, in one shape: write frames, open, load a crop.

Each format is written as its users write it, and read in the best way: a TIFF decodes only the
tiles of the crop, HDF5 and the memory map stay open, PNG files are opened one by one as in a data
loader. All return a contiguous (3, size, size) array, as for training.
"""

from __future__ import annotations

import contextlib
import importlib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tifffile
from numpy.lib import format as npy
from numpy.typing import NDArray
from PIL import Image

import zarrix as zarr
from zarrix.codecs import Blosc

# h5py has no type information, and an `import` statement would ask every checker to excuse that.
_h5py: Any = importlib.import_module("h5py")

Bytes = NDArray[np.uint8]
Put = Callable[[int, Bytes], None]
Crop = Callable[[int, int, int], Bytes]


@dataclass(frozen=True)
class Shape:
    """Frames of one size, and the side of the square crops that are loaded from them.

    frames : int
    height, width, crop : int
        In pixels.
    """

    frames: int
    height: int
    width: int
    crop: int

    @property
    def array(self) -> tuple[int, int, int, int]:
        return (self.frames, 3, self.height, self.width)

    @property
    def chunk(self) -> tuple[int, int, int, int]:
        return (1, 3, self.crop, self.crop)

    @property
    def frame_bytes(self) -> int:
        return 3 * self.height * self.width


class Contender(NamedTuple):
    """One way to keep frames.

    name, how : str
        What the table calls it, and how it stores.
    target : str
        The file or folder it makes in the demo's folder.
    writer : ``writer(path, shape)``
        A context in which ``put(t, frame)`` stores one frame; on leaving it all is written.
    reader : ``reader(path, size)``
        A context in which ``crop(t, top, left)`` returns (3, size, size), contiguous.
    weighed : str
        What of the target counts as its size, when that is not all of it.
    lossy : bool
        Whether crops differ from what was written; the table then says by how much.
    """

    name: str
    how: str
    target: str
    writer: Callable[[Path, Shape], AbstractContextManager[Put]]
    reader: Callable[[Path, int], AbstractContextManager[Crop]]
    weighed: str = "."
    lossy: bool = False


def compressor() -> Blosc:
    """The compressor of the demo's arrays."""
    return Blosc(cname="zstd", clevel=5, shuffle=Blosc.BITSHUFFLE)


@contextlib.contextmanager
def _write_zarr(path: Path, shape: Shape) -> Iterator[Put]:
    gt = zarr.open_group(str(path), mode="a").create_dataset(
        "gt", shape=shape.array, chunks=shape.chunk, dtype="uint8", compressor=compressor()
    )
    yield gt.__setitem__


@contextlib.contextmanager
def _read_zarr(path: Path, size: int) -> Iterator[Crop]:
    gt = zarr.open_group(str(path), mode="r")["gt"]
    yield lambda t, top, left: gt[t, :, top : top + size, left : left + size]


@contextlib.contextmanager
def _write_jpeg(path: Path, shape: Shape) -> Iterator[Put]:
    array = zarr.create_array(
        path,
        shape=(shape.frames, shape.height, shape.width, 3),
        chunks=(1, shape.crop, shape.crop, 3),
        dtype="uint8",
        compressors="jpeg:90",
    )
    yield lambda t, frame: array.__setitem__(t, frame.transpose(1, 2, 0))


@contextlib.contextmanager
def _read_jpeg(path: Path, size: int) -> Iterator[Crop]:
    array = zarr.open_array(path, mode="r")

    def crop(t: int, top: int, left: int) -> Bytes:
        part = array[t, top : top + size, left : left + size]
        return np.ascontiguousarray(part.transpose(2, 0, 1))

    yield crop


def _frame_file(folder: Path, t: int, suffix: str) -> Path:
    return folder / f"frame-{t:04d}{suffix}"


@contextlib.contextmanager
def _write_png(path: Path, shape: Shape) -> Iterator[Put]:
    path.mkdir()

    def put(t: int, frame: Bytes) -> None:
        picture = Image.fromarray(np.ascontiguousarray(frame.transpose(1, 2, 0)))
        picture.save(_frame_file(path, t, ".png"), compress_level=1)

    yield put


@contextlib.contextmanager
def _read_png(path: Path, size: int) -> Iterator[Crop]:
    def crop(t: int, top: int, left: int) -> Bytes:
        with Image.open(_frame_file(path, t, ".png")) as picture:
            part = np.asarray(picture.crop((left, top, left + size, top + size)))
        return np.ascontiguousarray(part.transpose(2, 0, 1))

    yield crop


_TILE = 256


@contextlib.contextmanager
def _write_tiff(path: Path, shape: Shape) -> Iterator[Put]:
    path.mkdir()

    def put(t: int, frame: Bytes) -> None:
        tifffile.imwrite(
            _frame_file(path, t, ".tif"),
            frame,
            photometric="rgb",
            planarconfig="separate",
            tile=(_TILE, _TILE),
            compression="zlib",
            compressionargs={"level": 1},
            predictor=True,
        )

    yield put


@contextlib.contextmanager
def _read_tiff(path: Path, size: int) -> Iterator[Crop]:
    def crop(t: int, top: int, left: int) -> Bytes:
        part = np.zeros((3, size, size), np.uint8)
        with tifffile.TiffFile(_frame_file(path, t, ".tif")) as file:
            page = file.pages.first
            across = -(-page.imagewidth // _TILE)
            plane = across * -(-page.imagelength // _TILE)
            for y in range(top // _TILE, (top + size - 1) // _TILE + 1):
                for x in range(left // _TILE, (left + size - 1) // _TILE + 1):
                    for channel in range(3):
                        index = channel * plane + y * across + x
                        file.filehandle.seek(page.dataoffsets[index])
                        data = file.filehandle.read(page.databytecounts[index])
                        tile = page.decode(data, index)[0]
                        if tile is not None:  # a tile without data is all zeros
                            corner = (y * _TILE - top, x * _TILE - left)
                            _paste(part[channel], tile[0, :, :, 0], *corner)
        return part

    yield crop


def _paste(target: Bytes, tile: Bytes, top: int, left: int) -> None:
    """Copy the part of ``tile`` that falls on ``target`` when its corner lies at (top, left)."""
    up, back = max(0, -top), max(0, -left)
    seen = target[top + up : top + tile.shape[0], left + back : left + tile.shape[1]]
    seen[:] = tile[up : up + seen.shape[0], back : back + seen.shape[1]]


@contextlib.contextmanager
def _write_hdf5(path: Path, shape: Shape) -> Iterator[Put]:
    with _h5py.File(path, "w") as file:
        gt = file.create_dataset(
            "gt", shape=shape.array, chunks=shape.chunk, dtype="uint8", compression="gzip"
        )
        yield gt.__setitem__


@contextlib.contextmanager
def _read_hdf5(path: Path, size: int) -> Iterator[Crop]:
    with _h5py.File(path, "r") as file:
        gt = file["gt"]
        yield lambda t, top, left: gt[t, :, top : top + size, left : left + size]


@contextlib.contextmanager
def _write_npy(path: Path, shape: Shape) -> Iterator[Put]:
    gt = npy.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape.array)
    yield gt.__setitem__


@contextlib.contextmanager
def _read_npy(path: Path, size: int) -> Iterator[Crop]:
    gt: Bytes = npy.open_memmap(path, mode="r")
    yield lambda t, top, left: np.array(gt[t, :, top : top + size, left : left + size])


@contextlib.contextmanager
def _write_npz(path: Path, shape: Shape) -> Iterator[Put]:
    """The output of `numpy.savez_compressed`, without all frames in memory."""
    header = {"descr": "|u1", "fortran_order": False, "shape": shape.array}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("gt.npy", "w", force_zip64=True) as member,
    ):
        npy.write_array_header_1_0(member, header)
        yield lambda t, frame: _append(member.write, frame)


def _append(write: Callable[[Any], int], frame: Bytes) -> None:
    write(np.ascontiguousarray(frame).data)


@contextlib.contextmanager
def _read_npz(path: Path, size: int) -> Iterator[Crop]:
    def crop(t: int, top: int, left: int) -> Bytes:
        with np.load(path) as archive:
            part: Bytes = archive["gt"][t, :, top : top + size, left : left + size]
        return np.ascontiguousarray(part)

    yield crop


ZARR = Contender(
    "zarrix",
    "chunks, Blosc zstd 5 bitshuffle",
    "demo.zarr",
    _write_zarr,
    _read_zarr,
    weighed="gt",
)

CONTENDERS = (
    ZARR,
    Contender("PNG", "a file per frame, deflate 1", "png", _write_png, _read_png),
    Contender("TIFF", "a file per frame, tiled, deflate 1", "tiff", _write_tiff, _read_tiff),
    Contender("HDF5", "the same chunks, gzip 4", "gt.h5", _write_hdf5, _read_hdf5),
    Contender("npy", "one array, memory-mapped", "gt.npy", _write_npy, _read_npy),
    Contender(
        "JPEG",
        "90 (lossy)",
        "jpeg.zarr",
        _write_jpeg,
        _read_jpeg,
        lossy=True,
    ),
    Contender("npz", "one array, deflate 6, read whole", "gt.npz", _write_npz, _read_npz),
)
