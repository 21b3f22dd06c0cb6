"""The calendars of the CF conventions: dates to days and back, by arithmetic alone.

A day is counted from 1970-01-01 of the same calendar, so that numbers of two calendars are never
compared. Standard dates are those of the Gregorian calendar; only the date that the units of a
coordinate begin with may lie before 1582-10-15, and is then one of the Julian calendar.
"""

from __future__ import annotations

from typing import NamedTuple

from zarrix._errors import LabelError

__all__ = ["CALENDARS", "FIRST_GREGORIAN_DAY", "Calendar", "Date"]

Date = tuple[int, int, int]

_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
# Days from the first of March to the first of each month after it, in the order of that year.
_GREGORIAN_CYCLE = 146_097
# The day of 1582-10-15, when the standard calendar became Gregorian.
FIRST_GREGORIAN_DAY = -141_427


class Calendar(NamedTuple):
    """A calendar, and how its days are counted.

    Attributes
    ----------
    name : str
        Its first name in the CF conventions.
    rule : str
        When a year has a leap day: "gregorian", "julian", "never", "always"; or "360".
    has_year_zero : bool
        Whether year 0 precedes year 1; if not, year -1 does.
    is_real : bool
        Whether its dates are those of `datetime64`.
    """

    name: str
    rule: str
    has_year_zero: bool
    is_real: bool = False

    def is_leap(self, year: int) -> bool:
        """Whether a year, counted with a year 0, has 29 days in February."""
        if self.rule == "gregorian":
            return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return self.rule == "always" or (self.rule == "julian" and year % 4 == 0)

    def days_in(self, year: int, month: int) -> int:
        """The number of days of a month."""
        if self.rule == "360":
            return 30
        return 29 if month == 2 and self.is_leap(year) else _MONTHS[month - 1]

    def day_of(self, date: Date) -> int:
        """The number of the day of a date, whose year is counted with a year 0."""
        year, month, day = date
        if self.rule == "360":
            return (year - 1970) * 360 + (month - 1) * 30 + day - 1
        before = _DAYS_BEFORE[month - 1] + (month > 2 and self.is_leap(year)) + day - 1
        return self._days_before(year) - self._days_before(1970) + before

    def _days_before(self, year: int) -> int:
        """Days from the first of January of year 0 to that of a year."""
        if self.rule == "always":
            return year * 366
        if self.rule == "never":
            return year * 365
        leaps = (year + 3) // 4
        if self.rule == "gregorian":
            leaps += (year + 399) // 400 - (year + 99) // 100
        return year * 365 + leaps

    def date_of(self, day: int) -> Date:
        """The date of a day; its year is counted with a year 0."""
        if self.rule == "360":
            year, rest = divmod(day, 360)
            return year + 1970, rest // 30 + 1, rest % 30 + 1
        since_zero = day + self._days_before(1970)
        per_cycle = {"always": (366, 1), "never": (365, 1), "julian": (1461, 4)}
        days, years = per_cycle.get(self.rule, (_GREGORIAN_CYCLE, 400))
        # At most a year too early or too late.
        year = since_zero * years // days
        while self._days_before(year) > since_zero:
            year -= 1
        while self._days_before(year + 1) <= since_zero:
            year += 1
        rest = since_zero - self._days_before(year)
        month = 1
        while rest >= self.days_in(year, month):
            rest -= self.days_in(year, month)
            month += 1
        return year, month, rest + 1

    def counted(self, year: int, label: str) -> int:
        """A year as it is written, counted with a year 0."""
        if self.has_year_zero or year > 0:
            return year
        if year == 0:
            raise LabelError(f"{label}: the calendar {self.name!r} has no year 0")
        return year + 1

    def written(self, year: int) -> int:
        """A year that is counted with a year 0, as it is written."""
        return year if self.has_year_zero or year > 0 else year - 1

    def check(self, date: Date, label: str) -> None:
        """Raise a `LabelError` if the calendar does not have a date."""
        year, month, day = date
        if not (1 <= month <= 12 and 1 <= day <= self.days_in(year, month)):
            shown = f"{self.written(year):04}-{month:02}-{day:02}"
            raise LabelError(f"{label}: the calendar {self.name!r} has no {shown}")


_STANDARD = Calendar("standard", "gregorian", False, True)
_NO_LEAP = Calendar("noleap", "never", True)
_ALL_LEAP = Calendar("all_leap", "always", True)

CALENDARS: dict[str, Calendar] = {
    "standard": _STANDARD,
    "gregorian": _STANDARD,
    "proleptic_gregorian": Calendar("proleptic_gregorian", "gregorian", True, True),
    "noleap": _NO_LEAP,
    "365_day": _NO_LEAP,
    "all_leap": _ALL_LEAP,
    "366_day": _ALL_LEAP,
    "360_day": Calendar("360_day", "360", True),
    "julian": Calendar("julian", "julian", False),
}
"""The calendars by all their names."""
