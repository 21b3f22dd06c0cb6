"""Rows of images in the formats of other loaders, for row C of `benchmarks.loader`.

Each peer gets a copy of the same rows in its own format, without compression, which favours it, and
the label ``item``, by which the first batch is compared with the array. Their orders are their own:
mosaicml-streaming ``py1e``, LitData's chunks, WebDataset's shards and a buffer of 5000 samples.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

SHAPE = (3, 64, 64)
# So that a shard has about as many bytes as the peers recommend.
SHARD = 5000


def array_of(folder: Path) -> Any:
    return zarr.open_array(folder / "rows.zarr", mode="r")


def made(folder: Path, name: str) -> tuple[Path, bool]:
    """Where a peer's copy lies, and whether it has to be written."""
    path = folder / name
    return path, not path.exists()


def of_mosaic(folder: Path, batch_size: int, workers: int) -> Iterator[Any]:
    streaming = importlib.import_module("streaming")
    data = importlib.import_module("torch.utils.data")
    path, is_new = made(folder, "rows.mds")
    if is_new:
        columns = {"x": f"ndarray:uint8:{','.join(map(str, SHAPE))}", "item": "int"}
        rows = array_of(folder)[:]
        with streaming.MDSWriter(out=str(path), columns=columns) as writer:
            for item, row in enumerate(rows):
                writer.write({"x": row, "item": item})
    dataset = streaming.StreamingDataset(
        local=str(path), shuffle=True, shuffle_seed=1, batch_size=batch_size
    )
    while True:
        yield from data.DataLoader(dataset, batch_size=batch_size, num_workers=workers)


def of_webdataset(folder: Path, batch_size: int, workers: int) -> Iterator[Any]:
    web = importlib.import_module("webdataset")
    data = importlib.import_module("torch.utils.data")
    path, is_new = made(folder, "rows.tar")
    if is_new:
        path.mkdir()
        rows = array_of(folder)[:]
        for begin in range(0, len(rows), SHARD):
            with web.TarWriter(str(path / f"{begin:06}.tar")) as writer:
                for item in range(begin, min(begin + SHARD, len(rows))):
                    writer.write({"__key__": f"{item:06}", "x": rows[item].tobytes()})
    urls = sorted(str(one) for one in path.glob("*.tar"))

    def parsed(sample: Any) -> Any:
        return {
            "x": np.frombuffer(sample["x"], np.uint8).reshape(SHAPE),
            "item": int(sample["__key__"]),
        }

    while True:
        dataset = web.WebDataset(urls, shardshuffle=100, empty_check=False).shuffle(5000)
        dataset = dataset.map(parsed)
        yield from data.DataLoader(dataset, batch_size=batch_size, num_workers=workers)


def row_of(number: int) -> dict[str, Any]:
    """One sample for LitData's writer, whose processes import it."""
    rows = array_of(Path(os.environ["ROWS_FOLDER"]))
    return {"x": rows[number], "item": number}


def of_litdata(folder: Path, batch_size: int, workers: int) -> Iterator[Any]:
    litdata = importlib.import_module("litdata")
    path, is_new = made(folder, "rows.lit")
    if is_new:
        os.environ["ROWS_FOLDER"] = str(folder)
        with contextlib.redirect_stdout(io.StringIO()):
            litdata.optimize(
                fn=row_of,
                inputs=list(range(len(array_of(folder)))),
                output_dir=str(path),
                chunk_bytes="64MB",
                num_workers=1,
            )
    while True:
        dataset = litdata.StreamingDataset(str(path), shuffle=True, seed=1)
        yield from litdata.StreamingDataLoader(dataset, batch_size=batch_size, num_workers=workers)


PEERS = {"mosaicml-streaming": of_mosaic, "webdataset": of_webdataset, "litdata": of_litdata}


def check(folder: Path, batch: Any) -> None:
    """Compare a batch with the rows of the array that it names."""
    items = np.asarray(batch["item"])
    rows = array_of(folder).oindex[np.sort(items)][np.argsort(np.argsort(items))]
    if not np.array_equal(np.asarray(batch["x"]), rows):
        raise SystemExit("a batch differs from the array")
