"""Loaders of weather fields, for rows D of `benchmarks.loader`.

zarr-beluga and xbatcher get the windows in our order. insitubatch has orders of its own: samples of
16 chunks, or more if a batch is larger, are shuffled. It gives a field of a batch for each step.
They are put together here, because all others deliver the steps of a field in one array;
"insitubatch, apart" is what it gives.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.loader_data import FIELDS, TIMES, Row
from benchmarks.loader_zarr import Windows

FRAMES = 4


def starts_of(row: Row, path: Path, epoch: int) -> list[int]:
    return [one[0] for one in Windows(row, path, epoch, str).starts[0]]


def of_beluga(
    row: Row, path: Path, workers: int, url: str = "", options: dict[str, str] | None = None
) -> Iterator[Any]:
    beluga = importlib.import_module("beluga")
    torch = importlib.import_module("beluga.torch")
    reader = beluga.open_zarr_group(
        url or str(path.parent), path.name, variables=list(FIELDS), store_options=options
    )
    for epoch in itertools.count():
        starts = starts_of(row, path, epoch)
        if not epoch:
            yield None
        loader = torch.WindowLoader(
            reader,
            starts,
            frames=FRAMES,
            batch_size=row.batch_size,
            shuffle=False,
            device="cpu",
        )
        for batch in loader:
            fields = batch.data.numpy()
            yield {name: fields[:, :, number] for number, name in enumerate(FIELDS)}


def of_insitubatch(
    row: Row,
    path: Path,
    workers: int,
    url: str = "",
    options: dict[str, Any] | None = None,
    *,
    is_apart: bool = False,
) -> Iterator[Any]:
    insitubatch = importlib.import_module("insitubatch")
    store = insitubatch.obstore_store(
        f"{url}/{path.name}" if url else f"file://{path}", **(options or {})
    )
    found = insitubatch.open_geometries(store, variables=list(FIELDS))
    geometries = {
        f"{name} {step}": found[name].shift(step) for name in FIELDS for step in range(FRAMES)
    }
    manifest = insitubatch.split_by_chunk(found[FIELDS[0]], fractions=(1.0, 0.0, 0.0))
    dataset = insitubatch.InSituDataset(
        store, manifest, geometries=geometries, batch_size=row.batch_size
    )
    yield None
    for epoch in itertools.count():
        dataset.set_epoch(epoch)
        for batch in dataset.train:
            found = batch.arrays
            if not is_apart:
                found = {name: np.stack(steps_of(found, name), axis=1) for name in FIELDS}
            yield {"item": batch.sample_indices, **found}


def steps_of(batch: Any, name: str) -> list[Any]:
    """The steps of a field, each of all samples of a batch."""
    return [batch[f"{name} {step}"] for step in range(FRAMES)]


def tensor_of(window: Any) -> Any:
    """The variables of a window as one tensor; xbatcher's own function takes only one."""
    return importlib.import_module("torch").from_numpy(window.to_array().values)


def of_xbatcher(row: Row, path: Path, workers: int) -> Iterator[Any]:
    xarray = importlib.import_module("xarray")
    xbatcher = importlib.import_module("xbatcher")
    loaders = importlib.import_module("xbatcher.loaders.torch")
    data = importlib.import_module("torch.utils.data")
    opened = xarray.open_zarr(str(path), chunks=None)[list(FIELDS)]
    generator = xbatcher.BatchGenerator(
        opened,
        input_dims={"time": FRAMES, "latitude": 181, "longitude": 360},
        input_overlap={"time": FRAMES - 1},
        preload_batch=False,
    )
    windows = loaders.MapDataset(generator, transform=tensor_of)
    if len(windows) != TIMES - FRAMES + 1:
        raise SystemExit(f"xbatcher has {len(windows)} windows")
    for epoch in itertools.count():
        starts = starts_of(row, path, epoch)
        if not epoch:
            yield None
        batches = [starts[n : n + row.batch_size] for n in range(0, len(starts), row.batch_size)]
        loader = data.DataLoader(
            windows,
            batch_sampler=batches,
            num_workers=workers,
            multiprocessing_context="spawn" if workers else None,
        )
        for batch in loader:
            # Variables are an axis of one tensor.
            fields = np.moveaxis(batch.numpy(), 1, 0)
            yield dict(zip(FIELDS, fields, strict=True))


PEERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "zarr-beluga": (of_beluga, (0,)),
    "insitubatch": (of_insitubatch, (0,)),
    "insitubatch, apart": (partial(of_insitubatch, is_apart=True), (0,)),
    "xbatcher": (of_xbatcher, (0, 1, 2)),
}
# Their orders are their own, so that only their values are compared.
OWN_ORDER = ("insitubatch", "insitubatch, apart")


def check(path: Path, batch: Any) -> None:
    """Compare a batch of insitubatch with the fields that it names."""
    zarrix = importlib.import_module("zarrix")
    for name in FIELDS:
        field = zarrix.open_array(path / name, mode="r")
        clips = batch[name] if name in batch else np.stack(steps_of(batch, name), axis=1)
        for values, item in zip(clips, batch["item"], strict=True):
            if not np.array_equal(values, field[int(item) : int(item) + FRAMES]):
                raise SystemExit("a batch differs from the array")
