"""Patterns of names, on this machine and in buckets: ``2020-*.nc``, ``s3://bucket/2020-*.nc/t2m``."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Mapping
from typing import Any

from zarrix._errors import ZarrixError
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.open import as_store
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix.convert._source import natural

__all__ = ["is_pattern", "matching"]

_WEB = ("http", "https")


def is_pattern(name: str) -> bool:
    """Whether a path or URL has ``*``, ``?`` or ``[``, and does not name a file that is there."""
    if not is_url(name):
        return glob.has_magic(name) and not os.path.lexists(name)
    scheme, _, rest = name.partition("://")
    if scheme.lower() in _WEB:
        # Behind a question mark is a query, and brackets are letters as others are.
        return "*" in rest.partition("?")[0]
    return glob.has_magic(rest.partition("/")[2])


def matching(
    pattern: str, storage_options: Mapping[str, Any] | None, refused: type[ZarrixError]
) -> list[str]:
    """The names that match, in natural order.

    What follows the last part of a pattern that has such a letter is a path inside of what matches;
    in a bucket it is not looked up.

    Parameters
    ----------
    pattern : str
    storage_options : mapping, optional
        For a URL.
    refused : type
        The error for a server that does not list its names.
    """
    if is_url(pattern):
        return _in_bucket(pattern, storage_options, refused)
    head, inside = pattern, ""
    while head:
        found = sorted(glob.glob(head), key=natural)
        if found:
            return [f"{one}/{inside}" if inside else one for one in found]
        parent, name = os.path.split(head)
        if not parent or not glob.has_magic(parent):
            break
        head, inside = parent, f"{name}/{inside}" if inside else name
    return []


def _in_bucket(
    pattern: str, storage_options: Mapping[str, Any] | None, refused: type[ZarrixError]
) -> list[str]:
    scheme, _, rest = pattern.partition("://")
    parts = rest.rstrip("/").split("/")
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    root = f"{scheme}://{'/'.join(parts[:first])}"
    is_listable = scheme.lower() not in _WEB
    store = as_store(root, storage_options) if is_listable else None
    if store is None or not store.is_listable():
        raise refused(
            f"{public_url(pattern)} is a pattern, and its server does not list what is below a "
            "URL; pass the URLs one by one"
        )
    last = max(number for number, part in enumerate(parts) if glob.has_magic(part))
    found = [""]
    for part in parts[first : last + 1]:
        if glob.has_magic(part):
            found = [key_of(base, name) for base in found for name in _names(store, base, part)]
        else:
            found = [key_of(base, part) for base in found]
    inside = parts[last + 1 :]
    return sorted(("/".join([root, name, *inside]) for name in found), key=natural)


def _names(store: Store, folder: str, pattern: str) -> list[str]:
    """The names in a folder of a store that match; a name of these letters is itself."""
    values, folders = store._engine.list_dir(store.engine_path(folder))
    names = {*values, *folders}
    if pattern in names:
        return [pattern]
    if not pattern.startswith("."):
        names = {one for one in names if not one.startswith(".")}
    return [one for one in names if fnmatch.fnmatchcase(one, pattern)]
