"""What the metadata of an array becomes with another shape: `ArrayMetadata.with_shape`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zarrix._errors import MetadataError

if TYPE_CHECKING:
    from zarrix._metadata.array import ArrayMetadata

__all__ = ["reshaped"]


def reshaped(
    metadata: ArrayMetadata, shape: tuple[int, ...], chunks_of: tuple[int, ...] | None
) -> ArrayMetadata:
    """The same array with another shape.

    Raises
    ------
    MetadataError
        The number of axes differs, a length is negative, or an axis with chunks of length zero
        would become longer than zero.
    """
    if len(shape) != len(metadata.shape) or any(size < 0 for size in shape):
        raise MetadataError(
            f"{metadata.where}: shape {shape} cannot replace {metadata.shape}; expected "
            f"{len(metadata.shape)} lengths of at least 0"
        )
    if metadata.rectilinear is not None:
        return _with_chunks_up_to(metadata, shape, chunks_of)
    for size, length in zip(shape, metadata.chunk_shape, strict=True):
        if size > 0 and length == 0:
            raise MetadataError(
                f"{metadata.where}: shape {shape} needs chunks, but the chunk shape is "
                f"{metadata.chunk_shape}; create the array with chunks=True or a length"
            )
    return replace(metadata, shape=tuple(int(size) for size in shape))


def _with_chunks_up_to(
    metadata: ArrayMetadata, shape: tuple[int, ...], chunks_of: tuple[int, ...] | None
) -> ArrayMetadata:
    assert metadata.rectilinear is not None
    units = metadata.chunk_units
    given = (None,) * len(shape) if chunks_of is None else chunks_of
    grid = tuple(
        axis.grown(int(size), unit, chunks_of=length)
        for axis, size, unit, length in zip(metadata.rectilinear, shape, units, given, strict=True)
    )
    return replace(
        metadata,
        shape=tuple(int(size) for size in shape),
        chunk_shape=tuple(max(axis.lengths) for axis in grid),
        rectilinear=grid,
    )
