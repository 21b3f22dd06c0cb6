"""The stored arrays, written once by numpy and numcodecs alone.

No contender writes what the others read: the files hold what the reference codecs make with their
own block sizes, as files in the world do. An array counts as built when its `.zarray` is there,
which is written last.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import AnyArray

Shape = tuple[int, ...]


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Layout:
    """One array: its shape and chunks at full size, and tiny for a test of the harness."""

    name: str
    dtype: str
    shape: Shape
    chunks: Shape
    tiny: tuple[Shape, Shape]
    compressor: tuple[str, int, int] | None
    values: Callable[[Shape], AnyArray]
    npy: bool = False

    def sized(self, tiny: bool) -> Layout:
        """The same array, at its tiny size if asked."""
        if not tiny:
            return self
        shape, chunks = self.tiny
        return Layout(
            self.name, self.dtype, shape, chunks, self.tiny, self.compressor, self.values, self.npy
        )

    def codec(self) -> Any:
        """The numcodecs object; None stores the bytes as they are."""
        if self.compressor is None:
            return None
        import numcodecs

        cname, level, shuffle = self.compressor
        return numcodecs.Blosc(cname=cname, clevel=level, shuffle=shuffle)

    def document(self) -> str:
        """The text of `.zarray`."""
        codec = self.codec()
        return json.dumps(
            {
                "chunks": self.chunks,
                "compressor": None if codec is None else codec.get_config(),
                "dtype": np.dtype(self.dtype).str,
                "fill_value": 0,
                "filters": None,
                "order": "C",
                "shape": self.shape,
                "zarr_format": 2,
            },
            indent=4,
        )

    def cells(self) -> Iterator[Shape]:
        """The coordinates of every chunk."""
        counts = (-(-n // c) for n, c in zip(self.shape, self.chunks, strict=True))
        return itertools.product(*(range(n) for n in counts))

    def chunk_of(self, values: AnyArray, cell: Shape) -> AnyArray:
        """One chunk of ``values``, C-contiguous; what lies outside the array is 0."""
        region = tuple(slice(i * c, (i + 1) * c) for i, c in zip(cell, self.chunks, strict=True))
        part = np.ascontiguousarray(values[region])
        if part.shape == self.chunks:
            return part
        whole = np.zeros(self.chunks, self.dtype)
        whole[tuple(slice(n) for n in part.shape)] = part
        return whole

    def make_empty(self, path: Path) -> None:
        """An array without chunks at ``path``, which must not exist."""
        path.mkdir(parents=True)
        (path / ".zarray").write_text(self.document())

    def build(self, folder: Path) -> Path:
        """The stored array in ``folder``, written now unless it is there already."""
        path = folder / f"{self.name}.zarr"
        document = path / ".zarray"
        if document.exists() and document.read_text() == self.document():
            return path
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        values = full_values(self.values, self.shape)
        codec = self.codec()

        def store(cell: Shape) -> None:
            raw = self.chunk_of(values, cell)
            encoded = raw.data if codec is None else codec.encode(raw)
            (path / ".".join(map(str, cell))).write_bytes(encoded)

        with ThreadPoolExecutor(cpus()) as pool:
            for _ in pool.map(store, self.cells()):
                pass
        if self.npy:
            np.save(path.with_suffix(".npy"), values)
        document.write_text(self.document())
        return path


@lru_cache(maxsize=1)
def full_values(make: Callable[[Shape], AnyArray], shape: Shape) -> AnyArray:
    """The content of an array; the last one is kept, since a workload asks for it again."""
    return make(shape)


def pictures(shape: Shape) -> AnyArray:
    """The frames of `zarrix demo`: a landscape that moves, with a trace of sensor noise."""
    from zarrix.cli._scene import Scene

    frames, _, height, width = shape
    scene = Scene(height, width)
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
        ),
        Layout(
            "plain",
            "f4",
            (64, 1024, 1024),
            (1, 1024, 1024),
            ((4, 64, 64), (1, 64, 64)),
            None,
            field,
            npy=True,
        ),
    )
}
