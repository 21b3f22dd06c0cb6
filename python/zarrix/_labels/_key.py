"""From what a user writes for a dimension to indices, by the rules of xarray's ``sel``.

A label becomes an interval of the axis's values: a date in a text is a period, and a number that
the axis cannot have lies between two values, which is an empty interval. In place of an empty
result, a slice that meets no label is an error.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from zarrix._errors import LabelError, shorten
from zarrix._labels._axis import Axis
from zarrix._labels._cf import nanoseconds_of
from zarrix._labels._dates import instant_of, period_of
from zarrix._labels._text import Written, key_of
from zarrix._selection.basic import AxisSelection

__all__ = ["Manner", "indices_of", "manner_of", "tolerance_of"]

Indices = npt.NDArray[np.int64]


class Manner(NamedTuple):
    """How labels are looked for.

    Attributes
    ----------
    method : {'nearest', 'pad', 'backfill'} or None
        None for labels that are equal.
    tolerance : object
        The longest distance that a method may go; None for any.
    wrap : number, or mapping of str to number, or None
        The periods after which labels begin again.
    turns : bool
        Whether a slice against the direction of its axis is turned round.
    """

    method: str | None = None
    tolerance: Any = None
    wrap: Any = None
    turns: bool = False


_EXACT = Manner()


def manner_of(method: str | None, tolerance: Any, wrap: Any) -> Manner:
    """How a call looks for labels.

    Raises
    ------
    LabelError
        There is no such method.
    """
    if method not in (None, "nearest", "pad", "backfill"):
        raise LabelError(f"method={method!r} is unknown; there are nearest, pad and backfill")
    return Manner(method, tolerance, wrap)


class _Interval(NamedTuple):
    """The values of an axis that a label stands for; none of them if ``low`` is larger."""

    low: Any
    high: Any
    length: int = 0


def indices_of(axis: Axis, key: Any, manner: Manner = _EXACT) -> AxisSelection | Indices:
    """The indices that ``key`` selects along an axis.

    Parameters
    ----------
    axis : Axis
    key : label, slice of labels, sequence of labels, or boolean array
    manner : Manner

    Returns
    -------
    int, (start, step, count) or ndarray
        An int for one label, which drops the axis.

    Raises
    ------
    LabelError
        A label is not there, or not one of the axis.
    """
    if isinstance(key, Written):
        key = key_of(axis, key)
    period = _period(axis, manner)
    if isinstance(key, slice):
        if period is not None:
            return _around(axis, key, period, manner)
        if manner.method is not None:
            raise LabelError(f"method={manner.method!r} is for labels, and {axis.name} has a slice")
        return _of_slice(axis, key, manner)
    array = _as_array(axis, key)
    if period is not None and array is None:
        (key,) = _shifted(axis, [key], period, manner)
    elif period is not None:
        array = _shifted(axis, array, period, manner)
    if array is not None:
        return _of_array(axis, array, manner)
    if isinstance(key, np.ndarray):
        key = key[()]
    if manner.method is not None:
        return int(_by_method(axis, [key], manner)[0])
    if manner.tolerance is not None:
        raise LabelError("tolerance= is for a method: nearest, pad or backfill")
    return _of_label(axis, key)


def _as_array(axis: Axis, key: Any) -> Any:
    """Several labels as an array of one axis, or as a list; None for one label."""
    if isinstance(key, list | tuple | range):
        return list(key)
    shape = getattr(key, "shape", None)
    if not isinstance(shape, tuple) or not shape:
        return None
    if len(shape) != 1:
        raise LabelError(f"labels for {axis.name} with {len(shape)} axes; they have one")
    return np.asarray(key)


# One label


def _of_label(axis: Axis, key: Any) -> AxisSelection | Indices:
    interval = _interval(axis, key)
    if not axis.direction:
        return _in_unsorted(axis, key, interval)
    first, last = _ends(axis, interval, interval)
    if last <= first:
        _not_there(axis, key)
    if last == first + 1 and not _is_range(axis, interval):
        return first
    return first, 1, last - first


def _in_unsorted(axis: Axis, key: Any, interval: _Interval) -> AxisSelection | Indices:
    found = axis.between(interval.low, interval.high)
    if not len(found):
        _not_there(axis, key)
    if _is_range(axis, interval):
        return found
    if len(found) == 1:
        return int(found[0])
    if int(found[-1]) - int(found[0]) + 1 != len(found):
        raise LabelError(
            f"{axis.name} has the label {shorten(key)} {len(found)} times, and not side by side; "
            "select by isel"
        )
    return int(found[0]), 1, len(found)


def _is_range(axis: Axis, interval: _Interval) -> bool:
    """Whether a label keeps the axis: a period that is longer than the resolution of the times.

    In calendars other than that of datetime64 every period does, as in xarray.
    """
    calendar = axis.decoding.calendar
    if not interval.length or calendar is None:
        return False
    return not calendar.is_real or interval.length > axis.resolution


def _ends(axis: Axis, begin: _Interval, end: _Interval) -> tuple[int, int]:
    """The first index of ``begin`` and the index behind ``end`` in a sorted axis."""
    if axis.direction > 0:
        return int(axis.left(begin.low)), int(axis.right(end.high))
    return int(axis.left(begin.high)), int(axis.right(end.low))


def _not_there(axis: Axis, key: Any) -> NoReturn:
    raise LabelError(f"{shorten(key)} is not a label of {axis.name}: {axis.described()}")


# A slice


def _of_slice(axis: Axis, key: slice, manner: Manner) -> AxisSelection:
    step = key.step if key.step is not None else 1
    if isinstance(step, bool) or not isinstance(step, int | np.integer) or step == 0:
        raise LabelError(f"the step of a slice of {axis.name} is a whole number, not {step!r}")
    start, stop = (key.start, key.stop) if step > 0 else (key.stop, key.start)
    begin = None if start is None else _interval(axis, start)
    end = None if stop is None else _interval(axis, stop)
    if not axis.direction:
        first, last = _between_positions(axis, (start, begin), (stop, end))
    else:
        if begin is not None and end is not None and _is_against(axis, begin, end):
            if not manner.turns:
                _against(axis, key)
            begin, end = end, begin
        first, last = _slice_ends(axis, begin, end)
    count = last - first
    if count <= 0:
        if begin is None and end is None:
            return 0, 1, 0
        _meets_none(axis, key)
    stride = int(step)
    taken = -(-count // abs(stride))
    return (first if stride > 0 else last - 1), (stride if taken > 1 else 1), taken


def _meets_none(axis: Axis, key: slice) -> NoReturn:
    raise LabelError(f"{_written(key)} meets no label of {axis.name}: {axis.described()}")


def _slice_ends(axis: Axis, begin: _Interval | None, end: _Interval | None) -> tuple[int, int]:
    low, high = begin or end, end or begin
    if low is None or high is None:
        return 0, axis.length
    first, last = _ends(axis, low, high)
    return 0 if begin is None else first, axis.length if end is None else last


def _is_against(axis: Axis, begin: _Interval, end: _Interval) -> bool:
    if axis.direction > 0:
        return bool(begin.low > end.high)
    return bool(begin.high < end.low)


def _against(axis: Axis, key: slice) -> NoReturn:
    turned = slice(key.stop, key.start, key.step)
    way = "ascend" if axis.direction > 0 else "descend"
    raise LabelError(
        f"{_written(key)} goes against the labels of {axis.name}, which {way}: "
        f"write {axis.name}={_written(turned)}"
    )


def _written(key: slice) -> str:
    step = "" if key.step is None else f", {key.step!r}"
    return f"slice({shorten(key.start)}, {shorten(key.stop)}{step})"


def _between_positions(
    axis: Axis, begin: tuple[Any, _Interval | None], end: tuple[Any, _Interval | None]
) -> tuple[int, int]:
    """From one label to another in the order in which they are stored."""
    ends: list[tuple[int, int] | None] = []
    for label, interval in (begin, end):
        if interval is None:
            ends.append(None)
            continue
        found = axis.between(interval.low, interval.high)
        if interval.length or not len(found):
            raise LabelError(
                f"the labels of {axis.name} are not sorted, so that a slice goes from one label "
                f"to another; {shorten(label)} is not one of them"
            )
        if int(found[-1]) - int(found[0]) + 1 != len(found):
            raise LabelError(
                f"the labels of {axis.name} are not sorted, and {shorten(label)} is there "
                f"{len(found)} times"
            )
        ends.append((int(found[0]), int(found[-1]) + 1))
    first, last = ends
    return 0 if first is None else first[0], axis.length if last is None else last[1]


# Labels that begin again after a period


def _period(axis: Axis, manner: Manner) -> float | None:
    """The period of an axis; a number in ``wrap`` is that of every axis of numbers."""
    wrap = manner.wrap
    if isinstance(wrap, Mapping):
        wrap = wrap.get(axis.name)
        if wrap is not None and axis.decoding.kind != "number":
            raise LabelError(f"wrap= is for numbers, and the labels of {axis.name} are none")
    if wrap is None or axis.decoding.kind != "number":
        return None
    is_number = isinstance(wrap, int | float | np.number) and not isinstance(wrap, bool)
    if not (is_number and 0 < wrap < 2**1000):
        raise LabelError(f"wrap is a period larger than 0, such as 360, not {shorten(wrap)}")
    if not axis.direction:
        raise LabelError(f"the labels of {axis.name} are not sorted, as wrap= needs them")
    if axis.length and not abs(float(axis.values[-1]) - float(axis.values[0])) < wrap:
        raise LabelError(f"{axis.described()}, which is not less than the period {wrap!r}")
    return float(wrap)


def _around(axis: Axis, key: slice, period: float, manner: Manner) -> AxisSelection | Indices:
    """A slice along an axis with a period: one or two ranges, in the order of the slice."""
    if key.start is None or key.stop is None or key.step not in (None, 1) or manner.method:
        raise LabelError(
            f"{_written(key)} of {axis.name} with wrap={period:g}: a slice of a period has two "
            "ends, and neither a step nor a method"
        )
    start, stop = float(_number(axis, key.start)), float(_number(axis, key.stop))
    if (stop - start) * axis.direction < 0:
        if not manner.turns:
            _against(axis, key)
        start, stop = stop, start
    if not abs(stop - start) < period:
        raise LabelError(
            f"{_written(key)} of {axis.name} is not shorter than the period {period:g}"
        )
    if not axis.length:
        _meets_none(axis, key)
    # As often as it takes from the larger end of the slice to the smallest label, and back.
    low, high = sorted((float(axis.values[0]), float(axis.values[-1])))
    shifts = range(
        math.floor((low - max(start, stop)) / period),
        math.ceil((high - min(start, stop)) / period) + 1,
    )
    ranges = []
    for shift in shifts[:: -axis.direction]:
        begin, end = (_of_number(axis, one + shift * period) for one in (start, stop))
        first, last = _ends(axis, begin, end)
        if first < last:
            ranges.append(np.arange(first, last))
    if not ranges:
        _meets_none(axis, key)
    if len(ranges) == 1:
        return int(ranges[0][0]), 1, len(ranges[0])
    return np.concatenate(ranges)


def _shifted(axis: Axis, labels: Any, period: float, manner: Manner) -> Any:
    """Labels shifted by whole periods to where the axis has labels."""
    if manner.method not in (None, "nearest"):
        raise LabelError(f"method={manner.method!r} cannot be used with wrap=; 'nearest' can")
    if not axis.length or (isinstance(labels, np.ndarray) and labels.dtype == bool):
        return labels
    low, high = sorted((axis.values[0].item(), axis.values[-1].item()))
    shifted = []
    for label in labels:
        number = _number(axis, label)
        number += math.ceil((low - number) / period) * period if math.isfinite(number) else 0
        # Between the last label and the first one of the next period.
        before = number - period
        nearer = manner.method == "nearest" and low - before < number - high
        shifted.append(before if nearer else number)
    return shifted


# Several labels


def _of_array(axis: Axis, labels: Any, manner: Manner) -> AxisSelection | Indices:
    if not len(labels):
        return np.zeros(0, np.int64)
    mask = labels if isinstance(labels, np.ndarray) else _mask(labels)
    if mask is not None and mask.dtype == bool:
        if len(mask) != axis.length:
            raise LabelError(
                f"a boolean array of length {len(mask)} for {axis.name}, which has "
                f"{axis.length} labels"
            )
        return np.flatnonzero(mask)
    if manner.method is not None:
        return _by_method(axis, labels, manner)
    if manner.tolerance is not None:
        raise LabelError("tolerance= is for a method: nearest, pad or backfill")
    values = _values(axis, labels)
    if not axis.is_unique:
        raise LabelError(
            f"{axis.name} has labels that are there more than once: select by one label, by a "
            "slice or by isel, not by several labels"
        )
    return _found(axis, labels, axis.indices_of(values))


def _mask(labels: list[Any]) -> npt.NDArray[np.bool_] | None:
    return np.array(labels) if all(isinstance(one, bool | np.bool_) for one in labels) else None


def _found(axis: Axis, labels: Sequence[Any], indices: Indices) -> Indices:
    if (indices < 0).any():
        absent = [labels[i] for i in np.flatnonzero(indices < 0)[:3]]
        _not_there(axis, absent[0] if len(absent) == 1 else absent)
    return indices


def _by_method(axis: Axis, labels: Sequence[Any], manner: Manner) -> Indices:
    if manner.method not in ("nearest", "pad", "ffill", "backfill", "bfill"):
        raise LabelError(f"method is nearest, pad or backfill, not {manner.method!r}")
    if axis.decoding.kind in ("text", "bytes", "bool") and (
        manner.method == "nearest" or manner.tolerance is not None
    ):
        raise LabelError(
            f"the labels of {axis.name} have no distance, which 'nearest' and tolerance= need"
        )
    if not axis.direction or not axis.is_unique:
        raise LabelError(
            f"method={manner.method!r} is for labels that ascend or descend, each there once; "
            f"those of {axis.name} do not"
        )
    values = _values(axis, labels, exact=False)
    before, after = axis.right(values) - 1, axis.left(values)
    if manner.method in ("pad", "ffill"):
        found = before
    elif manner.method in ("backfill", "bfill"):
        found = np.where(after < axis.length, after, -1)
    else:
        found = _nearer(axis, values, before, after)
    if manner.tolerance is not None and axis.length:
        distance = _distance(axis.values[np.maximum(found, 0)], values)
        found = np.where(distance <= tolerance_of(axis, manner.tolerance), found, -1)
    return _found(axis, labels, np.asarray(found, np.int64))


def _nearer(
    axis: Axis, values: npt.NDArray[Any], before: Indices, after: Indices
) -> npt.NDArray[np.int64]:
    """The nearer of two neighbours; of two at equal distances, the larger label."""
    last = axis.length - 1
    if last < 0:
        return np.full(len(values), -1)
    to_before = _distance(axis.values[np.clip(before, 0, last)], values)
    to_after = _distance(axis.values[np.clip(after, 0, last)], values)
    prefers = to_before < to_after if axis.direction > 0 else to_before <= to_after
    return np.where((prefers | (after > last)) & (before >= 0), before, after)


def _distance(labels: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # Unsigned, because the difference of two 64-bit integers may not fit a signed one.
    if labels.dtype.kind in "iu" and values.dtype.kind in "iu":
        wide = np.maximum(labels, values).astype(np.uint64)
        return np.asarray(wide - np.minimum(labels, values).astype(np.uint64))
    return np.abs(labels.astype(np.float64) - values.astype(np.float64))


def tolerance_of(axis: Axis, tolerance: Any) -> Any:
    """A distance of labels, in ticks of times.

    Raises
    ------
    LabelError
        It is not one.
    """
    if axis.decoding.kind in ("time", "duration"):
        distance = _nanoseconds(axis, tolerance)
        if distance < 0:
            raise LabelError(
                f"the tolerance for {axis.name} is not negative, and not {tolerance!r}"
            )
        return distance / axis.decoding.tick
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number):
        raise LabelError(f"the tolerance for {axis.name} is a number, not {shorten(tolerance)}")
    if not tolerance >= 0:
        raise LabelError(f"the tolerance for {axis.name} is not negative, and not {tolerance!r}")
    return tolerance


# From a label to values of the axis


def _values(axis: Axis, labels: Sequence[Any], *, exact: bool = True) -> npt.NDArray[Any]:
    """Labels as an array that can be compared with those of the axis.

    An exact label that the axis cannot have is an error.
    """
    kind, dtype = axis.decoding.kind, axis.values.dtype
    if kind == "number" and isinstance(labels, np.ndarray) and labels.dtype.kind in "iuf":
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                return np.asarray(labels, dtype)
        if labels.dtype.kind in "iu" and np.can_cast(labels.dtype, dtype, "safe"):
            return np.asarray(labels, dtype)
    if not exact and kind == "number" and dtype.kind in "iu":
        numbers = np.array([_number(axis, one) for one in labels])
        # NumPy makes objects of integers of more than 64 bits.
        return numbers if numbers.dtype.kind in "iuf" else numbers.astype(np.float64)
    info = np.iinfo(dtype) if dtype.kind in "iu" else None
    found = []
    for one in labels:
        low, high, length = _interval(axis, one)
        if info is not None and not info.min <= low <= info.max:
            if exact:
                _not_there(axis, one)
            low = info.min if low < info.min else info.max
        if exact and not length and low != high:
            _not_there(axis, one)
        found.append(low)
    return np.array(found, dtype if kind not in ("text", "bytes") else None)


def _interval(axis: Axis, label: Any) -> _Interval:
    if isinstance(label, np.ndarray) and not label.shape:
        label = label[()]
    kind = axis.decoding.kind
    if kind == "time":
        return _of_time(axis, label)
    if kind == "duration":
        nanoseconds = _nanoseconds(axis, label)
        tick = axis.decoding.tick
        return _in_range(axis, -(-nanoseconds // tick), nanoseconds // tick)
    if kind == "number":
        return _of_number(axis, label)
    if kind == "bool":
        if not isinstance(label, bool | np.bool_):
            raise LabelError(
                f"{shorten(label)} is not a label of {axis.name}: it has True and False"
            )
        return _Interval(bool(label), bool(label))
    text = label.decode("utf-8", "replace") if isinstance(label, bytes) else label
    if not isinstance(text, str):
        raise LabelError(f"{shorten(label)} is not a label of {axis.name}, whose labels are texts")
    value = str(text) if kind == "text" else str(text).encode()
    return _Interval(value, value)


def _of_time(axis: Axis, label: Any) -> _Interval:
    calendar, tick = axis.decoding.calendar, axis.decoding.tick
    assert calendar is not None
    if isinstance(label, str):
        period = period_of(label, calendar)
        low, high = -(-period.begin // tick), (period.end - 1) // tick
        return _in_range(axis, low, high, period.end - period.begin)
    instant = instant_of(label, calendar)
    if instant is None:
        raise LabelError(
            f"{shorten(label)} is not a date, and the labels of {axis.name} are: give a text, such "
            "as '2020-01', or an object of datetime, numpy or cftime"
        )
    return _in_range(axis, -(-instant // tick), instant // tick)


def _of_number(axis: Axis, label: Any) -> _Interval:
    number = _number(axis, label)
    dtype = axis.values.dtype
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            value = dtype.type(number)
        return _Interval(value, value)
    if isinstance(number, int):
        return _in_range(axis, number, number)
    if number in (float("inf"), float("-inf")):
        number = 2**64 if number > 0 else -(2**64)
    return _in_range(axis, -int(-number // 1), int(number // 1))


def _number(axis: Axis, label: Any) -> int | float:
    if isinstance(label, bool | np.bool_) or not isinstance(label, int | float | np.number):
        raise LabelError(f"{shorten(label)} is not a number, and the labels of {axis.name} are")
    number = label.item() if isinstance(label, np.number) else label
    if not isinstance(number, int | float):
        raise LabelError(f"{shorten(label)} is not a real number")
    if number != number:
        raise LabelError(f"NaN is not a label of {axis.name}: it matches nothing")
    return number


def _in_range(axis: Axis, low: int, high: int, length: int = 0) -> _Interval:
    """An interval of integers, cut to what the dtype of the axis has.

    One that lies outside of it becomes an empty one at that end.
    """
    info = np.iinfo(axis.values.dtype)
    if low > info.max or high < info.min:
        # Wide enough for every comparison: NumPy compares arrays with Python integers exactly.
        return _Interval(low, high, length)
    return _Interval(max(low, info.min), min(high, info.max), length)


def _nanoseconds(axis: Axis, length: Any) -> int:
    if isinstance(length, np.timedelta64):
        if np.isnat(length):
            raise LabelError("NaT is not a length of time")
        unit, _ = np.datetime_data(length.dtype)
        if unit in ("Y", "M", "generic"):
            raise LabelError(f"{length!r} has no fixed length, as days have")
        wanted = "ns" if unit == "ns" else "us"
        return int(length.astype(f"m8[{wanted}]").astype(np.int64)) * (
            1 if wanted == "ns" else 1000
        )
    if isinstance(length, datetime.timedelta):
        whole = (length.days * 86_400 + length.seconds) * 10**9 + length.microseconds * 1000
        return whole + int(getattr(length, "nanoseconds", 0))
    if isinstance(length, str) and (found := nanoseconds_of(length)) is not None:
        return found
    raise LabelError(
        f"{shorten(length)} is not a length of time for {axis.name}: give a text as '90 s', a "
        "numpy.timedelta64 or a datetime.timedelta"
    )
