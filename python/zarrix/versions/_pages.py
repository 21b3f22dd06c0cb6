"""Pages of rows: files that are named by the hash of their lines, and shared by versions."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from zarrix._errors import CorruptStoreError, VersionLostError
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix.versions._names import page_key

__all__ = [
    "MOST_ROWS",
    "Page",
    "PageReader",
    "PageRow",
    "Row",
    "made_pages",
    "parse_page_row",
    "read_lines",
    "read_rows",
    "rows_in",
]

Row = tuple[str, int, str] | tuple[str, int, str, str]
"""A key, the length of its value, its tag, and for objects their version."""

MOST_ROWS = 16_384
_DIGEST = re.compile("[0-9a-f]{64}")


class PageRow(NamedTuple):
    """What a document says of a page."""

    first: str
    digest: str
    rows: int
    bytes: int


class Page(NamedTuple):
    """A page that is not stored yet."""

    row: PageRow
    lines: bytes

    def packed(self) -> bytes:
        """The bytes of the file."""
        return gzip.compress(self.lines, 1, mtime=0)


def made_pages(pages: Iterable[tuple[str, int, int, bytes]]) -> list[Page]:
    """The pages that the engine has made."""
    return [
        Page(PageRow(first, hashlib.sha256(lines).hexdigest(), rows, size), lines)
        for first, rows, size, lines in pages
    ]


def parse_page_row(value: Any) -> PageRow | None:
    """A row of a document about a page; None if it is not one."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    first, digest, rows, size = value
    if not isinstance(first, str) or not isinstance(digest, str):
        return None
    is_counted = all(type(number) is int and number >= 0 for number in (rows, size))
    if not is_counted or not 0 < rows <= MOST_ROWS or not _DIGEST.fullmatch(digest):
        return None
    return PageRow(first, digest, rows, size)


def read_lines(store: Store, page: PageRow) -> bytes:
    """The lines of a page, checked by its name; what they say is not checked.

    Raises
    ------
    VersionLostError
        The page is not stored.
    CorruptStoreError
        It has other lines.
    """
    key = page_key(page.digest)
    packed = store._value(key)
    if packed is None:
        raise VersionLostError(f"the page {key!r} in {store!r} is gone, and its rows with it")
    lines = _unpacked(bytes(packed), key)
    if hashlib.sha256(lines).hexdigest() != page.digest:
        raise CorruptStoreError(f"the page {key!r} has other rows than those it was stored with")
    if lines.count(b"\n") != page.rows or b"\n\n" in b"\n" + lines:
        raise CorruptStoreError(f"the page {key!r} has not the {page.rows} rows of its version")
    return lines


def read_rows(store: Store, page: PageRow) -> list[Row]:
    """The rows of a page, checked.

    Raises
    ------
    VersionLostError
        The page is not stored.
    CorruptStoreError
        It has other rows than those that its name stands for, or than its version says.
    """
    key = page_key(page.digest)
    rows = list(rows_in(read_lines(store, page), key))
    if len(rows) != page.rows or rows[0][0] != page.first:
        raise CorruptStoreError(
            f"the page {key!r} has {len(rows)} rows from {rows[0][0]!r} on, and its version says "
            f"{page.rows} from {page.first!r} on"
        )
    return rows


class PageReader(NamedTuple):
    """Reads the pages of a version by their numbers."""

    store: Store
    pages: tuple[PageRow, ...]

    def __call__(self, number: int) -> list[tuple[str, int, str, str]]:
        """The rows of a page, each with the version of an object.

        Raises
        ------
        VersionLostError, CorruptStoreError
            As `read_rows`, or a row has no version.
        """
        rows = read_rows(self.store, self.pages[number])
        found = [row for row in rows if len(row) == 4]
        if len(found) != len(rows):
            key = page_key(self.pages[number].digest)
            raise CorruptStoreError(f"the page {key!r} has rows without the version of an object")
        return found


def _unpacked(packed: bytes, key: str) -> bytes:
    most = config.max_document_bytes
    unpacker = zlib.decompressobj(wbits=31)
    try:
        lines = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise CorruptStoreError(f"the page {key!r} is damaged: {error}") from None
    if len(lines) > most:
        raise CorruptStoreError(
            f"the page {key!r} has more than {most} bytes, which is config.max_document_bytes"
        )
    if not unpacker.eof:
        raise CorruptStoreError(f"the page {key!r} is damaged: it ends early")
    return lines


def rows_in(lines: bytes, key: str = "", *, ascend: bool = True) -> Iterator[Row]:
    """The rows of lines, checked: their keys lead nowhere else, and ascend in a page."""
    try:
        each = lines.splitlines()
        values = json.loads(b"[" + b",".join(each) + b"]")
    except (ValueError, RecursionError) as error:
        raise CorruptStoreError(f"the page {key!r} is not lines of JSON: {error}") from None
    if len(values) != len(each):
        raise CorruptStoreError(f"the page {key!r} has lines that are not one row")
    before = ""
    for value in values:
        if not _is_row(value) or (ascend and not before < value[0]):
            raise CorruptStoreError(f"the page {key!r} has {value!r:.200}, which is not a row")
        before = value[0]
        yield tuple(value)


def _is_row(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (3, 4):
        return False
    key, size, *texts = value
    return (
        isinstance(key, str)
        and type(size) is int
        and size >= 0
        and all(isinstance(text, str) for text in texts)
        and "\\" not in key
        and "\0" not in key
        and not any(part in ("", ".", "..") for part in key.split("/"))
    )
