"""The route ``profile``: the values along a line on a plane, one chunk after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import item_bytes
from zarrix.viewer._decoded import decoded
from zarrix.viewer._limits import MOST_DECODED_BYTES
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going, read
from zarrix.viewer._roots import Roots
from zarrix.viewer._tile_types import tile_type

__all__ = ["profile"]

_MOST_SAMPLES = 4096


def profile(roots: Roots, parameters: Parameters) -> Answer:
    """The elements that a line passes, and how far from its begin each of them lies."""
    array = roots.array(parameters.text("path"))
    field = parameters.field(array)
    dtype = array.dtype if field is None else array.dtype[field]
    if tile_type(dtype) is None or dtype.kind in "cmM" or dtype.shape:
        raise Refused(400, f"values of {dtype} are not real numbers", "not-numbers")
    index, shown = parameters.wholes("index", 64), parameters.wholes("axes", 2)
    ends = parameters.wholes("ends", 4)
    if len(index) != array.ndim or len(set(shown)) != 2 or max(shown) >= array.ndim:
        raise Refused(400, "index= has a number for each axis, and axes= names two of them")
    sizes = [array.shape[axis] for axis in shown]
    if len(ends) != 4 or any(one >= sizes[at % 2] for at, one in enumerate(ends)):
        raise Refused(400, "ends= are row and column of two elements of the plane")
    if any(one >= size for one, size in zip(index, array.shape, strict=True)):
        raise Refused(400, "index= is not within the array", "out-of-bounds")
    rows, columns = _line(ends)
    values = _values(array, index, shown, (rows, columns), field, parameters)
    away = np.hypot(rows - ends[0], columns - ends[1])
    found = [None if one != one else one for one in values.tolist()]
    return json_answer({"rows": rows, "columns": columns, "distances": away, "values": found})


def _line(ends: list[int]) -> tuple[Any, Any]:
    """Rows and columns of the elements between two of them, both included."""
    y0, x0, y1, x1 = ends
    count = min(_MOST_SAMPLES, max(abs(y1 - y0), abs(x1 - x0)) + 1)
    parts = np.linspace(0, 1, count)
    rows, columns = (
        np.floor(begin + parts * (end - begin) + 0.5).astype("i8")
        for begin, end in ((y0, y1), (x0, x1))
    )
    return rows, columns


def _values(
    array: Any, index: list[int], shown: list[int], places: Any, field: Any, parameters: Parameters
) -> Any:
    """The values at places of a plane, each chunk decoded once."""
    grid = metadata_of(array).inner_grid
    chunks = [
        np.array([grid[axis].find(int(one)).chunk for one in found])
        for axis, found in zip(shown, places, strict=True)
    ]
    pairs, of_pair = np.unique(np.stack(chunks), axis=1, return_inverse=True)
    size = math.prod(max(one.lengths) for one in grid) * item_bytes(array)
    if pairs.shape[1] * size > MOST_DECODED_BYTES:
        most = MOST_DECODED_BYTES >> 20
        raise Refused(413, f"the line decodes more than {most} MiB of chunks", "too-large")
    values = np.empty(len(places[0]), "f8")
    for chunk in range(pairs.shape[1]):
        check_going(parameters.cancel)
        is_here = of_pair.reshape(-1) == chunk
        axes: list[Any] = list(index)
        inner = []
        for axis, found in zip(shown, places, strict=True):
            low, high = int(found[is_here].min()), int(found[is_here].max())
            axes[axis] = (low, 1, high - low + 1)
            inner.append(found[is_here] - low)
        box = read(array, axes, parameters.cancel, field)
        if parameters.choice("as", "raw", "cf") == "cf":
            box = decoded(array, box)
        box = box if shown[0] < shown[1] else box.T
        values[is_here] = box[inner[0], inner[1]].astype("f8")
    return values
