"""Loaders of sparse rows, for row G of `benchmarks.loader`.

All read the same matrix, and deliver dense batches. The orders of peers are their own: annbatch
preloads 64 chunks of 64 rows, scDataset fetches 16 batches of blocks of 64 rows at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr

from benchmarks.loader_data import Row
from benchmarks.loader_peers import annbatches, scdatasets
from benchmarks.loader_zarr import of_zarrix


def matrix_of(path: Path) -> Any:
    """The matrix by anndata and zarr-python."""
    group = importlib.import_module("zarr").open_group(str(path), mode="r")
    return importlib.import_module("anndata").io.sparse_dataset(group)


def of_annbatch(row: Row, path: Path, workers: int) -> Iterator[Any]:
    batches = annbatches(matrix_of(path), row)
    yield next(batches)
    for batch in batches:
        yield {"x": batch["X"].toarray(), "item": batch["index"]}


class Fetched:
    """Rows of the matrix by a list of numbers, and the numbers."""

    def __init__(self, path: Path) -> None:
        self.path, self.matrix = path, None
        self.count = matrix_of(path).shape[0]

    def __len__(self) -> int:
        return int(self.count)

    def __getitem__(self, items: Any) -> Any:
        if self.matrix is None:
            self.matrix = matrix_of(self.path)
        return self.matrix[np.asarray(items)], np.asarray(items)


def some_of(fetched: Any, rows: Any) -> Any:
    return {"x": fetched[0][rows].toarray(), "item": fetched[1][rows]}


def of_scdataset(row: Row, path: Path, workers: int) -> Iterator[Any]:
    yield from scdatasets(Fetched(path), some_of, row, workers)


PEERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "annbatch": (of_annbatch, (0,)),
    "scDataset": (of_scdataset, (0, 1, 2)),
}
CONTENDERS = {"zarrix": (of_zarrix, (0,)), **PEERS}


def check(path: Path, batch: Any) -> None:
    """Compare a batch with the rows that it names."""
    group = zarr.open_group(path, mode="r")
    bounds, wanted = group["indptr"][:], np.zeros(batch["x"].shape, "f4")
    for row, item in enumerate(np.asarray(batch["item"]).tolist()):
        part = slice(int(bounds[item]), int(bounds[item + 1]))
        wanted[row, group["indices"][part]] = group["data"][part]
    if not np.array_equal(np.asarray(batch["x"]), wanted):
        raise SystemExit("a batch differs from the matrix")
