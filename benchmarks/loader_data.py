"""The data of `benchmarks.loader`: what is stored for each row, and which windows are read."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarrix as zarr
from zarrix import ml

SEED = 11


class Row(NamedTuple):
    """One row of the table: what is stored, and which windows are read.

    Datasets that are made once are kept in the folder, and used again by the next run. Those that
    row E reads from a server take `storage_options`, too.
    """

    what: str
    batch_size: int
    shuffle: str
    store: str
    make: Callable[[Path], None]
    dataset: Callable[..., Any]


def textured(shape: tuple[int, ...]) -> np.ndarray:
    """Bytes that compress like pictures: smooth, with two bits of noise."""
    random = np.random.default_rng(SEED)
    height, width = shape[-2:]
    smooth = 100 + 60 * np.sin(np.arange(height) / 37)[:, None] * np.cos(np.arange(width) / 53)
    return (smooth + random.integers(0, 4, shape)).astype("u1")


FRAMES = 100


def make_scenes(path: Path) -> None:
    root = zarr.open_group(path, mode="w")
    codecs = {
        "rgb": zarr.Blosc(cname="zstd", clevel=5, shuffle=2),
        "flow": zarr.Blosc(cname="lz4", clevel=5, shuffle=1),
        "depth": zarr.Blosc(cname="lz4", clevel=5, shuffle=1),
    }
    for name, channels, ratio, dtype in (
        ("rgb", 3, 1, "u1"),
        ("flow", 2, 2, "f2"),
        ("depth", 1, 2, "f2"),
    ):
        shape = (FRAMES, channels, 1080 // ratio, 1920 // ratio)
        z = root.create_dataset(
            name, shape=shape, chunks=(1, channels, 360, 640), dtype=dtype, compressor=codecs[name]
        )
        frame = textured(shape[1:])
        for number in range(FRAMES):
            z[number] = np.roll(frame, number, -1)


def scenes(path: Any, per_item: int, **there: Any) -> ml.Crops:
    root = zarr.open_group(path, mode="r", **there)
    return ml.Crops(
        {name: root[name] for name in ("rgb", "flow", "depth")},
        dims="tcyx",
        size={"y": 256, "x": 256},
        per_item=per_item,
    )


def make_video(path: Path) -> None:
    z = zarr.create_array(
        path,
        shape=(4096, 3, 256, 256),
        chunks=(4, 3, 128, 128),
        shards=(256, 3, 256, 256),
        dtype="u1",
        compressors=zarr.codecs.ZstdCodec(level=3),
    )
    shard = textured((256, 3, 256, 256))
    for frame in range(0, 4096, 256):
        z[frame : frame + 256] = np.roll(shard, frame // 256, -1)


def video(path: Path) -> ml.Clips:
    z = zarr.open_array(path, mode="r")
    return ml.Clips({"x": z}, dims="tcyx", frames=16, stride=4, size={"y": 128, "x": 128})


ROWS_OF_IMAGES = 100_000


def make_rows(path: Path, count: int = ROWS_OF_IMAGES) -> None:
    z = zarr.create(
        shape=(count, 3, 64, 64),
        chunks=(64, 3, 64, 64),
        dtype="u1",
        compressor=zarr.Zstd(level=3),
        store=str(path),
    )
    some = textured((2000, 3, 64, 64))
    for begin in range(0, count, 2000):
        # No two rows are equal, so that a wrong one is noticed.
        z[begin : begin + 2000] = some + np.uint8(begin // 2000)


def rows(path: Any, **there: Any) -> ml.Rows:
    return ml.Rows({"x": zarr.open_array(path, mode="r", **there)})


TIMES = 1024
FIELDS = ("t2m", "u10", "v10", "msl")


def make_fields(path: Path, along: int) -> None:
    """Four variables as WeatherBench2 stores them, with chunks of ``along`` times."""
    root = zarr.open_group(path, mode="w", zarr_format=2)
    random = np.random.default_rng(SEED)
    latitude, longitude = np.linspace(-90, 90, 181), np.arange(360.0)
    axes = {"time": np.arange(TIMES), "latitude": latitude, "longitude": longitude}
    for name, values in axes.items():
        z = root.create_dataset(name, data=values, chunks=values.shape)
        z.attrs["_ARRAY_DIMENSIONS"] = [name]
    root["time"].attrs.update(units="hours since 2000-01-01", calendar="proleptic_gregorian")
    field = 280 + 20 * np.cos(np.deg2rad(latitude))[:, None] * np.cos(np.deg2rad(longitude))
    for number, name in enumerate(FIELDS):
        z = root.create_dataset(
            name,
            shape=(TIMES, 181, 360),
            chunks=(along, 181, 360),
            dtype="f4",
            # zarr-beluga refuses values that a reader would take as missing.
            fill_value=None,
            compressor=zarr.Blosc(cname="lz4", clevel=5, shuffle=1),
        )
        z.attrs["_ARRAY_DIMENSIONS"] = list(axes)
        for begin in range(0, TIMES, 64):
            noise = random.integers(-8, 8, (64, 181, 360)) / 16
            z[begin : begin + 64] = (field + number + begin / 64 + noise).astype("f4")
    zarr.consolidate_metadata(str(path))


def fields(path: Any, **there: Any) -> ml.Clips:
    root = zarr.open_group(path, mode="r", **there)
    return ml.Clips(
        {name: root[name] for name in FIELDS}, dims=("time", "latitude", "longitude"), frames=4
    )


SMALL = 1_000_000


def make_small(path: Path) -> None:
    """Rows whose first bytes are their numbers."""
    values = np.zeros((SMALL, 256), "u1")
    values[:, :4] = np.arange(SMALL, dtype="<u4").view("u1").reshape(SMALL, 4)
    np.save(path, values)


def small(path: Path) -> ml.Rows:
    """The rows in memory, in a NumPy array for all loaders."""
    return ml.Rows({"x": np.load(path)})


CELLS, GENES = 50_000, 5000


def make_cells(path: Path) -> None:
    """Counts of single cells as anndata stores them: one gene in 25 of a cell is not 0."""
    random = np.random.default_rng(SEED)
    lengths = random.integers(100, 300, CELLS)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    group = zarr.open_group(path, mode="w", zarr_format=3)
    total = int(indptr[-1])
    layout: Any = {"chunks": (2**15,), "compressors": zarr.codecs.ZstdCodec()}
    data = group.create_array("data", shape=(total,), dtype="f4", **layout)
    indices = group.create_array("indices", shape=(total,), dtype="i4", **layout)
    for begin in range(0, CELLS, 5000):
        some = lengths[begin : begin + 5000]
        part = slice(int(indptr[begin]), int(indptr[begin + len(some)]))
        genes = [np.sort(random.permutation(GENES)[:count]) for count in some]
        indices[part] = np.concatenate(genes).astype("i4")
        data[part] = random.geometric(0.4, part.stop - part.start).astype("f4")
    group.create_array("indptr", data=indptr, chunks=(len(indptr),))
    group.attrs.update(
        {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [CELLS, GENES]}
    )


def cells(path: Path) -> ml.Rows:
    return ml.Rows({"x": ml.CSR(zarr.open_group(path, mode="r"))})


PICTURES, SIDE, CROP = 64, 960, 256


def photograph(number: int) -> np.ndarray:
    """Waves with noise, which JPEG makes about as small as a photograph."""
    random = np.random.default_rng(number)
    y, x = np.mgrid[:SIDE, :SIDE]
    waves = [np.sin(x / (31 + 3 * k) + number) * np.cos(y / (47 - 5 * k)) for k in range(3)]
    pixels = 127 + 90 * np.stack(waves, -1) + random.normal(0, 6, (SIDE, SIDE, 1))
    return pixels.clip(0, 255).astype("u1")


def files_of(path: Path) -> Path:
    """Where the pictures of an array lie as files."""
    return path.with_suffix(".files")


def make_pictures(path: Path, is_kept: bool) -> None:
    """An array of JPEG chunks, and the same streams as files.

    They are what zarrix writes, or files of Pillow that are kept as chunks.
    """
    image = importlib.import_module("PIL.Image")
    files_of(path).mkdir(exist_ok=True)
    z = zarr.create_array(
        path,
        shape=(PICTURES, SIDE, SIDE, 3),
        chunks=(1, SIDE, SIDE, 3),
        dtype="u1",
        serializer=zarr.codecs.JpegCodec(),
        compressors=None,
        overwrite=True,
    )
    for number in range(PICTURES):
        key, file = f"c/{number}/0/0/0", files_of(path) / f"{number:05}.jpg"
        if is_kept:
            image.fromarray(photograph(number)).save(file, quality=90)
            z.store[key] = file.read_bytes()
        else:
            z[number] = photograph(number)
            file.write_bytes(z.store[key])


def pictures(path: Path) -> ml.Crops:
    z = zarr.open_array(path, mode="r")
    return ml.Crops({"x": z}, dims="tyxc", size={"y": CROP, "x": CROP}, per_item=4)


def close_clips(path: Path) -> ml.Clips:
    """Clips of which each frame is in eight."""
    z = zarr.open_array(path, mode="r")
    return ml.Clips({"x": z}, dims="tcyx", frames=16, stride=2, size={"y": 128, "x": 128})


def make_volume(path: Path) -> None:
    z = zarr.create_array(
        path,
        shape=(384, 384, 384),
        chunks=(32, 32, 32),
        shards=(128, 128, 128),
        dtype="u2",
        compressors=zarr.codecs.ZstdCodec(level=3),
    )
    plane = textured((384, 384)).astype("u2")
    for begin in range(0, 384, 128):
        z[begin : begin + 128] = (
            plane * 3 + np.arange(begin, begin + 128, dtype="u2")[:, None, None]
        )


def patches(path: Path) -> ml.Crops:
    z = zarr.open_array(path, mode="r")
    return ml.Crops({"x": z}, dims="zyx", size={"z": 64, "y": 64, "x": 64}, per_item=400)


def make_vectors(path: Path) -> None:
    """Rows of 4 KB, which are read at random from chunks of 1 MB."""
    z = zarr.create(
        shape=(100_000, 1024),
        chunks=(256, 1024),
        dtype="f4",
        compressor=zarr.Zstd(level=3),
        store=str(path),
    )
    some = np.round(np.random.default_rng(SEED).standard_normal((2000, 1024)), 1).astype("f4")
    for begin in range(0, 100_000, 2000):
        z[begin : begin + 2000] = some + np.float32(begin)


def make_audio(path: Path) -> None:
    """An hour of 16 kHz, in chunks of 8 seconds."""
    z = zarr.create(
        shape=(57_600_000,),
        chunks=(128_000,),
        dtype="i2",
        compressor=zarr.Blosc(cname="zstd", clevel=3, shuffle=1),
        store=str(path),
    )
    random = np.random.default_rng(SEED)
    for begin in range(0, 57_600_000, 5_760_000):
        time = np.arange(begin, begin + 5_760_000)
        tone = 8000 * np.sin(time / 37) * np.sin(time / 9001)
        z[begin : begin + 5_760_000] = (tone + random.normal(0, 30, len(time))).astype("i2")


def audio(path: Path) -> ml.Clips:
    z = zarr.open_array(path, mode="r")
    return ml.Clips({"x": z}, dims="t", time="t", frames=16_000, stride=4_000)


ROWS = {
    "A": Row(
        "crops of three fields, full",
        16,
        "full",
        "scenes.zarr",
        make_scenes,
        lambda path: scenes(path, 4),
    ),
    "A'": Row(
        "eight crops a frame, block",
        16,
        "block",
        "scenes.zarr",
        make_scenes,
        lambda path, **there: scenes(path, 8, **there),
    ),
    "B": Row("clips of 16 frames, sharded", 8, "full", "video.zarr", make_video, video),
    "B+": Row("clips that overlap by 14 frames", 8, "full", "video.zarr", make_video, close_clips),
    "V": Row("64^3 patches from shards, full", 4, "full", "volume.zarr", make_volume, patches),
    "K": Row("rows of 4 KB, full", 64, "full", "vectors.zarr", make_vectors, rows),
    "W": Row("windows of 16,000 samples, full", 32, "full", "audio.zarr", make_audio, audio),
    "C": Row("rows of 12 KB, block", 256, "block", "rows.zarr", make_rows, rows),
    "D1": Row(
        "4 steps of 4 fields, one a chunk",
        8,
        "full",
        "fields1.zarr",
        lambda path: make_fields(path, 1),
        fields,
    ),
    "D8": Row(
        "4 steps of 4 fields, 8 a chunk",
        8,
        "block",
        "fields8.zarr",
        lambda path: make_fields(path, 8),
        fields,
    ),
    "G": Row("sparse rows of 5000 genes, block", 256, "block", "cells.zarr", make_cells, cells),
    "H": Row(
        "crops of JPEG pictures, full",
        32,
        "full",
        "pictures.zarr",
        lambda path: make_pictures(path, is_kept=False),
        pictures,
    ),
    "H'": Row(
        "crops of JPEG files kept as chunks, full",
        32,
        "full",
        "kept.zarr",
        lambda path: make_pictures(path, is_kept=True),
        pictures,
    ),
    "F": Row("rows of 256 bytes in memory, block", 256, "block", "small.npy", make_small, small),
}


# The rows of the quick form.
QUICK = ("A", "B+", "V", "K", "W")


def made(name: str, folder: Path) -> Path:
    """Where the data of a row lie; it is made now unless it is there."""
    path, done = folder / ROWS[name].store, folder / f"{ROWS[name].store}.made"
    if not done.exists():
        ROWS[name].make(path)
        done.touch()
    return path
