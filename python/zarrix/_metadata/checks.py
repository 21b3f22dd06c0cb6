"""Checks that the readers of documents share: errors that name the key, the value and the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._errors import MetadataError, shorten
from zarrix._metadata.json import json_loads

__all__ = ["MAX_LENGTH", "extension", "lengths", "members_of", "wrong"]

MAX_LENGTH = 2**63 - 1


def wrong(label: str, key: str, value: Any, allowed: str) -> MetadataError:
    """The error for an invalid member of a document."""
    return MetadataError(f"{label}: key {key!r} is {shorten(value)}; allowed: {allowed}")


def members_of(document: Any, label: str) -> Mapping[str, Any]:
    """The JSON object of a document, which may be parsed already."""
    members = document if isinstance(document, Mapping) else json_loads(document, label)
    if not isinstance(members, Mapping):
        raise MetadataError(f"{label}: is {shorten(members)}; expected a JSON object")
    return members


def lengths(value: Any, key: str, least: int, label: str) -> tuple[int, ...]:
    """Return ``value`` if it is a list of integers of at least ``least``."""
    expected = f"a list of whole numbers from {least} to 2**63-1, one per axis"
    if not isinstance(value, (list, tuple)):
        raise wrong(label, key, value, expected)
    for length in value:
        if type(length) is not int or not least <= length <= MAX_LENGTH:
            raise wrong(label, key, value, expected)
    return tuple(value)


def extension(value: Any, key: str, label: str) -> tuple[str, Mapping[str, Any]]:
    """Name and configuration of an extension point, from an object or a bare name."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        configuration = value.get("configuration", {})
        if isinstance(configuration, Mapping):
            return value["name"], configuration
    raise wrong(label, key, value, "an object with 'name' and 'configuration'")
