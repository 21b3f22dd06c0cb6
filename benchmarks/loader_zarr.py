"""Loaders that read the same Zarr arrays, for `benchmarks.loader`: the floor, zarrix, and peers.

All but zarrix get the list of windows of an epoch in the order of `zarrix.ml`, so that they read
the same samples at the same time. Opening arrays and computing the list is not measured.

The floor is what no loader can avoid: the stored bytes of the chunks that a batch needs are read
and decoded by the bare codec on both cores, and copied once. In a full shuffle each batch decodes
its own chunks; in a block shuffle a chunk is decoded once an epoch.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from zarrix import ml
from zarrix.ml._order.visits import Visits

from benchmarks.loader_data import SEED, Row

CPUS = 2


# The memory of a loader by default.
CACHE_BYTES = 512 << 20


class Windows:
    """What people write by hand: a slice of each array for an index."""

    def __init__(self, row: Row, path: Path, epoch: int, open_array: Callable[[str], Any]) -> None:
        dataset = row.dataset(path)
        loader = ml.Loader(dataset, row.batch_size, shuffle=row.shuffle, seed=SEED)
        order = loader._order(epoch)
        items = order.at(np.arange(order.size))[0]
        draws = dataset._draws(Visits(items, SEED, epoch))
        self.open_array = open_array
        self.batch_size = row.batch_size
        self.windows = [dataset._windows(n) for n in range(len(draws.starts))]
        self.starts = [one[:, 0].tolist() for one in draws.starts]
        self.names = [column.name for column in dataset._columns]
        self.shapes = [column.shape for column in dataset._columns]
        self.sources = [
            field.array if path.suffix == ".npy" else f"{path}/{field.array.path}"
            for field in dataset._groups[0].values()
        ]
        self.arrays: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.starts[0])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "arrays": None}

    def open(self) -> list[Any]:
        if self.arrays is None:
            self.arrays = [self.open_array(source) for source in self.sources]
        return self.arrays

    def key(self, number: int, index: int) -> tuple[slice, ...]:
        window = self.windows[number]
        begins = self.starts[number][index]
        return tuple(slice(b, b + n) for b, n in zip(begins, window, strict=True))

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {
            name: np.asarray(array[self.key(number, index)]).reshape(shape)
            for number, (name, array, shape) in enumerate(
                zip(self.names, self.open(), self.shapes, strict=True)
            )
        }

    def batches(self) -> Iterator[range]:
        for begin in range(0, len(self), self.batch_size):
            yield range(begin, min(begin + self.batch_size, len(self)))

    def together(self, samples: Sequence[Any]) -> dict[str, Any]:
        return {name: np.stack([one[name] for one in samples]) for name in self.names}


def in_memory(source: Any) -> Any:
    """The rows of row F, which all others read from a NumPy array."""
    return source[...]


def zarr_array(source: Any) -> Any:
    return importlib.import_module("zarr").open_array(source, mode="r")


def fused_array(source: Any) -> Any:
    zarr = importlib.import_module("zarr")
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"}):
        array = zarr.open_array(source, mode="r")
    if type(array._async_array.codec_pipeline).__name__ != "FusedCodecPipeline":
        raise RuntimeError("the array does not use the fused pipeline")
    return array


class TensorStoreArray:
    """An array of TensorStore whose items are values."""

    #: What of decoded chunks is kept, by all arrays of a process.
    context: Any = None

    def __init__(self, path: str) -> None:
        tensorstore = importlib.import_module("tensorstore")
        driver = "zarr3" if Path(path, "zarr.json").exists() else "zarr"
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": path}}
        options = {}
        if self.context is not None:
            # Cached chunks are used without a look at their files, as with `frozen=True`.
            spec["recheck_cached_data"] = "open"
            options["context"] = self.context
        self.array = tensorstore.open(spec, read=True, **options).result()

    def __getitem__(self, key: Any) -> Any:
        return self.array[key].read().result()


class CachedTensorStoreArray(TensorStoreArray):
    """The same with a cache of as many bytes as a loader of zarrix has by default."""

    def __init__(self, path: str) -> None:
        tensorstore = importlib.import_module("tensorstore")
        if CachedTensorStoreArray.context is None:
            limit = {"cache_pool": {"total_bytes_limit": CACHE_BYTES}}
            CachedTensorStoreArray.context = tensorstore.Context(limit)
        super().__init__(path)


class ZarristaArray:
    def __init__(self, path: str) -> None:
        zarrista = importlib.import_module("zarrista")
        array = zarrista.Array.open(zarrista.store.FilesystemStore(path))
        self.retrieve = array.retrieve_array_subset

    def __getitem__(self, key: Any) -> Any:
        return self.retrieve(key).to_numpy()


# Batches of each contender, for ever


def of_zarrix(row: Row, path: Path, workers: int) -> Iterator[Any]:
    loader = ml.Loader(row.dataset(path), row.batch_size, shuffle=row.shuffle, seed=SEED)
    yield None
    while True:
        yield from loader


def with_data_loader(open_array: Callable[[Any], Any], start: str | None) -> Any:
    """torch's DataLoader over windows that are read one by one."""

    def batches(row: Row, path: Path, workers: int) -> Iterator[Any]:
        data = importlib.import_module("torch.utils.data")
        windows = Windows(row, path, 0, open_array)
        if not workers:
            windows.open()
        epoch = 0
        yield None
        while True:
            loader = data.DataLoader(
                windows,
                row.batch_size,
                num_workers=workers,
                multiprocessing_context=start if workers else None,
            )
            for batch in loader:
                yield {name: value.numpy() for name, value in batch.items()}
            epoch += 1
            windows = Windows(row, path, epoch, open_array)

    return batches


def of_zarrix_stage(row: Row, path: Path, workers: int) -> Iterator[Any]:
    """The same with decoded chunks on disk, which the first epoch of the first run stages."""
    stage = path.with_suffix(".stage")
    stage.mkdir(exist_ok=True)
    loader = ml.Loader(
        row.dataset(path), row.batch_size, shuffle=row.shuffle, seed=SEED, frozen=True,
        stage=ml.Stage(stage, max_bytes="20 GB"),
    )  # fmt: skip
    for _ in loader:
        pass
    loader.set_epoch(0)
    yield None
    while True:
        yield from loader


def of_tensorstore(
    row: Row, path: Path, workers: int, opened: Any = TensorStoreArray
) -> Iterator[Any]:
    """Futures in this process; those of the next batch are there before one is awaited."""

    def epochs() -> Iterator[tuple[Windows, range]]:
        for epoch in itertools.count():
            windows = Windows(row, path, epoch, opened)
            windows.open()
            for batch in windows.batches():
                yield windows, batch

    ahead: deque[Any] = deque()
    plan = epochs()
    begun = next(plan)
    yield None
    while True:
        while len(ahead) < 2:
            windows, batch = begun
            futures = [
                [array.array[windows.key(number, index)].read() for index in batch]
                for number, array in enumerate(windows.open())
            ]
            ahead.append((windows, futures))
            begun = next(plan)
        windows, futures = ahead.popleft()
        yield {
            name: np.stack([one.result() for one in found]).reshape(-1, *shape)
            for name, found, shape in zip(windows.names, futures, windows.shapes, strict=True)
        }


def in_threads(open_array: Callable[[Any], Any]) -> Any:
    """Samples that threads read, a batch ahead."""

    def batches(row: Row, path: Path, workers: int) -> Iterator[Any]:
        windows = Windows(row, path, 0, open_array)
        windows.open()
        yield None
        with ThreadPoolExecutor(max(1, workers)) as pool:
            for epoch in itertools.count():
                ahead: deque[Any] = deque()
                for batch in windows.batches():
                    ahead.append(pool.map(windows.__getitem__, batch))
                    if len(ahead) == 2:
                        yield windows.together(list(ahead.popleft()))
                while ahead:
                    yield windows.together(list(ahead.popleft()))
                windows = Windows(row, path, epoch + 1, open_array)
                windows.open()

    return batches


def of_grain(row: Row, path: Path, workers: int) -> Iterator[Any]:
    grain = importlib.import_module("grain")
    for epoch in itertools.count():
        windows = Windows(row, path, epoch, in_memory)
        windows.open()
        if not epoch:
            yield None
        yield from grain.MapDataset.source(windows).batch(row.batch_size).to_iter_dataset()


def of_spdl(row: Row, path: Path, workers: int) -> Iterator[Any]:
    pipelines = importlib.import_module("spdl.pipeline")
    for epoch in itertools.count():
        windows = Windows(row, path, epoch, in_memory)
        windows.open()
        if not epoch:
            yield None

        def read(batch: range, windows: Windows = windows) -> Any:
            return windows.together([windows[index] for index in batch])

        builder = pipelines.PipelineBuilder().add_source(windows.batches())
        pipeline = builder.pipe(read, concurrency=max(1, workers)).add_sink(2)
        with (built := pipeline.build(num_threads=max(1, workers))).auto_stop():
            yield from built


# The floor


class Stored:
    """An array's chunks as they are stored, and the bare codec."""

    def __init__(self, path: str) -> None:
        codecs = importlib.import_module("numcodecs")
        zarrix = importlib.import_module("zarrix")
        array = zarrix.open_array(path, mode="r")
        self.path, self.dtype, self.shape = Path(path), array.dtype, array.shape
        self.is_sharded = Path(path, "zarr.json").exists()
        if self.is_sharded:
            self.chunks, self.shards = array.chunks, array.shards
            self.decode: Any = codecs.Zstd().decode
            self.indexes: dict[Any, Any] = {}
        else:
            self.chunks = array.chunks
            self.decode = codecs.get_codec(array.compressor.get_config()).decode

    def touched(self, key: tuple[slice, ...]) -> Iterator[tuple[int, ...]]:
        pairs = zip(key, self.chunks, strict=True)
        return itertools.product(*(range(k.start // c, (k.stop - 1) // c + 1) for k, c in pairs))

    def chunk(self, coords: tuple[int, ...]) -> Any:
        if not self.is_sharded:
            stored = (self.path / ".".join(map(str, coords))).read_bytes()
        else:
            stored = self._inner(coords)
        return np.frombuffer(self.decode(stored), self.dtype).reshape(self.chunks)

    def _inner(self, coords: tuple[int, ...]) -> bytes:
        per = [s // c for s, c in zip(self.shards, self.chunks, strict=True)]
        shard = tuple(c // p for c, p in zip(coords, per, strict=True))
        inside = tuple(c % p for c, p in zip(coords, per, strict=True))
        with (self.path / "c" / "/".join(map(str, shard))).open("rb") as file:
            if shard not in self.indexes:
                file.seek(-16 * int(np.prod(per)) - 4, os.SEEK_END)
                index = np.frombuffer(file.read(16 * int(np.prod(per))), "<u8")
                self.indexes[shard] = index.reshape(*per, 2)
            offset, size = self.indexes[shard][inside].tolist()
            file.seek(offset)
            return file.read(size)


def of_floor(row: Row, path: Path, workers: int) -> Iterator[Any]:
    windows = Windows(row, path, 0, Stored)
    arrays = windows.open()
    batches = list(windows.batches())
    needed = [
        [
            {at for index in batch for at in array.touched(windows.key(number, index))}
            for number, array in enumerate(arrays)
        ]
        for batch in batches
    ]
    yield None
    with ThreadPoolExecutor(CPUS) as pool:
        while True:
            found: list[dict[Any, Any]] = [{} for _ in arrays]
            for batch, keys in zip(batches, needed, strict=True):
                if row.shuffle == "full":
                    found = [{} for _ in arrays]
                for array, own, have in zip(arrays, keys, found, strict=True):
                    missing = [one for one in own if one not in have]
                    have.update(zip(missing, pool.map(array.chunk, missing), strict=True))
                yield {
                    name: copied(windows, number, batch, found[number])
                    for number, name in enumerate(windows.names)
                }


def copied(windows: Windows, number: int, batch: range, chunks: dict[Any, Any]) -> Any:
    """The windows of a batch, from decoded chunks."""
    array = windows.open()[number]
    out = np.empty((len(batch), *windows.windows[number]), array.dtype)
    for row, index in enumerate(batch):
        key = windows.key(number, index)
        for at in array.touched(key):
            to, of = [], []
            for k, c, a in zip(key, array.chunks, at, strict=True):
                low, high = max(k.start, a * c), min(k.stop, a * c + c)
                to.append(slice(low - k.start, high - k.start))
                of.append(slice(low - a * c, high - a * c))
            out[(row, *to)] = chunks[at][tuple(of)]
    return out.reshape(len(batch), *windows.shapes[number])


SWEPT = (0, 1, 2)
# Name: how it is made, and the numbers of workers that are tried.
ON_DISK: dict[str, tuple[Any, tuple[int, ...]]] = {
    "zarrix": (of_zarrix, (0,)),
    "zarrix, stage": (of_zarrix_stage, (0,)),
    "floor": (of_floor, (0,)),
    "zarr 3": (with_data_loader(zarr_array, "spawn"), SWEPT),
    "zarr 3 fused": (with_data_loader(fused_array, "spawn"), SWEPT),
    "zarr 2.18": (with_data_loader(zarr_array, "fork"), SWEPT),
    "tensorstore": (of_tensorstore, (0,)),
    "tensorstore, cache": (partial(of_tensorstore, opened=CachedTensorStoreArray), (0,)),
    "tensorstore, workers": (with_data_loader(TensorStoreArray, "spawn"), (1, 2)),
    "zarrista": (in_threads(ZarristaArray), (1, 2)),
}
IN_MEMORY: dict[str, tuple[Any, tuple[int, ...]]] = {
    "zarrix": (of_zarrix, (0,)),
    "DataLoader": (with_data_loader(in_memory, "fork"), SWEPT),
    "grain": (of_grain, (0,)),
    "spdl": (of_spdl, (1, 2)),
}
