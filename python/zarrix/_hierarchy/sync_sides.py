"""The two sides of a sync: what is read, what is written, and the version of each value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from zarrix._nodes.nodes import Node, find_all
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import is_document, key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.ordered import Stored, stored_below, tag_of_file

__all__ = ["Side"]


class Side:
    """All values at and below a path of a store.

    Parameters
    ----------
    store : Store
    path : str
    skipped : callable
        Called with the key of each link that is not followed.
    """

    def __init__(self, store: Store, path: str, skipped: Callable[[str], object]) -> None:
        self.store, self.path = store, path
        self.engine = store._engine
        self._skipped = skipped
        self._folder = store.path if isinstance(store, LocalStore) else None

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
            self._skipped(start + key)

        for stored in stored_below(self.store, key_of(self.path, prefix).rstrip("/"), skipped):
            yield stored._replace(key=start + stored.key) if start else stored

    def read(self, key: str) -> bytes | None:
        """The value of a key; None if there is none.

        Raises
        ------
        ValueError
            A document is longer than the limit of documents.
        """
        if not is_document(key):
            return self.engine.get(self.key(key))
        most = config.max_document_bytes
        value = self.engine.get(self.key(key), most=most)
        if value is not None and len(value) > most:
            raise ValueError(
                f"the document {key!r} is longer than config.max_document_bytes, {most:,} bytes"
            )
        return value

    def has(self, key: str) -> bool:
        """Whether a value is stored under a key."""
        return self.engine.size(self.key(key)) is not None

    def tag(self, key: str) -> str | None:
        """The tag that a value of a folder has now; None for no value, and in other stores."""
        if self._folder is None:
            return None
        try:
            return tag_of_file(os.stat(os.path.join(self._folder, self.key(key))))
        except OSError:
            return None

    @property
    def is_folder(self) -> bool:
        """Whether the values are files of this machine."""
        return self._folder is not None
