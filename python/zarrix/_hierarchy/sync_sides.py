"""The two sides of a sync: what is read, what is written, and the version of each value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Literal

from zarrix import _engine
from zarrix._nodes.nodes import Node, find_all
from zarrix._runtime.cached_property import cached_property
from zarrix._stores.base import Store
from zarrix._stores.identity import is_in_one_process
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix._stores.ordered import Stored, stored_below, tag_of_file
from zarrix._stores.tagged import most_bytes
from zarrix._stores.zip import ZipStore

__all__ = ["Side"]

# What a server without ETags tells is a time, in hexadecimal digits.
_TIME_DIGITS = 16


class Side:
    """All values at and below a path of a store.

    Parameters
    ----------
    store : Store
    path : str
    follows_links : bool
        Whether links that stay in the folder are followed.
    """

    def __init__(self, store: Store, path: str, *, follows_links: bool) -> None:
        self.store, self.path = store, path
        self.engine = store._engine
        self._follows_links = follows_links
        # What is called with the key of each link that is not followed.
        self.skipped: Callable[[str], object] = lambda _: None
        self._archive = _archive_of(store)
        self.is_folder = isinstance(self.engine, _engine.LocalStore)

    def key(self, key: str) -> str:
        """The key that the engine uses for a key below the path."""
        return self.store.engine_path(key_of(self.path, key))

    def find(self) -> Node | None:
        """The node at the path, if there is one."""
        return find_all(self.store, [self.path])[self.path]

    def below(self, prefix: str = "") -> Iterator[Stored]:
        """The values below a prefix, by their keys below the path of this side."""
        start = f"{prefix}/" if prefix else ""

        def skipped(key: str) -> None:
            self.skipped(start + key)

        path = key_of(self.path, prefix).rstrip("/")
        follows = self._follows_links
        for stored in stored_below(self.store, path, skipped, follows_links=follows):
            yield stored._replace(key=start + stored.key) if start else stored

    def mark(self, tag: str) -> str:
        """The tag as the ledger has it: "" for one that tells nothing to other processes."""
        if self._archive is None or not tag:
            return ""
        is_time = self.store.is_remote and len(tag) <= _TIME_DIGITS
        return "" if is_time else self._archive + tag

    def read(self, key: str, length: int | None = None) -> tuple[bytes, str] | None:
        """The value of a key, and the tag of the version that was read; None if there is none.

        Parameters
        ----------
        key : str
        length : int, optional
            Of a longer value, only a little more than this is read.

        Raises
        ------
        ValueError
            A document is longer than the limit of documents.
        """
        most = most_bytes(key)
        found = self.engine.get_tagged(self.key(key), most=most if length is None else length)
        if found is None:
            return None
        if len(found[0]) > most:
            raise ValueError(
                f"the document {key!r} is longer than config.max_document_bytes, {most:,} bytes"
            )
        return found[0], found[1]

    def part(self, key: str, start: int, end: int) -> bytes | None:
        """A part of the value of a key; None if there is none."""
        return self.engine.get_slice(self.key(key), start, end)

    def has(self, key: str) -> bool:
        """Whether a value is stored under a key."""
        return self.engine.size(self.key(key)) is not None

    def tag(self, key: str) -> str | None:
        """The tag that the value of a key has now; None if there is none."""
        found = self.engine.head(self.key(key))
        return None if found is None else found[1]

    @cached_property
    def _keeps_conditions(self) -> bool:
        return self.engine.keeps_conditions(self.key(ZARR_JSON))

    def put(
        self, key: str, value: Any, condition: str | None, anchor: str | None
    ) -> tuple[Literal["stored", "refused", "unclear"], str]:
        """Replace a value if the one that is stored has the tag ``condition``; None for no value.

        Gives what happened, and the tag of the new value.
        """
        # Where conditions are ignored, what is stored is looked at, but may change before the put.
        if not self._keeps_conditions:
            if self.tag(key) != condition:
                return "refused", ""
            condition = ""
        asked: Literal["always", "absent"] | tuple[str, str] = "always"
        if condition is None:
            asked = "absent"
        elif condition:
            asked = ("tag", condition)
        return self.engine.put_if(
            self.key(key),
            value,
            asked,
            anchor=None if anchor is None else self.key(anchor),
            name=os.urandom(8).hex(),
            fsync=self.store.syncs,
        )

    def put_alone(self, key: str, value: Any, condition: str | None) -> str | None:
        """Like `put`, without a lock: nothing else writes there. Gives the tag of the new value, or
        None if another one is there.
        """
        if self.tag(key) != condition:
            return None
        self.engine.put(self.key(key), value, fsync=self.store.syncs, locks=False)
        return self.tag(key)


def _archive_of(store: Store) -> str | None:
    """What stands before the tags of an archive's members; None for values without lasting tags."""
    if isinstance(store, ZipStore):
        if store.is_writeable():
            return None
        found = os.stat(store.path)
        return f"zip-{found.st_size:x}-{tag_of_file(found)}/"
    return None if is_in_one_process(store) else ""
