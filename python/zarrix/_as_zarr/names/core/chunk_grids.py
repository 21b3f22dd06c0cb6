"""Names of ``zarr.core.chunk_grids``: the chunks of an array as objects, for programs to plan by.

Arrays of zarrix do not need them: the engine divides selections. What is here has the same chunks.
"""

from __future__ import annotations

import bisect
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from zarrix._metadata import guess
from zarrix._metadata.chunk_grid import AxisGrid, combinations
from zarrix._metadata.chunk_parts import ChunkGrid as StoredGrid

__all__ = [
    "ChunkGrid",
    "ChunkLayout",
    "ChunkSpec",
    "DimensionGrid",
    "FixedDimension",
    "SHARDED_INNER_CHUNK_MAX_BYTES",
    "VaryingDimension",
    "full_span_chunk_size",
    "guess_chunks",
    "normalize_chunks_1d",
    "normalize_chunks_nd",
    "resolve_outer_and_inner_chunks",
]

SHARDED_INNER_CHUNK_MAX_BYTES = 2**20


@dataclass(frozen=True)
class FixedDimension:
    """An axis whose chunks all have one size; the last may reach beyond the array.

    Attributes
    ----------
    size : int
        Elements of a chunk.
    extent : int
        Elements of the array along the axis.
    nchunks, ngridcells : int
        The number of chunks.
    """

    size: int
    extent: int
    nchunks: int = field(init=False, repr=False)
    ngridcells: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _require_at_least("FixedDimension size", self.size, 1)
        _require_at_least("FixedDimension extent", self.extent, 0)
        count = -(-self.extent // self.size)
        vars(self).update(nchunks=count, ngridcells=count)

    def index_to_chunk(self, idx: int) -> int:
        """The number of the chunk that has an element."""
        if idx < 0:
            raise IndexError(f"Negative index {idx}: indices count from the first element")
        _require_below(idx, self.extent)
        return idx // self.size

    def indices_to_chunks(self, indices: Any) -> Any:
        """The same for an array of indices, which are not checked."""
        return np.asarray(indices) // self.size

    def chunk_offset(self, chunk_ix: int) -> int:
        """The first element of a chunk."""
        return chunk_ix * self.size

    def chunk_size(self, chunk_ix: int) -> int:
        """The elements of a chunk, including those beyond the array."""
        return self.size

    def data_size(self, chunk_ix: int) -> int:
        """The elements of a chunk that the array has."""
        return min(self.size, max(0, self.extent - self.chunk_offset(chunk_ix)))

    def with_extent(self, new_extent: int) -> FixedDimension:
        """The same chunks along an axis of another length."""
        return FixedDimension(self.size, new_extent)

    resize = with_extent

    @property
    def axis(self) -> AxisGrid:
        """The axis as zarrix has it."""
        return AxisGrid(even=self.size)


@dataclass(frozen=True)
class VaryingDimension:
    """An axis whose chunks differ in length; the last may reach beyond the array.

    Attributes
    ----------
    edges : tuple of int
        Elements of each chunk.
    cumulative : tuple of int
        The end of each chunk.
    extent : int
        Elements of the array along the axis.
    nchunks : int
        The number of chunks that the array touches.
    ngridcells : int
        The number of all chunks.
    """

    edges: tuple[int, ...]
    cumulative: tuple[int, ...] = field(init=False)
    extent: int
    nchunks: int = field(init=False, repr=False)
    ngridcells: int = field(init=False, repr=False)

    def __init__(self, edges: Iterable[int], extent: int) -> None:
        sizes = tuple(edges)
        if not sizes:
            raise ValueError("VaryingDimension edges must not be empty")
        if min(sizes) < 1:
            raise ValueError(f"VaryingDimension edges must be > 0, got {sizes}")
        _require_at_least("VaryingDimension extent", extent, 0)
        ends = tuple(itertools.accumulate(sizes))
        if extent > ends[-1]:
            raise ValueError(f"VaryingDimension extent {extent} exceeds sum of edges {ends[-1]}")
        count = bisect.bisect_left(ends, extent) + 1 if extent else 0
        vars(self).update(
            edges=sizes, cumulative=ends, extent=extent, nchunks=count, ngridcells=len(sizes)
        )

    def index_to_chunk(self, idx: int) -> int:
        """The number of the chunk that has an element."""
        _require_below(idx, self.extent)
        return bisect.bisect_right(self.cumulative, idx)

    def indices_to_chunks(self, indices: Any) -> Any:
        """The same for an array of indices, which are not checked."""
        return np.searchsorted(self.cumulative, indices, side="right")

    def chunk_offset(self, chunk_ix: int) -> int:
        """The first element of a chunk."""
        return self.cumulative[chunk_ix - 1] if chunk_ix else 0

    def chunk_size(self, chunk_ix: int) -> int:
        """The elements of a chunk, including those beyond the array."""
        return self.edges[chunk_ix]

    def data_size(self, chunk_ix: int) -> int:
        """The elements of a chunk that the array has."""
        return min(self.edges[chunk_ix], max(0, self.extent - self.chunk_offset(chunk_ix)))

    def with_extent(self, new_extent: int) -> VaryingDimension:
        """The same chunks along an axis of another length.

        Raises
        ------
        ValueError
            They end before it.
        """
        if new_extent > self.cumulative[-1]:
            raise ValueError(
                f"VaryingDimension edge sum {self.cumulative[-1]} is less than {new_extent}"
            )
        return VaryingDimension(self.edges, new_extent)

    def resize(self, new_extent: int) -> VaryingDimension:
        """The chunks of the axis after it was resized: one more where it grows beyond them."""
        missing = new_extent - self.cumulative[-1]
        edges = (*self.edges, missing) if missing > 0 else self.edges
        return VaryingDimension(edges, new_extent)

    @property
    def axis(self) -> AxisGrid:
        """The axis as zarrix has it."""
        runs = itertools.groupby(self.edges)
        return AxisGrid(runs=tuple((size, len([*same])) for size, same in runs))


DimensionGrid = FixedDimension | VaryingDimension


def _require_at_least(what: str, number: int, least: int) -> None:
    if number < least:
        raise ValueError(f"{what} must be >= {least}, got {number}")


def _require_below(index: int, extent: int) -> None:
    if not 0 <= index < extent:
        raise IndexError(f"Index {index} is out of bounds for an axis of {extent} elements")


@dataclass(frozen=True)
class ChunkSpec:
    """Where a chunk is in the array, and its shape with what is beyond the array."""

    slices: tuple[slice, ...]
    codec_shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what the array has of the chunk."""
        return tuple(one.stop - one.start for one in self.slices)

    @property
    def is_boundary(self) -> bool:
        """Whether the chunk reaches beyond the array."""
        return self.shape != self.codec_shape


class ChunkGrid:
    """All chunks of an array.

    Parameters
    ----------
    dimensions : tuple of FixedDimension or VaryingDimension
    """

    def __init__(self, *, dimensions: tuple[DimensionGrid, ...]) -> None:
        self.dimensions = self._dimensions = dimensions
        self.is_regular = all(isinstance(one, FixedDimension) for one in dimensions)

    def __repr__(self) -> str:
        sizes = [
            one.size if isinstance(one, FixedDimension) else one.edges for one in self.dimensions
        ]
        shape = tuple(one.extent for one in self.dimensions)
        return f"ChunkGrid(chunk_sizes={tuple(sizes)}, array_shape={shape})"

    @classmethod
    def from_metadata(cls, metadata: Any) -> ChunkGrid:
        """The chunks of the array that has the metadata: shards, if it has shards.

        Raises
        ------
        TypeError
            It has no chunk grid.
        """
        if not isinstance(metadata.chunk_grid, StoredGrid):
            raise TypeError(f"Unknown chunk grid metadata type: {type(metadata.chunk_grid)}")
        pairs = zip(metadata.grid, metadata.shape, strict=True)
        return cls(dimensions=tuple(_dimension_of(axis, length) for axis, length in pairs))

    @classmethod
    def from_sizes(cls, array_shape: Any, chunk_sizes: Sequence[Any]) -> ChunkGrid:
        """A grid of equal chunks, or, along an axis with several sizes, of chunks of these.

        Raises
        ------
        ValueError
            The number of axes differs, or a size is not positive, or the sizes end before the
            array does.
        """
        shape = _as_shape(array_shape)
        if len(shape) != len(chunk_sizes):
            raise ValueError(
                f"array_shape has {len(shape)} dimensions but chunk_sizes has "
                f"{len(chunk_sizes)} dimensions"
            )
        pairs = zip(chunk_sizes, shape, strict=True)
        return cls(
            dimensions=tuple(
                FixedDimension(int(operator.index(sizes)), length)
                if _whole(sizes) is not None
                else VaryingDimension([int(operator.index(one)) for one in sizes], length)
                for sizes, length in pairs
            )
        )

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.dimensions)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """The number of chunks along each axis."""
        return tuple(one.nchunks for one in self.dimensions)

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of the chunks, if all have one."""
        if not self.is_regular:
            raise ValueError("chunk_shape is only available for regular grids; see grid[coords]")
        return tuple(one.chunk_size(0) for one in self.dimensions)

    @property
    def chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The elements of the array in each chunk along each axis, as dask writes them."""
        return tuple(
            tuple(map(one.data_size, range(one.nchunks))) or (0,) for one in self.dimensions
        )

    def __getitem__(self, coords: int | tuple[int, ...]) -> ChunkSpec | None:
        """The chunk at the coordinates; None where there is none."""
        if not isinstance(coords, tuple):
            coords = (coords,)
        if len(coords) != self.ndim:
            raise ValueError(f"{len(coords)} coordinates for a grid of {self.ndim} dimensions")
        places = [*zip(coords, self.dimensions, strict=True)]
        if any(not 0 <= number < one.nchunks for number, one in places):
            return None
        begins = [one.chunk_offset(number) for number, one in places]
        lengths = [one.data_size(number) for number, one in places]
        pairs = zip(begins, lengths, strict=True)
        return ChunkSpec(
            tuple(slice(begin, begin + length, 1) for begin, length in pairs),
            tuple(one.chunk_size(number) for number, one in places),
        )

    def __iter__(self) -> Iterator[ChunkSpec]:
        """All chunks, in C order."""
        for coords in self.all_chunk_coords():
            found = self[coords]
            assert found is not None
            yield found

    def all_chunk_coords(
        self,
        *,
        origin: Sequence[int] | None = None,
        selection_shape: Sequence[int] | None = None,
    ) -> Iterator[tuple[int, ...]]:
        """The coordinates of a box of chunks, in C order.

        Parameters
        ----------
        origin : sequence of int, optional
            The first of them; the first of all when omitted.
        selection_shape : sequence of int, optional
            Chunks along each axis; all that follow the origin when omitted.
        """
        first = origin or (0,) * self.ndim
        if selection_shape is None:
            pairs = zip(self.grid_shape, first, strict=True)
            selection_shape = tuple(count - begin for count, begin in pairs)
        pairs = zip(first, selection_shape, strict=True)
        return combinations([range(begin, begin + count) for begin, count in pairs])

    def iter_chunk_regions(
        self,
        *,
        origin: Sequence[int] | None = None,
        selection_shape: Sequence[int] | None = None,
    ) -> Iterator[tuple[slice, ...]]:
        """The same as selections of the array."""
        for coords in self.all_chunk_coords(origin=origin, selection_shape=selection_shape):
            found = self[coords]
            if found is not None:
                yield found.slices

    def get_nchunks(self) -> int:
        """The number of chunks."""
        return math.prod(self.grid_shape)

    def update_shape(self, new_shape: Sequence[int]) -> ChunkGrid:
        """The chunks after the array was resized."""
        if len(new_shape) != self.ndim:
            raise ValueError(
                f"new_shape has {len(new_shape)} dimensions but must have the same number of "
                f"dimensions as the array ({self.ndim})"
            )
        pairs = zip(self.dimensions, new_shape, strict=True)
        return ChunkGrid(dimensions=tuple(one.resize(length) for one, length in pairs))


class ChunkLayout(NamedTuple):
    """The chunks of an array, and those inside each of them where they are shards."""

    outer_chunks: ChunkGrid
    inner: ChunkLayout | None = None


def _dimension_of(axis: AxisGrid, length: int) -> DimensionGrid:
    if axis.even:
        return FixedDimension(axis.even, length)
    sizes = [size for size, count in axis.runs for _ in range(count)]
    return VaryingDimension(sizes, length)


def _as_shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _whole(value: Any) -> int | None:
    """The value as an int, if it is a whole number of Python or NumPy; None for all else."""
    if isinstance(value, np.bool_) or (isinstance(value, np.ndarray) and value.dtype == bool):
        return None
    try:
        return int(operator.index(value))
    except TypeError:
        return None


def full_span_chunk_size(span: int, unit: int = 1) -> int:
    """The size of one chunk that holds an axis: a multiple of ``unit``, and at least that."""
    return max(1, -(-span // unit)) * unit


def normalize_chunks_1d(chunks: Any, span: int, unit: int = 1) -> DimensionGrid:
    """The chunks of an axis from what a user writes for them.

    Parameters
    ----------
    chunks : int or iterable of int
        The size of all chunks, -1 for one chunk, or the size of each.
    span : int
        Elements of the array along the axis.
    unit : int
        What the size of one chunk for all has to be a multiple of.

    Raises
    ------
    TypeError
        A size is not a whole number.
    ValueError
        A size is not positive, or the sizes do not add up to the span.
    """
    size = _whole(chunks)
    if size is not None:
        if size < 1 and size != -1:
            raise ValueError(f"Chunk size must be positive or -1, got {size}")
        return FixedDimension(full_span_chunk_size(span, unit) if size == -1 else size, span)
    listed = _listed(chunks)
    if not listed:
        raise ValueError("a list of chunk sizes must not be empty")
    sizes = [_whole(one) for one in listed]
    wrong = [place for place, one in enumerate(sizes) if one is None]
    if wrong:
        named = tuple(listed[place] for place in wrong)
        raise TypeError(
            f"chunk sizes with non-integer element(s) {named} at indices {tuple(wrong)}"
        )
    edges = [size for size in sizes if size is not None]
    if min(edges) < 1:
        raise ValueError(f"chunk sizes must be positive, got {edges}")
    if span and sum(edges) != span:
        raise ValueError(f"chunk sizes {edges} do not sum to span {span}")
    return VaryingDimension(edges, span)


def normalize_chunks_nd(
    chunks: Any, shape: tuple[int, ...], unit: tuple[int, ...] | None = None
) -> ChunkGrid:
    """The chunks of an array from what a user writes for them; nothing is guessed.

    Parameters
    ----------
    chunks : int, sequence or False
        The size along all axes, or what `normalize_chunks_1d` takes for each; False for one chunk.
    shape : tuple of int
    unit : tuple of int, optional
        What the size of one chunk for all has to be a multiple of, for each axis.

    Raises
    ------
    TypeError, ValueError
        As in `normalize_chunks_1d`; or the number of axes is another; or chunks are to be guessed.
    """
    if isinstance(chunks, StoredGrid):
        sizes = getattr(chunks, "chunk_shapes", chunks.chunk_shape)
        return ChunkGrid.from_sizes(shape, sizes)
    if chunks is None or chunks is True:
        raise ValueError(f"{chunks!r} is not a valid chunk input: chunks are not guessed here")
    size = -1 if chunks is False else _whole(chunks)
    listed = _listed(chunks) if size is None else [size] * len(shape)
    if len(listed) != len(shape):
        raise ValueError(f"chunks has {len(listed)} dimensions but shape has {len(shape)}")
    axes = zip(listed, shape, unit or (1,) * len(shape), strict=True)
    return ChunkGrid(dimensions=tuple(normalize_chunks_1d(*axis) for axis in axes))


def _guess_regular_chunks(
    shape: int | tuple[int, ...], typesize: int, *, max_bytes: int | None = None
) -> tuple[int, ...]:
    """The shape of the chunks that zarrix guesses, of at most ``max_bytes``."""
    lengths = _as_shape(shape)
    if max_bytes is None:
        return guess.guess_chunks(lengths, typesize)
    return guess.chunks_of_bytes(lengths, typesize, max_bytes, divide=False)


def guess_chunks(
    shape: tuple[int, ...], typesize: int, *, max_bytes: int | None = None
) -> ChunkGrid:
    """The chunks that zarrix guesses for an array.

    Parameters
    ----------
    shape : tuple of int
    typesize : int
        Bytes of an element.
    max_bytes : int, optional
        Bytes of a chunk, at most.
    """
    sizes = _guess_regular_chunks(shape, typesize, max_bytes=max_bytes)
    return ChunkGrid.from_sizes(shape, sizes)


def resolve_outer_and_inner_chunks(
    *, array_shape: tuple[int, ...], chunks: ChunkGrid, shard_shape: Any, item_size: int
) -> ChunkLayout:
    """The shards of an array and the chunks in them; the chunks alone where there are no shards.

    Parameters
    ----------
    array_shape : tuple of int
    chunks : ChunkGrid
    shard_shape : None, "auto", mapping with "shape", or what `normalize_chunks_nd` takes
    item_size : int
        Bytes of an element, for "auto".
    """
    if shard_shape is None:
        return ChunkLayout(chunks)
    if isinstance(shard_shape, Mapping):
        shard_shape = shard_shape["shape"]
    if isinstance(shard_shape, str) and shard_shape == "auto":
        sizes = guess.guess_shards(array_shape, chunks.chunk_shape, item_size)
        return ChunkLayout(ChunkGrid.from_sizes(array_shape, sizes), ChunkLayout(chunks))
    unit = chunks.chunk_shape
    return ChunkLayout(normalize_chunks_nd(shard_shape, array_shape, unit), ChunkLayout(chunks))


def _listed(chunks: Any) -> list[Any]:
    try:
        return [*chunks]
    except TypeError:
        raise TypeError(
            f"chunks must be an integer or an iterable of integers; got {chunks!r} of type "
            f"{type(chunks).__name__}"
        ) from None
