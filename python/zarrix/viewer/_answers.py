"""What a request is answered with, without HTTP: the application and the widget send it.

An answer is a status, headers and octets. JSON has no NaN and no large integers: numbers that are
not finite, and integers that a double cannot hold, are texts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Answer", "Refused", "fits", "json_answer", "plain", "refusal"]

_LARGEST_INTEGER = 2**53
_MOST_SENTENCE = 600
_MOST_DEPTH = 100


@dataclass(frozen=True)
class Answer:
    """A status, headers in lower case, and octets."""

    body: bytes | memoryview
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Refused(Exception):
    """A request that is not answered: the status, one sentence for the user, and headers."""

    def __init__(
        self,
        status: int,
        sentence: str,
        kind: str = "refused",
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.kind = status, sentence, kind
        self.headers = headers or {}


def plain(value: Any) -> Any:
    """The value as JSON has it.

    Examples
    --------
    >>> plain({"a": float("nan"), "b": 2**60, "c": (1, 2.5)})
    {'a': 'NaN', 'b': '1152921504606846976', 'c': [1, 2.5]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_INTEGER else str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    return str(value)


def fits(value: Any, most_bytes: int) -> bool:
    """Whether a JSON value takes about so many bytes at most, and is not nested too deep.

    Examples
    --------
    >>> fits({"a": [1, 2]}, 100), fits("x" * 101, 100)
    (True, False)
    """
    left, waiting = most_bytes, [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        left -= len(one) + 2 if isinstance(one, str) else 4
        if left < 0 or depth > _MOST_DEPTH:
            return False
        inner: Any = ()
        if isinstance(one, dict):
            inner = (*one, *one.values()) if len(one) <= left else None
        elif isinstance(one, list | tuple):
            inner = one if len(one) <= left else None
        if inner is None:
            return False
        waiting.extend((part, depth + 1) for part in inner)
    return True


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """The value as a JSON document.

    Text that is not Unicode, such as half of a surrogate pair in a file name, is escaped.
    """
    text = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
    found = {"content-type": "application/json", **(headers or {})}
    return Answer(text.encode("ascii"), status, found)


def refusal(error: Refused) -> Answer:
    """The answer to a request that is refused."""
    headers = {"retry-after": "1"} if error.status == 503 else {}
    # Messages of the package may name values of a store, which have any length.
    sentence = error.sentence
    if len(sentence) > _MOST_SENTENCE:
        sentence = f"{sentence[: _MOST_SENTENCE - 1]}…"
    found = {"error": sentence, "kind": error.kind}
    return json_answer(found, error.status, {**headers, **error.headers})
