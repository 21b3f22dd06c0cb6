"""Dates that a user writes, as text or as objects, and the instants that they mean.

An instant is a whole number of nanoseconds since 1970-01-01 of its calendar. It is a Python
integer, because a text may name a date that no array of 64-bit numbers has.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, NamedTuple

import numpy as np

from zarrix._errors import LabelError, shorten
from zarrix._labels._calendar import Calendar, Date

__all__ = ["DAY", "Period", "instant_of", "is_date", "period_of", "text_of"]

SECOND = 10**9
DAY = 86_400 * SECOND

# A year of more digits has a sign or a month, because 20200131 is a day.
_YEAR = r"(?P<year>\d{4}|[+-]\d{4,9}|\d{5,9}(?=-))"
_CLOCK = (
    r"(?:[T ](?P<hour>\d\d)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<part>\d{1,9}))?)?)?Z?)?"
)
_WITH_DASHES = re.compile(rf"{_YEAR}(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?){_CLOCK})?)?")
_COMPACT = re.compile(
    r"(?P<year>\d{4})(?P<month>\d\d)(?:(?P<day>\d\d)"
    r"(?:T(?P<hour>\d\d)(?:(?P<minute>\d\d)(?P<second>\d\d)?)?Z?)?)?"
)
_UNITS = {"hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}


class Period(NamedTuple):
    """What a text such as ``2020-01`` means: the instants from ``begin`` to before ``end``.

    Attributes
    ----------
    begin, end : int
        Nanoseconds.
    """

    begin: int
    end: int


def is_date(text: str) -> bool:
    """Whether a text has the form of a date, such as ``2020-01`` or ``2020-01-01T06``."""
    return bool(_WITH_DASHES.fullmatch(text) or _COMPACT.fullmatch(text))


def period_of(text: str, calendar: Calendar) -> Period:
    """The period that a text names.

    Raises
    ------
    LabelError
        It does not name one, or the calendar does not have it.
    """
    shown = text.strip()
    found = _WITH_DASHES.fullmatch(shown) or _COMPACT.fullmatch(shown)
    if found is None:
        raise LabelError(
            f"{shorten(text)} is not a date, such as 2020, 2020-01, 2020-01-31 or 2020-01-31T06:30"
        )
    parts = found.groupdict()
    year = calendar.counted(int(parts["year"]), repr(shown))
    if parts["month"] is None:
        return _days(calendar, (year, 1, 1), (year + 1, 1, 1))
    month = int(parts["month"])
    calendar.check((year, month, 1), repr(shown))
    if parts["day"] is None:
        after = (year + 1, 1, 1) if month == 12 else (year, month + 1, 1)
        return _days(calendar, (year, month, 1), after)
    date = (year, month, int(parts["day"]))
    calendar.check(date, repr(shown))
    begin, length = calendar.day_of(date) * DAY, DAY
    for name, unit in _UNITS.items():
        if parts.get(name) is not None:
            number = int(parts[name])
            if number >= (24 if name == "hour" else 60):
                raise LabelError(f"{shown!r} is not a date: it has {name} {number}")
            begin, length = begin + number * unit, unit
    if parts.get("part"):
        length = 10 ** (9 - len(parts["part"]))
        begin += int(parts["part"]) * length
    return Period(begin, begin + length)


def _days(calendar: Calendar, first: Date, after: Date) -> Period:
    return Period(calendar.day_of(first) * DAY, calendar.day_of(after) * DAY)


def instant_of(label: Any, calendar: Calendar) -> int | None:
    """The instant of a date object; None if it is not one.

    It may be of `datetime`, `numpy`, pandas or cftime.

    Raises
    ------
    LabelError
        It is a date of another calendar, or not a date at all (NaT).
    """
    if isinstance(label, np.datetime64):
        if np.isnat(label):
            raise LabelError("NaT is not a label: it matches nothing")
        _require_real(label, calendar)
        return _of_datetime64(label)
    if hasattr(label, "calendar") and hasattr(label, "microsecond"):
        return _of_cftime(label, calendar)
    if isinstance(label, datetime.date):
        if label != label:
            raise LabelError("NaT is not a label: it matches nothing")
        _require_real(label, calendar)
        return _of_datetime(label)
    return None


def _of_datetime64(label: np.datetime64) -> int:
    unit, count = np.datetime_data(label.dtype)
    # Units below a second are exact multiples of it, also where nanoseconds do not fit 64 bits.
    per_second = {"ns": 10**9, "us": 10**6, "ms": 10**3}.get(unit)
    if per_second is None or count != 1:
        return int(label.astype("datetime64[s]").astype(np.int64)) * SECOND
    return int(label.astype(np.int64)) * (SECOND // per_second)


def _of_datetime(label: datetime.date) -> int:
    day = label.toordinal() - datetime.date(1970, 1, 1).toordinal()
    if not isinstance(label, datetime.datetime):
        return day * DAY
    if label.tzinfo is not None:
        return _of_datetime(label.astimezone(datetime.UTC).replace(tzinfo=None))
    # pandas has nanoseconds.
    return day * DAY + _clock(label) + int(getattr(label, "nanosecond", 0))


def _of_cftime(label: Any, calendar: Calendar) -> int:
    # Import circle: none; the table is needed here only.
    from zarrix._labels._calendar import CALENDARS

    given = CALENDARS.get(label.calendar or "standard")
    if given is None or given.rule != calendar.rule:
        raise LabelError(
            f"{label} is a date of the calendar {label.calendar!r}, and the coordinate has "
            f"{calendar.name!r}"
        )
    year = label.year if label.has_year_zero or label.year > 0 else label.year + 1
    return calendar.day_of((year, label.month, label.day)) * DAY + _clock(label)


def _clock(label: Any) -> int:
    seconds = (label.hour * 60 + label.minute) * 60 + label.second
    return int(seconds * SECOND + label.microsecond * 1000)


def _require_real(label: Any, calendar: Calendar) -> None:
    if not calendar.is_real:
        raise LabelError(
            f"the coordinate has the calendar {calendar.name!r}, whose dates {label!r} is not one "
            f"of: give a text, such as '2020-01-31', or an object of cftime"
        )


def text_of(instant: int, calendar: Calendar) -> str:
    """An instant as text, without a clock of zeros.

    Examples
    --------
    >>> from zarrix._labels._calendar import CALENDARS
    >>> text_of(59 * DAY + 6 * 3600 * SECOND, CALENDARS["360_day"])
    '1970-02-30T06:00:00'
    """
    day, rest = divmod(instant, DAY)
    year, month, date = calendar.date_of(day)
    year = calendar.written(year)
    sign = "-" if year < 0 else ""
    shown = f"{sign}{abs(year):04}-{month:02}-{date:02}"
    if not rest:
        return shown
    seconds, part = divmod(rest, SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    end = f".{part:09}".rstrip("0") if part else ""
    return f"{shown}T{hour:02}:{minute:02}:{second:02}{end}"
