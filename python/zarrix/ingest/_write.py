"""Rows of sources become rows of an array: in whole chunks, within a budget of memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix.convert._regions import step_of
from zarrix.ingest._merge import Merged
from zarrix.ingest._variables import Variable

__all__ = ["Run", "boxes", "runs", "write_rows"]

Box = tuple[slice, ...]


class Run(NamedTuple):
    """Neighbouring positions whose rows are neighbours in one source.

    Attributes
    ----------
    begin, end : int
        Positions.
    source : int
    row : int
        That of the first position.
    step : {1, -1}
        Whether rows ascend or descend.
    """

    begin: int
    end: int
    source: int
    row: int
    step: int

    def rows(self, begin: int, end: int) -> tuple[slice, slice]:
        """The rows for some of the positions, and the step in which they are taken of these."""
        first = self.row + (begin - self.begin) * self.step
        last = self.row + (end - 1 - self.begin) * self.step
        low, high = min(first, last), max(first, last)
        return slice(low, high + 1), slice(None, None, self.step)


def runs(
    positions: npt.NDArray[np.int64], source: npt.NDArray[np.int64], row: npt.NDArray[np.int64]
) -> list[Run]:
    """Rows at ascending positions, as few runs as possible."""
    if not len(positions):
        return []
    is_next = (np.diff(positions) == 1) & (np.diff(source) == 0)
    steps = np.diff(row)
    found: list[Run] = []
    begin = 0
    while begin < len(positions):
        end, step = begin + 1, 1
        if end < len(positions) and is_next[begin] and steps[begin] in (1, -1):
            step = int(steps[begin])
            rest = is_next[begin:] & (steps[begin:] == step)
            end = begin + 1 + (len(rest) if rest.all() else int(np.argmin(rest)))
        at = int(positions[begin])
        found.append(Run(at, at + end - begin, int(source[begin]), int(row[begin]), step))
        begin = end
    return found


def boxes(
    shape: Sequence[int], unit: Sequence[int], axis: int, itemsize: int, budget: int
) -> tuple[int, list[Box]]:
    """The rows of a region along ``axis``, and the regions along all other axes.

    Regions are whole chunks, with at most ``budget`` bytes if a chunk has no more.
    """
    order = [axis, *(one for one in range(len(shape)) if one != axis)]
    step = step_of(
        tuple(max(1, shape[one]) for one in order),
        tuple(unit[one] for one in order),
        None,
        itemsize,
        budget,
    )
    others: list[Box] = [()]
    for one in range(len(shape)):
        if one == axis:
            others = [(*box, slice(None)) for box in others]
            continue
        length, extent = shape[one], step[order.index(one)]
        parts = [slice(at, min(length, at + extent)) for at in range(0, length, extent)]
        others = [(*box, part) for box in others for part in parts]
    return step[0], others


def write_rows(
    array: Array,
    axis: int,
    merged: Merged,
    is_changed: npt.NDArray[np.bool_],
    readers: Sequence[Variable],
    budget: int,
) -> Iterator[int]:
    """Write the changed rows of an array; gives the number of elements after each region.

    Parameters
    ----------
    array : Array
        With its new length.
    axis : int
    merged : Merged
        The last of ``readers`` is what is stored, since its source is -1.
    is_changed : ndarray of bool
        For each position.
    readers : sequence of Variable
        Of each source, and of what is stored.
    budget : int
        Bytes of a region.
    """
    unit = tuple(int(n) for n in metadata_of(array).chunk_shape)
    itemsize = 64 if array.dtype.kind in "OT" else max(1, array.dtype.itemsize)
    extent, others = boxes(array.shape, unit, axis, itemsize, budget)
    for begin in range(0, merged.length, extent):
        changed = np.flatnonzero(is_changed[begin : begin + extent])
        if not len(changed):
            continue
        low, high = begin + int(changed[0]), begin + int(changed[-1]) + 1
        part = np.arange(low, high)
        found = runs(part, merged.source[low:high], merged.row[low:high])
        for box in others:
            shape = [
                high - low if at == axis else one.stop - one.start for at, one in enumerate(box)
            ]
            values = np.empty(shape, array.dtype)
            for run in found:
                _fill(values, run, low, axis, box, readers[run.source])
            array[(*box[:axis], slice(low, high), *box[axis + 1 :])] = values
            yield math.prod(shape)


def _fill(
    values: npt.NDArray[Any], run: Run, low: int, axis: int, box: Box, variable: Variable
) -> None:
    rows, order = run.rows(run.begin, run.end)
    before, after = box[:axis], box[axis + 1 :]
    read = np.asarray(variable.read((*before, rows, *after)))
    whole = (slice(None),) * axis
    values[(*whole, slice(run.begin - low, run.end - low))] = read[(*whole, order)]
