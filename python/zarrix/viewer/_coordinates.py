"""The routes ``coordinates`` and ``find``: the labels of axes, such as dates, degrees, micrometres.

Labels are those of `array.sel`: coordinate arrays by the CF conventions. Where there is none, the
scales of OME-Zarr say where elements lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.coordinates import axis_of
from zarrix._errors import LabelError
from zarrix._labels._axis import Axis
from zarrix._labels._key import indices_of
from zarrix._labels._text import Written
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._axes import dims_of, units_of
from zarrix.viewer._ome import scales_of
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._related import coordinate_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._text import exact

__all__ = ["coordinates", "find"]

# Labels in one answer; of a longer axis, only even ones are sent, as begin and step.
_MOST_LABELS = 20_000
_EVEN = 1e-6
# Nanoseconds of a millisecond; the years 1 to 9999, in milliseconds.
_MS = 1_000_000
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
_NORTH = frozenset({"lat", "latitude", "northing"})


def coordinates(roots: Roots, parameters: Parameters) -> Answer:
    """For each axis: its unit, and its labels, or the begin and the step of even ones."""
    path = parameters.text("path")
    array = roots.array(path)
    parent = roots.parent(path)
    names, units = dims_of(array, parent), units_of(array, parent)
    described = {} if parent is None else parent.attrs.asdict()
    scales = scales_of(described, path.rpartition("/")[2], array.ndim)
    found: list[Any] = []
    for axis, (name, size) in enumerate(zip(names, array.shape, strict=True)):
        labelled = _labelled(roots, path, name, size)
        if labelled is None and scales is not None:
            step, begin = scales[axis]
            labelled = {"begin": begin, "step": step, "unit": units[axis], "kind": "number"}
        found.append(labelled)
    return json_answer({"axes": found})


def find(roots: Roots, parameters: Parameters) -> Answer:
    """The indices of an axis that a label means, as text from a person: ``2020-06``, ``45.2``."""
    path = parameters.text("path")
    array = roots.array(path)
    axis = parameters.whole("axis", 0, 0, max(0, array.ndim - 1))
    text = parameters.text("label").strip()
    names = dims_of(array, roots.parent(path))
    name = names[axis] if array.ndim else None
    known = coordinate_of(roots, path, name, array.shape[axis]) if array.ndim else None
    if known is None or not text:
        raise Refused(400, f"the axis {axis} has no labels, or no label is given", "label")
    labels = axis_of(roots.array(known["path"]), str(name))
    try:
        selected = indices_of(labels, Written(text))
    except LabelError as error:
        raise Refused(400, str(error), error.kind) from error
    if isinstance(selected, tuple):
        start, step, count = selected
        indices = [start, start + step * (count - 1)] if count else []
    else:
        indices = np.atleast_1d(np.asarray(selected)).tolist()
    if not indices:
        raise Refused(400, f"no label of {name} is within {text!r}", "label")
    return json_answer({"index": min(indices), "last": max(indices)})


def _labelled(roots: Roots, path: str, name: str | None, size: int) -> dict[str, Any] | None:
    """The labels of an axis by its coordinate; None if there is none that is understood."""
    known = coordinate_of(roots, path, name, size)
    if known is None or not size:
        return None
    array = roots.array(known["path"])
    attributes = array.attrs.asdict()
    try:
        axis = axis_of(array, str(name))
    except LabelError:
        return None
    kind = axis.decoding.kind
    unit = attributes.get("units")
    found = {
        "path": known["path"],
        "kind": kind,
        "unit": unit[:200] if isinstance(unit, str) and kind == "number" else None,
        "north": _is_north(str(name), attributes),
    }
    if not isinstance(axis.values, np.ndarray):
        # More than 64 MiB are read part by part: whether they are even is not known.
        return found
    if kind == "number" and size > 1:
        values = np.asarray(axis.values[:], "f8")
        step = float(values[-1] - values[0]) / (size - 1)
        if np.allclose(np.diff(values), step, rtol=_EVEN, atol=0):
            return {**found, "begin": float(values[0]), "step": step}
        if size > _MOST_LABELS:
            return found
        return {**found, "labels": [one if np.isfinite(one) else None for one in values.tolist()]}
    if size > _MOST_LABELS:
        times = _even_times(axis) if kind == "time" else None
        return found if times is None else {**found, "times": times}
    if kind == "time":
        return {**found, "labels": [axis.shown(one) for one in axis.values[:]]}
    return {**found, "labels": [exact(one) for one in axis.decoded()]}


def _even_times(axis: Axis) -> dict[str, int] | None:
    """Begin and step of even times in milliseconds since 1970, of which a browser makes dates."""
    values, tick = axis.values, axis.decoding.tick
    calendar = axis.decoding.calendar
    if calendar is None or calendar.rule != "gregorian" or axis._missing is not None:
        return None
    first, last = int(values[0]), int(values[-1])
    step = int(values[1]) - first
    if not (np.diff(values) == step).all() or first * tick % _MS or step * tick % _MS:
        return None
    if not all(_FIRST_MS <= one * tick // _MS <= _LAST_MS for one in (first, last)):
        return None
    return {"begin": first * tick // _MS, "step": step * tick // _MS}


def _is_north(name: str, attributes: dict[str, Any]) -> bool:
    """Whether labels grow to the north, so that maps have large ones at the top."""
    unit, standard = str(attributes.get("units", "")), str(attributes.get("standard_name", ""))
    return (
        name.casefold() in _NORTH
        or unit.casefold().startswith(("degrees_north", "degree_north"))
        or standard in ("latitude", "projection_y_coordinate", "grid_latitude")
    )
