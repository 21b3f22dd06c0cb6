"""The coordinate along which groups are joined: its labels, and where those of a source lie."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.array import Array
from zarrix._errors import LabelError, VirtualError
from zarrix._labels._axis import Axis
from zarrix._labels._cf import Decoding, Labels, decoding_of
from zarrix._labels._units import bounds_names, brought

__all__ = ["Coordinate", "Segment", "segments"]


class Segment(NamedTuple):
    """Labels that follow one another in one source."""

    source: int
    start: int
    length: int


class Coordinate(NamedTuple):
    """The labels of a source, and its bounds.

    Attributes
    ----------
    told : str
        The source, for messages.
    name : str
    stored : ndarray
    labels : ndarray
        Numbers, or ticks of the decoding.
    decoding : Decoding
    bounds : mapping of str to ndarray
        The stored bounds of the labels, by the names of their variables.
    """

    told: str
    name: str
    stored: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    decoding: Decoding
    bounds: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, arrays: Mapping[str, Array], name: str, owner: str, attributes: Any) -> Coordinate:
        """The coordinate of a source, whose attributes are those that CF has.

        Raises
        ------
        VirtualError
            It is not there, has other than one axis, or elements that are not labels.
        """
        array = arrays.get(name)
        if array is None:
            known = ", ".join(map(repr, sorted(arrays)[:10])) or "none"
            raise VirtualError(f"{owner} has no coordinate {name!r}; its arrays are {known}")
        if array.ndim != 1:
            raise VirtualError(f"the coordinate {name!r} of {owner} has {array.ndim} axes, not one")
        try:
            decoding = decoding_of(array.dtype, attributes, name)
            if decoding.kind not in ("time", "duration", "number"):
                raise LabelError(f"the coordinate {name!r} has neither numbers nor times")
        except LabelError as error:
            raise VirtualError(f"{owner}: {error.args[0]}") from None
        stored = np.asarray(array[...])
        labels = _labels(stored, decoding, name, owner)
        if len(labels) > 1 and not _direction(labels):
            raise VirtualError(
                f"the labels of {name!r} in {owner} neither ascend nor descend strictly, so that "
                "they have no order; sort them first"
            )
        names = bounds_names(attributes) & {*arrays} - {name}
        bounds = {one: np.asarray(arrays[one][...]) for one in sorted(names)}
        return cls(owner, name, stored, labels, decoding, bounds)

    @property
    def direction(self) -> int:
        """1 if the labels ascend, -1 if they descend, 0 if there is only one."""
        return _direction(self.labels)

    def shown(self, label: Any) -> str:
        """A label as text."""
        return Axis(self.name, Labels(self.labels, None), self.decoding).shown(label)

    def like(self, first: Coordinate) -> Coordinate:
        """The same labels in the units of another coordinate.

        Raises
        ------
        VirtualError
            They are of another kind or calendar, or cannot be stored so exactly.
        """
        mine, theirs = self.decoding, first.decoding
        for what, own, other in (
            ("kind of labels", mine.kind, theirs.kind),
            ("calendar", _calendar(mine), _calendar(theirs)),
        ):
            if own != other:
                raise VirtualError(
                    f"the {what} of {self.name!r} is {other!r} in {first.told}, and {own!r} in "
                    f"{self.told}"
                )
        if mine == theirs and self.stored.dtype == first.stored.dtype:
            return self
        stored, labels = self._brought(self.labels, first, first.stored.dtype)
        bounds = {}
        for name, values in self.bounds.items():
            flat = values.reshape(-1)
            ticks = _labels(flat, mine, name, self.told)
            dtype = first.bounds[name].dtype if name in first.bounds else values.dtype
            bounds[name] = self._brought(ticks, first, dtype)[0].reshape(values.shape)
        return Coordinate(self.told, self.name, stored, labels, theirs, bounds)

    def _brought(
        self, labels: Any, first: Coordinate, dtype: np.dtype[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Labels as the first source stores them in a dtype, and as its own."""
        found = brought(
            labels, (self.decoding, first.decoding), (first.labels.dtype, dtype), self.name
        )
        if not found.exact.all():
            raise VirtualError(
                f"{self.shown(labels[int(np.argmin(found.exact))])} of {self.name!r} in "
                f"{self.told} cannot be stored exactly in the units and the dtype ({dtype}) of "
                f"{first.told}, the first source; pass the source with the finest units first"
            )
        return found.stored, found.labels


def segments(sources: Sequence[Coordinate], overlap: str) -> list[Segment]:
    """The labels of all sources in order.

    Raises
    ------
    VirtualError
        Sources have other directions, or overlap and ``overlap`` is ``"error"``.
    """
    direction, owner = 0, sources[0]
    for one in sources:
        if one.direction and direction and one.direction != direction:
            raise VirtualError(
                f"the labels of {one.name!r} ascend in one of {owner.told} and {one.told}, and "
                "descend in the other"
            )
        if one.direction and not direction:
            direction, owner = one.direction, one
    numbers = [number for number, one in enumerate(sources) if len(one.labels)]
    if overlap != "error":
        return _merged(sources, numbers, overlap, direction < 0)
    numbers.sort(key=lambda number: sources[number].labels[0], reverse=direction < 0)
    for before, after in itertools.pairwise(numbers):
        _require_apart(sources[before], sources[after], direction)
    return [Segment(number, 0, len(sources[number].labels)) for number in numbers]


def _require_apart(before: Coordinate, after: Coordinate, direction: int) -> None:
    last, first = before.labels[-1], after.labels[0]
    if (last > first) if direction < 0 else (last < first):
        return
    raise VirtualError(
        f"{before.told} has labels of {before.name!r} up to {before.shown(last)}, and {after.told} "
        f"from {after.shown(first)} on: they overlap; overlap='first' or 'last' says which source "
        "has a label of both"
    )


def _merged(
    sources: Sequence[Coordinate], numbers: Sequence[int], overlap: str, descends: bool
) -> list[Segment]:
    if not numbers:
        return []
    labels = np.concatenate([sources[number].labels for number in numbers])
    counts = [len(sources[number].labels) for number in numbers]
    owners = np.repeat(np.array(numbers), counts)
    positions = np.concatenate([np.arange(count) for count in counts])
    order = np.lexsort((owners if overlap == "first" else -owners, labels))
    is_first = np.ones(len(order), bool)
    is_first[1:] = labels[order][1:] != labels[order][:-1]
    chosen = order[is_first]
    if descends:
        chosen = chosen[::-1]
    owner, position = owners[chosen], positions[chosen]
    is_new = np.ones(len(chosen), bool)
    is_new[1:] = (owner[1:] != owner[:-1]) | (position[1:] != position[:-1] + 1)
    begin = np.flatnonzero(is_new)
    lengths = np.diff(np.append(begin, len(chosen)))
    found = zip(owner[begin].tolist(), position[begin].tolist(), lengths.tolist(), strict=True)
    return [Segment(*one) for one in found]


def _labels(
    stored: npt.NDArray[Any], decoding: Decoding, name: str, owner: str
) -> npt.NDArray[Any]:
    try:
        labels, missing = decoding.labels(stored, name)
    except LabelError as error:
        raise VirtualError(f"{owner}: {error.args[0]}") from None
    if missing is None and labels.dtype.kind == "f" and not np.isfinite(labels).all():
        missing = ~np.isfinite(labels)
    if missing is not None and missing.any():
        raise VirtualError(
            f"element {int(np.flatnonzero(missing)[0])} of {name!r} in {owner} is missing (NaN, "
            "NaT or a fill value), so that it has no place among the labels"
        )
    return labels


def _direction(labels: npt.NDArray[Any]) -> int:
    if len(labels) < 2:
        return 0
    if bool((labels[1:] > labels[:-1]).all()):
        return 1
    return -1 if bool((labels[1:] < labels[:-1]).all()) else 0


def _calendar(decoding: Decoding) -> str | None:
    return None if decoding.calendar is None else decoding.calendar.name
