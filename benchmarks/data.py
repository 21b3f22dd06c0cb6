"""The stored arrays, written once by numpy and numcodecs alone.

No contender writes what the others read: the files hold what the reference codecs make with their
own block sizes, as files in the world do. An array counts as built when its document is there,
which is written last.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import runpy
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np

from benchmarks import sharded
from benchmarks.contenders import AnyArray
from benchmarks.formats import COPIES

Shape = tuple[int, ...]
_SCENE = Path(__file__).resolve().parents[1] / "python" / "zarrix" / "cli" / "_demo" / "scene.py"


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Layout:
    """One array: its shape and chunks at full size, and tiny for a test of the harness.

    compressor : name, level and shuffle of Blosc, name and level of a codec of its own, or None
    tiny : shape and chunks, and shards where there are some
    shards : makes it a v3 array; without, it is a v2 array
    copies : suffixes of the other formats that its values are stored in beside it
    """

    name: str
    dtype: str
    shape: Shape
    chunks: Shape
    tiny: tuple[Shape, ...]
    compressor: tuple[str, int, int] | tuple[str, int] | None
    values: Callable[[Shape], AnyArray]
    copies: tuple[str, ...] = ()
    shards: Shape | None = None

    @property
    def _type(self) -> np.dtype[Any]:
        return np.dtype(self.dtype)

    def sized(self, tiny: bool) -> Layout:
        """The same array, at its tiny size if asked."""
        if not tiny:
            return self
        shape, chunks, *shards = self.tiny
        return replace(self, shape=shape, chunks=chunks, shards=shards[0] if shards else None)

    @property
    def stored_shape(self) -> Shape:
        """The part of the array that is one file."""
        return self.shards or self.chunks

    def codec(self) -> Any:
        """The numcodecs object; None stores the bytes as they are."""
        match self.compressor:
            case None:
                return None
            case cname, level, shuffle:
                return numcodecs.Blosc(cname=cname, clevel=level, shuffle=shuffle)
            case name, level:
                return numcodecs.get_codec({"id": name, "level": level})

    def document(self) -> str:
        """The text of `.zarray`, or of `zarr.json` where there are shards."""
        if self.shards:
            return sharded.document(self)
        codec = self.codec()
        return json.dumps(
            {
                "chunks": self.chunks,
                "compressor": None if codec is None else codec.get_config(),
                "dtype": self._type.str if self._type.names is None else self._type.descr,
                # zarr-python 3 reads no number there for text.
                "fill_value": None if self._type.kind in "VS" else 0,
                "filters": None,
                "order": "C",
                "shape": self.shape,
                "zarr_format": 2,
            },
            indent=4,
        )

    def cells(self) -> Iterator[Shape]:
        """The coordinates of every file."""
        axes = zip(self.shape, self.stored_shape, strict=True)
        return itertools.product(*(range(-(-n // c)) for n, c in axes))

    def file_of(self, cell: Shape) -> str:
        """The name of a file, below the array."""
        return "c/" + "/".join(map(str, cell)) if self.shards else ".".join(map(str, cell))

    def chunk_of(self, values: AnyArray, cell: Shape) -> AnyArray:
        """The elements of one file, C-contiguous; what lies outside the array is 0."""
        shape = self.stored_shape
        region = tuple(slice(i * c, (i + 1) * c) for i, c in zip(cell, shape, strict=True))
        part = np.ascontiguousarray(values[region])
        if part.shape == shape:
            return part
        whole = np.zeros(shape, self.dtype)
        whole[tuple(slice(n) for n in part.shape)] = part
        return whole

    def encode(self, chunk: AnyArray) -> Any:
        """The bytes of one file."""
        if self.shards:
            return sharded.join(self.inner(chunk))
        codec = self.codec()
        return chunk.data if codec is None else codec.encode(chunk)

    def inner(self, shard: AnyArray) -> list[bytes]:
        """The encoded inner chunks of a shard, in C order."""
        codec = self.codec()
        axes = zip(shard.shape, self.chunks, strict=True)
        regions = itertools.product(*([slice(i, i + c) for i in range(0, n, c)] for n, c in axes))
        return [bytes(codec.encode(np.ascontiguousarray(shard[region]))) for region in regions]

    def pieces(self, file: bytes) -> list[bytes]:
        """The encoded chunks that a file holds."""
        if not self.shards:
            return [file]
        axes = zip(self.shards, self.chunks, strict=True)
        return sharded.split(file, math.prod(n // c for n, c in axes))

    def make_empty(self, path: Path) -> None:
        """An array without chunks at ``path``, which must not exist."""
        path.mkdir(parents=True)
        (path / self._document_name).write_text(self.document())

    @property
    def _document_name(self) -> str:
        return "zarr.json" if self.shards else ".zarray"

    def build(self, folder: Path) -> Path:
        """The stored array in ``folder``, written now unless it is there already."""
        path = folder / f"{self.name}.zarr"
        document = path / self._document_name
        copies = {path.with_suffix(suffix): COPIES[suffix] for suffix in self.copies}
        missing = [file for file, form in copies.items() if form.available and not file.exists()]
        if document.exists() and document.read_text() == self.document() and not missing:
            return path
        shutil.rmtree(path, ignore_errors=True)
        values = full_values(self.values, self.shape)

        def store(cell: Shape) -> None:
            file = path / self.file_of(cell)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.encode(self.chunk_of(values, cell)))

        with ThreadPoolExecutor(cpus()) as pool:
            for _ in pool.map(store, self.cells()):
                pass
        for file, form in copies.items():
            form.build(file, values, self)
        document.write_text(self.document())
        return path


@lru_cache(maxsize=1)
def full_values(make: Callable[[Shape], AnyArray], shape: Shape) -> AnyArray:
    """The content of an array; the last one is kept, since a workload asks for it again."""
    return make(shape)


def pictures(shape: Shape) -> AnyArray:
    """The frames of `zarrix demo`: a landscape that moves, with a trace of sensor noise."""
    # Run as a file: the environment of a peer has no zarrix.
    scene_of = runpy.run_path(str(_SCENE))["Scene"]
    frames, _, height, width = shape
    scene = scene_of(height, width)
    return np.stack([scene.frame(t).rgb for t in range(frames)])


def noise(shape: Shape) -> AnyArray:
    """`np.random.rand`, which the tutorials store and which hardly compresses."""
    return np.random.default_rng(5).random(shape)


def field(shape: Shape) -> AnyArray:
    """A smooth field and a little noise, as measured or simulated: float32."""
    rng = np.random.default_rng(6)
    axes = [np.linspace(0, 9 + 2 * n, size, dtype=np.float32) for n, size in enumerate(shape)]
    smooth = sum(np.sin(a) for a in np.ix_(*axes))
    values = np.empty(shape, np.float32)
    for plane in range(shape[0]):
        values[plane] = 280 + 12 * np.asarray(smooth)[plane]
        values[plane] += rng.standard_normal(shape[1:], np.float32) * np.float32(0.05)
    return values


def counts(shape: Shape) -> AnyArray:
    """What a camera counts: the field in steps, uint16."""
    return (field(shape) * 20).astype(np.uint16)


def cells(shape: Shape) -> AnyArray:
    """Blobs in an empty volume, uint8, as labels and microscopes have it: half of it is 0."""
    smooth = field(shape) - 280
    return np.clip(smooth * 6, 0, 255).astype(np.uint8)


def moments(shape: Shape) -> AnyArray:
    """Seconds with a jitter of some nanoseconds, as a logger takes them."""
    jitter = np.random.default_rng(7).integers(0, 999, shape)
    return (np.arange(shape[0]) * 1_000_000_000 + jitter).view("M8[ns]")


def records(shape: Shape) -> AnyArray:
    """A table: a number, a measurement and a short name in each row."""
    rng = np.random.default_rng(8)
    made = np.empty(shape, "i4,f8,S4")
    made["f0"], made["f1"] = np.arange(shape[0]), rng.random(shape)
    made["f2"] = rng.choice(np.array([b"mean", b"low", b"high", b""]), shape)
    return made


def swapped(shape: Shape) -> AnyArray:
    """The field as float64 of the other byte order, as GRIB and NetCDF 3 files have it."""
    return field(shape).astype(">f8")


_VIDEO: dict[str, Any] = {
    "dtype": "u1",
    "shape": (4, 3, 2160, 3840),
    "chunks": (1, 3, 960, 960),
    "tiny": ((2, 3, 360, 640), (1, 3, 160, 160)),
    "values": pictures,
}

LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("video-zstd", compressor=("zstd", 5, 2), **_VIDEO),
        Layout("video-lz4", compressor=("lz4", 5, 1), **_VIDEO),
        Layout(
            "planes",
            "f8",
            (1000, 1000, 100),
            (1000, 1000, 1),
            ((40, 40, 10), (40, 40, 1)),
            ("lz4", 5, 1),
            noise,
        ),
        Layout(
            "tiles",
            "f4",
            (4096, 4096),
            (64, 64),
            ((256, 256), (64, 64)),
            ("lz4", 5, 1),
            field,
            copies=(".h5", ".b2nd", ".tiledb"),
        ),
        Layout(
            "shards",
            "u2",
            (8192, 8192),
            (64, 64),
            ((256, 256), (32, 32), (128, 128)),
            ("lz4", 5, 1),
            counts,
            shards=(2048, 2048),
        ),
        Layout(
            "volume",
            "u1",
            (512, 512, 512),
            (32, 32, 32),
            ((64, 64, 64), (16, 16, 16), (32, 32, 32)),
            ("zstd", 3),
            cells,
            shards=(128, 128, 128),
        ),
        Layout(
            "datetimes",
            "M8[ns]",
            (10_000_000,),
            (1_000_000,),
            ((1000,), (100,)),
            ("lz4", 5, 1),
            moments,
        ),
        Layout(
            "records",
            "i4,f8,S4",
            (4_000_000,),
            (500_000,),
            ((1000,), (100,)),
            ("lz4", 5, 1),
            records,
        ),
        Layout(
            "big-endian",
            ">f8",
            (2000, 4000),
            (250, 1000),
            ((40, 40), (20, 20)),
            ("lz4", 5, 1),
            swapped,
        ),
        Layout(
            "plain",
            "f4",
            (64, 1024, 1024),
            (1, 1024, 1024),
            ((4, 64, 64), (1, 64, 64)),
            None,
            field,
            copies=(".npy",),
        ),
        Layout(
            "steps",
            "f4",
            (730, 181, 360),
            (1, 181, 360),
            ((20, 9, 12), (1, 9, 12)),
            ("zstd", 5, 1),
            field,
        ),
        Layout(
            "table",
            "f4",
            (100_000, 400),
            (2500, 400),
            ((60, 20), (20, 20)),
            ("lz4", 5, 1),
            field,
        ),
        Layout(
            "many shards",
            "u2",
            (1000, 128, 128),
            (1, 32, 32),
            ((10, 16, 16), (1, 4, 4), (1, 8, 8)),
            ("lz4", 5, 1),
            counts,
            shards=(1, 128, 128),
        ),
    )
}
