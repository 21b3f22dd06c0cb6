"""What functions and other libraries return as credentials becomes values that the engine takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote

__all__ = ["UnusableCredentials", "end_of_life", "values_of"]

# By service: the spellings of each value, in lower case and without "_". They are those of our
# options, of AWS' services and files, of NASA's, and of obstore.
_SPELLINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "s3": {
        "key": ("key", "accesskeyid", "awsaccesskeyid"),
        "secret": ("secret", "secretaccesskey", "awssecretaccesskey"),
        "token": ("token", "sessiontoken", "awssessiontoken"),
    },
    "gs": {"token": ("token", "accesstoken")},
    "az": {
        "sas": ("sas", "sastoken", "saskey"),
        "bearer": ("bearer", "token", "accesstoken"),
        "key": ("key", "accountkey", "accesskey"),
    },
    "http": {"headers": ("headers",)},
}
_NEEDED: dict[str, tuple[tuple[str, ...], ...]] = {
    "s3": (("key", "secret"),),
    "gs": (("token",),),
    "az": (("sas",), ("bearer",), ("key",)),
    "http": (("headers",),),
}
_ENDS = ("expires", "expiration", "expiresat", "expiry", "expireson")


class UnusableCredentials(Exception):
    """Why what a function returned is of no use; it tells no value."""


def values_of(service: str, returned: Any) -> tuple[dict[str, str], float | None]:
    """The values of ``returned`` by the engine's names, and the end of their life in Unix seconds.

    Raises
    ------
    UnusableCredentials
        It lacks a value, or one has another type.
    """
    if not isinstance(returned, Mapping):
        raise UnusableCredentials(f"returned {type(returned).__name__}, and not a dict")
    given = {str(name).lower().replace("_", ""): value for name, value in returned.items()}
    values: dict[str, Any] = {}
    for name, spellings in _SPELLINGS[service].items():
        present = [given[one] for one in spellings if given.get(one) is not None]
        if present:
            values[name] = present[0]
    alternatives = _NEEDED[service]
    if not any(values.keys() >= set(names) for names in alternatives):
        needed = " or ".join(" and ".join(map(repr, names)) for names in alternatives)
        raise UnusableCredentials(f"returned a dict without {needed}")
    ends = [given[one] for one in _ENDS if given.get(one) is not None]
    end = end_of_life(ends[0]) if ends else None
    if service == "http":
        return _headers(values["headers"]), end
    for name, value in values.items():
        if not isinstance(value, str) or not value:
            raise UnusableCredentials(f"returned a {name!r} that is not a text")
    if "sas" in values:
        end = _end_of_signature(values["sas"]) if end is None else end
        values["sas"] = unquote(values["sas"])
    return values, end


def _headers(headers: Any) -> dict[str, str]:
    if not isinstance(headers, Mapping) or not all(
        isinstance(text, str) for pair in headers.items() for text in pair
    ):
        raise UnusableCredentials("returned 'headers' that are not a dict of texts")
    return dict(headers)


def end_of_life(end: Any) -> float:
    """Unix seconds of a datetime, a number, or a text of ISO 8601.

    Raises
    ------
    UnusableCredentials
        It is none of them, or a datetime without a time zone.
    """
    if isinstance(end, str):
        try:
            # AWS and NASA write UTC, some of them without saying so.
            end = datetime.fromisoformat(end)
            end = end.replace(tzinfo=UTC) if end.tzinfo is None else end
        except ValueError:
            raise UnusableCredentials("returned an 'expires' that is not a time") from None
    if isinstance(end, datetime):
        if end.tzinfo is None:
            raise UnusableCredentials(
                "returned an 'expires' without a time zone: use datetime.now(UTC) + timedelta(...)"
            )
        return end.timestamp()
    if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
        raise UnusableCredentials("returned an 'expires' that is not a time")
    return float(end)


def _end_of_signature(sas: str) -> float | None:
    """The end that a signature of Azure names, if it names one."""
    ends = parse_qs(sas.removeprefix("?")).get("se")
    return end_of_life(ends[0]) if ends else None
