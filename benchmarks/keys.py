"""Selections of an array, drawn from a seed: what the rows of the table read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.contenders import Key
from benchmarks.data import Layout

Keys = Callable[[Layout, np.random.Generator], list[Key]]


def everything(layout: Layout, rng: np.random.Generator) -> list[Key]:
    """The whole array."""
    return [(slice(None),) * len(layout.shape)]


def boxes(size: tuple[int | None, ...], count: int) -> Keys:
    """Boxes at random places: a length for each axis, None for all of it."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        keys: list[Key] = []
        for _ in range(count):
            box = []
            for wanted, length in zip(size, layout.shape, strict=True):
                extent = min(wanted or length, length)
                start = int(rng.integers(length - extent + 1))
                box.append(slice(start, start + extent))
            keys.append(tuple(box))
        return keys

    return draw


def indices(axis: int, count: int) -> Keys:
    """One index of one axis, everything of the others."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        before = (slice(None),) * axis
        return [(*before, int(i)) for i in rng.integers(layout.shape[axis], size=count)]

    return draw


def lines(axis: int, count: int) -> Keys:
    """One element of each axis but one, of which everything is read."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        keys: list[Key] = []
        for _ in range(count):
            place: list[int | slice] = [int(rng.integers(n)) for n in layout.shape]
            place[axis] = slice(None)
            keys.append(tuple(place))
        return keys

    return draw


def chunks(count: int) -> Keys:
    """Whole chunks at random places."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        keys: list[Key] = []
        for _ in range(count):
            starts = [
                c * int(rng.integers(n // c))
                for n, c in zip(layout.shape, layout.chunks, strict=True)
            ]
            keys.append(tuple(slice(s, s + c) for s, c in zip(starts, layout.chunks, strict=True)))
        return keys

    return draw


def elements(count: int) -> Keys:
    """Single elements at random places."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        return [tuple(int(rng.integers(n)) for n in layout.shape) for _ in range(count)]

    return draw


def crops(side: int, count: int = 8) -> Keys:
    """Square crops of one frame with all its channels, as a data loader takes them."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        drawn = boxes((1, None, side, side), count)(layout, rng)
        return [(box[0].start, *box[1:]) for box in drawn]

    return draw


def points(count: int) -> Keys:
    """Elements at random places, by one array of coordinates per axis."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        return [tuple(rng.integers(n, size=count) for n in layout.shape)]

    return draw


def rows(count: int) -> Keys:
    """Indices of the first axis in any order, everything of the second."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        return [(rng.integers(layout.shape[0], size=count), slice(None))]

    return draw
