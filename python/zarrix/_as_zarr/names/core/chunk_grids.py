"""The name of ``zarr.core.chunk_grids`` by which programs divide selections by chunks."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from zarrix._metadata.chunk_grid import AxisGrid

__all__ = ["ChunkGrid"]


class ChunkGrid:
    """The chunks of an array, for the indexers of ``zarr.core.indexing``."""

    def __init__(self, shape: tuple[int, ...], axes: tuple[AxisGrid, ...]) -> None:
        self.array_shape = shape
        self.axes = axes

    @classmethod
    def from_sizes(cls, array_shape: Any, chunk_sizes: Sequence[int | Sequence[int]]) -> ChunkGrid:
        """A grid of equal chunks, or, along an axis with several sizes, of chunks of these.

        Raises
        ------
        ValueError
            The number of axes differs, or a size is not positive, or the sizes end before the
            array does.
        """
        shape = (array_shape,) if isinstance(array_shape, int) else tuple(array_shape)
        if len(shape) != len(chunk_sizes):
            raise ValueError(
                f"array_shape has {len(shape)} dimensions but chunk_sizes has "
                f"{len(chunk_sizes)} dimensions"
            )
        return cls(shape, tuple(map(_axis, chunk_sizes, shape)))


def _axis(sizes: int | Sequence[int], length: int) -> AxisGrid:
    if not isinstance(sizes, Sequence):
        size = operator.index(sizes)
        if size < 1 and length:
            raise ValueError(f"a chunk of {size} elements")
        return AxisGrid(even=max(size, 1))
    runs = tuple((operator.index(size), 1) for size in sizes)
    if any(size < 1 for size, _ in runs) or sum(size for size, _ in runs) < length:
        raise ValueError(f"chunks of {[*sizes]} elements, along an axis of {length}")
    return AxisGrid(runs=runs)
