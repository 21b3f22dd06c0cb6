"""Filters: which places of an array crops may show, by a mask or by labels.

The places are found once, when the dataset is made, so that the number of items is exact and an
epoch needs no retries. A table of bits says which corners pass: an eighth of a byte for each. Masks
of more than 2^31 elements are not indexed: each item draws places until the mask lets one pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from zarrix._errors import suggestion
from zarrix.ml._datasets.dataset import digest_of
from zarrix.ml._datasets.lazy_mask import OPERATORS, Drawn, MaskRule
from zarrix.ml._datasets.places import Frames, Places
from zarrix.ml._order.random import Ints, mix64
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import Field, MaskGrid, grid_of

__all__ = ["Bound", "Foreground", "Fraction", "foreground", "fraction", "weights"]

_MOST = 2**31
_MOST_VOXELS = 10_000


class Bound(Protocol):
    """A filter that knows the frames of a dataset."""

    frames: list[Ints]
    digest: str

    def corners(
        self, groups: Ints, frames: Ints, visits: Visits
    ) -> tuple[Ints, Ints, dict[str, Any]]:
        """The corner and the frame of each item, and more entries of a batch."""


def fraction(
    mask: Any,
    op: str = ">",
    threshold: float = 0.0,
    *,
    dims: Any = None,
    lazy: bool | None = None,
    tries: int = 16,
) -> Fraction:
    """Only crops of which a share of a mask is set, such as more than half.

    The mask is read when the dataset is made. Each frame is then visited as often as every other
    one, at a place drawn evenly from those that pass; frames without such a place have no items.

    A lazy mask is not read before. An item draws up to ``tries`` places, whose masks are read, and
    takes the first that passes; if none does, the one that is nearest to it. ``batch["passes"]``
    says which samples passed.

    Parameters
    ----------
    mask : Array or ndarray, or a list with one for each group
        Elements other than 0 are set. It may be coarser or finer than the reference.
    op : {">", ">=", "<", "<="}
    threshold : float
        From 0 to 1.
    dims : str or sequence of str, optional
        Names of the mask's axes; when omitted, its own names, those of the reference, or those of
        frames and cropped dimensions in order.
    lazy : bool, optional
        Whether masks are read with the samples; when omitted, those of more than 2^31 elements.
    tries : int
        The most places that an item of a lazy mask draws.

    Returns
    -------
    Fraction
        For ``Crops(where=)``.

    Raises
    ------
    ValueError
        The comparison or the threshold is not one of those above.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> mask = np.zeros((2, 8, 8), bool)
    >>> mask[1, :4] = True
    >>> crops = ml.Crops({"x": zarr.array(mask)}, dims="tyx", size={"y": 4, "x": 4},
    ...                  where=ml.fraction(mask, ">", 0.75))
    >>> len(crops), crops[0]["start"][:2]
    (1, array([1, 0]))
    """
    if op not in OPERATORS:
        raise ValueError(
            f"op={op!r}; allowed are {', '.join(OPERATORS)}{suggestion(op, OPERATORS)}"
        )
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold={threshold!r}; it is a share from 0 to 1")
    if not 1 <= tries <= 1000:
        raise ValueError(f"tries={tries!r}; it is from 1 to 1000")
    return Fraction(mask, dims, MaskRule(op, float(threshold), int(tries)), lazy)


def foreground(
    labels: Any, share: float = 0.33, *, classes: Sequence[int] | None = None, dims: Any = None
) -> Foreground:
    """A share of the crops is centred on a labelled element, each class as often as the others.

    Which items are, and on which element, is a function of seed, epoch and item. At most 10 000
    elements of each class and frame are considered.

    Parameters
    ----------
    labels : Array or ndarray, or a list with one for each group
    share : float
        From 0 to 1.
    classes : sequence of int, optional
        The labels that count; all except 0 when omitted.
    dims : str or sequence of str, optional
        As for `fraction`.

    Returns
    -------
    Foreground
        For ``Crops(where=)``.

    Raises
    ------
    ValueError
        ``share`` is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> labels = np.zeros((1, 9, 9), "u1")
    >>> labels[0, 5, 3] = 2
    >>> crops = ml.Crops({"x": zarr.array(labels)}, dims="tyx", size={"y": 3, "x": 3},
    ...                  where=ml.foreground(labels, 1.0))
    >>> crops[0]["start"]
    array([0, 4, 2])
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share!r}; it is from 0 to 1")
    return Foreground(labels, float(share), classes, dims)


def weights(labels: Any) -> npt.NDArray[np.float64]:
    """Weights by which a loader draws each class equally often.

    Parameters
    ----------
    labels : array-like, shape (items,)

    Returns
    -------
    ndarray of float, shape (items,)
        For ``Loader(weights=)``: one over the number of items with the same label.

    Raises
    ------
    ValueError
        Labels have more than one axis.

    Examples
    --------
    >>> from zarrix import ml
    >>> ml.weights([0, 0, 0, 1])
    array([0.33333333, 0.33333333, 0.33333333, 1.        ])
    """
    values = np.asarray(labels[...] if hasattr(labels, "shape") else labels)
    if values.ndim != 1:
        raise ValueError(f"labels have the shape {values.shape}; one label for each item is needed")
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    shares: npt.NDArray[np.float64] = 1.0 / counts[which.reshape(-1)]
    return shares


class _Filter:
    """What is common to filters: reading a mask frame by frame on its own grid."""

    def __init__(self, masks: Any, dims: Any) -> None:
        self._masks, self._own_dims = masks, dims

    def _open(self, frames: Frames) -> None:
        groups, dims, over, places, shapes = frames
        masks = self._masks if isinstance(self._masks, list | tuple) else [self._masks]
        if len(masks) != len(groups):
            raise ValueError(f"{len(masks)} masks for {len(groups)} groups")
        self._fields = [mask if isinstance(mask, Field) else Field(mask) for mask in masks]
        self._elements_of_all = sum(math.prod(field.array.shape) for field in self._fields)
        self._places, self._shapes = places, shapes
        self._grids = [
            grid_of(field, group, dims, self._own_dims, over, places.cropped)
            for field, group in zip(self._fields, groups, strict=True)
        ]

    def _check_size(self) -> None:
        if self._elements_of_all > _MOST:
            raise ValueError(
                f"a mask of {self._elements_of_all} elements is indexed in memory; pass one that "
                f"is coarser, of at most {_MOST}"
            )

    def _frame(self, group: int, frame: int) -> Any:
        """The cropped dimensions of the mask in one frame, in the order of the reference."""
        index = np.unravel_index(frame, self._shapes[group]) if self._shapes[group] else ()
        return self._grids[group].read(self._fields[group].array, [int(number) for number in index])


class Fraction(_Filter):
    """The filter that `fraction` makes."""

    def __init__(self, mask: Any, dims: Any, rule: MaskRule, lazy: bool | None) -> None:
        super().__init__(mask, dims)
        self._rule, self._lazy = rule, lazy

    def bind(self, frames: Frames) -> Bound:
        """Index the places of a dataset's frames, unless the mask is lazy."""
        self._open(frames)
        if self._lazy or (self._lazy is None and self._elements_of_all > _MOST):
            return Drawn(
                self._places,
                self._shapes,
                [field.array for field in self._fields],
                self._grids,
                self._rule,
            )
        self._check_size()
        return _Passing(
            self._places, [self._indexed(number) for number in range(len(self._shapes))]
        )

    def _indexed(self, group: int) -> tuple[Ints, Ints, Any]:
        """Frames with a place, the number of places before each row, and the bits of rows."""
        frames, counts, bits = [], [], []
        for frame in range(math.prod(self._shapes[group])):
            passing = self._passing(group, frame)
            if passing.any():
                frames.append(frame)
                counts.append(passing.sum(axis=-1).reshape(-1))
                bits.append(np.packbits(passing.reshape(-1, passing.shape[-1]), axis=-1))
        if not frames:
            return np.zeros(0, np.int64), np.zeros(1, np.int64), None
        before = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return np.array(frames), before, np.concatenate(bits)

    def _passing(self, group: int, frame: int) -> Any:
        """For each place whether enough of its window is set, by a summed-area table."""
        sums: Any = self._frame(group, frame).astype(np.int64)
        volume, grid, places = 1, self._grids[group], self._places
        for number, axis in enumerate(places.cropped):
            low, step = places.low[group, axis], places.step[axis]
            begins = low + np.arange(places.count[group, axis]) * step
            first = begins * grid.up[number] // grid.down[number]
            reach = max(1, int(places.window[axis]) * grid.up[number] // grid.down[number])
            length = sums.shape[number]
            sums = np.cumsum(sums, axis=number)
            sums = np.concatenate([np.zeros_like(sums.take([0], number)), sums], axis=number)
            last = np.clip(first + reach, 0, length)
            sums = sums.take(last, number) - sums.take(np.clip(first, 0, length), number)
            volume *= reach
        return self._rule.passes(sums, volume)


class _Passing:
    """The places that pass, of all groups."""

    def __init__(self, places: Places, tables: list[tuple[Ints, Ints, Any]]) -> None:
        self._places, self._tables = places, tables
        self.frames = [frames for frames, _, _ in tables]
        self.digest = digest_of(
            [
                [digest_of(frames), digest_of(before), bits is not None and digest_of(bits)]
                for frames, before, bits in tables
            ]
        )

    def corners(
        self, groups: Ints, frames: Ints, visits: Visits
    ) -> tuple[Ints, Ints, dict[str, Any]]:
        places = self._places
        corners, numbers = places.low[groups], np.empty_like(frames)
        words = visits.draw("corner")[0]
        for group in np.unique(groups):
            here = np.flatnonzero(groups == group)
            known, before, bits = self._tables[group]
            shape = [int(places.count[group, axis]) for axis in places.cropped]
            rows = math.prod(shape[:-1])
            first = before[frames[here] * rows]
            count = before[(frames[here] + 1) * rows] - first
            sought = first + (words[here] % count.astype(np.uint64)).astype(np.int64)
            row = np.searchsorted(before, sought, "right") - 1
            place = [
                *np.unravel_index(row % rows, shape[:-1]),
                _nth(bits, row, sought - before[row]),
            ]
            for axis, along in zip(places.cropped, place[-len(shape) :], strict=True):
                corners[here, axis] += along * places.step[axis]
            numbers[here] = known[frames[here]]
        return corners, numbers, {}


def _nth(bits: Any, rows: Ints, number: Ints) -> Ints:
    """The place of a set bit in a row by its number among the set bits of that row."""
    places = np.empty_like(rows)
    for begin in range(0, len(rows), 512):
        part = slice(begin, begin + 512)
        counted = np.cumsum(np.unpackbits(bits[rows[part]], axis=-1), axis=-1, dtype=np.int64)
        places[part] = (counted <= number[part, None]).sum(axis=-1)
    return places


class Foreground(_Filter):
    """The filter that `foreground` makes."""

    def __init__(self, labels: Any, share: float, classes: Sequence[int] | None, dims: Any) -> None:
        super().__init__(labels, dims)
        self._share, self._classes = share, classes

    def bind(self, frames: Frames) -> Bound:
        """List the labelled elements of a dataset's frames."""
        self._open(frames)
        self._check_size()
        tables = [
            [self._elements(group, frame) for frame in range(math.prod(shape))]
            for group, shape in enumerate(self._shapes)
        ]
        return _Centred(self._places, self._share, tables, self._grids)

    def _elements(self, group: int, frame: int) -> list[Any]:
        """Coordinates of elements of each class that is there."""
        labels = self._frame(group, frame)
        values = np.unique(labels) if self._classes is None else np.array(list(self._classes))
        elements = []
        for value in values:
            if not value and self._classes is None:
                continue
            coordinates = np.argwhere(labels == value)
            if len(coordinates) > _MOST_VOXELS:
                order = np.argsort(mix64(np.arange(len(coordinates))), kind="stable")
                coordinates = coordinates[np.sort(order[:_MOST_VOXELS])]
            if len(coordinates):
                elements.append(coordinates)
        return elements


class _Centred:
    """Corners, some of which have a labelled element in their centre."""

    def __init__(
        self,
        places: Places,
        share: float,
        tables: list[list[list[Any]]],
        grids: Sequence[MaskGrid],
    ) -> None:
        self._places, self._share, self._tables, self._grids = places, share, tables, grids
        self.frames = [np.arange(len(group)) for group in tables]
        elements = [
            [[digest_of(coordinates) for coordinates in frame] for frame in group]
            for group in tables
        ]
        self.digest = digest_of(["centred", share, elements, [grid.identity() for grid in grids]])

    def corners(
        self, groups: Ints, frames: Ints, visits: Visits
    ) -> tuple[Ints, Ints, dict[str, Any]]:
        places = self._places
        corners = places.corners(groups, visits)
        chance, which = visits.draw("corner", 255)
        element = visits.draw("corner", 254)[0]
        centred = (chance >> np.uint64(11)).astype(np.float64) * 2.0**-53 < self._share
        for row in np.flatnonzero(centred):
            group = int(groups[row])
            classes = self._tables[group][int(frames[row])]
            if not classes:
                continue
            chosen = classes[int(which[row]) % len(classes)]
            spot = chosen[int(element[row]) % len(chosen)]
            up, down = self._grids[group].up, self._grids[group].down
            for number, axis in enumerate(places.cropped):
                low, step = int(places.low[group, axis]), int(places.step[axis])
                centre = int(spot[number]) * int(down[number]) // int(up[number])
                place = (centre - int(places.window[axis]) // 2 - low) // step
                last = int(places.count[group, axis]) - 1
                corners[row, axis] = low + min(max(place, 0), last) * step
        return corners, frames, {}
