"""The grid of chunks of different lengths, as metadata shows it."""

import pickle
from typing import Any

import zarrix as zarr


def test_a_listed_grid_has_its_lengths_and_its_document() -> None:
    z = zarr.create_array({}, shape=(9, 8), chunks=[[2, 2, 5], 4], dtype="i4")
    grid: Any = z.metadata.chunk_grid
    assert (grid.name, grid.chunk_shape, grid.chunk_shapes) == (
        "rectilinear",
        (5, 4),
        ((2, 2, 5), 4),
    )
    assert grid.to_dict() == z.metadata.to_dict()["chunk_grid"]
    assert pickle.loads(pickle.dumps(grid)) == grid
    other = zarr.create_array({}, shape=(9, 8), chunks=[[2, 5, 2], 4], dtype="i4").metadata
    assert other.chunk_grid != grid
    assert zarr.zeros(4, chunks=2).metadata.chunk_grid != grid


def test_chunks_may_be_a_grid_of_another_array() -> None:
    for chunks in ([[2, 2, 5]], (4,)):
        z = zarr.create_array({}, shape=9, chunks=chunks, dtype="i4")
        again = zarr.create_array({}, shape=9, chunks=z.metadata.chunk_grid, dtype="i4")
        assert again.metadata.chunk_grid == z.metadata.chunk_grid
        again[:] = range(9)
        assert again[:].tolist() == [*range(9)]
