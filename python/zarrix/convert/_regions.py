"""The regions in which an array is copied: whole chunks of the destination, within a budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from zarrix.convert._source import Region

__all__ = ["chunks_of", "count", "region_at", "regions", "step_of", "stored_regions"]


def step_of(
    shape: tuple[int, ...],
    unit: tuple[int, ...],
    source: tuple[int, ...] | None,
    itemsize: int,
    budget: int,
    *,
    rows: bool = False,
) -> tuple[int, ...]:
    """The extent of a region: a multiple of ``unit``, at most ``budget`` bytes or one unit.

    It first grows to whole chunks of the source, so that these are decoded once if the budget
    allows, then along the last axes, so that reads of a file are long.

    Parameters
    ----------
    shape : tuple of int
    unit : tuple of int
        What is stored under one key.
    source : tuple of int, optional
        The chunks of the source.
    itemsize, budget : int
        In bytes.
    rows : bool
        Regions are complete along all axes but the first.

    Examples
    --------
    >>> step_of((100, 100), (10, 10), None, 1, 2500)
    (20, 100)
    >>> step_of((100, 100), (10, 10), (50, 20), 1, 2500)
    (50, 40)
    """
    step = [min(n, one) or 1 for n, one in zip(shape, unit, strict=True)]
    if rows:
        step[1:] = [max(1, n) for n in shape[1:]]

    def grow(axis: int, limit: int) -> None:
        room = budget // max(1, itemsize * math.prod(step))
        units = min(room, -(-limit // step[axis]))
        if units > 1:
            step[axis] *= units

    for axis, chunk in reversed(list(enumerate(source or ()))):
        grow(axis, chunk)
    for axis in reversed(range(len(shape))):
        grow(axis, shape[axis])
    return tuple(step)


def regions(shape: tuple[int, ...], step: tuple[int, ...]) -> Iterator[Region]:
    """All regions of that extent, in C order; none for an array without elements."""
    axes = (range(0, n, one) for n, one in zip(shape, step, strict=True))
    for starts in itertools.product(*axes):
        yield tuple(
            slice(start, min(start + one, n))
            for start, one, n in zip(starts, step, shape, strict=True)
        )


def region_at(index: int, shape: tuple[int, ...], step: tuple[int, ...]) -> Region:
    """The region of that number in `regions`, found without the ones before it."""
    starts = []
    for n, one in zip(reversed(shape), reversed(step), strict=True):
        index, at = divmod(index, -(-n // one))
        starts.append(at * one)
    return tuple(
        slice(start, min(start + one, n))
        for start, one, n in zip(reversed(starts), step, shape, strict=True)
    )


def stored_regions(
    shape: tuple[int, ...],
    step: tuple[int, ...],
    chunks: tuple[int, ...],
    stored: Iterable[tuple[int, ...]],
) -> list[int]:
    """The numbers of the regions that have an element of a stored chunk, in order.

    What is not stored takes neither time nor memory, however large the shape says it is.

    Examples
    --------
    >>> stored_regions((10, 10), (5, 5), (2, 10), [(0, 0), (2, 0)])
    [0, 1, 2, 3]
    >>> stored_regions((2**50,), (10,), (10,), [(7,), (2**40,)])
    [7, 1099511627776]
    """
    grid = [-(-n // one) for n, one in zip(shape, step, strict=True)]
    found: set[int] = set()
    for coords in stored:
        axes = [
            range(i * chunk // one, min(-(-(i + 1) * chunk // one), most))
            for i, chunk, one, most in zip(coords, chunks, step, grid, strict=True)
        ]
        for at in itertools.product(*axes):
            number = 0
            for i, most in zip(at, grid, strict=True):
                number = number * most + i
            found.add(number)
    return sorted(found)


def count(shape: tuple[int, ...], step: tuple[int, ...]) -> int:
    """The number of regions."""
    return math.prod(-(-n // one) for n, one in zip(shape, step, strict=True))


def chunks_of(region: Region, unit: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The coordinates of the units that a region covers."""
    return itertools.product(
        *(
            range(one.start // length, -(-one.stop // length))
            for one, length in zip(region, unit, strict=True)
        )
    )
