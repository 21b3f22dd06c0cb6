"""Whether the object versions that a version consists of are still there.

The bucket lists all of its object versions, a thousand by one request, in the order of keys. They
are compared with the rows of the version as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

from zarrix._errors import CorruptStoreError, VersionLostError
from zarrix._stores.keys import is_document
from zarrix._stores.pinned import PinnedStore
from zarrix.versions._catalogue import Version
from zarrix.versions._documents import KeySpace, read_documents, spaces_of
from zarrix.versions._home import ServerHome
from zarrix.versions._objects import engine_of, pinned
from zarrix.versions._pages import Row

__all__ = ["check_objects"]


class _Listed(NamedTuple):
    """A canonical key, and lengths and tags of its object versions by their names."""

    key: str | None
    versions: dict[str, tuple[int, str]]


_END = _Listed(None, {})
_Told = Callable[[Literal["changed", "lost"], str], None]


def check_objects(home: ServerHome, version: Version, rows: Iterator[Row], report: _Told) -> None:
    """Report each row whose object version is gone, or has another length or tag."""
    store = pinned(home, version.name, version.pages, version.spaces)
    try:
        spaces = spaces_of(read_documents(store))
    except (CorruptStoreError, VersionLostError):
        # Without all documents, it is not known which keys are those of chunks.
        for row in rows:
            _check_document(store, row[0], report)
        return
    listed = _listed(home, spaces)
    last = next(listed, _END)
    for row in rows:
        while last.key is not None and last.key < row[0]:
            last = next(listed, _END)
        known = last.versions if last.key == row[0] else {}
        stored = known.get(row[3]) if len(row) == 4 else None
        if stored is None:
            report("lost", row[0])
        elif stored != row[1:3]:
            report("changed", row[0])


def _check_document(store: PinnedStore, key: str, report: _Told) -> None:
    if is_document(key):
        try:
            store[key]
        except VersionLostError:
            report("lost", key)


def _listed(home: ServerHome, spaces: list[KeySpace]) -> Iterator[_Listed]:
    """All object versions of the hierarchy."""
    pages = engine_of(home).list_versions("", spaces, earlier=True)
    last = ""
    for key, rows in groupby((row for page in pages for row in page), itemgetter(0)):
        if not last < key:
            raise CorruptStoreError(
                f"{home.root}: the server lists {key!r} behind {last!r}, and listings are in the "
                "order of keys"
            )
        last = key
        yield _Listed(key, {version: (size, tag) for _, size, tag, version in rows})
