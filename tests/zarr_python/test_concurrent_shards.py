"""zarr-python#3682: tasks of dask that write parts of one shard at the same time lose nothing.

ZARRIX_ROUNDS is how often the program runs; where it is set, also in 8 processes.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from zarrix.interop import Pipeline, accelerate

dask_array = pytest.importorskip("dask.array")
assert Pipeline.__module__ == "zarrix.interop"
ROUNDS = int(os.environ.get("ZARRIX_ROUNDS", "2"))
VALUES = np.arange(60**3, dtype="f8").reshape(60, 60, 60)
# Blocks of the task graph: as the inner chunks, and across shards.
BLOCKS = [(15, 15, 15), (20, 17, 25)]


def way_of(way: str) -> AbstractContextManager[Any]:
    if way == "accelerate":
        return accelerate()
    return zarr.config.set({"codec_pipeline.path": "zarrix.interop.Pipeline"})


def written(folder: Path, way: str, blocks: tuple[int, ...], **options: Any) -> Any:
    """The elements after the program, read by zarr-python alone."""
    with way_of(way):
        array = zarr.create_array(
            folder, shape=(60, 60, 60), dtype="f8", chunks=(15, 15, 15), shards=(30, 30, 30)
        )
        dask_array.store(dask_array.from_array(VALUES, chunks=blocks), array, lock=False, **options)
    return zarr.open_array(folder, mode="r")[...]


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("way", ["accelerate", "pipeline"])
def test_threads_lose_nothing(way: str, blocks: tuple[int, ...], tmp_path: Path) -> None:
    lost = 0
    for number in range(ROUNDS):
        found = written(tmp_path / str(number), way, blocks, scheduler="threads", num_workers=8)
        lost += int((found != VALUES).sum())
    assert lost == 0


@pytest.mark.skipif("ZARRIX_ROUNDS" not in os.environ, reason="minutes long; set ZARRIX_ROUNDS")
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("way", ["accelerate", "pipeline"])
def test_processes_lose_nothing(way: str, blocks: tuple[int, ...], tmp_path: Path) -> None:
    lost = 0
    context = multiprocessing.get_context("spawn")
    begin = accelerate if way == "accelerate" else None
    with ProcessPoolExecutor(8, context, initializer=begin) as pool:
        for number in range(ROUNDS):
            folder = tmp_path / str(number)
            found = written(folder, way, blocks, scheduler="processes", pool=pool)
            lost += int((found != VALUES).sum())
    assert lost == 0
