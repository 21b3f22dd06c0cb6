"""The documents of versions: what exists, and what each consists of.

A version exists if its document does. Documents are foreign input: all that is in them is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Literal, get_args

from zarrix._errors import MetadataError, NotAtomicError
from zarrix._metadata.checks import members_of
from zarrix._stores.base import Store
from zarrix._stores.labels import place
from zarrix.versions._names import CATALOGUE, PAGES, document_key, name_in, not_found, page_key
from zarrix.versions._pages import Page, PageRow, parse_page_row

__all__ = [
    "How",
    "Version",
    "all_versions",
    "create_version",
    "find_version",
    "locked",
    "names_of",
    "next_moment",
    "read_version",
    "remove_unnamed_pages",
    "store_pages",
    "store_version",
]

How = Literal["clone", "link", "copy", "objects"]

_VERSION = 1


@dataclass(frozen=True)
class Version:
    """A state of a hierarchy that is kept.

    Attributes
    ----------
    name : str
    created : datetime
        When it was made, in UTC.
    how : {"clone", "link", "copy", "objects"}
        How it keeps chunks: as clones, as hard links or as copies of files, or as versions of
        objects on a server.
    message : str
    parent : str or None
        The version that was the newest one before.
    zarr_format : {2, 3}
    keys : int
        The number of values.
    nbytes : int
        The sum of their lengths; unchanged chunks are shared, unless they are copies.
    has_digests : bool
        Whether the SHA-256 of every value is kept.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.open_group("data.zarr", mode="w", zarr_format=3)
    >>> version = zarr.snapshot("data.zarr", "v1", message="empty")
    >>> version.name, version.message, version.keys
    ('v1', 'empty', 1)
    """

    name: str
    created: datetime
    how: How
    message: str
    parent: str | None
    zarr_format: int
    keys: int
    nbytes: int
    has_digests: bool
    pages: tuple[PageRow, ...] = field(repr=False, compare=False, default=())
    spaces: dict[str, str] = field(repr=False, compare=False, default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What is known of the version, for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> zarr.snapshot("data.zarr", "v1").to_dict()["name"]
        'v1'
        """
        return {
            "name": self.name,
            "created": _text(self.created),
            "how": self.how,
            "message": self.message,
            "parent": self.parent,
            "zarr_format": self.zarr_format,
            "keys": self.keys,
            "nbytes": self.nbytes,
            "has_digests": self.has_digests,
        }

    def __str__(self) -> str:
        said = f"{self.name}  {_text(self.created)}  {self.how}  {self.keys} keys  {self.nbytes}"
        return f"{said} bytes  {self.message}".rstrip()


def _text(created: datetime) -> str:
    return created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _encoded(version: Version) -> bytes:
    document = {
        "zarrix_version": _VERSION,
        "name": version.name,
        "created": _text(version.created),
        "how": version.how,
        "message": version.message,
        "parent": version.parent,
        "format": version.zarr_format,
        "spaces": version.spaces,
        "keys": version.keys,
        "bytes": version.nbytes,
        "digests": "sha256" if version.has_digests else None,
        "pages": version.pages,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _decoded(name: str, value: Any, label: str) -> Version:
    members = members_of(value, label)
    number = members.get("zarrix_version")
    if number != _VERSION:
        raise MetadataError(
            f"{label}: zarrix_version is {number!r}, and this zarrix knows {_VERSION}"
        )
    pages = members.get("pages")
    rows = [parse_page_row(page) for page in pages] if isinstance(pages, list) else [None]
    known = tuple(row for row in rows if row is not None)
    spaces, parent = members.get("spaces"), members.get("parent")
    created = _date(members.get("created"))
    is_whole = (
        created is not None
        and members.get("name") == name
        and members.get("how") in get_args(How)
        and isinstance(members.get("message"), str)
        and (parent is None or isinstance(parent, str))
        and members.get("format") in (2, 3)
        and members.get("digests") in (None, "sha256")
        and isinstance(spaces, dict)
        and all(isinstance(text, str) for pair in spaces.items() for text in pair)
        and len(known) == len(rows)
        and all(one.first < other.first for one, other in pairwise(known))
        and members.get("keys") == sum(row.rows for row in known)
        and members.get("bytes") == sum(row.bytes for row in known)
    )
    if not is_whole or created is None or spaces is None:
        raise MetadataError(f"{label} is not the document of the version {name!r}")
    how, message, zarr_format = (members[key] for key in ("how", "message", "format"))
    sums, digests = (members["keys"], members["bytes"]), members["digests"] is not None
    return Version(name, created, how, message, parent, zarr_format, *sums, digests, known, spaces)


def _date(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def names_of(store: Store) -> list[str]:
    """The names of all versions, sorted."""
    return sorted(name for key in store.listdir() if (name := name_in(key)) is not None)


def read_version(store: Store, name: str) -> Version | None:
    """The version of that name; None if there is none."""
    key = document_key(name)
    stored = store._value(key)
    return None if stored is None else _decoded(name, bytes(stored), place(store, key))


def find_version(store: Store, name: str, label: str) -> Version:
    """The version of that name, which is compared without case.

    Raises
    ------
    VersionNotFoundError
        There is none.
    """
    names = names_of(store)
    own = next((one for one in names if one.casefold() == str(name).casefold()), None)
    found = None if own is None else read_version(store, own)
    if found is None:
        raise not_found(name, names, label)
    return found


def all_versions(store: Store) -> list[Version]:
    """All versions, the oldest first."""
    found = (read_version(store, name) for name in names_of(store))
    return sorted(
        (one for one in found if one is not None), key=lambda one: (one.created, one.name)
    )


def locked(store: Store, of: str, change: Callable[[], None]) -> None:
    """Call ``change`` while no other process changes the versions.

    Nothing is stored after ``change``, so that a full disk cannot make an error of what is done.
    """
    document = {"zarrix_versions": _VERSION, "of": of}
    own = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    if CATALOGUE not in store:
        store.update_value(CATALOGUE, lambda old: own if old is None else old)

    def checked() -> None:
        label = place(store, CATALOGUE)
        number = members_of(store[CATALOGUE], label).get("zarrix_versions")
        if number != _VERSION:
            raise MetadataError(
                f"{label}: zarrix_versions is {number!r}, and this zarrix knows {_VERSION}"
            )
        change()

    store._engine.while_locked([store.engine_path(CATALOGUE)], checked)


def next_moment(versions: list[Version]) -> datetime:
    """Now, or later than the newest version: their order is that in which they were made."""
    now = datetime.now(UTC)
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    return max([now, *(one.created + timedelta(milliseconds=1) for one in versions)])


def store_pages(store: Store, pages: list[Page]) -> None:
    """Store the pages that are not there yet."""
    for page in pages:
        key = page_key(page.row.digest)
        if key not in store:
            store[key] = page.packed()


def store_version(store: Store, version: Version) -> None:
    """Store the document of a version: from then on it exists."""
    store[document_key(version.name)] = _encoded(version)


def create_version(store: Store, version: Version) -> bool:
    """Store the document of a version, unless there is one; returns whether it did."""
    key, document = document_key(version.name), _encoded(version)
    try:
        outcome = store.put_if(key, document, None)
    except NotAtomicError:
        # Its server ignores conditions, so that the last of two calls at once would win.
        if key in store:
            return False
        store[key] = document
        return True
    if outcome.result == "unclear":
        return bool(store._value(key) == document)
    return outcome.is_stored


def remove_unnamed_pages(store: Store) -> int:
    """Remove the pages that no document names; under the lock. Returns their number."""
    named = {page_key(page.digest) for one in all_versions(store) for page in one.pages}
    stored = [f"{PAGES}/{key}" for key in _keys_below(store, PAGES)]
    unnamed = [key for key in stored if key not in named]
    for key in unnamed:
        store.pop(key, None)
    return len(unnamed)


def _keys_below(store: Store, prefix: str) -> list[str]:
    start = len(prefix) + 1
    return [key[start:] for key in store._engine.list_prefix(store.engine_path(prefix))]
