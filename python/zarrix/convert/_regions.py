"""The regions in which an array is copied: whole chunks of the destination, within a budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from zarrix.convert._source import Region

__all__ = ["chunks_of", "count", "regions", "step_of"]


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

    def grow(axis: int, most: int) -> None:
        room = budget // max(1, itemsize * math.prod(step))
        units = min(room, -(-most // step[axis]))
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
