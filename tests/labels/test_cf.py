"""CF times are those of cftime, in every calendar; and what is not understood is an error."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from typing import Any

import cftime
import numpy as np
import pytest
from zarrix._labels._calendar import CALENDARS
from zarrix._labels._cf import decoding_of
from zarrix._labels._dates import text_of
from zarrix.errors import LabelError

UNITS = {
    "days": 86_400,
    "hours": 3600,
    "minutes": 60,
    "seconds": 1,
    "day": 86_400,
    "hour": 3600,
    "hr": 3600,
    "mins": 60,
    "secs": 1,
    "d": 86_400,
    "h": 3600,
    "s": 1,
    "milliseconds": Fraction(1, 1000),
    "microseconds": Fraction(1, 10**6),
}
YEARS = [-300, 1, 4, 100, 400, 850, 1500, 1582, 1583, 1600, 1700, 1850, 1900, 1970, 2000, 2100]
CLOCKS = ["", " 00:00:00", "T12:30:15", " 6:05:04", " 06:00:00.5", "T00:00:00Z", " 0:00:00 +01:00"]


def shown(date: Any) -> str:
    """A date of cftime as `text_of` writes it."""
    year = f"{date.year:05}" if date.year < 0 else f"{date.year:04}"
    text = f"{year}-{date.month:02}-{date.day:02}"
    if date.hour or date.minute or date.second or date.microsecond:
        text += f"T{date.hour:02}:{date.minute:02}:{date.second:02}"
    return text + (f".{date.microsecond:06}".rstrip("0") if date.microsecond else "")


def compare(rng: random.Random, count: int) -> None:
    """As many random times of random units, and of one calendar."""
    calendar, unit = rng.choice(list(CALENDARS)), rng.choice(list(UNITS))
    year = rng.choice([*YEARS, rng.randint(1, 3000)])
    date = f"{year if year < 0 else f'{year:04}'}-{rng.randint(1, 12)}-{rng.randint(1, 28)}"
    attributes = {"units": f"{unit} since {date}{rng.choice(CLOCKS)}", "calendar": calendar}
    days = rng.choice([0.01, 40, 365 * 50, 365 * 600])
    span = float(days * 86_400 / Fraction(UNITS[unit]))
    values = np.array([rng.uniform(-span, span) for _ in range(count)])
    if rng.random() < 0.4:
        values = values.astype("i8")
    with warnings.catch_warnings():
        # Years before 1 are not CF.
        warnings.simplefilter("ignore")
        theirs = cftime.num2date(
            values, attributes["units"], calendar, only_use_cftime_datetimes=True
        )
    decoding = decoding_of(values.dtype, attributes, "t")
    if decoding.calendar is CALENDARS["standard"]:
        early = [(one.year, one.month, one.day) < (1582, 10, 15) for one in theirs]
        if any(early):
            with pytest.raises(LabelError, match="cftime"):
                decoding.labels(values, "t")
        values, theirs = values[~np.array(early)], theirs[~np.array(early)]
    ticks = decoding.labels(values, "t").values
    assert decoding.calendar is not None
    for value, tick, date in zip(values, ticks, theirs, strict=True):
        mine = text_of(int(tick) * 1000, decoding.calendar)
        # cftime rounds a product that is itself rounded to 64 bits.
        assert mine == shown(date) or is_nearly_halfway(value, UNITS[unit]), (attributes, value)


def is_nearly_halfway(value: Any, seconds: Any) -> bool:
    microseconds = Fraction(value.item()) * seconds * 10**6
    return abs(microseconds % 1 - Fraction(1, 2)) < Fraction(1, 100)


def test_times_are_those_of_cftime() -> None:
    rng = random.Random(0)
    for _ in range(200):
        compare(rng, 10)


@pytest.mark.long
def test_many_times_are_those_of_cftime() -> None:
    rng = random.Random(1)
    for _ in range(1000):
        compare(rng, 100)


@pytest.mark.parametrize("name", list(CALENDARS))
def test_days_and_dates_are_inverse(name: str) -> None:
    calendar = CALENDARS[name]
    for day in [*range(-800, 800), *range(-900_000, 3_000_000, 997)]:
        assert calendar.day_of(calendar.date_of(day)) == day


@pytest.mark.parametrize(
    ("attributes", "match"),
    [
        ({"units": "months since 2000-01-01"}, "no fixed length"),
        ({"units": "fortnights since 2000-01-01"}, "does not know"),
        ({"units": "days since yesterday"}, "do not end with a date"),
        ({"units": "days since"}, "do not end with a date"),
        ({"units": "since 2000-01-01"}, "does not know"),
        ({"units": "days since 2000-02-30"}, "no 2000-02-30"),
        ({"units": "days since 0-01-01"}, "no year 0"),
        ({"units": "days since 1582-10-10"}, "left out"),
        ({"units": "days since 2000-01-01 25:00"}, "hour 25"),
        ({"units": "days since 2000-01-01 00:00 +99:00"}, "time zone"),
        ({"units": "days since " + "9" * 5000}, "do not end with a date"),
        ({"units": "days since 2000-01-01", "calendar": "lunar"}, "lunar"),
        ({"units": "days since 2000-01-01", "calendar": 7}, "calendar"),
        ({"scale_factor": "2"}, "scale_factor"),
        ({"scale_factor": True}, "scale_factor"),
        ({"add_offset": 1e400}, "add_offset"),
    ],
)
def test_attributes_that_are_not_understood_are_an_error(
    attributes: dict[str, Any], match: str
) -> None:
    with pytest.raises(LabelError, match=match):
        decoding_of(np.dtype("i8"), attributes, "t")


@pytest.mark.parametrize("value", [2**62, -(2**62), 1e30, float("inf")])
def test_numbers_that_have_no_date_are_an_error(value: float) -> None:
    values = np.array([0, value])
    decoding = decoding_of(values.dtype, {"units": "days since 2000-01-01"}, "t")
    with pytest.raises(LabelError, match="'t'"):
        decoding.labels(values, "t")


def test_fill_values_are_missing_and_do_not_count_as_dates() -> None:
    values = np.array([0, 9_999_999_999_999, -1])
    attributes = {
        "units": "days since 2000-01-01",
        "_FillValue": 9_999_999_999_999,
        "missing_value": [-1],
    }
    labels = decoding_of(values.dtype, attributes, "t").labels(values, "t")
    assert labels.missing is not None
    assert labels.missing.tolist() == [False, True, True]


def test_the_reference_of_the_standard_calendar_may_be_julian() -> None:
    values = np.array([0])
    attributes = {"units": "days since 1-1-1"}
    decoding = decoding_of(values.dtype, attributes, "t")
    assert decoding.labels(values + 730_120, "t").values[0] == 10**6 * 86_400 * (
        cftime.date2num(cftime.num2date(730_120, "days since 1-1-1"), "days since 1970-01-01")
    )
