"""Labels as text, as the command line has them: ``time=2020-01:2020-06,lat=30:60``.

What a text means depends on the labels of its axis: of dates ``2020-01-01T06:30`` is one, and
``2020-01:2020-06`` a slice.
"""

from __future__ import annotations

import re
from typing import Any

from zarrix._errors import LabelError, shorten
from zarrix._labels._axis import Axis
from zarrix._labels._dates import is_date

__all__ = ["Written", "key_of", "labels_of"]

# A comma before the name of a dimension.
_BETWEEN = re.compile(r",(?=[^,=:]+=)")
_INTEGER = re.compile(r"[+-]?\d{1,30}")


class Written(str):
    """The text of a label or a slice, whose meaning depends on the axis."""


def labels_of(text: str) -> dict[str, Written]:
    """The text for each dimension.

    Raises
    ------
    LabelError
        It is not ``name=label``, or has a dimension twice.

    Examples
    --------
    >>> labels_of("time=2020-01:2020-06,lat=30:60")
    {'time': '2020-01:2020-06', 'lat': '30:60'}
    """
    found: dict[str, Written] = {}
    for part in _BETWEEN.split(text):
        name, equals, label = part.partition("=")
        name = name.strip()
        if not equals or not name or not label.strip():
            raise LabelError(
                f"{shorten(part)} is not a dimension and its label, such as time=2020-01 or "
                "lat=30:60"
            )
        if name in found:
            raise LabelError(f"{name} is given twice")
        found[name] = Written(label.strip())
    return found


def key_of(axis: Axis, text: str) -> Any:
    """The label or the slice that a text means for the labels of an axis.

    Raises
    ------
    LabelError
        It means nothing there.
    """
    kind = axis.decoding.kind
    if kind == "time":
        return _dates(text)
    if kind == "number":
        parts = [_number(axis, part) for part in text.split(":")]
        if len(parts) == 1 and parts[0] is not None:
            return parts[0]
        if 1 < len(parts) < 4:
            return slice(*parts)
        raise LabelError(
            f"{text!r} is neither a number nor a slice, such as 30:60, for {axis.name}"
        )
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise LabelError(f"{text!r} is not a label of {axis.name}: it has true and false")
        return text.lower() == "true"
    if kind == "duration":
        raise LabelError(f"the labels of {axis.name} are lengths of time: select by -s, by index")
    begin, colon, end = text.partition(":")
    value = text if kind == "text" else text.encode()
    if not colon or len(axis.between(value, value)):
        return text
    return slice(begin or None, end or None)


def _dates(text: str) -> Any:
    if is_date(text):
        return text
    for at, letter in enumerate(text):
        if letter == ":":
            begin, end = text[:at].strip(), text[at + 1 :].strip()
            if all(not one or is_date(one) for one in (begin, end)):
                return slice(begin or None, end or None)
    # Names what a date is.
    return text


def _number(axis: Axis, text: str) -> int | float | None:
    part = text.strip()
    if not part:
        return None
    if _INTEGER.fullmatch(part):
        return int(part)
    try:
        return float(part)
    except ValueError:
        raise LabelError(
            f"{shorten(part)} is not a number, and the labels of {axis.name} are"
        ) from None
