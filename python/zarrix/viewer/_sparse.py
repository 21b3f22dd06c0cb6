"""Overviews of planes of which few chunks are stored: one element of a stored chunk for each cell.

A grid of fixed places would meet none of them, and show a plane of fill values.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.stored import box_of
from zarrix.viewer._cost import decoded_bytes, is_listable
from zarrix.viewer._limits import MOST_DECODED_BYTES
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going, key_of_axes
from zarrix.viewer._stored import sizes_of

__all__ = ["SparseOverview", "sparse_overview"]

# Stored chunks of which an element is read for one picture.
_MOST_READ = 4096


class SparseOverview(NamedTuple):
    """A plane with one element for each cell of some chunks.

    Attributes
    ----------
    values, known : ndarray
        The elements, and which of them are those of stored chunks.
    cells : list of int
        Row and column of the first cell, and the height and width of each.
    """

    values: Any
    known: Any
    cells: list[int]


def sparse_overview(
    array: Any, parameters: Parameters, side: int, shown: list[int]
) -> SparseOverview | None:
    """The selected planes, at most ``side`` cells along each of the two axes.

    None if all chunks are stored, if there are too many to ask for, or if they differ in length.
    """
    grid = metadata_of(array).grid
    axes: list[Any] = list(parameters.selection(array).axes)
    is_plain = all(grid[axis].even and axes[axis][1] == 1 for axis in shown)
    if not is_plain or array.dtype.names or not is_listable(array, axes):
        return None
    box = box_of(grid, axes)
    is_stored = sizes_of(array, box, parameters.cancel) >= 0
    is_stored = is_stored.any(axis=tuple(one for one in range(array.ndim) if one not in shown))
    is_stored = is_stored if shown[0] < shown[1] else is_stored.T
    if is_stored.all():
        return None
    at = [0 if axis in shown else one for axis, one in enumerate(axes)]
    count = min(_MOST_READ, MOST_DECODED_BYTES // max(1, decoded_bytes(array, at)))
    every, chosen = _chosen(is_stored, side, count)
    if chosen is None:
        return None
    lengths = [int(grid[axis].even) for axis in shown]
    counts = [-(-n // every) for n in is_stored.shape]
    kept = [axis for axis, one in enumerate(axes) if axis in shown or not isinstance(one, int)]
    shape = [counts[shown.index(axis)] if axis in shown else axes[axis][2] for axis in kept]
    values, known = np.zeros(shape, array.dtype), np.zeros(shape, bool)
    if array.fill_value is not None:
        values[...] = array.fill_value
    for chunk in chosen.tolist():
        check_going(parameters.cancel)
        element = list(axes)
        place: dict[int, Any] = dict.fromkeys(kept, slice(None))
        for axis, one, length in zip(shown, chunk, lengths, strict=True):
            start, _, count = axes[axis]
            middle = (box[axis][0] + one) * length + length // 2
            element[axis] = min(max(middle, start), start + count - 1)
            place[axis] = one // every
        there = tuple(place.values())
        values[there] = array[key_of_axes(element)]
        known[there] = True
    begins = [box[axis][0] * length for axis, length in zip(shown, lengths, strict=True)]
    return SparseOverview(values, known, begins + [every * length for length in lengths])


def _chosen(is_stored: Any, side: int, max_count: int) -> tuple[int, Any]:
    """How many chunks a cell has along each axis, and a stored chunk of each that has one."""
    coords = np.argwhere(is_stored)
    every = max(1, -(-max(is_stored.shape) // side))
    while len(coords):
        cells = coords // every
        _, first = np.unique(cells[:, 0] * is_stored.shape[1] + cells[:, 1], return_index=True)
        if len(first) <= max_count:
            return every, coords[first]
        if every >= max(is_stored.shape):
            break
        every = math.ceil(every * 5 / 4)
    return every, coords if not len(coords) else None
