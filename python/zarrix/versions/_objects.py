"""Making a version of a hierarchy in a bucket that keeps versions: a list of object versions.

No value is read or copied. Pages of rows are stored while the bucket is listed, and the document
last: the version exists from then on. Documents are the same before and after the listing, and are
those that are listed, so that each chunk belongs to the document of its array.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence

from zarrix import _engine
from zarrix._display.progress import Progress
from zarrix._errors import CorruptStoreError, StoreBusyError, VersionExistsError
from zarrix._metadata.consolidated import commit_member
from zarrix._stores.keys import CONSOLIDATED_DOCUMENT, ZARR_JSON
from zarrix._stores.pinned import PinnedStore
from zarrix.commits import recover
from zarrix.versions._catalogue import (
    Version,
    all_versions,
    create_version,
    locked,
    next_moment,
)
from zarrix.versions._documents import KeySpace, read_documents, spaces_of
from zarrix.versions._home import ServerHome
from zarrix.versions._names import document_key, page_key
from zarrix.versions._old_pages import stored_digests
from zarrix.versions._pages import MOST_ROWS, Page, PageReader, PageRow, made_pages
from zarrix.versions._rules import require_kept

__all__ = ["engine_of", "listed_pages", "pinned", "snapshot_objects"]

_ATTEMPTS = 3
WAIT = 60.0
"""Seconds that a version waits for the end of a commit."""
_PAUSE = 0.5


def snapshot_objects(
    home: ServerHome, name: str, message: str, *, is_named: bool, tell: Progress
) -> Version:
    """Keep the present state of a hierarchy in a bucket as a version."""
    require_kept(home.live, home.beside, is_named=is_named)
    tell(0, 2)
    before, pages = _settled(home)
    tell(1, 2)
    others = all_versions(home.versions)
    version = Version(
        name,
        next_moment(others),
        "objects",
        message,
        others[-1].name if others else None,
        3 if ZARR_JSON in before else 2,
        sum(page.rows for page in pages),
        sum(page.bytes for page in pages),
        has_digests=False,
        pages=tuple(pages),
        spaces=_spaces(before),
    )

    def finish() -> None:
        if not create_version(home.versions, version):
            raise VersionExistsError(
                f"another process has made a version {name!r} in {home.folder} meanwhile"
            )
        _require_pages(home, version)

    locked(home.versions, home.root.rpartition("/")[2], finish)
    tell(2, 2)
    return version


def pinned(
    home: ServerHome, name: str, pages: Sequence[PageRow], spaces: Mapping[str, str]
) -> PinnedStore:
    """The store of a version."""
    marks = [dict(spaces), *(page.digest for page in pages)]
    mark = hashlib.sha256(json.dumps(marks, sort_keys=True).encode()).hexdigest()
    firsts = [page.first for page in pages]
    load = PageReader(home.versions, tuple(pages))
    return PinnedStore(home.live, name, mark=mark, firsts=firsts, spaces=spaces, load=load)


def _spaces(documents: dict[str, bytes]) -> dict[str, str]:
    """The key spaces by which stored keys are found; on disk, the documents of a version say it."""
    known = ("default.", "v2/", "v2.")
    return {path: space for path, _, space in spaces_of(documents) if space in known}


def _settled(home: ServerHome) -> tuple[dict[str, bytes], list[PageRow]]:
    """The documents, and pages of the object versions that belong to them."""
    for _ in range(_ATTEMPTS):
        _wait_for_commits(home)
        before = read_documents(home.live)
        stored = stored_digests(home.versions)
        pages = []
        for page in listed_pages(home, spaces_of(before)):
            if page.row.digest not in stored:
                home.versions[page_key(page.row.digest)] = page.packed()
            pages.append(page.row)
        if _is_settled(home, before, pages):
            return before, pages
    raise StoreBusyError(
        f"documents in {home.root} were changed {_ATTEMPTS} times while it was listed; make the "
        "version when nothing resizes or replaces arrays"
    )


def _is_settled(home: ServerHome, before: dict[str, bytes], pages: list[PageRow]) -> bool:
    """Whether the documents are still those of before, and so are the listed ones."""
    if read_documents(home.live) != before:
        return False
    listed = pinned(home, "", pages, _spaces(before))
    return {key: bytes(value) for key, value in listed.getitems([*before]).items()} == before


def _wait_for_commits(home: ServerHome) -> None:
    """Wait until no commit is open, or finish one whose process is gone."""
    until = time.monotonic() + WAIT
    while _has_claim(home):
        if time.monotonic() > until:
            recover(home.live)
            return
        time.sleep(_PAUSE)


def _has_claim(home: ServerHome) -> bool:
    for zarr_format in (3, 2):
        document = home.live._value(CONSOLIDATED_DOCUMENT[zarr_format])
        member = None if document is None else commit_member(bytes(document), zarr_format)
        if isinstance(member, dict) and member.get("claim") is not None:
            return True
    return False


def listed_pages(home: ServerHome, spaces: list[KeySpace]) -> Iterator[Page]:
    """Pages of the latest object versions of a hierarchy, one after the other."""
    pending: list[tuple[str, int, str, str | None]] = []
    last = ""
    for rows in engine_of(home).list_versions("", spaces):
        for row in rows:
            if not last < row[0]:
                raise CorruptStoreError(
                    f"{home.root}: the server lists {row[0]!r} behind {last!r}, and listings are "
                    "in the order of keys"
                )
            last = row[0]
            if "\\" not in last and ".zarrix-" not in last:
                pending.append(row)
        if len(pending) > MOST_ROWS:
            *whole, open_page = made_pages(_engine.pages_of(pending))
            yield from whole
            pending = pending[-open_page.row.rows :]
    yield from made_pages(_engine.pages_of(pending))


def engine_of(home: ServerHome) -> _engine.ObjectStore:
    engine = home.live._engine
    assert isinstance(engine, _engine.ObjectStore)
    return engine


def _require_pages(home: ServerHome, version: Version) -> None:
    """Take the version back if another process has removed a page that it shares."""
    missing = {page.digest for page in version.pages} - stored_digests(home.versions)
    if missing:
        del home.versions[document_key(version.name)]
        raise StoreBusyError(
            f"another process has removed {len(missing)} pages in {home.folder}, which no version "
            "had for a day; make the version again"
        )
