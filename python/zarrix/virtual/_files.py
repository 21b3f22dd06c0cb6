"""Files at URLs as stores: those of other formats, which are downloaded, and references.

Libraries of formats read files of this machine. A file is downloaded when a piece of it is first
opened, and is removed with its store.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from zarrix._errors import ConversionError, PieceChangedError, PieceNotFoundError, VirtualError
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import ZMETADATA
from zarrix._stores.redaction import public_url
from zarrix._stores.reference.store import (
    PARQUET,
    ReferenceStore,
    holds_references,
    is_of_parquet,
)
from zarrix._stores.reference.targets import Targets
from zarrix._stores.registry import SERVER_SCHEMES
from zarrix._stores.tagged import Row
from zarrix.convert._download import fetched, fetched_at_once, file_in
from zarrix.convert._downloads import Download, downloads
from zarrix.convert._file_store import FileStore
from zarrix.convert._formats import format_of, open_source

__all__ = [
    "AT_ONCE",
    "REFERENCES",
    "Named",
    "RemoteFile",
    "at_once",
    "named",
    "open_at",
    "parquet_in",
    "split_url",
    "version",
]

REFERENCES = "references"
"""The format of a source that is a document of references at a URL."""

AT_ONCE = 32
"""How many calls wait for servers at the same time."""

_REFERENCES = (".json", *PARQUET)
_LIST = b'{"zarrix_virtual":'
_SIZE = re.compile("[0-9]{1,18}")

Item = TypeVar("Item")
Result = TypeVar("Result")


class Named(NamedTuple):
    """A file that a URL names.

    Attributes
    ----------
    url, format : str
    inside : str
        The path in it.
    """

    url: str
    format: str
    inside: str


class RemoteFile(FileStore):
    """The keys of a file that was downloaded.

    Parameters
    ----------
    url : str
        Where the file is.
    download : Download
        Where it was stored.
    format : str
    """

    def __init__(self, url: str, download: Download, format: str) -> None:
        self.url, self.download = url, download
        super().__init__(open_source(download.path, format, {}), closes=True, for_users=True)


def _above(path: str, suffixes: tuple[str, ...]) -> tuple[str, str] | None:
    """The last part of a path with one of these suffixes, and the path inside of it."""
    head, inside = path.rstrip("/"), ""
    while any(one in head for one in suffixes) and not head.endswith((":", "/")):
        if head.endswith(suffixes):
            return head, inside
        head, _, name = head.rpartition("/")
        inside = f"{name}/{inside}" if inside else name
    return None


def parquet_in(path: str) -> tuple[str, str] | None:
    """A local folder of references in parquet, and the path inside; None if there is none."""
    found = _above(path.replace(os.sep, "/"), PARQUET)
    return found if found is not None and holds_references(found[0]) else None


def named(url: str) -> Named | None:
    """The file that a URL names by its suffix; None if no part of the path has one."""
    found = _above(url, _REFERENCES)
    if found is not None:
        return Named(found[0], REFERENCES, found[1])
    found = file_in(url)
    if found is None:
        return None
    format = format_of(found[0])
    assert format is not None
    return Named(found[0], format, found[1])


def _place(url: str, targets: Targets) -> tuple[Store, str]:
    """The store of the server of a file, and the key of the file there."""
    root, path = split_url(url)
    if not path:
        root, _, path = url.rpartition("/")
    # What tells the version of a folder is its document.
    key = f"{path}/{ZMETADATA}" if path.endswith(PARQUET) else path
    return targets.store_at(url, root), key


def version(url: str, targets: Targets) -> str | None:
    """What tells the version of a file at a URL, by one request; None if there is none."""
    store, key = _place(url, targets)
    return _told(store.head(key))


def _told(row: Row | None) -> str | None:
    return None if row is None else f"{row.size}-{row.tag}"


def open_at(
    url: str, format: str, check: str | None, targets: Targets, mark: int | None = None
) -> Store:
    """The store of a file at a URL.

    Parameters
    ----------
    url, format : str
    check : str or None
        What told its version when it was listed.
    targets : Targets
        Which URLs may be read, and how.
    mark : int, optional
        Only files that were downloaded before it make room for this one.

    Raises
    ------
    PieceNotFoundError
        The file does not exist.
    PieceChangedError
        It is not the one that was listed.
    DownloadLimitError
        It does not fit beside the files that are in use.
    VirtualError
        It is the list of a virtual array.
    """
    store, key = _place(url, targets)
    if format == REFERENCES:
        _found(url, check, store, key)
        return _references(url, store, key, targets)
    folder = downloads.folder()
    download = None
    try:
        before = _listed(check, key)
        if before is not None:
            download = fetched_at_once(store, before, url, folder, mark)
        if download is None:
            download = fetched(store, _found(url, check, store, key), url, folder, mark)
        opened = RemoteFile(url, download, format)
    except BaseException as error:
        downloads.remove(folder)
        if download is not None and isinstance(error, ConversionError):
            told = str(error).replace(download.path, public_url(url))
            raise ConversionError(told) from None
        raise
    weakref.finalize(opened, _remove, folder, download)
    return opened


def _found(url: str, check: str | None, store: Store, key: str) -> Row:
    """The file that is there, if it is the one that was listed."""
    found = store.head(key)
    if found is None:
        raise PieceNotFoundError(f"the piece {public_url(url)} is gone")
    if check is not None and _told(found) != check:
        raise PieceChangedError(
            f"{public_url(url)} has changed since it was listed; zarrix.virtual.refresh lists it "
            "again"
        )
    return found


def _listed(check: str | None, key: str) -> Row | None:
    """What a list says of a file, as `_told` told it; None if it says nothing."""
    size, dash, tag = (check or "").partition("-")
    return Row(key, int(size), tag) if dash and _SIZE.fullmatch(size) else None


def _remove(folder: str, download: Download) -> None:
    # A forked process has the same objects, and not the same files.
    if os.getpid() == download.owner:
        downloads.remove(folder)


def _references(url: str, store: Store, key: str, targets: Targets) -> ReferenceStore:
    """References on a server, which name what the caller may read, or else that server alone."""
    if key.endswith(ZMETADATA):
        if not is_of_parquet(store._engine.get(key, most=config.max_document_bytes) or b""):
            raise ConversionError(f"{public_url(url)} has no references")
    elif bytes(store._engine.get_slice(key, 0, len(_LIST)) or b"") == _LIST:
        raise VirtualError(
            f"{public_url(url)} is the list of a virtual array; open it by "
            "zarrix.virtual.open, and pass what that returns"
        )
    allowed = targets.allowed if targets.allowed is not None else [split_url(url)[0]]
    return ReferenceStore(url, targets._options_for(url).given, allowed=allowed)


def split_url(url: str) -> tuple[str, str]:
    """The URL of a server or bucket, and the path there; the path is empty where the whole URL has
    to be opened as it is.
    """
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    is_plain = not any(mark in rest for mark in "%?#") and "::" not in url and "@" not in host
    is_archive = path.endswith((".zip", ".ozx"))
    if scheme in SERVER_SCHEMES and is_plain and not is_archive and path.strip("/"):
        return f"{scheme}://{host}", path.strip("/")
    return url, ""


def at_once(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results of calls that wait for servers; the first error after all calls have ended."""
    several = [*items]
    if len(several) < 2:
        return [function(one) for one in several]
    with ThreadPoolExecutor(min(AT_ONCE, len(several))) as threads:
        waiting = [threads.submit(function, one) for one in several]
    return [one.result() for one in waiting]
