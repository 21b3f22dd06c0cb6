"""The parameters of a request: texts from outside, which are checked before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._array.dimension_names import names_of
from zarrix._errors import ArrayIndexError, suggestion
from zarrix._selection.basic import try_basic
from zarrix._selection.text import selection_of
from zarrix.viewer._answers import Refused
from zarrix.viewer._limits import MOST_TEXT

__all__ = ["Parameters", "Selected"]


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
    given : mapping of str to str
    known : sequence of str
        The names that the route has; others are refused.
    """

    def __init__(self, given: Mapping[str, str], known: tuple[str, ...]) -> None:
        for name, value in given.items():
            if name not in known:
                raise Refused(400, f"{name[:40]!r} is not a parameter{suggestion(name, known)}")
            if not isinstance(value, str) or len(value) > MOST_TEXT:
                raise Refused(400, f"{name} is longer than {MOST_TEXT} characters")
        self._given = given

    def text(self, name: str, default: str = "") -> str:
        """A text, as it was sent."""
        return self._given.get(name, default)

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within these limits."""
        text = self._given.get(name)
        if not text:
            return default
        is_number = text.lstrip("+-").isdecimal() and text.isascii() and len(text) < 20
        if not is_number or not least <= int(text) <= most:
            raise Refused(400, f"{name}={text[:40]!r} is not a whole number, {least} to {most}")
        return int(text)

    def wholes(self, name: str, most: int) -> list[int]:
        """At most so many whole numbers, with commas between them; not negative."""
        text = self._given.get(name, "")
        parts = text.split(",") if text else []
        good = all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts)
        if not good or len(parts) > most:
            raise Refused(400, f"{name}={text[:40]!r} is not a list of at most {most} numbers")
        return [int(part) for part in parts]

    def choice(self, name: str, *known: str) -> str:
        """One of these words; the first one if it is not said."""
        text = self._given.get(name) or known[0]
        if text not in known:
            raise Refused(400, f"{name}={text[:40]!r} is not one of {', '.join(known)}")
        return text

    def field(self, array: Any) -> str | None:
        """The field of a structured array; None if none is asked for."""
        text = self._given.get("field")
        if not text:
            return None
        names = array.dtype.names or ()
        if text not in names:
            raise Refused(400, f"{text[:40]!r} is not a field of {array.name or '/'}")
        return text

    def selection(self, array: Any, name: str = "sel") -> Selected:
        """The selection of an array."""
        return Selected(self._given.get(name, ""), array)
