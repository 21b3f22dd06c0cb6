"""The claim of a commit on a server: a member of the root's consolidated metadata.

A committer replaces the root's document by one with its claim, if the document still has
the tag that was read. The holder changes the claim at intervals. A claim that does not change for
as long as `PATIENCE`, by the clock of the committer that waits, is taken over. That changes the
tag, so that the old holder cannot commit any more, whenever it wakes up: patience only decides when
to try.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from zarrix._errors import CommitBusyError, CommitLostError, MetadataError, NotAtomicError
from zarrix._metadata.consolidated import commit_member, encode, parse
from zarrix._metadata.intent import Intent, parse_intent
from zarrix._metadata.literals import Format
from zarrix._nodes.consolidate import documents_below
from zarrix._stores.base import Store
from zarrix._stores.keys import CONSOLIDATED_DOCUMENT, key_of
from zarrix._stores.labels import describe, place
from zarrix._stores.tagged import PutOutcome, Tagged
from zarrix.commits._inherited import changed_entries, inherited, late_in
from zarrix.commits._left import Left

__all__ = ["PATIENCE", "Claim"]

PATIENCE = 60.0
"""Seconds that a claim may stay unchanged before another takes it over."""

_ATTEMPTS = 100
# Seconds between two looks at the claim of another: for commits that end soon, and for all others.
_PAUSES = (0.05, 0.5)
_ABSENT = Tagged(b"", "", "")


class Claim:
    """The right to commit to a hierarchy on a server.

    Parameters
    ----------
    store : Store
    root : str
        Path of the topmost group.
    zarr_format : {2, 3}
    intent : Intent
        The intent of the commit.
    patience : float
        Seconds.
    """

    def __init__(
        self, store: Store, root: str, zarr_format: Format, intent: Intent, patience: float
    ) -> None:
        self._store, self.root, self._format = store, root, zarr_format
        self.key = key_of(root, CONSOLIDATED_DOCUMENT[zarr_format])
        self._intent, self.patience = intent, patience
        # What others read in the claim; the intent itself changes while the block runs.
        self._told = json.loads(intent.encode())
        # For the entries of key spaces that are left: those to add, and those that are deleted.
        self._left: list[Left] = []
        self._swept: list[Left] = []
        self._is_pardoned = False
        self._tag = ""
        self._beat = 0
        self._pid = os.getpid()
        self._seen_at = 0.0
        self._is_claimed = False
        # Guards the tag, because another thread puts the beats.
        self._turn = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.left: Intent | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process made it, and has not lost it as far as it knows."""
        return self._is_claimed and self._pid == os.getpid()

    def store(self, intent: Intent, *, fsync: bool = False) -> None:
        """Tell others in which key spaces the commit stores and deletes chunks, before it does.

        Everything else that recovery needs comes with the commit.
        """
        told = json.loads(intent.encode())
        if any(told.get(name) != self._told.get(name) for name in ("flips", "sweeps")):
            self.replace(lambda old: old or b"", intent)

    # Before the block

    def acquire(self, wait: float) -> None:
        """Claim the hierarchy; waits for another holder, at most ``wait`` seconds.

        `left` is then the intent of a holder whose claim was taken over, if there was one.

        Raises
        ------
        CommitBusyError
            The holder still has it.
        NotAtomicError
            The server ignores conditions.
        """
        if not self._store.keeps_conditions(self.key):
            raise NotAtomicError(
                f"{describe(self._store, self.root)} is on a server without conditional writes, "
                "so that two commits could run at once; write without a commit while nothing else "
                "does"
            )
        begun = unchanged_since = time.monotonic()
        watched = ""
        while True:
            stored = self._read()
            claim = self._claim_of(stored)
            now = time.monotonic()
            if stored.tag != watched:
                watched, unchanged_since = stored.tag, now
            is_dead = claim is not None and now - unchanged_since >= self.patience
            if (claim is None or is_dead) and self._take(stored, claim):
                self._begin_beats()
                return
            if now - begun >= wait and claim is not None:
                raise CommitBusyError(
                    f"{_holder(claim)} has a commit of {describe(self._store, self.root)} open, "
                    f"and still had it after {wait:.0f} s; commits of one hierarchy are made one "
                    "after the other"
                )
            time.sleep(_PAUSES[now - begun > 5] * (0.5 + random.random()))

    def _take(self, stored: Tagged, claim: Mapping[str, Any] | None) -> bool:
        left = self._intent_of(claim)
        document = self._with_claim(stored, self._told, left)
        if not self._put(document, stored):
            return False
        self.left, self._is_claimed = left, True
        return True

    @property
    def late_paths(self) -> list[str]:
        """Nodes that a commit which was overtaken may still delete."""
        return late_in(commit_member(self._read().value, self._format))

    def pardon(self) -> None:
        """Forget that a deletion may still come, with the next change of the claim."""
        self._is_pardoned = True

    def leave(self, entries: list[Left]) -> None:
        """Note key spaces that are to be deleted later, with the next change of the claim."""
        self._left += entries

    def forget(self, entries: list[Left]) -> None:
        """Forget key spaces whose chunks are deleted, with the next change of the claim."""
        self._swept += entries

    def stored_intent(self) -> Intent | None:
        """The intent of the claim that is stored; None if there is none."""
        return self._intent_of(self._claim_of(self._read()))

    def _intent_of(self, claim: Mapping[str, Any] | None) -> Intent | None:
        if claim is None:
            return None
        try:
            return parse_intent(json.dumps(claim.get("intent")).encode(), self._label())
        except MetadataError:
            # Not one of ours: there is nothing to finish.
            return None

    # While it is held

    def verify(self) -> None:
        """Ask the server whether the claim is still ours.

        Raises
        ------
        CommitLostError
            It is not.
        """
        with self._turn:
            begun = time.monotonic()
            self._expect(self._read())
            self._seen_at = begun

    def is_fresh(self) -> bool:
        """Whether the claim was seen so lately that no committer has taken it over for its age."""
        return time.monotonic() - self._seen_at < self.patience / 4

    def replace(self, change: Callable[[bytes | None], bytes], intent: Intent | None) -> None:
        """Replace the root's document while the claim is ours; the claim is in the new one.

        Parameters
        ----------
        change : callable
            Called with the stored document; others may have changed everything except the claim.
        intent : Intent or None
            What the claim says from now on; None: the claim is gone.

        Raises
        ------
        CommitLostError
            Another has taken over; nothing was changed.
        """
        for attempt in range(_ATTEMPTS):
            with self._turn:
                stored = self._read()
                self._expect(stored)
                document = change(stored.value or None)
                changed = Tagged(document, stored.tag, stored.changes)
                told = json.loads(intent.encode()) if intent else None
                document = self._with_claim(changed, told) if told else self._without(document)
                if self._put(document, stored):
                    self._is_claimed = intent is not None
                    self._told = told or self._told
                    return
            time.sleep(0.01 * attempt * random.random())
        raise CommitBusyError(
            f"{self._label()} was changed by other writers {_ATTEMPTS} times in a row"
        )

    def end(self, *, fsync: bool = False) -> None:
        """Remove the claim, if it is still ours."""
        self._stop_beats()
        if self.is_held:
            self.replace(lambda old: old or b"", None)

    def release(self) -> None:
        """Stop the beats; a claim that is still there is taken over by the next commit."""
        self._stop_beats()
        self._is_claimed = False

    # Documents

    def _label(self) -> str:
        return place(self._store, self.key)

    def _read(self) -> Tagged:
        return self._store.get_tagged(self.key) or _ABSENT

    def _claim_of(self, stored: Tagged) -> Mapping[str, Any] | None:
        member = commit_member(stored.value, self._format)
        claim = member.get("claim") if isinstance(member, Mapping) else None
        return claim if isinstance(claim, Mapping) else None

    def _expect(self, stored: Tagged) -> None:
        claim = self._claim_of(stored)
        if not self.is_held or claim is None or claim.get("id") != self._intent.id:
            self._is_claimed = False
            raise CommitLostError(
                f"another commit has taken over the claim of {self._label()}, because this one did "
                f"not change it for {self.patience:.0f} s, or another program has removed it; "
                "nothing of this commit is visible: make it again"
            )
        self._tag = stored.tag

    def _with_claim(self, stored: Tagged, intent: Any, left: Intent | None = None) -> bytes:
        self._beat += 1
        claim = {"id": intent["id"], "beat": self._beat, "intent": intent}
        return self._noted(stored.value or None, claim, left)

    def _without(self, document: bytes) -> bytes:
        return self._noted(document, None)

    def _noted(self, document: bytes | None, claim: Any, left: Intent | None = None) -> bytes:
        known = parse(document, self._format, self._label())
        if known is None:
            known = documents_below(self._store, self.root, self._format)
        member = commit_member(document, self._format)
        noted = dict(member) if isinstance(member, Mapping) else {"id": None, "sweep": []}
        noted["sweep"] = changed_entries(noted.get("sweep"), self._left, self._swept)
        if self._is_pardoned:
            noted.pop("late", None)
        if left is not None:
            noted.update(inherited(noted, left, known))
        return encode(document, known, self._format, self._label(), {**noted, "claim": claim})

    def _put(self, document: bytes, stored: Tagged) -> bool:
        """Put the root's document if it is still the one that was stored."""
        condition = stored.tag or None
        begun = time.monotonic()
        outcome: PutOutcome = self._store.put_if(
            self.key, document, condition, changes=stored.changes
        )
        if outcome.result == "unclear":
            now = self._read()
            if outcome.name not in now.changes.split():
                return False
            outcome = outcome._replace(result="stored", tag=now.tag)
        if outcome.is_stored:
            self._tag, self._seen_at = outcome.tag, begun
        return outcome.is_stored

    # Beats

    def _begin_beats(self) -> None:
        self._thread = threading.Thread(target=self._beats, name="zarrix-commit", daemon=True)
        self._thread.start()

    def _stop_beats(self) -> None:
        self._ended.set()
        if self._thread is not None and self._pid == os.getpid():
            self._thread.join()
        self._thread = None

    def _beats(self) -> None:
        while not self._ended.wait(self.patience / 4):
            try:
                with self._turn:
                    if not self.is_held or self._ended.is_set():
                        return
                    stored = self._read()
                    self._expect(stored)
                    self._put(self._with_claim(stored, self._told), stored)
            except CommitLostError:
                return
            except OSError:
                # The next beat tries again; one that comes too late finds another claim.
                continue


def _holder(claim: Mapping[str, Any]) -> str:
    intent = claim.get("intent")
    holder = intent.get("holder") if isinstance(intent, Mapping) else None
    return holder if isinstance(holder, str) and holder else "another process"
