"""What a bucket does to its object versions: whether it keeps them, and for how long."""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple
from xml.etree import ElementTree

from zarrix import _engine
from zarrix._stores.remote.store import RemoteStore

__all__ = ["require_kept"]

_LEAST_DAYS = 90
"""A rule that deletes versions sooner is an error, unless the caller has named ``objects``."""

# An entity or a document type could make a small answer large.
_DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


class _Rule(NamedTuple):
    """A rule that deletes what versions need."""

    name: str
    days: int
    deletes: str


def require_kept(live: RemoteStore, versions: RemoteStore | None, *, is_named: bool) -> None:
    """Raise `ValueError` unless the bucket keeps object versions for `_LEAST_DAYS` days.

    Rules are read at the time of the call. If the caller has named ``how="objects"``, a rule is a
    warning, and so is a bucket that does not tell its rules.

    Parameters
    ----------
    live : RemoteStore
    versions : RemoteStore or None
        The folder of the versions, if it is in the same bucket.
    is_named : bool
        Whether the caller has named ``how="objects"``.
    """
    engine = live._engine
    if not isinstance(engine, _engine.ObjectStore):
        raise ValueError(
            f"{live.url} is opened by fsspec, and zarrix lists versions of objects only by its own "
            "client; zarrix.copy_store copies the hierarchy"
        )
    if not engine.keeps_versions():
        raise ValueError(
            f"the bucket of {live.url} does not keep versions of objects: versioning is off, or "
            "suspended; switch it on, or copy the hierarchy by zarrix.copy_store"
        )
    try:
        told = engine.lifecycle()
    except OSError as error:
        warnings.warn(
            f"whether a rule of the bucket deletes object versions is not known: {error}",
            stacklevel=4,
        )
        return
    keys = [live.address.prefix] if versions is None else [_prefix(live), _prefix(versions)]
    for rule in _rules(told or "", keys):
        said = (
            f"the lifecycle rule {rule.name!r} of the bucket of {live.url} deletes {rule.deletes} "
            f"after {rule.days} days, and then the version cannot be read any more"
        )
        if rule.days < _LEAST_DAYS and not is_named:
            raise ValueError(
                f"{said}; change the rule, copy the hierarchy by zarrix.copy_store, or pass "
                "how='objects' to make such a version nevertheless"
            )
        warnings.warn(said, stacklevel=4)


def _prefix(store: RemoteStore) -> str:
    return store.address.prefix


def _rules(text: str, keys: list[str]) -> list[_Rule]:
    """The rules about values below any of ``keys``, the shortest first.

    The first of ``keys`` is that of the hierarchy, the second that of the documents of versions.
    """
    if not text:
        return []
    if _DECLARATION.search(text):
        raise ValueError("the lifecycle rules of the bucket are not plain XML")
    try:
        document = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"the lifecycle rules of the bucket are not XML: {error}") from None
    found = []
    for rule in document.iter():
        if _name(rule) != "Rule" or _text(rule, "Status") != "Enabled":
            continue
        prefix, name = _text(rule, "Prefix") or "", _text(rule, "ID") or "without a name"
        concerned = [_is_about(prefix, key) for key in keys]
        noncurrent = _days(rule, "NoncurrentVersionExpiration", "NoncurrentDays")
        if noncurrent is not None and any(concerned):
            found.append(_Rule(name, noncurrent, "versions of objects that were replaced"))
        current = _days(rule, "Expiration", "Days")
        if current is not None and len(keys) > 1 and concerned[1]:
            found.append(_Rule(name, current, "the documents of versions"))
    return sorted(found, key=lambda rule: rule.days)


def _is_about(prefix: str, key: str) -> bool:
    return f"{key}/".startswith(prefix) or prefix.startswith(f"{key}/")


def _days(rule: Any, name: str, unit: str) -> int | None:
    """The days of an action; 0 if they cannot be read, None if the rule has no such action."""
    action = next((one for one in rule.iter() if _name(one) == name), None)
    if action is None:
        return None
    days = _text(action, unit)
    if days is None and name == "Expiration" and _text(action, "Date") is None:
        # Only delete markers without versions.
        return None
    return int(days) if days is not None and days.isdecimal() else 0


def _text(element: Any, name: str) -> str | None:
    found = next((one for one in element.iter() if _name(one) == name), None)
    return None if found is None else (found.text or "").strip()


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
