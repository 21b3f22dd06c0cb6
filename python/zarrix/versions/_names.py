"""The names of versions, and the keys in the folder of versions."""

from __future__ import annotations

import os
import re
import secrets

from zarrix._errors import VersionNotFoundError

__all__ = [
    "CATALOGUE",
    "PAGES",
    "check_name",
    "document_key",
    "name_in",
    "not_found",
    "page_key",
    "partial_name",
]

CATALOGUE = "versions.json"
PAGES = "pages"
_ENDING = ".version.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_name(name: str) -> str:
    """The name itself; `ValueError` if no version can have it."""
    folded = name.casefold() if isinstance(name, str) else ""
    if (
        not _NAME.fullmatch(folded)
        or folded in (PAGES, "live")
        or folded.endswith((".json", ".partial", "."))
    ):
        raise ValueError(
            f"{name!r} is not a name of a version: 1 to 100 letters, digits, '.', '_' and '-', of "
            "which the first is a letter or a digit; not 'pages', not 'live', and no end in "
            "'.json', '.partial' or '.'"
        )
    return name


def document_key(name: str) -> str:
    """The key of the document of a version."""
    return f"{name}{_ENDING}"


def name_in(key: str) -> str | None:
    """The name of the version whose document has this key; None for other keys."""
    if not key.endswith(_ENDING):
        return None
    try:
        return check_name(key[: -len(_ENDING)])
    except ValueError:
        return None


def page_key(digest: str) -> str:
    """The key of a page."""
    return f"{PAGES}/{digest[:2]}/{digest}.jsonl.gz"


def partial_name(name: str) -> str:
    """The name of a folder that is being made or deleted: a leftover, if its process has ended."""
    return f"{name}.{os.getpid()}-{secrets.token_hex(8)}.partial"


def not_found(name: str, names: list[str], folder: str) -> VersionNotFoundError:
    """The error for a version that does not exist."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    known = f"it has {', '.join(map(repr, names[-5:]))}{more}" if names else "there are none"
    return VersionNotFoundError(f"no version {name!r} in {folder!r}; {known}")
