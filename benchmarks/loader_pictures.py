"""Random crops of JPEG pictures, for row H of `benchmarks.loader`.

zarrix reads crops from JPEG chunks. The peers have the same streams as files: torchvision,
simplejpeg and Pillow read the file of a sample, decode it and cut the crop out, in the DataLoader
of torch; all have the windows of zarrix, and its values. WebDataset reads a tar of these files and
LitData a copy of its own, both in an order and at places of their own, and both decode by
simplejpeg. In row H' the files are as cameras write them, kept as chunks: without restart markers,
so that a crop is not decoded from the row where it begins.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks.loader_data import CROP, Row, files_of
from benchmarks.loader_zarr import of_zarrix, with_data_loader

Decode = Callable[[bytes], Any]


def by_simplejpeg() -> Decode:
    decode: Decode = importlib.import_module("simplejpeg").decode_jpeg
    return decode


def by_pillow() -> Decode:
    image = importlib.import_module("PIL.Image")
    return lambda data: np.asarray(image.open(io.BytesIO(data)))


def by_torchvision() -> Decode:
    torch, vision = importlib.import_module("torch"), importlib.import_module("torchvision.io")

    def decode(data: bytes) -> Any:
        encoded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        return vision.decode_jpeg(encoded).permute(1, 2, 0).numpy()

    return decode


class Files:
    """The pictures of an array as files, decoded whole for each key."""

    def __init__(self, maker: Callable[[], Decode], path: str) -> None:
        self.folder, self.decode = files_of(Path(path)), maker()

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        pixels = self.decode((self.folder / f"{key[0].start:05}.jpg").read_bytes())
        return pixels[key[1], key[2]]


def cut(decode: Decode, data: bytes, item: int, rng: np.random.Generator) -> dict[str, Any]:
    """A crop at a random place."""
    pixels = decode(data)
    top, left = (int(rng.integers(0, length - CROP + 1)) for length in pixels.shape[:2])
    return {
        "x": pixels[top : top + CROP, left : left + CROP],
        "item": item,
        "start": np.array([item, top, left, 0]),
    }


def of_webdataset(row: Row, path: Path, workers: int) -> Iterator[Any]:
    web = importlib.import_module("webdataset")
    data = importlib.import_module("torch.utils.data")
    tar = path.with_suffix(".tar")
    if not tar.exists():
        tar.mkdir()
        # A shard for each worker.
        paths = sorted(files_of(path).iterdir())
        for shard in range(2):
            with web.TarWriter(str(tar / f"{shard}.tar")) as writer:
                for one in paths[shard::2]:
                    writer.write({"__key__": one.stem, "jpg": one.read_bytes()})
    urls = sorted(str(one) for one in tar.iterdir())
    decode, rng = by_simplejpeg(), np.random.default_rng(0)

    def cropped(sample: Any) -> Any:
        return cut(decode, sample["jpg"], int(sample["__key__"]), rng)

    yield None
    while True:
        dataset = web.WebDataset(urls, shardshuffle=100, empty_check=False).shuffle(100)
        yield from data.DataLoader(
            dataset.map(cropped), batch_size=row.batch_size, num_workers=workers
        )


def encoded(path: str) -> dict[str, Any]:
    """A sample of LitData, whose writer imports this function."""
    return {"jpg": Path(path).read_bytes(), "item": int(Path(path).stem)}


def of_litdata(row: Row, path: Path, workers: int) -> Iterator[Any]:
    litdata = importlib.import_module("litdata")
    copy = path.with_suffix(".lit")
    if not copy.exists():
        with contextlib.redirect_stdout(io.StringIO()):
            litdata.optimize(
                fn=encoded,
                inputs=sorted(str(one) for one in files_of(path).iterdir()),
                output_dir=str(copy),
                chunk_bytes="64MB",
                num_workers=1,
            )
    decode, rng = by_simplejpeg(), np.random.default_rng(0)

    def cropped(sample: Any) -> Any:
        return cut(decode, sample["jpg"], sample["item"], rng)

    yield None
    while True:
        dataset = litdata.StreamingDataset(str(copy), shuffle=True, seed=1, transform=cropped)
        yield from litdata.StreamingDataLoader(
            dataset, batch_size=row.batch_size, num_workers=workers
        )


SWEPT = (0, 1, 2)
OWN_ORDER: dict[str, tuple[Any, tuple[int, ...]]] = {
    "webdataset": (of_webdataset, SWEPT),
    "litdata": (of_litdata, SWEPT),
}
CONTENDERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "zarrix": (of_zarrix, (0,)),
    "torchvision": (with_data_loader(partial(Files, by_torchvision), "spawn"), SWEPT),
    "simplejpeg": (with_data_loader(partial(Files, by_simplejpeg), "spawn"), SWEPT),
    "Pillow": (with_data_loader(partial(Files, by_pillow), "spawn"), SWEPT),
    **OWN_ORDER,
}


def check(path: Path, batch: Any) -> None:
    """Compare a batch with the windows that it names."""
    starts = np.asarray(batch["start"]).reshape(-1, 4)
    wanted = zarr.open_array(path, mode="r").read_windows(starts, (1, CROP, CROP, 3))
    if not np.array_equal(np.asarray(batch["x"]), wanted[:, 0]):
        raise SystemExit("a batch differs from the array")
