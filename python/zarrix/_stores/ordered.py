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
from typing import NamedTuple

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENTS

__all__ = ["Stored", "stored_below", "tag_of_file"]

# A file that was changed less long before it was listed can be changed again without another time:
# file systems have clocks that tick each 10 ms, or each two seconds.
_TICK_NS = 3 * 10**9
_PARTIAL = ".partial"


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


class _File(NamedTuple):
    """The status of a file, and whether its next change will have another time for certain."""

    size: int
    tag: str
    is_settled: bool

    @classmethod
    def of(cls, status: os.stat_result, now: int) -> _File:
        return cls(status.st_size, tag_of_file(status), status.st_mtime_ns < now - _TICK_NS)


class _Level(NamedTuple):
    """A directory of which some names are not listed yet, the next one last."""

    folder: str
    prefix: str
    names: list[str]
    documents: dict[str, _File]
    links: int


class _Walk:
    """A walk through the files of a folder, in the order of keys.

    Only links that lead to below ``root`` are followed.
    """

    def __init__(self, root: str | None, skipped: Callable[[str], object]) -> None:
        self._root, self._skipped = root, skipped
        self._levels: list[_Level] = []

    def below(self, folder: str) -> Iterator[Stored]:
        self._enter(folder, "", 0)
        while self._levels:
            level = self._levels[-1]
            if not level.names:
                self._levels.pop()
                continue
            name = level.names.pop()
            key = level.prefix + name
            if name.endswith("/"):
                self._descend(level, name[:-1], key)
                continue
            found = level.documents.get(name) or self._status(level, name, key)
            if found is not None:
                yield Stored(key, *found, is_before=name in level.documents)

    def _enter(self, folder: str, prefix: str, links: int) -> None:
        names = _names(folder)
        there = DOCUMENTS.intersection(names)
        documents = {}
        if there:
            # What a document says of chunks is listed after it: it was stored after them.
            for name in there:
                found = _file(os.path.join(folder, name))
                if found is not None:
                    documents[name] = found
            names = _names(folder)
        names.sort(reverse=True)
        self._levels.append(_Level(folder, prefix, names, documents, links))

    def _descend(self, level: _Level, name: str, key: str) -> None:
        folder = os.path.join(level.folder, name)
        if not os.path.islink(folder):
            self._enter(folder, key, level.links)
            return
        real = os.path.realpath(folder)
        # A link in a folder that a link leads to could lead on without an end.
        above = {os.path.realpath(one.folder) for one in self._levels}
        if level.links or real in above or not self._is_inside(real):
            self._skipped(key[:-1])
        else:
            self._enter(folder, key, 1)

    def _status(self, level: _Level, name: str, key: str) -> _File | None:
        path = os.path.join(level.folder, name)
        now = time.time_ns()
        try:
            found = os.lstat(path)
            if stat.S_ISLNK(found.st_mode):
                if not self._is_inside(os.path.realpath(path)):
                    self._skipped(key)
                    return None
                found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            # Deleted since the folder was listed, or a link to nothing.
            return None
        return _File.of(found, now) if stat.S_ISREG(found.st_mode) else None

    def _is_inside(self, real: str) -> bool:
        root = self._root
        return root is not None and os.path.commonpath([real, root]) == root


def _file(path: str) -> _File | None:
    """The status of a regular file that is not a link."""
    now = time.time_ns()
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _File.of(found, now) if stat.S_ISREG(found.st_mode) else None


def _names(folder: str) -> list[str]:
    """The names in a folder that may be of keys, those of folders with a slash at their end."""
    names = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(_PARTIAL) or "\\" in name or not _is_text(name):
                    continue
                names.append(f"{name}/" if _is_folder(entry) else name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return names


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
