"""The regions of a stage: unions of whole stored values, numbered in C order.

Everything here is arithmetic on the chunk grid, so that a task is two numbers, and a job of a
million tasks is as short as one of ten. A region is never part of a stored value: two tasks never
write the same key, and none has to read what it writes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._runtime.cached_property import cached_property

__all__ = ["Region", "Tiling", "extent", "keys_of"]

Region = tuple[slice, ...]
"""One slice per axis, with begin and end, and without a step."""


@dataclass(frozen=True)
class Tiling:
    """The division of an array into regions of whole stored values.

    Attributes
    ----------
    shape : tuple of int
    grid : tuple of AxisGrid
        The stored values (chunks or shards) along each axis.
    units : tuple of int
        The number of stored values of a region along each axis.
    """

    shape: tuple[int, ...]
    grid: tuple[AxisGrid, ...]
    units: tuple[int, ...]

    @classmethod
    def of(cls, metadata: ArrayMetadata, units: Sequence[int] | None = None) -> Tiling:
        """The regions of an array; by default, each is one stored value."""
        counted = (1,) * metadata.ndim if units is None else tuple(units)
        return cls(metadata.shape, metadata.grid, counted)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The number of stored values along each axis."""
        return tuple(axis.count(n) for axis, n in zip(self.grid, self.shape, strict=True))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of regions along each axis."""
        return tuple(-(-n // unit) for n, unit in zip(self.values, self.units, strict=True))

    def __len__(self) -> int:
        return math.prod(self.counts)

    def place(self, number: int) -> tuple[int, ...]:
        """The coordinates of a region in the grid of regions."""
        place = []
        for count in reversed(self.counts):
            number, at = divmod(number, count)
            place.append(at)
        return tuple(reversed(place))

    def number(self, coords: Sequence[int]) -> int:
        """The number of the region at some coordinates."""
        found = 0
        for at, count in zip(coords, self.counts, strict=True):
            found = found * count + at
        return found

    def region(self, number: int) -> Region:
        """The elements of a region."""
        axes = zip(self.place(number), self.units, self.values, self.grid, self.shape, strict=True)
        return tuple(
            slice(
                grid.chunk(at * unit).begin,
                min(grid.chunk(min((at + 1) * unit, count) - 1).end, size),
            )
            for at, unit, count, grid, size in axes
        )

    def coords(self, number: int) -> Iterator[tuple[int, ...]]:
        """The coordinates of the stored values of a region."""
        axes = zip(self.place(number), self.units, self.values, strict=True)
        return itertools.product(
            *(range(at * unit, min((at + 1) * unit, count)) for at, unit, count in axes)
        )

    def cuts(self) -> tuple[list[int], ...]:
        """The begins of the regions along each axis."""
        return tuple(
            [grid.chunk(at * unit).begin for at in range(count)]
            for grid, unit, count in zip(self.grid, self.units, self.counts, strict=True)
        )


def extent(region: Region) -> tuple[int, ...]:
    """The shape of a region."""
    return tuple(part.stop - part.start for part in region)


def keys_of(encoding: tuple[str, str, str], coords: Iterator[tuple[int, ...]]) -> Iterator[str]:
    """The keys of stored values, below their array; ``encoding`` is name, separator and suffix."""
    name, separator, suffix = encoding
    for place in coords:
        numbers = map(str, place)
        if name == "default":
            yield separator.join(("c", *numbers)) + suffix
        else:
            yield (separator.join(numbers) or "0") + suffix
