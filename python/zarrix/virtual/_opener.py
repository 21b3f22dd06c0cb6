"""Opens the pieces of virtual arrays: their stores, and their arrays in them.

Arrays of one server are opened through one store, so that the requests of a call are concurrent. A
document names local paths and URLs of the engine's own schemes; nothing else is opened for it, and
nothing in it runs.
"""

from __future__ import annotations

import functools
import hashlib
import os
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from zarrix._array.access import metadata_of, opened_at
from zarrix._array.array import Array
from zarrix._errors import (
    ConversionError,
    PieceChangedError,
    PieceNotFoundError,
    SourceChangedError,
    VirtualError,
)
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._stores.base import Store
from zarrix._stores.keys import ZMETADATA, key_of
from zarrix._stores.open import as_store
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix._stores.reference.store import PARQUET
from zarrix._stores.reference.targets import Targets
from zarrix._stores.sites import Site, of_file
from zarrix.convert._downloads import downloads
from zarrix.convert._file_store import FileStore, reopened
from zarrix.virtual._files import RemoteFile, at_once, open_at, split_url, version
from zarrix.virtual._table import Source

__all__ = ["Opener", "check_of", "file_check"]

# Files stay open as long as their store does.
_MOST_FILES = 256
_MOST_STORES = 16_384

_FORMATS = {"zarr2": 2, "zarr3": 3}


class Uses(Protocol):
    """What keeps parts of files open."""

    def release(self, source: int) -> None:
        """Drop those of a source that no call reads."""


class Opener:
    """The open stores of some sources.

    Parameters
    ----------
    sources : sequence of Source
    targets : Targets
        Which URLs may be read, and with which options.
    home : str
        The folder that relative paths begin in.
    live : mapping of int to Store
        Stores that are open already, by the number of their source.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        targets: Targets,
        home: str = "",
        live: Mapping[int, Store] | None = None,
    ) -> None:
        self.sources, self.targets, self.home = sources, targets, home
        self.live = dict(live or {})
        self.own: dict[int, Targets] = {}
        # Whether sources are listed now, so that a format is what a URL looks like.
        self.is_listing = False
        self._stores: dict[int, tuple[Store, str]] = {}
        self._files: dict[int, tuple[Store, str]] = {}
        self._users: list[weakref.ref[Uses]] = []

    def place(self, number: int, mark: int | None = None) -> tuple[Store, str]:
        """The store of a source, and the path of the source in it.

        Parameters
        ----------
        number : int
        mark : int, optional
            Only files that were downloaded before it make room for this one.
        """
        if number in self.live:
            return self.live[number], ""
        found = self._stores.get(number) or self._files.get(number)
        return self._kept(number, self._opened(number, mark)) if found is None else found

    def _kept(self, number: int, there: tuple[Store, str]) -> tuple[Store, str]:
        is_file = isinstance(there[0], FileStore)
        kept, most = (self._files, _MOST_FILES) if is_file else (self._stores, _MOST_STORES)
        while len(kept) >= most:
            # What a call still reads from stays open, because it has a reference.
            kept.pop(next(iter(kept)), None)
        kept[number] = there
        if isinstance(there[0], RemoteFile):
            there[0].download.release = functools.partial(_release, weakref.ref(self), number)
        return there

    def used_by(self, user: Uses) -> None:
        """Tell ``user``, as long as it lives, of files that are dropped to make room."""
        living = [one for one in self._users if one() is not None]
        self._users = [*living, weakref.ref(user)]

    def release(self, number: int) -> None:
        """Drop the file of a source; what still reads it keeps it open."""
        self._files.pop(number, None)
        for one in self._users:
            user = one()
            if user is not None:
                user.release(number)

    def open_files(self, numbers: Iterable[int], mark: int | None = None) -> list[Store]:
        """Open those sources that are files at URLs, several at the same time.

        One that cannot be opened is left out: `place` raises the error.

        Parameters
        ----------
        numbers : iterable of int
        mark : int, optional
            As of `place`.
        """
        new = [
            number
            for number in dict.fromkeys(numbers)
            if number not in self.live
            and number not in self._files
            and self._is_remote_file(number)
        ]
        if len(new) < 2:
            return []
        opened_now = at_once(lambda number: self._opened_or_none(number, mark), new)
        made = [(n, one) for n, one in zip(new, opened_now, strict=True) if one is not None]
        return [self._kept(number, there)[0] for number, there in made]

    def _opened_or_none(self, number: int, mark: int | None) -> tuple[Store, str] | None:
        try:
            return self._opened(number, mark)
        except Exception:  # The call that needs the source meets it again, and raises it.
            return None

    def _is_remote_file(self, number: int) -> bool:
        location, format, _ = self.sources[number]
        return location is not None and is_url(location) and not _is_store(format)

    def version(self, number: int) -> str | None:
        """What tells the version of a source that is a file, as it is now."""
        location = self.sources[number].location
        if location is None:
            return None
        if is_url(location):
            return version(location, self.own.get(number, self.targets))
        return file_check(os.path.join(self.home, location))

    def _opened(self, number: int, mark: int | None) -> tuple[Store, str]:
        location, format, check = self.sources[number]
        if location is None:
            raise VirtualError(
                "a piece was in the memory of the process that listed it, where no other process "
                "can read it"
            )
        if is_url(location):
            targets = self.own.get(number, self.targets)
            root, path = split_url(location)
            if _is_store(format):
                return targets.store_at(location, root), path
            try:
                return open_at(location, format, check, targets, mark), ""
            except (ConversionError, SourceChangedError):
                store = targets.store_at(location, root)
                if not self.is_listing or nodes.find_all(store, [path])[path] is None:
                    raise
            # Web servers answer for folders, too: this one is a hierarchy of Zarr.
            assert isinstance(self.sources, list)
            self.sources[number] = Source(location, "zarr")
            return store, path
        path = os.path.join(self.home, location)
        now = file_check(path)
        if check is not None and now != check:
            if now is None:
                raise PieceNotFoundError(f"the piece {path} is gone")
            raise PieceChangedError(
                f"{path} has changed since it was listed; zarrix.virtual.refresh lists it again"
            )
        if _is_store(format):
            return as_store(path), ""
        try:
            return reopened(path, format, {}), ""
        except FileNotFoundError:
            raise PieceNotFoundError(f"the piece {path} is gone") from None

    def found(self, places: Sequence[tuple[int, str]]) -> list[tuple[Location, nodes.Node | None]]:
        """The nodes at paths of sources, by one request for each remote store."""
        asked_at = []
        by_store: dict[tuple[int, int | None], list[str]] = {}
        stores: dict[int, Store] = {}
        mark = downloads.mark()
        # Files of this call stay open, so that none of them makes room for another.
        kept = self.open_files((number for number, _ in places), mark)
        for number, path in places:
            store, root = self.place(number, mark)
            asked = _FORMATS.get(self.sources[number].format)
            full = key_of(root, path) if path else root
            stores[id(store)] = store
            by_store.setdefault((id(store), asked), []).append(full)
            asked_at.append((store, full, asked))
        is_remote = {key: stores[key[0]].is_remote for key in by_store}

        def find(key: tuple[int, int | None]) -> dict[str, nodes.Node | None]:
            return nodes.find_all(stores[key[0]], by_store[key], key[1])

        found = {key: find(key) for key in by_store if not is_remote[key]}
        asked_now = [key for key in by_store if is_remote[key]]
        found |= dict(zip(asked_now, at_once(find, asked_now), strict=True))
        kept.clear()
        return [
            (Location(store, path), found[id(store), asked][path])
            for store, path, asked in asked_at
        ]

    def arrays(
        self,
        places: Sequence[tuple[int, str]],
        checks: Sequence[str | None],
        *,
        are_listed: bool = True,
    ) -> list[Array | None]:
        """The arrays at paths of sources; None for those that are gone. Those that are listed
        already are not virtual arrays themselves.

        Raises
        ------
        PieceChangedError
            One of them is not the array that was listed.
        """
        opened: list[Array | None] = []
        found = self._found(places)
        for (location, node), (number, path), check in zip(found, places, checks, strict=True):
            if node is None:
                opened.append(None)
                continue
            told = self.told(number, path)
            if node.kind != "array":
                if are_listed:
                    raise PieceChangedError(f"the piece {told} is a group now, and not an array")
                raise VirtualError(f"{told} is a group; name one of its arrays, {told}/NAME")
            array = opened_at(location, node)
            metadata = metadata_of(array)
            makes_array = location.store._array_io
            if are_listed and makes_array and makes_array(location.path, metadata) is not None:
                raise VirtualError(
                    f"the piece {told} is a virtual array itself; a list has the pieces of those"
                )
            if check is not None and check_of(array) != check:
                raise PieceChangedError(
                    f"the piece {told} has changed since it was listed; zarrix.virtual.refresh "
                    "lists it again"
                )
            opened.append(array)
        return opened

    def _found(self, places: Sequence[tuple[int, str]]) -> list[tuple[Location, nodes.Node | None]]:
        try:
            return self.found(places)
        except PieceNotFoundError:
            if len(places) == 1:
                return [(Location(as_store({})), None)]
            return [one for each in places for one in self._found([each])]

    def sites(self) -> list[Site]:
        """Where the sources are; nothing is opened."""
        found: list[Site] = []
        for number, source in enumerate(self.sources):
            location = source.location
            if location is None:
                found += self.live[number]._sites("") if number in self.live else []
            elif is_url(location):
                found += self.own.get(number, self.targets).sites(location)
            else:
                found += of_file(os.path.join(self.home, location))
        return found

    def told(self, number: int, path: str) -> str:
        """A piece, for messages."""
        location = self.sources[number].location
        if location is None:
            location = repr(self.live[number]) if number in self.live else "in memory"
        return f"{public_url(location)}{f'/{path}' if path else ''}"

    def __getstate__(self) -> Any:
        return {**self.__dict__, "_stores": {}, "_files": {}, "_users": [], "is_listing": False}


def _release(opener: weakref.ref[Opener], number: int) -> None:
    found = opener()
    if found is not None:
        found.release(number)


def _is_store(format: str) -> bool:
    return format in _FORMATS or format in ("zarr", "store")


def check_of(array: Array) -> str:
    """What tells the version of a Zarr array: a digest of its document without attributes."""
    metadata = metadata_of(array)
    document = {**json_loads(nodes.array_document(metadata))}
    document.pop("attributes", None)
    document.pop("dimension_names", None)
    return hashlib.sha256(json_dumps(document)).hexdigest()[:16]


def file_check(path: str) -> str | None:
    """What tells the version of a file: its size and the time of its last change."""
    try:
        # A folder of references has a document.
        found = os.stat(os.path.join(path, ZMETADATA) if path.endswith(PARQUET) else path)
    except OSError:
        return None
    return f"{found.st_size}-{found.st_mtime_ns}"
