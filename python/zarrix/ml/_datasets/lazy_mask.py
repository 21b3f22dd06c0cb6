"""Places that are drawn until a mask lets them pass: for masks that are too large to index."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.array import Array
from zarrix._array.many import read_many
from zarrix.ml._datasets.dataset import digest_of
from zarrix.ml._datasets.places import Places
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import MaskGrid

__all__ = ["OPERATORS", "Drawn", "MaskRule"]

OPERATORS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


class MaskRule(NamedTuple):
    """Which share of a mask is set in a window that passes, and how many places an item draws."""

    op: str
    threshold: float
    tries: int

    def passes(self, share: Any, whole: Any = 1) -> Any:
        """Whether a share, or a number of elements of a whole, is enough."""
        return OPERATORS[self.op](share, self.threshold * whole)


class Drawn:
    """Corners that pass, drawn one attempt after the other; it pickles without what was read."""

    def __init__(
        self,
        places: Places,
        shapes: Sequence[tuple[int, ...]],
        masks: Sequence[Any],
        grids: Sequence[MaskGrid],
        rule: MaskRule,
    ) -> None:
        self._places, self._shapes, self._masks, self._grids = places, shapes, masks, grids
        self._rule = rule
        #: Every frame has items: which ones have a place that passes is not known.
        self.frames = [np.arange(math.prod(shape)) for shape in shapes]
        shapes_of = [list(mask.shape) for mask in masks]
        self.digest = digest_of(["drawn", rule, shapes_of, [grid.identity() for grid in grids]])

    def corners(
        self, groups: Ints, frames: Ints, visits: Visits
    ) -> tuple[Ints, Ints, dict[str, Any]]:
        """The corner and the frame of each item, and ``passes``."""
        corners = self._places.low[groups]
        best = np.full(len(groups), np.nan)
        passes = np.zeros(len(groups), np.bool_)
        better = np.greater if self._rule.op in (">", ">=") else np.less
        for attempt in range(self._rule.tries):
            open_ = np.flatnonzero(~passes)
            if not len(open_):
                break
            drawn = self._places.corners(groups[open_], visits.take(open_), attempt)
            shares = self._shares(groups[open_], frames[open_], drawn)
            taken = np.isnan(best[open_]) | better(shares, best[open_])
            corners[open_[taken]], best[open_[taken]] = drawn[taken], shares[taken]
            passes[open_] = self._rule.passes(best[open_])
        return corners, frames, {"passes": passes}

    def _shares(self, groups: Ints, frames: Ints, corners: Ints) -> npt.NDArray[np.float64]:
        """Which share of the mask is set in the windows at these corners; 0 lies around it."""
        shares = np.empty(len(groups))
        for group in np.unique(groups):
            here = np.flatnonzero(groups == group)
            mask, grid = self._masks[group], self._grids[group]
            window, starts = [1] * len(mask.shape), np.zeros((len(here), len(mask.shape)), np.int64)
            index = np.unravel_index(frames[here], self._shapes[group] or (1,))
            for axis, along, up, down in zip(
                grid.frames, index, grid.frame_up, grid.frame_down, strict=False
            ):
                if axis >= 0:
                    starts[:, axis] = along * up // down
            for number, axis in enumerate(grid.cropped):
                place = self._places.cropped[number]
                up, down = int(grid.up[number]), int(grid.down[number])
                starts[:, axis] = corners[here, place] * up // down
                window[axis] = max(1, int(self._places.window[place]) * up // down)
            values = _windows(mask, starts, tuple(window)).reshape(len(here), -1)
            shares[here] = (values != 0).mean(axis=1)
        return shares


def _windows(mask: Any, starts: Ints, window: tuple[int, ...]) -> Any:
    if isinstance(mask, Array):
        return read_many([(mask, starts, window)], border="pad", pad_value=0)[0]
    out = np.zeros((len(starts), *window), mask.dtype)
    for target, start in zip(out, starts.tolist(), strict=True):
        low = [max(0, begin) for begin in start]
        high = [min(b + w, n) for b, w, n in zip(start, window, mask.shape, strict=True)]
        if all(a < b for a, b in zip(low, high, strict=True)):
            to = tuple(slice(a - s, b - s) for a, b, s in zip(low, high, start, strict=True))
            target[to] = mask[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
    return out
