"""Names of ``zarr.core.metadata.v3``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from zarrix._as_zarr.names.core.chunk_grids import ChunkGrid as PlannedGrid
from zarrix._as_zarr.names.core.common import parse_shapelike
from zarrix._metadata.array import ArrayV3Metadata
from zarrix._metadata.chunk_grid import axis_of
from zarrix._metadata.chunk_parts import ChunkGrid, ListedChunkGrid

__all__ = [
    "ArrayV3Metadata",
    "RectilinearChunkGridMetadata",
    "RectilinearDimSpecJSON",
    "RegularChunkGridMetadata",
    "create_chunk_grid_metadata",
    "parse_dimension_names",
    "parse_shapelike",
]

RectilinearDimSpecJSON = int | list[int | list[int]]


def parse_dimension_names(data: Any) -> tuple[str | None, ...] | None:
    """Names of axes as a tuple; None stays None."""
    if data is None:
        return None
    if isinstance(data, Iterable) and all(isinstance(one, str | None) for one in [*data]):
        return tuple(data)
    raise TypeError(f"Expected either None or an iterable of str, got {type(data)}")


class _GridOfOneKind(type):
    """The class of the two classes below: an instance is a grid of their kind."""

    _kind: str

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, ChunkGrid) and instance.name == cls._kind


class RegularChunkGridMetadata(metaclass=_GridOfOneKind):
    """The grid of equal chunks that ``metadata.chunk_grid`` is."""

    _kind = "regular"

    def __new__(cls, *, chunk_shape: Sequence[int]) -> Any:
        """A grid of chunks of this shape."""
        return ChunkGrid("regular", tuple(chunk_shape))


class RectilinearChunkGridMetadata(metaclass=_GridOfOneKind):
    """The grid of listed chunks that ``metadata.chunk_grid`` is; an array shows the lengths."""

    _kind = "rectilinear"

    def __new__(cls, *, chunk_shapes: Sequence[int | Sequence[int]]) -> Any:
        """A grid of chunks of these lengths along each axis.

        Raises
        ------
        ValueError
            A length is not a number of at least 1.
        """
        found = [axis_of(one if isinstance(one, int) else [*one]) for one in chunk_shapes]
        axes = tuple(axis for axis in found if axis is not None)
        if len(axes) < len(found):
            raise ValueError(f"chunk_shapes={chunk_shapes!r}; expected lengths of at least 1")
        return ListedChunkGrid.of(axes)


def create_chunk_grid_metadata(grid: PlannedGrid) -> Any:
    """The grid that ``metadata.chunk_grid`` is, of the chunks of an array."""
    if grid.is_regular:
        return ChunkGrid("regular", grid.chunk_shape)
    return ListedChunkGrid.of(tuple(one.axis for one in grid.dimensions))
