"""Filling a new array from a sparse one by visiting only stored chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zarrix._array.facts import ArrayFacts
from zarrix._metadata.chunk_grid import AxisGrid, chunks_over
from zarrix._metadata.translate import same_fill

__all__ = ["fill_from", "grid_of", "sparse_regions"]

# Listing stored chunks does not pay below this number of chunks, nor if one of this many is stored.
_FEW_CHUNKS = 16
_SPARSE = 4


def fill_from(array: Any, data: Any) -> None:
    """Store all elements of ``data`` in a new array of ours."""
    regions = sparse_regions(data, array)
    if regions is None:
        array[...] = data
        return
    for region in regions:
        array[region] = data[region]


def sparse_regions(source: Any, array: Any) -> Iterator[tuple[slice, ...]] | None:
    """The chunks of a new array to visit; None if its source is not sparse.

    Both arrays must have the same fill value, for the elements that neither stores. Existing chunks
    at the new array's path are those of a lost array.
    """
    if not isinstance(source, ArrayFacts) or not source._options.read_missing_chunks:
        return None
    if source.shape != array.shape or source.nchunks <= _FEW_CHUNKS:
        return None
    is_ours = isinstance(array, ArrayFacts)
    if not (is_ours or type(array).__module__.startswith("h5py.")):
        return None
    fill = array.fill_value if is_ours else array.fillvalue
    if source.dtype != array.dtype or not same_fill(source.fill_value, fill, source.dtype):
        return None
    stored = [coords for _, coords in source._snapshot.io.stored_chunks()]
    if len(stored) * _SPARSE >= source.nchunks:
        return None
    grid = grid_of(array)
    regions = (source._snapshot.metadata.chunk_region(coords) for coords in stored)
    chunks = {at for region in regions for at in chunks_over(grid, region, array.shape)}
    if is_ours:
        chunks.update(tuple(coords) for _, coords in array._snapshot.io.stored_chunks())
    extents = ([axis.chunk(i) for axis, i in zip(grid, at, strict=True)] for at in sorted(chunks))
    return (tuple(slice(one.begin, one.end) for one in extent) for extent in extents)


def grid_of(array: Any) -> tuple[AxisGrid, ...]:
    """The chunks along each axis of any array; an array without chunks is one chunk."""
    if isinstance(array, ArrayFacts):
        return array._snapshot.metadata.grid
    return tuple(AxisGrid(even=max(n, 1)) for n in array.chunks or array.shape)
