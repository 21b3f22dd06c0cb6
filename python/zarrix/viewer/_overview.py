"""The route ``overview``: a plane that is too large for tiles, in few pixels and bounded time.

If every n-th element can be read within the limit, that is the picture ("step"), or for JPEG chunks
what their codec decodes in a smaller size at these places ("reduced"). Otherwise only
some chunks are decoded, and each gives one element ("coarse"); a front end asks again for parts of
the plane, which are finer. Where chunks are missing, those that are stored are chosen
(`zarrix.viewer._sparse`).
"""

from __future__ import annotations

import math
from typing import Any

from zarrix._array.access import metadata_of
from zarrix.viewer._answers import Answer, Refused
from zarrix.viewer._cost import chunk_range, is_affordable
from zarrix.viewer._decoded import decoded
from zarrix.viewer._limits import MOST_ELEMENTS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import read
from zarrix.viewer._roots import Roots
from zarrix.viewer._smaller import smaller, step_of
from zarrix.viewer._sparse import sparse_overview
from zarrix.viewer._tile import octets

__all__ = ["overview"]

_MOST_SIDE = 4096


def overview(roots: Roots, parameters: Parameters) -> Answer:
    """The selected planes with at most ``side`` elements along each of the two axes."""
    array = roots.array(parameters.text("path"))
    axes: list[Any] = list(parameters.selection(array).axes)
    side = parameters.whole("side", 1024, 1, _MOST_SIDE)
    shown = parameters.wholes("axes", 2)
    ranges = [axes[one] for one in shown if one < len(axes)]
    if len(ranges) != 2 or shown[0] == shown[1] or any(isinstance(one, int) for one in ranges):
        raise Refused(400, "axes= names two axes of which the selection has a range")
    for axis in shown:
        start, step, count = axes[axis]
        by = step_of(array, max(1, -(-count // side)))
        axes[axis] = (start, step * by, -(-count // by))
    quality = "exact" if all(axes[axis][1] == 1 for axis in shown) else "step"
    form = parameters.choice("as", "raw", "label", "cf")
    cells = [axes[axis][0] for axis in shown] + [axes[axis][1] for axis in shown]
    if not is_affordable(array, axes):
        sparse = sparse_overview(array, parameters, side, shown)
        if sparse is not None:
            found = decoded(array, sparse.values) if form == "cf" else sparse.values
            return octets(found, form, _described(sparse.cells), sparse.known)
        axes, quality = _coarse(array, axes, shown), "coarse"
        cells[2:] = [axes[axis][1] for axis in shown]
    size = math.prod(1 if isinstance(one, int) else one[2] for one in axes)
    if size > MOST_ELEMENTS:
        raise Refused(413, f"{size:,} elements are more than {MOST_ELEMENTS:,}", "too-large")
    source, places = array, axes
    if quality == "step" and (found := smaller(array, axes, shown)) is not None:
        (source, places), quality = found, "reduced"
    values = read(source, places, parameters.cancel, parameters.field(array))
    if form == "cf":
        values = decoded(array, values)
    steps = _listed([axes[axis][1] for axis in shown])
    begins = _listed([axes[axis][0] for axis in shown])
    more = {
        "x-zarrix-step": steps,
        "x-zarrix-begin": begins,
        "x-zarrix-quality": quality,
        # Where the first element of the answer is drawn, and how large each one is.
        "x-zarrix-cells": _listed(cells),
    }
    return octets(values, form, more)


def _described(cells: list[int]) -> dict[str, str]:
    """The headers of an overview whose elements are those of chunks."""
    begin, step = cells[:2], cells[2:]
    return {
        "x-zarrix-step": _listed(step),
        "x-zarrix-begin": _listed([a + b // 2 for a, b in zip(begin, step, strict=True)]),
        "x-zarrix-quality": "coarse",
        "x-zarrix-cells": _listed(cells),
    }


def _listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _coarse(array: Any, axes: list[Any], shown: list[int]) -> list[Any]:
    """The selection with one element of every n-th chunk along the shown axes, within the limit.

    It is the middle of a chunk, because pictures often have margins. Chunks of several lengths
    are taken for chunks of the longest one.
    """
    metadata = metadata_of(array)
    lengths = [max(grid.lengths) for grid in metadata.inner_grid]
    counts = []
    for axis in shown:
        first, end = chunk_range(metadata.inner_grid[axis], axes[axis])
        counts.append(end - first)
    every = 2
    while True:
        found = list(axes)
        for axis, count in zip(shown, counts, strict=True):
            start, step, elements = axes[axis]
            end = start + step * (elements - 1)
            by = min(every, count) * lengths[axis]
            middle = min(start + by // 2, end)
            found[axis] = (middle, by, (end - middle) // by + 1)
        if is_affordable(array, found) or every >= max(counts):
            return found
        every = -(-every * 5 // 4)
