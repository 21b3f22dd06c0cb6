"""Deleting versions: by name, and by rules that say which are kept."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from zarrix import _engine
from zarrix._errors import MetadataError
from zarrix.versions._catalogue import (
    all_versions,
    find_version,
    locked,
    remove_unnamed_pages,
)
from zarrix.versions._home import Home, ServerHome
from zarrix.versions._names import document_key
from zarrix.versions._old_pages import remove_old_pages
from zarrix.versions._snapshot import discard

__all__ = ["delete_version", "expired_versions", "remove_leftovers"]

_ABANDONED = timedelta(hours=1)
_AGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def delete_version(home: Home | ServerHome, name: str) -> None:
    """Delete a version: its document, its folder, and the pages that no other version has."""

    def delete() -> None:
        # Another process may have deleted it.
        find_version(home.versions, name, home.folder)
        del home.versions[document_key(name)]
        if isinstance(home, ServerHome):
            # Its pages stay for a day: a version that is being made may share them.
            return
        folder = os.path.join(home.folder, name)
        if os.path.lexists(folder):
            discard(home, folder)
        # What another version consists of may be unknown, so that every page could be a part of it.
        with suppress(MetadataError):
            remove_unnamed_pages(home.versions)

    locked(home.versions, os.path.basename(home.root), delete)


def expired_versions(
    home: Home | ServerHome,
    keep_last: int | None,
    keep_daily: int | None,
    older_than: str | None,
    dry_run: bool,
) -> list[str]:
    """Delete the versions that no rule keeps; returns their names."""
    for word, number in (("keep_last", keep_last), ("keep_daily", keep_daily)):
        if number is not None and (type(number) is not int or number < 0):
            raise ValueError(f"{word} is a whole number from 0 on, not {number!r}")
    if keep_last is None and keep_daily is None and older_than is None:
        raise ValueError("pass keep_last, keep_daily or older_than: without one all would expire")
    versions = all_versions(home.versions)
    kept = {version.name for version in versions[-max(keep_last or 1, 1) :]}
    if keep_daily:
        newest = {version.created.date(): version.name for version in versions}
        kept.update(newest[day] for day in sorted(newest)[-keep_daily:])
    if older_than is not None:
        moment = datetime.now(UTC) - _age(older_than)
        kept.update(version.name for version in versions if version.created > moment)
    names = [version.name for version in versions if version.name not in kept]
    if not dry_run:
        for name in names:
            delete_version(home, name)
        remove_leftovers(home)
    return names


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"older_than is an age such as '90 d', '12 h' or '8 w', not {text!r}")
    return timedelta(seconds=float(found[1]) * _SECONDS[found[2]])


def remove_leftovers(home: Home | ServerHome) -> list[str]:
    """Remove what killed calls have left, once it is so old that no call uses it."""
    if isinstance(home, ServerHome):
        return remove_old_pages(home.versions)
    removed = []
    for name in home.versions._engine.leftovers(""):
        folder = os.path.join(home.folder, name)
        if os.path.isdir(folder) and not os.path.islink(folder):
            if not _is_abandoned(folder):
                continue
            _engine.release_tree(home.root, folder)
        if home.versions._engine.remove_leftover(name, _ABANDONED):
            removed.append(name)
    return removed


def _is_abandoned(folder: str) -> bool:
    age = datetime.now(UTC).timestamp() - os.stat(folder).st_mtime
    return age >= _ABANDONED.total_seconds()
