"""Rows of images in the formats of other loaders, for row C of `benchmarks.loader`.

Each peer gets a copy of the same rows in its own format, and the label ``item``, by which the first
batch is compared with the array. MDS and tar files are not compressed, which favours them; LitData
has two copies, without compression and with zstd, as the array. Their orders are their own:
mosaicml-streaming ``py1e``, LitData's chunks, WebDataset's shards and a buffer of 5000 samples,
annbatch chunks of 64 rows of which 64 are preloaded, scDataset blocks of 64 rows of which 16
batches are fetched at once.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks.loader_data import Row

SHAPE = (3, 64, 64)
# So that a shard has about as many bytes as the peers recommend.
SHARD = 5000


def array_of(path: Path) -> Any:
    return zarr.open_array(path, mode="r")


def made(array: Path, name: str) -> tuple[Path, bool]:
    """Where a peer's copy of an array lies, and whether it has to be written."""
    path = array.parent / name
    return path, not path.exists()


def of_mosaic(row: Row, array: Path, workers: int) -> Iterator[Any]:
    streaming = importlib.import_module("streaming")
    data = importlib.import_module("torch.utils.data")
    path, is_new = made(array, "rows.mds")
    if is_new:
        columns = {"x": f"ndarray:uint8:{','.join(map(str, SHAPE))}", "item": "int"}
        with streaming.MDSWriter(out=str(path), columns=columns) as writer:
            for item, values in enumerate(array_of(array)[:]):
                writer.write({"x": values, "item": item})
    dataset = streaming.StreamingDataset(
        local=str(path), shuffle=True, shuffle_seed=1, batch_size=row.batch_size
    )
    yield None
    while True:
        yield from data.DataLoader(dataset, batch_size=row.batch_size, num_workers=workers)


def of_webdataset(row: Row, array: Path, workers: int) -> Iterator[Any]:
    web = importlib.import_module("webdataset")
    data = importlib.import_module("torch.utils.data")
    path, is_new = made(array, "rows.tar")
    if is_new:
        path.mkdir()
        rows = array_of(array)[:]
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

    yield None
    while True:
        dataset = web.WebDataset(urls, shardshuffle=100, empty_check=False).shuffle(5000)
        dataset = dataset.map(parsed)
        yield from data.DataLoader(dataset, batch_size=row.batch_size, num_workers=workers)


def rows_from(begin: int) -> Iterator[dict[str, Any]]:
    """Some samples for LitData's writer, whose processes import it."""
    for item, values in enumerate(array_of(Path(os.environ["ROWS_ARRAY"]))[begin : begin + 1000]):
        yield {"x": values, "item": begin + item}


def litdata_copy(array: Path, compression: str | None) -> Path:
    """LitData's own copy of an array."""
    path, is_new = made(array, f"rows.lit.{compression}")
    if is_new:
        litdata = importlib.import_module("litdata")
        os.environ["ROWS_ARRAY"] = str(array)
        with contextlib.redirect_stdout(io.StringIO()):
            litdata.optimize(
                fn=rows_from,
                inputs=list(range(0, len(array_of(array)), 1000)),
                output_dir=str(path),
                chunk_bytes="64MB",
                num_workers=1,
                compression=compression,
            )
    return path


def of_litdata(
    row: Row,
    array: Path,
    workers: int,
    compression: str | None = None,
    url: str = "",
    **options: Any,
) -> Iterator[Any]:
    litdata = importlib.import_module("litdata")
    path = litdata_copy(array, compression)
    place = f"{url}/{path.name}" if url else str(path)
    yield None
    while True:
        dataset = litdata.StreamingDataset(place, shuffle=True, seed=1, **options)
        yield from litdata.StreamingDataLoader(
            dataset, batch_size=row.batch_size, num_workers=workers
        )


def of_annbatch(row: Row, array: Path, workers: int) -> Iterator[Any]:
    """It reads matrices, so it gets a copy of two axes with the same chunks and codec."""
    peer = importlib.import_module("zarr")
    path, is_new = made(array, "rows.matrix.zarr")
    if is_new:
        rows = array_of(array)
        z = zarr.create_array(
            path,
            shape=(len(rows), 12288),
            chunks=(64, 12288),
            dtype="u1",
            compressors=zarr.codecs.ZstdCodec(level=3),
        )
        for begin in range(0, len(rows), 2048):
            some = rows[begin : begin + 2048]
            z[begin : begin + len(some)] = some.reshape(len(some), -1)
    batches = annbatches(peer.open_array(str(path), mode="r"), row)
    yield next(batches)
    for batch in batches:
        yield {"x": np.asarray(batch["X"]).reshape(-1, *SHAPE), "item": batch["index"]}


def annbatches(matrix: Any, row: Row) -> Iterator[Any]:
    """Batches of annbatch, for ever, after None."""
    annbatch = importlib.import_module("annbatch")
    yield None
    while True:
        loader = annbatch.Loader(
            batch_size=row.batch_size,
            chunk_size=64,
            preload_nchunks=64,
            shuffle=True,
            return_index=True,
            preload_to_gpu=False,
            rng=np.random.default_rng(1),
        )
        loader.add_dataset(matrix)
        yield from loader


class Outer:
    """Rows of an array of zarr-python by a list of numbers, and the numbers."""

    def __init__(self, path: Path) -> None:
        self.path, self.array = path, None

    def __len__(self) -> int:
        return len(array_of(self.path))

    def __getitem__(self, items: Any) -> Any:
        if self.array is None:
            self.array = importlib.import_module("zarr").open_array(str(self.path), mode="r")
        return self.array.oindex[np.asarray(items)], np.asarray(items)


def some_of(fetched: Any, rows: Any) -> Any:
    return {"x": fetched[0][rows], "item": fetched[1][rows]}


def of_scdataset(row: Row, array: Path, workers: int) -> Iterator[Any]:
    yield from scdatasets(Outer(array), some_of, row, workers)


def scdatasets(collection: Any, some_of: Any, row: Row, workers: int) -> Iterator[Any]:
    """Batches of scDataset, for ever, after None."""
    scdataset = importlib.import_module("scdataset")
    data = importlib.import_module("torch.utils.data")
    dataset = scdataset.scDataset(
        collection,
        scdataset.BlockShuffling(block_size=64),
        batch_size=row.batch_size,
        fetch_factor=16,
        batch_callback=some_of,
        seed=1,
    )
    yield None
    while True:
        yield from data.DataLoader(
            dataset,
            batch_size=None,
            num_workers=workers,
            multiprocessing_context="spawn" if workers else None,
        )


SWEPT = (0, 1, 2)
PEERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "mosaicml-streaming": (of_mosaic, SWEPT),
    "webdataset": (of_webdataset, SWEPT),
    "litdata": (of_litdata, SWEPT),
    "litdata, zstd": (partial(of_litdata, compression="zstd"), SWEPT),
    "annbatch": (of_annbatch, (0,)),
    "scDataset": (of_scdataset, SWEPT),
}


def check(path: Path, batch: Any) -> None:
    """Compare a batch with the rows of the array that it names."""
    items = np.asarray(batch["item"])
    rows = array_of(path).oindex[np.sort(items)][np.argsort(np.argsort(items))]
    if not np.array_equal(np.asarray(batch["x"]), rows):
        raise SystemExit("a batch differs from the array")
