"""`sel` has the indices of xarray's, or both are errors, for random axes, calendars and keys.

Where they differ on purpose, `_differs_on_purpose` says why. An axis is a list of values with
attributes; xarray decodes them by pandas and cftime, zarrix by `_labels`.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import cftime
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix._labels._axis import Axis
from zarrix._labels._cf import decoding_of
from zarrix._labels._key import Manner, indices_of
from zarrix.errors import LabelError

CALENDARS = [
    *("standard", "gregorian", "proleptic_gregorian", "noleap", "365_day", "all_leap", "366_day"),
    *("360_day", "julian"),
]
KINDS = ["time", "time", "float", "float32", "int", "uint8", "text", "bool"]


class Error(str):
    """What went wrong, in place of indices."""


def values_of(rng: random.Random, kind: str) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """Stored values and attributes of a coordinate."""
    n = rng.choice([0, 1, 1, 2, 3, 5, 8, 12])
    attributes: dict[str, Any] = {}
    if kind == "time":
        values, attributes = times(rng, n)
    elif kind in ("float", "float32"):
        numbers = [rng.randint(-8, 8) * rng.choice([0.5, 0.1, 1]) for _ in range(n)]
        values = np.array(numbers, "f8" if kind == "float" else "f4")
        if rng.random() < 0.15 and n:
            values[rng.randrange(n)] = np.nan
    elif kind == "int":
        values = np.array([rng.randint(-6, 6) for _ in range(n)], rng.choice(["i8", "i4", "i2"]))
        if rng.random() < 0.2:
            attributes["scale_factor"] = 0.5
    elif kind == "uint8":
        values = np.array([rng.randint(0, 9) for _ in range(n)], "u1")
    elif kind == "bool":
        values = np.array([rng.random() < 0.5 for _ in range(n)], bool)
    else:
        values = np.array([rng.choice("abcdef") * rng.randint(1, 2) for _ in range(n)], "U2")
    order = rng.random()
    if order < 0.8:
        values = np.sort(values) if order < 0.45 else np.sort(values)[::-1].copy()
    if rng.random() < 0.5:
        values = values[np.sort(np.unique(values, return_index=True)[1])]
    return values, attributes


def times(rng: random.Random, n: int) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """Numbers with units and a calendar."""
    unit = rng.choice(["days", "hours", "minutes", "seconds", "milliseconds"])
    references = ["2000-01-01", "1970-01-01 00:00:00", "1999-12-30T12:00:00"]
    base = rng.choice([0, 1, 58, 365, 7000])
    if unit in ("days", "hours") and rng.random() < 0.3:
        references = ["1-1-1"]
        base += 730_000 if unit == "days" else 17_520_000
    attributes = {
        "units": f"{unit} since {rng.choice(references)}",
        "calendar": rng.choice(CALENDARS),
    }
    if not n:
        # xarray cannot decode an empty axis of cftime's dates.
        return np.zeros(0, "i8"), {"units": "days since 2000-01-01", "calendar": "standard"}
    step = rng.choice([1, 1, 1, 6, 24, 31])
    steps = [rng.randint(0, 2 * n) for _ in range(n)] if rng.random() < 0.5 else range(n)
    values = np.array([base + step * one for one in steps], rng.choice(["i8", "i4", "f8"]))
    if values.dtype.kind == "f" and rng.random() < 0.3:
        values = values + 0.25
    return values, attributes


def text_of(value: float, attributes: dict[str, Any], rng: random.Random) -> str:
    date = cftime.num2date(float(value), attributes["units"], attributes["calendar"])
    whole = date.strftime("%m-%d")
    clock = f"{date.hour:02}:{date.minute:02}:{date.second:02}"
    shown = f"{date.year:04}-{whole}T{clock}"
    return shown[: rng.choice([4, 7, 10, 13, 16, 19])].replace("T", rng.choice(["T", " "]))


def label_of(
    rng: random.Random, kind: str, values: Any, attributes: Any, decoded: Any, *, as_text: bool
) -> Any:
    is_there = len(values) > 0 and rng.random() < 0.7
    place = rng.randrange(len(values)) if len(values) else None
    if kind == "time":
        number = values[place] if place is not None else 0
        if not is_there:
            number = number + rng.choice([-40, -1, 1, 400, -800])
        if as_text:
            return text_of(number, attributes, rng)
        if is_there:
            return decoded[place]
        date = cftime.num2date(float(number), attributes["units"], attributes["calendar"])
        return date if decoded.dtype == object else np.datetime64(date.isoformat(), "us")
    if kind == "text":
        return str(values[place]) if is_there else rng.choice(["zz", "", "bb", "a"])
    if kind == "bool":
        return rng.choice([True, False, np.True_])
    if is_there:
        return decoded[place] if rng.random() < 0.5 else decoded[place].item()
    return rng.choice([0.3, 5, -100, 100, 2.5, -1, 4, float("nan"), 300])


def key_of(rng: random.Random, *axis: Any) -> tuple[Any, dict[str, Any]]:
    """What is asked for, and how."""
    kind = axis[0]
    how = rng.random()
    if how < 0.4:
        return label_of(rng, *axis, as_text=rng.random() < 0.6), {}
    if how < 0.75:
        as_text = rng.random() < 0.6
        ends = [label_of(rng, *axis, as_text=as_text) for _ in "ab"]
        step = rng.choice([None] * 6 + [1, 2, -1, -2])
        if rng.random() < 0.2:
            ends[rng.randrange(2)] = None
        return slice(*ends, step), {}
    labels = [label_of(rng, *axis, as_text=False) for _ in range(rng.randint(1, 3))]
    if how < 0.88 or kind == "uint8":
        # pandas computes distances of unsigned integers modulo 2**n.
        return labels, {}
    method: dict[str, Any] = {"method": rng.choice(["nearest", "pad", "backfill"])}
    if rng.random() < 0.4 and kind not in ("text", "bool"):
        hours = np.timedelta64(rng.choice([1, 25, 1000]), "h")
        method["tolerance"] = hours if kind == "time" else rng.choice([0.1, 0.5, 2])
    return (labels if rng.random() < 0.5 else labels[0]), method


def ours(values: Any, attributes: Any, key: Any, method: dict[str, Any]) -> list[int] | int | Error:
    decoding = decoding_of(values.dtype, attributes, "x")
    axis = Axis("x", decoding.labels(values, "x"), decoding)
    try:
        found = indices_of(axis, key, Manner(method.get("method"), method.get("tolerance")))
    except LabelError as error:
        return Error(error)
    if isinstance(found, tuple):
        start, step, count = found
        found = start + step * np.arange(count)
    result: list[int] | int = np.arange(len(values))[found].tolist()
    return result


def differs_on_purpose(key: Any, mine: Any, theirs: Any, decoded: Any, kind: str) -> bool:
    """Whether a difference is one that docs/howto/select-by-label.md lists."""
    if isinstance(mine, Error):
        return (
            theirs == []
            or "NaN is not" in mine
            or "NaT is not" in mine
            or "not side by side" in mine
            or "have no distance" in mine
            # xarray looks for the first instant of a text among times of cftime in any order, and
            # for texts in any order with a method that is not needed.
            or (kind == "time" and isinstance(key, slice) and "are not sorted" in mine)
            or (kind == "text" and "is for labels that ascend" in mine)
            # pandas sorts an axis whose only label is NaN.
            or (len(decoded) == 1 and decoded[0] != decoded[0])
        )
    if not isinstance(theirs, Error):
        # For xarray, equal times of cftime descend; and a slice of texts along times that descend
        # has a result only if that is all of them.
        equal_times = len(decoded) > 1 and len(set(decoded.tolist())) == 1
        takes_all = theirs == list(range(len(decoded)))
        return kind == "time" and isinstance(key, slice) and (equal_times or takes_all)
    # xarray refuses texts along a time axis that descends, and texts with a method for cftime; the
    # nearest of a label above those of an axis that descends is -1 in pandas.
    return (
        kind == "time"
        or (isinstance(key, slice) and key == slice(None))
        or (len(decoded) > 1 and decoded[0] > decoded[-1])
    )


def check(rng: random.Random) -> None:
    kind = rng.choice(KINDS)
    values, attributes = values_of(rng, kind)
    dataset = xr.Dataset({"d": ("x", np.arange(len(values)))}, {"x": ("x", values, attributes)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = xr.decode_cf(dataset)
        decoded = dataset.x.values
        key, method = key_of(rng, kind, values, attributes, decoded)
        mine = ours(values, attributes, key, method)
        theirs: Any
        try:
            theirs = dataset.sel(x=key, **method).d.values.tolist()
        except Exception as error:
            theirs = Error(repr(error))
    if mine == theirs or (isinstance(mine, Error) and isinstance(theirs, Error)):
        return
    told = f"{values!r} {attributes} [{key!r}] {method}: {mine!r}, in xarray {theirs!r}"
    assert differs_on_purpose(key, mine, theirs, decoded, kind), told


@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=False))
def test_indices_are_those_of_xarray(rng: random.Random) -> None:
    check(rng)


@pytest.mark.long
def test_indices_are_those_of_xarray_for_many_keys() -> None:
    for seed in range(100_000):
        check(random.Random(seed))
