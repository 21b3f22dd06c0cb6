"""kerchunk's references in one JSON document, of version 0 or 1.

Everything in the document is checked when it is read, so that errors name their key, and later
lookups need no checks.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from zarrix._errors import CorruptStoreError, shorten
from zarrix._stores.reference.targets import Part
from zarrix._stores.reference.templates import Templates

__all__ = ["JsonReferences", "byte_count", "parsed"]

# Upper bound of the offset, the length and the end of a part.
_MOST_BYTES = 2**63


def parsed(text: bytes, shown: str) -> Any:
    """The value of a JSON document.

    Raises
    ------
    CorruptStoreError
        It is not JSON, or nested too deep.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise CorruptStoreError(f"{shown} is JSON that is nested too deep") from None
    except ValueError as error:
        raise CorruptStoreError(f"{shown} is not JSON: {error}") from None


def byte_count(value: Any) -> int:
    """A number of bytes in a reference.

    Raises
    ------
    ValueError
        It is not an integer from 0 to 2**63 - 1.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_BYTES:
        raise ValueError(
            f"{shorten(value)} is not a number of bytes, which is a whole number from 0 to "
            "2**63 - 1"
        )
    return value


class JsonReferences:
    """References of a JSON document.

    Parameters
    ----------
    document : object
        The parsed document.
    shown : str
        Its name in errors.

    Raises
    ------
    CorruptStoreError
        A reference is invalid; the message names the first one.
    """

    def __init__(self, document: Any, shown: str) -> None:
        self._shown = shown
        if not isinstance(document, Mapping):
            raise CorruptStoreError(f"{shown} has no references: it is not a JSON object")
        listed = document.get("refs", document if "version" not in document else {})
        if not isinstance(listed, Mapping):
            raise CorruptStoreError(f"{shown} has no references: refs is {shorten(listed)}")
        templates = Templates(document.get("templates") or {}, shown)
        self._values = {key: self._value(key, value, templates) for key, value in listed.items()}
        made = templates.generated(document.get("gen") or [])
        self._values |= {key: self._value(key, value, None) for key, value in made}

    def _value(self, key: Any, value: Any, templates: Templates | None) -> bytes | Part:
        try:
            return self._checked(key, value, templates)
        except (TypeError, ValueError, RecursionError) as error:
            raise CorruptStoreError(
                f"{self._shown}: the reference of {shorten(key)} is {shorten(value)}: {error}"
            ) from None

    def _checked(self, key: Any, value: Any, templates: Templates | None) -> bytes | Part:
        if not isinstance(key, str):
            raise TypeError("keys are text")
        if isinstance(value, str):
            inline = value.removeprefix("base64:")
            return base64.b64decode(inline) if inline != value else value.encode()
        if isinstance(value, Mapping):
            return json.dumps(value).encode()
        if not isinstance(value, list) or len(value) not in (1, 3) or not isinstance(value[0], str):
            raise TypeError("a reference is text, a JSON object, [url] or [url, offset, length]")
        url = value[0] if templates is None else templates.rendered(value[0])
        if len(value) == 1:
            return url, 0, None
        start, length = byte_count(value[1]), byte_count(value[2])
        byte_count(start + length)
        return url, start, length

    def find(self, key: str) -> bytes | Part | None:
        """A value, or its URL with the first byte and the number of bytes; None if absent."""
        return self._values.get(key)

    def names(self, prefix: str) -> Iterator[str]:
        """Every key below ``prefix``."""
        start = f"{prefix}/" if prefix else ""
        return (key for key in self._values if key.startswith(start))

    def names_directly(self, prefix: str) -> None:
        """The keys alone do not say more about them."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JsonReferences):
            return NotImplemented
        return self._values == other._values
