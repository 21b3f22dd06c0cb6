"""The parameters of a request: texts from outside, which are checked before they are used."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from zarrix._array.dimension_names import names_of
from zarrix._engine import CancelToken
from zarrix._errors import ArrayIndexError, suggestion
from zarrix._selection.basic import try_basic
from zarrix._selection.text import selection_of
from zarrix.viewer._answers import Refused
from zarrix.viewer._limits import MOST_TEXT

__all__ = ["Parameters", "Selected"]

_WHOLE = re.compile("[+-]?[0-9]{1,19}")


class Selected:
    """A selection within an array.

    Attributes
    ----------
    axes : tuple of int or (start, step, count)
        One for each axis of the array.
    shape : tuple of int
        Of the result.
    key : tuple of int and slice
        What the array is indexed with.
    """

    def __init__(self, text: str, array: Any) -> None:
        try:
            self.key = selection_of(text, names_of(array), array.ndim) or (...,)
            found = try_basic(self.key, array.shape)
        except (ValueError, IndexError, ArrayIndexError, OverflowError) as error:
            raise Refused(400, f"sel: {error}", "selection") from error
        assert found is not None  # There are only integers and slices.
        self.axes, self.shape, _ = found

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count


class Parameters:
    """The parameters of a request.

    Parameters
    ----------
    values : mapping of str to str
        By name.
    known : sequence of str
        The names that the route has; others are refused.
    cancel : CancelToken, optional
        Of the request: a route asks it between its steps.
    """

    def __init__(
        self,
        values: Mapping[str, str],
        known: tuple[str, ...],
        cancel: CancelToken | None = None,
    ) -> None:
        if not isinstance(values, Mapping):
            raise Refused(400, "the parameters are not names with values")
        for name, value in values.items():
            if name not in known:
                shown = str(name)[:40]
                raise Refused(400, f"{shown!r} is not a parameter{suggestion(shown, known)}")
            if not isinstance(value, str):
                raise Refused(400, f"{name} is not a text")
            if len(value) > MOST_TEXT:
                raise Refused(400, f"{name} is longer than {MOST_TEXT} characters")
        self._values = values
        self.cancel = CancelToken() if cancel is None else cancel

    def text(self, name: str, default: str = "") -> str:
        """A text, as it was sent."""
        return self._values.get(name, default)

    def whole(self, name: str, default: int, min_value: int, max_value: int) -> int:
        """A whole number within these limits."""
        text = self._values.get(name)
        if not text:
            return default
        found = _whole(text)
        if found is None or not min_value <= found <= max_value:
            raise Refused(
                400, f"{name}={text[:40]!r} is not a whole number, {min_value} to {max_value}"
            )
        return found

    def wholes(self, name: str, max_count: int) -> list[int]:
        """At most so many whole numbers, with commas between them; not negative."""
        text = self._values.get(name, "")
        found = [_whole(part) for part in text.split(",")] if text else []
        known = [one for one in found if one is not None and 0 <= one < 2**63]
        if len(known) < len(found) or len(found) > max_count:
            raise Refused(400, f"{name}={text[:40]!r} is not a list of at most {max_count} numbers")
        return known

    def ends(self, name: str) -> tuple[float, float] | None:
        """Two growing finite numbers; None if they are not said."""
        text = self._values.get(name)
        if not text:
            return None
        try:
            low, high = (float(one) for one in text.split(","))
        except ValueError:
            low = high = math.nan
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise Refused(400, f"{name}={text[:60]!r} is not two growing numbers")
        return low, high

    def choice(self, name: str, *known: str) -> str:
        """One of these words; the first one if it is not said."""
        text = self._values.get(name) or known[0]
        if text not in known:
            raise Refused(400, f"{name}={text[:40]!r} is not one of {', '.join(known)}")
        return text

    def field(self, array: Any) -> str | None:
        """The field of a structured array; None if none is asked for."""
        text = self._values.get("field")
        if not text:
            return None
        names = array.dtype.names or ()
        if text not in names:
            raise Refused(400, f"{text[:40]!r} is not a field of {array.name or '/'}")
        return text

    def selection(self, array: Any, name: str = "sel") -> Selected:
        """The selection of an array."""
        return Selected(self._values.get(name, ""), array)


def _whole(text: str) -> int | None:
    """The number that a text is; None if it is not a whole number of at most 19 digits."""
    return int(text) if _WHOLE.fullmatch(text) else None
