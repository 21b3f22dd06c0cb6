"""The chunks of a commit on a server: put under conditions, so that late holders do no harm.

A chunk that no reader can see is created, or replaces what a dead commit has left, with the tag
that was read before the claim was looked at. Another holder may have come meanwhile: it stores
every chunk of what it makes visible, and so changes the tag, or creates what was absent. What
others have left is not read: a chunk that this commit has not stored is missing.

ETags of S3 are those of the bytes. A third holder that stores the bytes of the first gives a chunk
the tag again that the second has read. The second then has to rest between its look at the claim
and its put for longer than the patience of the third; `put_unseen` looks again after a quarter.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal, Protocol

from zarrix import _engine
from zarrix._errors import CommitConflictError
from zarrix._stores.base import Store
from zarrix._stores.labels import place
from zarrix._stores.values import Values
from zarrix.commits._claim import Claim

__all__ = ["FencedValues"]

_ATTEMPTS = 100


_Condition = Literal["always", "absent"] | tuple[str, str]


class _Asked(Protocol):
    def __call__(self, key: str) -> bool: ...


class FencedValues(Values):
    """The chunks of a hierarchy on a server during a commit, by the keys of the engine.

    Parameters
    ----------
    store : Store
        On the server.
    claim : Claim
    is_unseen : callable
        Whether no reader can see a chunk, so that what is stored there was left behind.
    """

    def __init__(self, store: Store, claim: Claim, is_unseen: _Asked) -> None:
        self._store, self._engine = store, store._engine
        self._claim, self._is_unseen = claim, is_unseen
        self._mutex = threading.Lock()
        # Tags of what this commit has stored, or read; and what it has created.
        self.stored: dict[str, str] = {}
        self.created: set[str] = set()
        self._read_tags: dict[str, str] = {}
        self._missing: set[str] = set()
        # Chunks that are still under their old keys, with their tags, by those that they will have.
        self.old_keys: dict[str, tuple[str, str]] = {}

    def is_changed(self, key: str) -> bool:
        """Whether this commit has stored or dropped a chunk."""
        with self._mutex:
            return key in self.stored or key in self._missing

    def _is_missing(self, key: str) -> bool:
        with self._mutex:
            if key in self.stored:
                return False
            if key in self._missing:
                return True
            if key in self.old_keys:
                return False
        return self._is_unseen(key)

    def _place(self, key: str) -> str:
        """The key under which a chunk is now."""
        with self._mutex:
            old = self.old_keys.get(key)
            return key if old is None or key in self.stored else old[0]

    def _read(self, key: str) -> bytes | None:
        if self._is_missing(key):
            return None
        found = self._engine.get_tagged(self._place(key))
        if found is None:
            return None
        with self._mutex:
            if key not in self.stored and key not in self.old_keys:
                self._read_tags[key] = found[1]
        return found[0]

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        asked = [key for key in keys if not self._is_missing(key)]
        if len(asked) < 2:
            return [self._answer(key) for key in keys]
        found = self._engine.get_many([self._place(key) for key in asked])
        values = dict(zip(asked, found, strict=True))
        return [values.get(key) for key in keys]

    def _size(self, key: str) -> int | None:
        return None if self._is_missing(key) else self._engine.size(self._place(key))

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/" if prefix else ""
        with self._mutex:
            carried = {key for key in self.old_keys if key.startswith(start)}
        stored = carried.union(self._engine.list_prefix(prefix))
        return sorted(key for key in stored if not self._is_missing(key))

    def _drop(self, key: str, fsync: bool) -> bool:
        """Not deleted: a late deletion would remove what another commit has made visible.

        The chunk of fill values is stored at the end of the block.
        """
        with self._mutex:
            self._missing.add(key)
            return self.stored.pop(key, None) is not None

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        with self._mutex:
            known = self.stored.get(key)
            seen = self._read_tags.get(key)
        if known is None and seen is not None and not self._is_missing(key):
            # A chunk with elements that readers see: no other writer may have changed it meanwhile.
            outcome = self._engine.put_if(key, value, ("tag", seen))
            if outcome[0] != "stored":
                raise CommitConflictError(
                    f"another writer has changed {place(self._store, key)}, which has elements "
                    "that the commit does not change; nothing of it is visible: make it again",
                    key.rpartition("/")[0],
                    key,
                    "chunk",
                )
            self._note(key, outcome[1], created=False)
            return
        self.put_unseen(key, value, known)

    def require_claim(self) -> None:
        """Raise `CommitLostError` if the claim, which was not seen for a while, is another's."""
        if not self._claim.is_fresh():
            self._claim.verify()

    def copy(self, key: str, source: str, tag: str, version: str | None = None) -> bool:
        """Let the server copy a value to the key of a chunk that no reader can see.

        Returns
        -------
        bool
            Whether it is there; false if the key is taken, or the source is not that value.
        """
        assert isinstance(self._engine, _engine.ObjectStore)
        outcome, told = self._engine.copy_if(source, key, tag=tag, version=version)
        if outcome == "stored":
            self._note(key, told, created=False)
        return outcome == "stored"

    def put_unseen(self, key: str, value: bytes, known: str | None = None) -> None:
        """Put a chunk that no reader can see, or that this commit has put before."""
        condition: _Condition = "absent" if known is None else ("tag", known)
        for _ in range(_ATTEMPTS):
            if condition != "absent":
                self.require_claim()
            outcome, tag = self._engine.put_if(key, value, condition)
            if outcome == "stored":
                self._note(key, tag, created=condition == "absent")
                return
            found = self._engine.head(key)
            # The tag first, and the claim then: a later holder puts under another tag.
            self._claim.verify()
            condition = "absent" if found is None else ("tag", found[1])
        raise CommitConflictError(
            f"{place(self._store, key)} was changed by others {_ATTEMPTS} times in a row",
            key.rpartition("/")[0],
            key,
            "chunk",
        )

    def _note(self, key: str, tag: str, *, created: bool) -> None:
        with self._mutex:
            self.stored[key] = tag
            self._missing.discard(key)
            self._read_tags.pop(key, None)
            if created:
                self.created.add(key)
