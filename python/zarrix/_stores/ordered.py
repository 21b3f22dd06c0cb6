"""Listings of values with their sizes and tags, in the order of the keys' bytes, as S3 lists them.

A tag tells the versions of one value apart: the time of the last change and the inode of a file, or
an ETag. A listing of a directory holds the names of one directory of each level in memory. It does
not follow links that lead out of the root: they are told to its caller.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENTS

__all__ = ["Stored", "stored_below", "tag_of_file"]

# A file that was changed less long before it was listed can be changed again without another time:
# file systems have clocks that tick each 10 ms, or each two seconds.
_TICK_NS = 3 * 10**9
_PAGE = 1000


class Stored(NamedTuple):
    """A stored value, as it is listed.

    Attributes
    ----------
    key : str
        Below the prefix of the listing.
    size : int
    tag : str
        Equal tags of one key mean equal bytes; empty where the store has none.
    is_settled : bool
        Whether a later version of the value has another tag for certain.
    is_before : bool
        Whether a document had this tag before any chunk of its node was listed.
    """

    key: str
    size: int
    tag: str
    is_settled: bool = True
    is_before: bool = False


def stored_below(
    store: Store,
    prefix: str,
    skipped: Callable[[str], object] | None = None,
    *,
    follows_links: bool = True,
) -> Iterator[Stored]:
    """The values below ``prefix``, which is ``""`` for all.

    Parameters
    ----------
    store : Store
    prefix : str
        A path, without a slash at either end.
    skipped : callable, optional
        Called with the key of each link that is not followed.
    follows_links : bool
        Whether a link in a folder is followed if it stays in the folder.
    """
    engine = store._engine
    if isinstance(engine, _engine.LocalStore):
        folder = os.path.join(engine.root, store.engine_path(prefix))
        root = os.path.realpath(folder) if follows_links else None
        yield from _Walk(root, skipped or _untold).below(folder)
        return
    start = store.engine_path(prefix)
    length = len(start) + 1 if start else 0
    for page in engine.list_pages(start, ""):
        for key, size, tag in page:
            yield Stored(key[length:], size, tag)


def tag_of_file(status: os.stat_result) -> str:
    """Tells a file from those that replace it."""
    return f"{status.st_mtime_ns:x}-{status.st_ino:x}"


def _untold(key: str) -> None:
    """Where skipped links are told without a listener."""


class _Walk:
    """A walk through the files of a folder, in the order of keys.

    Only links that lead to below ``root`` are followed.
    """

    def __init__(self, root: str | None, skipped: Callable[[str], object]) -> None:
        self._root, self._skipped = root, skipped

    def below(self, folder: str) -> Iterator[Stored]:
        walk = _engine.FileWalk(folder, sorted(DOCUMENTS))
        with ThreadPoolExecutor(1) as ahead:
            files, link = walk.page(_PAGE)
            while True:
                # The next page is read while the caller works on this one.
                is_over = link is None and len(files) < _PAGE
                following = None if is_over or link else ahead.submit(walk.page, _PAGE)
                yield from map(Stored._make, files)
                if is_over:
                    return
                if link is not None:
                    yield from self._met(walk, *link)
                files, link = walk.page(_PAGE) if following is None else following.result()

    def _met(
        self, walk: _engine.FileWalk, key: str, path: Path, is_folder: bool, nested: bool
    ) -> Iterator[Stored]:
        """Go on behind a link, if that is allowed."""
        real = os.path.realpath(path)
        if is_folder:
            # A link in a folder that a link leads to could lead on without an end.
            above = {os.path.realpath(folder) for folder in walk.folders()}
            if nested or real in above or not self._is_inside(real):
                self._skipped(key)
            else:
                walk.follow(real, f"{key}/")
        elif not self._is_inside(real):
            self._skipped(key)
        else:
            yield from _file(key, path)

    def _is_inside(self, real: str) -> bool:
        root = self._root
        return root is not None and os.path.commonpath([real, root]) == root


def _file(key: str, path: Path) -> Iterator[Stored]:
    """The file that a link leads to, if it is one."""
    now = time.time_ns()
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        # A link to nothing.
        return
    if stat.S_ISREG(found.st_mode):
        is_settled = found.st_mtime_ns < now - _TICK_NS
        yield Stored(key, found.st_size, tag_of_file(found), is_settled)
