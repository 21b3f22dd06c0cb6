"""The chunks of an array along each of its axes.

An axis has chunks of one length, as many as needed (all axes of a regular grid), or runs of equal
chunks (a rectilinear grid). The cost of everything here depends on the number of runs, and not on
the number of chunks.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from zarrix._runtime.cached_property import cached_property

__all__ = ["AxisGrid", "Extent", "axis_of", "chunks_over", "combinations"]

_MAX_LENGTH = 2**63 - 1

_T = TypeVar("_T")


class Extent(NamedTuple):
    """A chunk along an axis: its number, its begin, and its end."""

    chunk: int
    begin: int
    end: int


@dataclass(frozen=True)
class AxisGrid:
    """The chunks along one axis.

    Attributes
    ----------
    runs : tuple of (int, int)
        Lengths, and the number of consecutive chunks of that length; empty if all chunks have the
        length ``even``.
    even : int
        0 if there are runs.

    Examples
    --------
    >>> axis = AxisGrid(runs=((10, 2), (5, 1)))
    >>> axis.find(12), axis.count(20), list(axis.sizes(22))
    (Extent(chunk=1, begin=10, end=20), 2, [10, 10, 2])
    """

    runs: tuple[tuple[int, int], ...] = ()
    even: int = 0

    @cached_property
    def _firsts(self) -> tuple[list[int], list[int]]:
        """The begin of each run and the number of its first chunk, with one entry after the
        last run.
        """
        begins, numbers = [0], [0]
        for length, count in self.runs:
            begins.append(begins[-1] + length * count)
            numbers.append(numbers[-1] + count)
        return begins, numbers

    @property
    def end(self) -> int | None:
        """The end of the last chunk; None if there are as many chunks as needed."""
        return None if self.even else self._firsts[0][-1]

    @property
    def lengths(self) -> set[int]:
        """The different chunk lengths."""
        return {self.even} if self.even else {length for length, _ in self.runs}

    def find(self, position: int) -> Extent:
        """The chunk that contains an element."""
        if self.even:
            return self.chunk(position // self.even)
        begins, numbers = self._firsts
        run = bisect.bisect_right(begins, position) - 1
        return self.chunk(numbers[run] + (position - begins[run]) // self.runs[run][0])

    def chunk(self, number: int) -> Extent:
        """Chunk number ``number``; a chunk after the last one is empty."""
        if self.even:
            return Extent(number, number * self.even, (number + 1) * self.even)
        begins, numbers = self._firsts
        run = bisect.bisect_right(numbers, number) - 1
        if run == len(self.runs):
            return Extent(number, begins[-1], begins[-1])
        length = self.runs[run][0]
        begin = begins[run] + (number - numbers[run]) * length
        return Extent(number, begin, begin + length)

    def count(self, size: int) -> int:
        """The number of chunks of an axis of ``size`` elements."""
        return self.find(size - 1).chunk + 1 if size else 0

    def chunk_end(self, size: int) -> int:
        """The end of the last chunk of an axis of ``size`` elements."""
        return self.find(size - 1).end if size else 0

    def sizes(self, size: int) -> Iterator[int]:
        """The lengths of all chunks of an axis of ``size`` elements, the last one cut there."""
        begin = 0
        for length, count in self.runs or ((self.even, -(-size // self.even)),):
            for _ in range(count):
                if begin >= size:
                    return
                yield min(length, size - begin)
                begin += length

    def parts(self, count: int, most: int, start: int = 0, step: int = 1) -> Iterator[slice]:
        """Parts of a range of elements: whole chunks of it, at most ``most`` elements or one chunk.

        The range has ``count`` elements, from ``start`` on and ``step`` apart; a part says which.

        Examples
        --------
        >>> list(AxisGrid(even=4).parts(6, 4, start=3))
        [slice(0, 1, None), slice(1, 5, None), slice(5, 6, None)]
        """
        begin = 0
        while begin < count:
            end = count
            if begin + most < count:
                cut = self.find(start + (begin + most) * step)
                near, far = (cut.begin, cut.end) if step > 0 else (cut.end - 1, cut.begin - 1)
                # Rounded up, of steps in either direction.
                end = -((start - near) // step)
                if end <= begin:
                    end = min(-((start - far) // step), count)
            yield slice(begin, end)
            begin = end

    def grown(self, size: int, unit: int = 1, *, chunks_of: int | None = None) -> AxisGrid:
        """The same axis with chunks up to ``size``: one more chunk of the missing length.

        Parameters
        ----------
        unit : int
            Divisor of the chunk lengths: the length of inner chunks for shards.
        chunks_of : int, optional
            Append as many chunks of this length as needed, instead of one.
        """
        end = self.end
        if end is None or size <= end:
            return self
        missing = -(-(size - end) // unit) * unit
        added = (missing, 1) if chunks_of is None else (chunks_of, -(-missing // chunks_of))
        return AxisGrid(_joined((*self.runs, added)))

    def document(self) -> int | list[int | list[int]]:
        """The axis in documents: runs as ``[length, count]``."""
        if self.even:
            return self.even
        return [length if count == 1 else [length, count] for length, count in self.runs]


# Pickles name a class by its module: a public one, which does not move.
AxisGrid.__module__ = "zarrix.core.metadata"


def _joined(runs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same chunks, with neighbours of equal length merged into one run."""
    joined: list[tuple[int, int]] = []
    for length, count in runs:
        if joined and joined[-1][0] == length:
            joined[-1] = (length, joined[-1][1] + count)
        else:
            joined.append((length, count))
    return tuple(joined)


def chunks_over(
    grid: Sequence[AxisGrid], region: Sequence[slice], shape: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """The coordinates of the chunks of an array of ``shape`` that overlap a region."""
    axes = zip(grid, region, shape, strict=True)
    return combinations(
        [
            range(axis.find(part.start).chunk, axis.find(min(part.stop, size) - 1).chunk + 1)
            for axis, part, size in axes
        ]
    )


def combinations(axes: Sequence[Iterable[_T]]) -> Iterator[tuple[_T, ...]]:
    """`itertools.product` of axes of any length, which it would make lists of.

    Parameters
    ----------
    axes : sequence of iterable
        Each but the first is iterated over again and again.

    Examples
    --------
    >>> list(combinations([range(2), range(3, 5)]))
    [(0, 3), (0, 4), (1, 3), (1, 4)]
    >>> next(combinations([range(2**60)] * 3))
    (0, 0, 0)
    """
    if not axes:
        yield ()
        return
    first, *rest = axes
    for one in first:
        for others in combinations(rest):
            yield one, *others


def axis_of(value: Any) -> AxisGrid | None:
    """The axis that a document or a user describes; None if the description is invalid.

    Parameters
    ----------
    value : int, or iterable of int and of (length, count) pairs
    """
    if _is_count(value):
        return AxisGrid(even=value)
    if not isinstance(value, (list, tuple)):
        return None
    runs = []
    for one in value:
        pair = tuple(one) if isinstance(one, (list, tuple)) else (one, 1)
        if len(pair) != 2 or not all(map(_is_count, pair)):
            return None
        runs.append(pair)
    axis = AxisGrid(_joined(runs))
    if not runs or not axis.end or axis.end > _MAX_LENGTH:
        return None
    return axis


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= _MAX_LENGTH
