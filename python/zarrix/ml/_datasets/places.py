"""Where windows may be: multiples of a step, in a range along each dimension that is cropped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix.ml._datasets.dataset import digest_of
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import Column, Field

__all__ = ["Frames", "Places"]


class Frames(NamedTuple):
    """The frames of a dataset, as a filter of places sees them.

    ``over`` names the dimensions that frames are counted along, and ``shapes`` has the number of
    frames along each, for each group.
    """

    groups: list[dict[str, Field]]
    dims: Any
    over: Sequence[str]
    places: Places
    shapes: list[tuple[int, ...]]


class Places:
    """The corners that windows of the groups of a dataset may have."""

    def __init__(
        self,
        groups: list[dict[str, Field]],
        dims: Sequence[str],
        size: Mapping[str, int],
        columns: list[Column],
        border: str,
    ) -> None:
        axes = len(dims)
        # At a multiple of the step a window begins at a whole element of every field.
        self.step = np.ones(axes, np.int64)
        for column in columns:
            for axis, down in zip(column.axes, column.down, strict=True):
                if axis >= 0 and dims[axis] in size:
                    self.step[axis] = math.lcm(int(self.step[axis]), int(down))
        self.cropped = [axis for axis, dim in enumerate(dims) if dim in size]
        self.window = np.array([size.get(dim, 1) for dim in dims])
        self.low = np.zeros((len(groups), axes), np.int64)
        self.count = np.ones((len(groups), axes), np.int64)
        for number, group in enumerate(groups):
            shape = next(iter(group.values())).array.shape
            for axis in self.cropped:
                window, length = size[dims[axis]], int(shape[axis])
                step = int(self.step[axis])
                if border == "inside":
                    if window > length:
                        raise ValueError(
                            f"a window of {window} along {dims[axis]!r} is larger than group "
                            f"{number}, which has {length}; border='pad' allows it"
                        )
                    last = length - window
                else:
                    # The centre of the window lies in the array.
                    self.low[number, axis] = -(window // 2 // step) * step
                    last = max(0, length - 1 - window // 2)
                self.count[number, axis] = (last - self.low[number, axis]) // step + 1

    def identity(self) -> dict[str, Any]:
        """What corners depend on beside seed, epoch and item, in terms of JSON."""
        return {
            "axes": self.cropped,
            "window": self.window.tolist(),
            "step": self.step.tolist(),
            "low": digest_of(self.low),
            "count": digest_of(self.count),
        }

    def corners(self, groups: Ints, visits: Visits, attempt: int = 0) -> Ints:
        """A random corner for each item; 0 along axes that are not cropped."""
        corners: Ints = self.low[groups]
        # Attempts below 1024 belong to filters, too.
        first = 1024 + 32 * attempt if attempt else 0
        for pair in range(0, len(self.cropped), 2):
            words = visits.draw("corner", first + pair)
            for axis, word in zip(self.cropped[pair : pair + 2], words, strict=False):
                places = word % self.count[groups, axis].astype(np.uint64)
                corners[:, axis] += places.astype(np.int64) * self.step[axis]
        return corners
