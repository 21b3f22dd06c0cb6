"""The route ``projection``: the largest, smallest or mean value along an axis.

The axis is read part by part, so that memory does not grow with it. Where its chunks are more than
one request decodes, every n-th plane is read, and a header says so.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from zarrix.viewer._answers import Answer, Refused
from zarrix.viewer._cost import check_cost, is_affordable
from zarrix.viewer._damaged import read_around
from zarrix.viewer._decoded import decoded
from zarrix.viewer._limits import MOST_ELEMENTS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going, parts_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._tile import octets
from zarrix.viewer._tile_types import tile_type

__all__ = ["projection"]

_MOST_SIDE = 4096
_MOST_BOXES = 512
_MOST_SENTENCE = 300


def projection(roots: Roots, parameters: Parameters) -> Answer:
    """The selected planes, reduced along one axis; values that are not numbers do not count."""
    array = roots.array(parameters.text("path"))
    field = parameters.field(array)
    dtype = array.dtype if field is None else array.dtype[field]
    if tile_type(dtype) is None or dtype.kind in "cmM" or dtype.shape:
        raise Refused(400, f"values of {dtype} have no largest one", "not-numbers")
    axes: list[Any] = list(parameters.selection(array).axes)
    shown, along = parameters.wholes("axes", 2), parameters.whole("along", 0, 0, 64)
    _check_axes(axes, shown, along)
    side = parameters.whole("side", _MOST_SIDE, 1, _MOST_SIDE)
    steps = []
    for axis in shown:
        start, step, count = axes[axis]
        by = max(1, -(-count // side))
        axes[axis] = (start, step * by, -(-count // by))
        steps.append(step * by)
    every = _thinned(array, axes, along)
    size = math.prod(1 if isinstance(one, int) else one[2] for one in axes) // axes[along][2]
    if size > MOST_ELEMENTS:
        raise Refused(413, f"{size:,} elements are more than {MOST_ELEMENTS:,}", "too-large")
    form = parameters.choice("as", "raw", "cf")
    reduced = _Reduced(axes, along, parameters.choice("how", "max", "min", "mean"))
    for part in parts_of(array, axes):
        check_going(parameters.cancel)
        values, damage = read_around(array, part, parameters.cancel, field)
        values = decoded(array, values) if form == "cf" else values
        reduced.add(part, values, None if damage is None else damage.mask(values.shape))
        if damage is not None:
            reduced.mark(part, damage.boxes, damage.sentence)
    cells = [axes[axis][0] for axis in shown] + steps
    more = {
        "x-zarrix-every": str(every),
        "x-zarrix-quality": "exact" if all(one == 1 for one in steps) and every == 1 else "step",
        "x-zarrix-cells": ",".join(map(str, cells)),
        **reduced.damage(),
    }
    return octets(reduced.values(), "raw", more)


def _check_axes(axes: list[Any], shown: list[int], along: int) -> None:
    named = [*shown, along]
    known = [one for one in named if one < len(axes) and not isinstance(axes[one], int)]
    if len(named) != 3 or len(known) != 3 or len(set(named)) != 3:
        raise Refused(400, "axes= and along= name three axes of which the selection has ranges")
    if any(axes[one][2] < 1 for one in named):
        raise Refused(400, "the selection is empty", "selection")


def _thinned(array: Any, axes: list[Any], along: int) -> int:
    """Take every n-th plane where all are more than one request decodes; n."""
    start, step, count = axes[along]
    every = 1
    while not is_affordable(array, axes) and every < count:
        every *= 2
        axes[along] = (start, step * every, -(-count // every))
    check_cost(array, axes)
    return every


class _Reduced:
    """The largest, smallest or mean value of parts that are added one after the other."""

    def __init__(self, axes: list[Any], along: int, how: str) -> None:
        self._axes, self._along, self._how = axes, along, how
        self._place = sum(not isinstance(one, int) for one in axes[:along])
        ranges = [one for one in axes if not isinstance(one, int)]
        self._shape = tuple(one[2] for at, one in enumerate(ranges) if at != self._place)
        self._found: Any = None
        self._counts = np.zeros(self._shape, "i8")
        self._boxes: list[Any] = []
        self._sentence = ""

    def add(self, part: Any, values: Any, is_lost: Any) -> None:
        """Take in the values of a part; those that were lost do not count."""
        values = values.astype("f4") if values.dtype.kind == "V" else values
        is_known = ~is_lost if is_lost is not None else np.ones(values.shape, bool)
        if values.dtype.kind == "f":
            is_known &= ~np.isnan(values)
        key = self._key(part)
        if self._how == "mean":
            if self._found is None:
                self._found = np.zeros(self._shape, "f8")
            self._found[key] += np.where(is_known, values, 0).sum(axis=self._place, dtype="f8")
        else:
            neutral = _neutral(values.dtype, self._how)
            if self._found is None:
                self._found = np.full(self._shape, neutral, values.dtype)
            reduce = np.maximum if self._how == "max" else np.minimum
            best = reduce.reduce(np.where(is_known, values, neutral), axis=self._place)
            self._found[key] = reduce(self._found[key], best.astype(values.dtype))
        self._counts[key] += is_known.sum(axis=self._place)

    def _key(self, part: Any) -> tuple[slice, ...]:
        """Where a part lies in the result."""
        found = []
        for axis, (whole, one) in enumerate(zip(self._axes, part, strict=True)):
            if isinstance(whole, int) or axis == self._along:
                continue
            begin = (one[0] - whole[0]) // whole[1]
            found.append(slice(begin, begin + one[2]))
        return tuple(found)

    def mark(self, part: Any, boxes: list[Any], sentence: str) -> None:
        """Remember where chunks did not decode."""
        self._sentence = self._sentence or sentence
        begins = [one.start for one in self._key(part)]
        for box in boxes[: _MOST_BOXES - len(self._boxes)]:
            kept = [ends for at, ends in enumerate(box) if at != self._place]
            pairs = zip(begins, kept, strict=True)
            self._boxes.append([(b + begin, b + end) for b, (begin, end) in pairs])

    def damage(self) -> dict[str, str]:
        """The header that says where chunks did not decode."""
        if not self._boxes:
            return {}
        told = {"boxes": self._boxes, "sentence": self._sentence[:_MOST_SENTENCE]}
        return {"x-zarrix-damage": json.dumps(told)}

    def values(self) -> Any:
        """The result; not a number where there is none, if the type has that."""
        if self._how == "mean":
            with np.errstate(invalid="ignore"):
                return np.where(self._counts > 0, self._found / np.maximum(self._counts, 1), np.nan)
        if self._found.dtype.kind == "f":
            return np.where(self._counts > 0, self._found, self._found.dtype.type(np.nan))
        return np.where(self._counts > 0, self._found, self._found.dtype.type(0))


def _neutral(dtype: Any, how: str) -> Any:
    """The value that changes no extreme."""
    is_max = how == "max"
    if dtype.kind == "f":
        return dtype.type(-np.inf if is_max else np.inf)
    if dtype.kind == "b":
        return not is_max
    info = np.iinfo(dtype)
    return dtype.type(info.min if is_max else info.max)
