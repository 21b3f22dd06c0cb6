"""The rows of the table."""

from __future__ import annotations

import numpy as np

from benchmarks.keys import boxes, chunks, crops, elements, everything, indices, lines, points, rows
from benchmarks.workloads import (
    Import,
    Open,
    OpenGroup,
    Read,
    Select,
    Text,
    Windows,
    Workload,
    Write,
)

PYTHON3 = ("zarr-python", "zarr-python fused")
PYTHON = (*PYTHON3, "zarr-python 2")
"""Those with the data types and groups of zarr-python."""

FORMAT3 = (*PYTHON3, "zarrs", "zarrista", "TensorStore")
"""Those who read v3."""

SELECTING = (*PYTHON, "zarrs", "TensorStore")
"""Those with `vindex` and `oindex`."""

OTHERS = ("h5py", "b2nd", "TileDB")
"""Those who read a format of their own."""

_TABLE: tuple[Workload, ...] = (
    Read("video zstd bitshuffle: crop 960", 1.2, 1.8, layout="video-zstd", keys=crops(960)),
    Read("video zstd bitshuffle: crop 256", None, 2.5, layout="video-zstd", keys=crops(256)),
    Read("video lz4 shuffle: crop 960", None, 1.5, layout="video-lz4", keys=crops(960)),
    Read("video lz4 shuffle: crop 256", None, 2.5, layout="video-lz4", keys=crops(256)),
    Windows(
        "video zstd bitshuffle: 32 crops 256 at once",
        None,
        4,
        layout="video-zstd",
        keys=boxes((1, None, 256, 256), 32),
    ),
    Windows(
        "video lz4 shuffle: 32 crops 256 at once",
        None,
        4,
        layout="video-lz4",
        keys=boxes((1, None, 256, 256), 32),
    ),
    Read("planes: all", None, 3, layout="planes", keys=everything),
    Read("planes: [:, :, k]", None, 1.8, layout="planes", keys=indices(2, 8)),
    Read("planes: [k]", None, 6, layout="planes", keys=indices(0, 1)),
    Write("planes: write", None, 1.5, layout="planes"),
    Write("planes: write [:, :, k]", None, None, layout="planes", key=np.s_[:, :, 3:4]),
    Read("tiles: all 4096", 1.5, 2.5, layout="tiles", keys=everything),
    Read("tiles: box 256", None, 2, layout="tiles", keys=boxes((256, 256), 16), bulk=False),
    Read("tiles: one chunk", 3, 5, layout="tiles", keys=chunks(64), bulk=False),
    Read("tiles: one element", None, 5, layout="tiles", keys=elements(64), bulk=False),
    Select(
        "tiles: vindex", None, 1.8, SELECTING, layout="tiles", keys=points(20_000), rule="points"
    ),
    Select("tiles: oindex", None, 1.8, SELECTING, layout="tiles", keys=rows(500), rule="outer"),
    Write("tiles: write", None, 1.1, layout="tiles"),
    Read("tiles: all, own formats", None, 1, OTHERS, layout="tiles", keys=everything, bulk=False),
    Read(
        "tiles: one chunk, own formats",
        None,
        1,
        OTHERS,
        layout="tiles",
        keys=chunks(64),
        bulk=False,
    ),
    Read("shards: all", None, 2, FORMAT3, layout="shards", keys=everything),
    Read(
        "shards: box 128", None, 8, FORMAT3, layout="shards", keys=boxes((128, 128), 32), bulk=False
    ),
    Write("shards: write", None, 1.5, FORMAT3, layout="shards"),
    Write("shards: write one", None, None, FORMAT3, layout="shards", key=np.s_[:2048, :2048]),
    Read("volume: all", None, 1.3, FORMAT3, layout="volume", keys=everything),
    Read(
        "volume: box 64",
        None,
        3,
        FORMAT3,
        layout="volume",
        keys=boxes((64, 64, 64), 16),
        bulk=False,
    ),
    Read(
        "plain: all, against numpy.load",
        None,
        0.9,
        ("numpy.load",),
        layout="plain",
        keys=everything,
        bulk=False,
    ),
    Read(
        "plain: window, against memmap",
        None,
        0.5,
        ("numpy memmap",),
        layout="plain",
        keys=boxes((1, 256, 256), 32),
        bulk=False,
    ),
    Text("strings: all", None, 2, PYTHON3),
    Read("datetimes: all", None, 3, PYTHON, layout="datetimes", keys=everything),
    Read("records: all", None, 3, PYTHON, layout="records", keys=everything),
    Read("big-endian: all", None, 3, PYTHON, layout="big-endian", keys=everything),
    OpenGroup("open a group of 200 and list it", None, 3, PYTHON, count=200),
    Open("open an array", None, 2, layout="tiles"),
    Import("import of open, beyond numpy", peers=("zarr-python", "TensorStore"), limit_s=0.040),
)

_SERIES: tuple[Workload, ...] = (
    Read("steps: series at a point", 1.5, 2, layout="steps", keys=lines(0, 4), bulk=False),
    Read(
        "steps: series of 8 x 8",
        1.5,
        2,
        layout="steps",
        keys=boxes((None, 8, 8), 2),
        bulk=False,
    ),
    Select("steps: points", 1.5, 2, SELECTING, layout="steps", keys=points(2000), rule="points"),
    Read("table: one column of 400", 1.5, 2, layout="table", keys=indices(1, 4), bulk=False),
    Read(
        "many shards: one element of each of 1000",
        1.5,
        2,
        FORMAT3,
        layout="many shards",
        keys=lines(0, 4),
        bulk=False,
    ),
)
"""A result of some kilobytes, for which many chunks have to be decoded."""


def _odd(
    name: str, box: tuple[int, ...], peers: tuple[str, ...] = Workload.peers
) -> list[Workload]:
    """The rows of an array of odd size: all of it, boxes, and writing all of it."""
    return [
        Read(f"{name}: all", 1.3, 2, peers, layout=name, keys=everything, bulk=False),
        Read(f"{name}: box", 1.3, 2, peers, layout=name, keys=boxes(box, 8), bulk=False),
        Write(f"{name}: write", 1.3, None, peers, layout=name),
    ]


_ODD: tuple[Workload, ...] = (
    *_odd("odd video", (1, 3, 301, 299)),
    *_odd("odd planes", (1001, 301, 3)),
    *_odd("odd tiles", (257, 511)),
    *_odd("odd shards", (129, 131), FORMAT3),
    *_odd("odd volume", (63, 65, 67), FORMAT3),
    *_odd("odd datetimes", (500_001,), PYTHON),
    *_odd("odd records", (300_001,), PYTHON),
    *_odd("odd big-endian", (301, 999)),
    *_odd("odd 3 bytes", (999_999,), PYTHON),
    *_odd("odd 10 bytes", (301, 299), PYTHON),
    *_odd("odd long axis", (999_999,)),
    *_odd("odd five axes", (3, 3, 11, 51, 61)),
)

WORKLOADS = (*_TABLE, *_SERIES, *_ODD)


def row_named(name: str) -> Workload:
    """The row of that name."""
    return next(row for row in WORKLOADS if row.name == name)
