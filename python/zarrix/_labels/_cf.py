"""The labels in a coordinate: stored numbers and the attributes of the CF conventions.

Times become whole ticks since 1970-01-01 of their calendar, microseconds, or nanoseconds where the
units are shorter. Nothing is guessed: units, calendars and scales that are not understood are a
`LabelError` that names them.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._errors import LabelError, shorten
from zarrix._labels._calendar import CALENDARS, FIRST_GREGORIAN_DAY, Calendar, Date

__all__ = ["Decoding", "Labels", "decoding_of", "nanoseconds_of"]

# Nanoseconds of a unit, by its spellings.
_UNITS: dict[str, int] = {}
for _names, _length in (
    ("days day d", 86_400 * 10**9),
    ("hours hour hrs hr h", 3600 * 10**9),
    ("minutes minute mins min", 60 * 10**9),
    ("seconds second secs sec s", 10**9),
    ("milliseconds millisecond millisecs millisec msecs msec ms", 10**6),
    ("microseconds microsecond microsecs microsec us \N{MICRO SIGN}s", 10**3),
    ("nanoseconds nanosecond nanosecs nanosec ns", 1),
):
    _UNITS |= dict.fromkeys(_names.split(), _length)

_SINCE = re.compile(r"(?P<unit>[^\s]*)\s*\bsince\b\s*(?P<date>.*)", re.IGNORECASE | re.DOTALL)
_REFERENCE = re.compile(
    r"(?P<year>[+-]?\d{1,9})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:(?:T|\s+|\s*T\s*)(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})"
    r"(?::(?P<second>\d{1,2})(?:\.(?P<part>\d*))?)?)?)?)?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{1,2}(?::?\d\d)?)?"
)
_LENGTH = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,9})?)?\s*(?P<unit>[a-z\N{MICRO SIGN}]+)", re.I)
_INT64 = 2**63
# The length of a double in base64.
_IN_BASE64 = 12


def nanoseconds_of(text: str) -> int | None:
    """The length of a text such as ``1s`` or ``30 min``; None if it is none that is fixed."""
    found = _LENGTH.fullmatch(text.strip())
    unit = None if found is None else _UNITS.get(found["unit"].lower())
    if found is None or unit is None:
        return None
    return round(Fraction(found["count"] or 1) * unit)


class Labels(NamedTuple):
    """The labels of an axis.

    Attributes
    ----------
    values : ndarray
        One per index: ticks of times (int64), numbers, bools, or text.
    missing : ndarray of bool, or None
        Which of them match nothing.
    """

    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_] | None


class Decoding(NamedTuple):
    """How the stored values of a coordinate become labels.

    Attributes
    ----------
    kind : {'time', 'duration', 'number', 'bool', 'text', 'bytes'}
    calendar : Calendar or None
        That of times.
    tick : int
        Nanoseconds of a tick of times and durations.
    unit : int
        Nanoseconds of what is stored.
    begin : int
        What is added to times, in nanoseconds since 1970-01-01.
    scale, offset : float or None
    fills : tuple
        Stored values that stand for no label.
    is_unsigned : bool
        Whether stored integers are to be read as unsigned ones.
    """

    kind: str
    calendar: Calendar | None = None
    tick: int = 0
    unit: int = 0
    begin: int = 0
    scale: float | None = None
    offset: float | None = None
    fills: tuple[Any, ...] = ()
    is_unsigned: bool = False

    def labels(self, stored: npt.NDArray[Any], name: str) -> Labels:
        """The labels of stored values.

        Raises
        ------
        LabelError
            A number is not a time of the calendar.
        """
        if self.kind in ("text", "bytes"):
            return _texts(stored, self.kind)
        missing = self._missing(stored)
        if self.is_unsigned:
            stored = stored.view(stored.dtype.str.replace("i", "u"))
        if stored.dtype.kind in "mM":
            return Labels(_native_ticks(stored, self.tick, name), missing)
        if self.scale is not None or self.offset is not None:
            stored = stored.astype(np.float64) * (1.0 if self.scale is None else self.scale)
            stored += self.offset or 0.0
        if self.kind != "time":
            return Labels(stored, missing)
        ticks = self._ticks(stored, missing, name)
        return Labels(ticks, missing)

    def stored(self, values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The nearest stored values to labels, which are exact if `labels` gives these again.

        Parameters
        ----------
        values : ndarray
            Numbers, or ticks of this decoding.
        dtype : dtype
            Of what is stored.
        """
        if dtype.kind in "mM":
            numbers = values.view(f"{dtype.char}8[{'ns' if self.tick == 1 else 'us'}]")
        elif self.kind == "time":
            per_unit = self.unit // self.tick
            begin = -(-self.begin // self.tick)
            whole, rest = np.divmod(values - begin, per_unit)
            numbers = whole + rest / per_unit if rest.any() else whole
        else:
            numbers = values
        if dtype.kind not in "mM" and (self.scale is not None or self.offset is not None):
            numbers = (numbers - (self.offset or 0.0)) / (1.0 if self.scale is None else self.scale)
            numbers = np.rint(numbers) if dtype.kind in "iu" else numbers
        with np.errstate(all="ignore"):
            return np.asarray(numbers.astype(dtype))

    def _missing(self, stored: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
        found = None
        if stored.dtype.kind == "f":
            found = np.isnan(stored)
        elif stored.dtype.kind in "mM":
            found = np.isnat(stored)
        for fill in self.fills:
            equal = stored == fill
            found = equal if found is None else found | equal
        return found if found is not None and found.any() else None

    def _ticks(
        self, numbers: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None, name: str
    ) -> npt.NDArray[np.int64]:
        kept = numbers if missing is None else np.where(missing, numbers.dtype.type(0), numbers)
        if kept.dtype.kind == "f" and not np.isfinite(kept).all():
            raise LabelError(f"the coordinate {name!r} has an infinite time")
        per_unit, rest = divmod(self.unit, self.tick)
        assert not rest
        begin = -(-self.begin // self.tick)
        if kept.size:
            for extreme in (kept.min(), kept.max()):
                if not -_INT64 < int(extreme) * per_unit + begin < _INT64 - per_unit:
                    raise LabelError(
                        f"the coordinate {name!r} has the value {extreme}, which is not a date "
                        f"within the range of 64-bit ticks of {self.tick} ns"
                    )
        if kept.dtype.kind == "f":
            ticks = _rounded(kept, per_unit) + begin
        else:
            ticks = kept.astype(np.int64) * per_unit + begin
        self._require_gregorian(ticks, missing, name)
        return ticks

    def _require_gregorian(
        self, ticks: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_] | None, name: str
    ) -> None:
        if self.calendar is None or self.calendar.name != "standard" or not ticks.size:
            return
        first = FIRST_GREGORIAN_DAY * (86_400 * 10**9 // self.tick)
        early = ticks < first if missing is None else (ticks < first) & ~missing
        if early.any():
            raise LabelError(
                f"the coordinate {name!r} has dates before 1582-10-15, when the calendar "
                "'standard' changed; xarray with cftime has such dates"
            )


def decoding_of(
    dtype: np.dtype[Any], attributes: Mapping[str, Any], name: str, *, fill_value: Any = None
) -> Decoding:
    """How the stored values of the coordinate ``name`` become labels.

    Parameters
    ----------
    dtype : dtype
        Of what is stored.
    attributes : mapping
    name : str
        For messages.
    fill_value : optional
        The fill value in the metadata, where it stands for missing labels.

    Raises
    ------
    LabelError
        The elements cannot be labels, or the attributes are not understood.
    """
    if dtype.kind in "OT" or dtype.kind == "U":
        return Decoding("text")
    if dtype.kind == "S":
        return Decoding("bytes")
    if dtype.kind == "b":
        return Decoding("bool")
    if dtype.kind in "mM":
        kind = "time" if dtype.kind == "M" else "duration"
        tick = 1 if np.datetime_data(dtype)[0] in ("ns", "ps", "fs", "as") else 1000
        return Decoding(kind, CALENDARS["proleptic_gregorian"], tick, tick)
    if dtype.kind not in "iuf":
        raise LabelError(f"the coordinate {name!r} has elements of {dtype}, which cannot be labels")
    fills = _fills(dtype, attributes, fill_value)
    is_unsigned = dtype.kind == "i" and str(attributes.get("_Unsigned")).lower() == "true"
    scale, offset = (_number(attributes, key, name) for key in ("scale_factor", "add_offset"))
    numbers = Decoding("number", scale=scale, offset=offset, fills=fills, is_unsigned=is_unsigned)
    units = attributes.get("units")
    found = _SINCE.fullmatch(units.strip()) if isinstance(units, str) else None
    if found is None:
        return numbers
    return _times(numbers, found, attributes, name)


def _times(
    numbers: Decoding, units: re.Match[str], attributes: Mapping[str, Any], name: str
) -> Decoding:
    label = f"the units {shorten(units.string)} of the coordinate {name!r}"
    given = attributes.get("calendar", "standard")
    calendar = CALENDARS.get(given.lower()) if isinstance(given, str) else None
    if calendar is None:
        known = ", ".join(CALENDARS)
        raise LabelError(
            f"the coordinate {name!r} has the calendar {shorten(given)}; zarrix has {known}"
        )
    unit = _UNITS.get(units["unit"].lower())
    if unit is None:
        spelled = units["unit"].lower()
        if spelled.rstrip("s") in ("month", "year", "common_year"):
            raise LabelError(f"{label} have no fixed length; days have, and shorter units")
        raise LabelError(f"{label} begin with a unit of time that zarrix does not know")
    tick = 1 if unit < 1000 else 1000
    begin = _reference(units["date"], calendar, label)
    if begin % tick:
        tick = 1
    return numbers._replace(kind="time", calendar=calendar, tick=tick, unit=unit, begin=begin)


def _reference(text: str, calendar: Calendar, label: str) -> int:
    """The date after "since", in nanoseconds since 1970-01-01 of the calendar."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise LabelError(f"{label} do not end with a date, such as 1970-01-01 00:00:00")
    parts = found.groupdict()
    year = calendar.counted(int(parts["year"]), label)
    date = (year, int(parts["month"] or 1), int(parts["day"] or 1))
    day = _day_of_reference(date, calendar, label)
    clock = 0
    for name, most, length in (("hour", 24, 3600), ("minute", 60, 60), ("second", 60, 1)):
        number = int(parts[name] or 0)
        if number >= most:
            raise LabelError(f"{label} have {name} {number}")
        clock += number * length
    part = (parts["part"] or "")[:9]
    zone = _zone(parts["zone"], label)
    return (day * 86_400 + clock - zone) * 10**9 + int(part.ljust(9, "0"))


def _day_of_reference(date: Date, calendar: Calendar, label: str) -> int:
    if calendar.name == "standard" and date < (1582, 10, 15):
        julian = CALENDARS["julian"]
        julian.check(date, label)
        if date > (1582, 10, 4):
            raise LabelError(f"{label} name a date that the calendar 'standard' left out")
        # 1582-10-04 is the day before 1582-10-15.
        last = julian.day_of((1582, 10, 4))
        return julian.day_of(date) - last + FIRST_GREGORIAN_DAY - 1
    calendar.check(date, label)
    return calendar.day_of(date)


def _zone(text: str | None, label: str) -> int:
    """Seconds that the clock of a zone is ahead of UTC."""
    if text is None or text in ("Z", "UTC", "GMT"):
        return 0
    digits = text[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) < 3 else (int(digits[:-2]), int(digits[-2:]))
    if hours >= 24 or minutes >= 60:
        raise LabelError(f"{label} have a time zone that does not exist: {text}")
    return (-1 if text[0] == "-" else 1) * (hours * 60 + minutes) * 60


def _rounded(numbers: npt.NDArray[Any], per_unit: int) -> npt.NDArray[np.int64]:
    """The nearest ticks to these numbers of units, each exact before it is rounded."""
    exact = numbers.astype(np.float64)
    if per_unit == 1:
        return np.rint(exact).astype(np.int64)
    whole = np.floor(exact)
    return whole.astype(np.int64) * per_unit + np.rint((exact - whole) * per_unit).astype(np.int64)


def _native_ticks(stored: npt.NDArray[Any], tick: int, name: str) -> npt.NDArray[np.int64]:
    """The ticks of elements of datetime64 or timedelta64."""
    code = stored.dtype.char
    wanted = np.dtype(f"{code}8[{'ns' if tick == 1 else 'us'}]")
    try:
        ticks = stored.astype(wanted)
        # NumPy before 2.5 does not notice an overflow.
        is_exact = ((ticks.astype(stored.dtype) == stored) | np.isnat(stored)).all()
    except OverflowError:
        is_exact = False
    if stored.dtype != wanted and not is_exact:
        raise LabelError(
            f"the coordinate {name!r} has {stored.dtype} outside of the range of {wanted}"
        )
    return ticks.view(np.int64)


def _texts(stored: npt.NDArray[Any], kind: str) -> Labels:
    if kind == "bytes" or stored.dtype.kind == "U":
        return Labels(stored, None)
    texts = stored.astype(object)
    missing = np.array([not isinstance(one, str) for one in texts], bool)
    return Labels(texts, missing if missing.any() else None)


def _fills(dtype: np.dtype[Any], attributes: Mapping[str, Any], fill_value: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    for given in (attributes.get("_FillValue"), attributes.get("missing_value"), fill_value):
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, str) and dtype.kind == "f" and len(one) == _IN_BASE64:
                one = _from_base64(one)
            if isinstance(one, int | float | np.number) and not isinstance(one, bool):
                # NaN is never equal to anything; a value that the dtype cannot have is not stored.
                try:
                    with np.errstate(all="ignore"):
                        as_stored = dtype.type(one)
                except (OverflowError, ValueError):
                    continue
                if as_stored == one or dtype.kind == "f":
                    found.append(as_stored)
    return tuple(dict.fromkeys(found))


def _from_base64(text: str) -> float | None:
    """A number as xarray writes it to attributes of v3: a double, little endian."""
    try:
        (found,) = struct.unpack("<d", base64.b64decode(text, validate=True))
    except (ValueError, struct.error):
        return None
    return float(found)


def _number(attributes: Mapping[str, Any], key: str, name: str) -> float | None:
    given = attributes.get(key)
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < 2**1000:
        raise LabelError(f"{key} of the coordinate {name!r} is {shorten(given)}, not a number")
    return float(given)
