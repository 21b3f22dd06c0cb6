"""A file of another format that a URL names, as a file of this machine.

Libraries of formats read files. A file is downloaded in blocks, and all blocks are of one version.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from typing import Any

from zarrix._errors import PathNotFoundError, SourceChangedError
from zarrix._stores.base import Store
from zarrix._stores.open import as_store
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix._stores.tagged import Row
from zarrix.convert._downloads import Download, downloads, new_folder
from zarrix.convert._formats import format_of

__all__ = ["download", "fetched", "fetched_at_once", "file_in", "here"]

_BLOCK = 8 << 20


def file_in(url: str) -> tuple[str, str] | None:
    """The URL of a file of another format, and the path inside of it; None if it is not one."""
    head, inside = url.rstrip("/"), ""
    while not head.endswith((":", "/")):
        if format_of(head) is not None:
            return head, inside
        head, _, name = head.rpartition("/")
        inside = f"{name}/{inside}" if inside else name
    return None


def download(
    url: str, folder: str, storage_options: Mapping[str, Any] | None
) -> tuple[str, list[Any]]:
    """Store a file below a folder; its path, and what tells it from later ones under the URL.

    Raises
    ------
    PathNotFoundError
        There is no such file.
    SourceChangedError
        It was replaced meanwhile.
    """
    above, _, name = url.rpartition("/")
    store = as_store(above, storage_options)
    before = store.head(name)
    if before is None:
        raise PathNotFoundError(f"{public_url(url)} does not exist")
    path = fetched(store, before, url, folder).path
    return path, [public_url(url), before.size, before.tag]


def fetched(store: Store, before: Row, url: str, folder: str, mark: int | None = None) -> Download:
    """The value that ``before`` describes, as a file below a folder.

    Parameters
    ----------
    store : Store
    before : Row
    url : str
        For messages, and for the name of the file.
    folder : str
    mark : int, optional
        As of `Downloads.reserve`.

    Raises
    ------
    SourceChangedError
        It is another one, or was replaced meanwhile.
    DownloadLimitError
        It does not fit beside the files that are in use.
    OSError
        The server or the disk failed. No part of the file is left.
    """
    with _new_file(url, folder, before.size, mark) as (download, file):
        if before.size <= _BLOCK:
            is_same = _fetch_whole(store, before, download, file, url)
        else:
            is_same = _fetch_blocks(store, before, download, file, url)
        if not is_same:
            raise SourceChangedError(
                f"{public_url(url)} has changed while it was read; nothing was stored: make the "
                "call again"
            )
    return download


def _fetch_whole(store: Store, before: Row, download: Download, file: io.FileIO, url: str) -> bool:
    """Store a value by one request, which a server without end cannot make longer; whether it is
    the one of ``before``.
    """
    found = store._engine.get_tagged(store.engine_path(before.key), most=before.size)
    value, tag, _ = found or (b"", "", "")
    _store(file, value[: before.size], download, url)
    if len(value) != before.size:
        return False
    # The answer of a server without ETags does not tell its version.
    return tag == before.tag if tag else store.head(before.key) == before


def _fetch_blocks(store: Store, before: Row, download: Download, file: io.FileIO, url: str) -> bool:
    """Store a value block by block; whether all of it is there, and is the one of ``before``."""
    get, place = store._engine.get_slice, store.engine_path(before.key)
    while download.written < download.size:
        at = download.written
        asked = min(_BLOCK, download.size - at)
        block = get(place, at, at + asked) or b""
        # Not more than was reserved, even if a server sends more.
        _store(file, block[:asked], download, url)
        if len(block) != asked:
            return False
    return store.head(before.key) == before


def fetched_at_once(
    store: Store, before: Row, url: str, folder: str, mark: int | None = None
) -> Download | None:
    """`fetched` by a single request; None if what is there is something else, or too long for that.

    Parameters
    ----------
    store, before, url, folder, mark
        As of `fetched`.
    """
    if before.size > _BLOCK:
        return None
    with _new_file(url, folder, before.size, mark) as (download, file):
        if _fetch_whole(store, before, download, file, url):
            return download
    _discard(download)
    return None


@contextlib.contextmanager
def _new_file(
    url: str, folder: str, size: int, mark: int | None
) -> Iterator[tuple[Download, io.FileIO]]:
    """A new file for so many bytes, which are reserved; it is gone after an error."""
    path = os.path.join(folder, url.rpartition("/")[2])
    download = downloads.reserve(url, path, size, mark)
    try:
        with io.FileIO(path, "x") as file:
            yield download, file
    except BaseException:
        _discard(download)
        raise


def _discard(download: Download) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(download.path)
    downloads.forget(download)


def _store(file: io.FileIO, block: bytes, download: Download, url: str) -> None:
    view = memoryview(block)
    while view:
        try:
            count = file.write(view)
        except OSError as error:
            raise OSError(
                error.errno,
                f"{public_url(url)} has {download.size:,} bytes, of which {download.written:,} "
                f"could be stored in {os.path.dirname(download.path)} "
                f"({os.strerror(error.errno or 0)}); TMPDIR names another folder",
            ) from None
        download.written += count or 0
        view = view[count:]


@contextlib.contextmanager
def here(
    sources: Any, storage_options: Mapping[str, Any] | None
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """The sources of a call, those that are URLs as files of this machine until the end of a block.

    Gives the sources, and for each URL what tells its version.
    """
    several = not isinstance(sources, str | os.PathLike)
    listed = [os.fspath(one) for one in (sources if several else [sources])]
    if not any(map(is_url, listed)):
        yield sources, []
        return
    with new_folder() as folder:
        found, seen = [], []
        for number, one in enumerate(listed):
            if is_url(one):
                below = os.path.join(folder, str(number))
                os.mkdir(below)
                one, version = download(one, below, storage_options)
                seen.append(version)
            found.append(one)
        yield found if several else found[0], seen
