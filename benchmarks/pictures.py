"""Random crops of JPEG pictures, in batches: ``python -m benchmarks.pictures``.

zarrix reads crops from JPEG chunks by `read_windows`. The peers decode a JPEG file for each sample
and crop it: torchvision, simplejpeg and Pillow in a loop over files, WebDataset from a tar of the
same files, LitData from its own copy of them. Peers run in a process of the Python of ``--peers``,
and one that is not installed there is left out. All have one process without workers: zarrix uses
its threads, and a peer one, so the output has the crops of a second of processor time, too.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIDE, CROP, BATCH = 960, 256, 32
PEERS = ("torchvision", "simplejpeg", "pillow", "webdataset", "litdata")
Batch = Callable[[int], Any]


def frame(number: int) -> Any:
    """Waves with noise, which JPEG makes about as small as a photograph."""
    rng = np.random.default_rng(number)
    y, x = np.mgrid[:SIDE, :SIDE]
    waves = [np.sin(x / (31 + 3 * k) + number) * np.cos(y / (47 - 5 * k)) for k in range(3)]
    pixels = 127 + 90 * np.stack(waves, -1) + rng.normal(0, 6, (SIDE, SIDE, 1))
    return pixels.clip(0, 255).astype("u1")


def crops(seed: int, count: int) -> Any:
    """Picture, top and left of a batch."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, n, BATCH) for n in (count, SIDE - CROP, SIDE - CROP)], -1)


def make(folder: Path, count: int) -> None:
    """An array of JPEG chunks, and the same pictures as files and in a tar."""
    import zarrix as zarr
    from PIL import Image

    z = zarr.create_array(
        folder / "frames.zarr", shape=(count, SIDE, SIDE, 3), chunks=(1, SIDE, SIDE, 3),
        dtype="u1", compressors="jpeg:90",
    )  # fmt: skip
    (folder / "files").mkdir()
    for number in range(count):
        pixels = frame(number)
        z[number] = pixels
        Image.fromarray(pixels).save(folder / "files" / f"{number:05}.jpg", quality=90)


def ours(folder: Path, count: int) -> Batch:
    """Windows of an array."""
    import zarrix as zarr

    z = zarr.open_array(folder / "frames.zarr", mode="r")

    def windows(turn: int) -> Any:
        at = np.concatenate([crops(turn, count), np.zeros((BATCH, 1), int)], 1)
        return z.read_windows(at, (1, CROP, CROP, 3))

    return windows


def theirs(name: str, folder: Path, count: int) -> Batch:
    """One peer."""
    paths = sorted(str(one) for one in (folder / "files").iterdir())

    def looped(decode: Callable[[bytes], Any]) -> Batch:
        def batch(turn: int) -> Any:
            found = []
            for number, top, left in crops(turn, count):
                pixels = decode(Path(paths[number]).read_bytes())
                found.append(pixels[top : top + CROP, left : left + CROP])
            return np.stack(found)

        return batch

    if name == "simplejpeg":
        return looped(importlib.import_module(name).decode_jpeg)
    if name == "pillow":
        image = importlib.import_module("PIL.Image")
        return looped(lambda data: np.asarray(image.open(io.BytesIO(data))))
    if name == "torchvision":
        torch, vision = importlib.import_module("torch"), importlib.import_module("torchvision.io")

        def decode(data: bytes) -> Any:
            encoded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
            return vision.decode_jpeg(encoded).numpy().transpose(1, 2, 0)

        return looped(decode)
    return streamed(name, folder, paths)


def streamed(name: str, folder: Path, paths: list[str]) -> Batch:
    """WebDataset and LitData, in an order of their own; both decode by simplejpeg."""
    decode = importlib.import_module("simplejpeg").decode_jpeg
    rng = np.random.default_rng(0)

    def cut(data: bytes) -> Any:
        top, left = rng.integers(0, SIDE - CROP, 2)
        return decode(data)[top : top + CROP, left : left + CROP]

    if name == "webdataset":
        web = importlib.import_module("webdataset")
        tar = folder / "files.tar"
        with web.TarWriter(str(tar)) as writer:
            for path in paths:
                writer.write({"__key__": Path(path).stem, "jpg": Path(path).read_bytes()})

        def samples() -> Any:
            while True:
                for one in web.WebDataset(str(tar), shardshuffle=False).shuffle(100):
                    yield one["jpg"]
    else:
        litdata = importlib.import_module("litdata")
        copy = folder / "lit"
        litdata.optimize(
            fn=raw, inputs=paths, output_dir=str(copy), chunk_bytes="64MB", num_workers=1
        )

        def samples() -> Any:
            while True:
                yield from (one["jpg"] for one in litdata.StreamingDataset(str(copy), shuffle=True))

    source = samples()
    return lambda turn: np.stack([cut(next(source)) for _ in range(BATCH)])


def raw(path: str) -> dict[str, bytes]:
    """A sample of LitData."""
    return {"jpg": Path(path).read_bytes()}


def rate(batch: Batch, seconds: float) -> tuple[float, float]:
    """Crops a second, and a second of processor time: medians of three rounds, after one batch that
    is not timed.
    """
    batch(0)
    found = []
    for turn in range(3):
        begun, spent, done = time.perf_counter(), time.process_time(), 0
        while time.perf_counter() - begun < seconds:
            assert batch(1 + turn + 3 * done).shape[-3:] == (CROP, CROP, 3)
            done += BATCH
        found.append((done / (time.perf_counter() - begun), done / (time.process_time() - spent)))
    by_clock, by_cpu = zip(*found, strict=True)
    return statistics.median(by_clock), statistics.median(by_cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--pictures", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    if options.child:
        name, folder = options.child
        batch = theirs(name, Path(folder), options.pictures)
        print(json.dumps(rate(batch, options.seconds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.pictures)
        found = {"zarrix": rate(ours(Path(folder), options.pictures), options.seconds)}
        for name in PEERS:
            command = [
                *(options.peers, __file__, "--child", name, folder),
                *("--pictures", str(options.pictures), "--seconds", str(options.seconds)),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name}: left out: {done.stderr.strip().splitlines()[-1]}")
                continue
            found[name] = json.loads(done.stdout.splitlines()[-1])
    peers = [value for name, value in found.items() if name != "zarrix"]
    best = [max(each) for each in zip(*peers, strict=True)] or [math.nan, math.nan]
    for name, values in found.items():
        clock, cpu = (f"{v:8,.0f} ({v / b:5.2f}x)" for v, b in zip(values, best, strict=True))
        print(f"{name:<12} crops/s {clock}  per second of CPU {cpu}  (of the best peer)")


if __name__ == "__main__":
    main()
