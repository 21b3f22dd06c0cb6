"""Which rows of sources differ from others with the same labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix.ingest._fit import equal_elements
from zarrix.ingest._variables import Variable
from zarrix.ingest._write import boxes

__all__ = ["differing"]

Readers = Mapping[str, tuple[int, Sequence[Variable]]]


def differing(
    pairs: npt.NDArray[np.int64], readers: Readers, budget: int
) -> dict[str, npt.NDArray[np.int64]]:
    """Compare rows of two sources, pair by pair.

    Parameters
    ----------
    pairs : ndarray of int
        Source and row of one, and of the other.
    readers : mapping
        By the name of a variable its axis, and the variable of each source.
    budget : int
        Bytes of what is compared at once.

    Returns
    -------
    dict
        For each variable with differences the indices of the pairs that differ.
    """
    found = {}
    for name, (axis, variables) in readers.items():
        differ = np.zeros(len(pairs), bool)
        for begin, end in _neighbours(pairs):
            mine, row, theirs, other = map(int, pairs[begin])
            first, second = variables[mine], variables[theirs]
            for rows, box in _parts(second, axis, end - begin, budget):
                equal = equal_elements(
                    _read(first, axis, row, rows, box), _read(second, axis, other, rows, box)
                )
                others = tuple(at for at in range(equal.ndim) if at != axis)
                differ[begin + rows.start : begin + rows.stop] |= ~equal.all(axis=others)
        if differ.any():
            found[name] = np.flatnonzero(differ)
    return found


def _neighbours(pairs: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of pairs whose rows follow each other in both sources."""
    if not len(pairs):
        return
    steps = np.diff(pairs, axis=0)
    ends = np.flatnonzero((steps != [0, 1, 0, 1]).any(axis=1)) + 1
    borders = [0, *ends.tolist(), len(pairs)]
    yield from itertools.pairwise(borders)


def _parts(
    variable: Variable, axis: int, count: int, budget: int
) -> Iterator[tuple[slice, tuple[slice, ...]]]:
    """Rows, counted from the first, and regions along the other axes."""
    shape = [count if at == axis else n for at, n in enumerate(variable.shape)]
    itemsize = 64 if variable.dtype.kind in "OT" else max(1, variable.dtype.itemsize)
    unit = [*(variable.chunks or (1,) * len(shape))]
    unit[axis] = 1
    extent, others = boxes(shape, unit, axis, itemsize, budget)
    for begin in range(0, count, extent):
        for box in others:
            yield slice(begin, min(count, begin + extent)), box


def _read(
    variable: Variable, axis: int, row: int, rows: slice, box: tuple[slice, ...]
) -> npt.NDArray[Any]:
    region = (*box[:axis], slice(row + rows.start, row + rows.stop), *box[axis + 1 :])
    return np.asarray(variable.read(region))
