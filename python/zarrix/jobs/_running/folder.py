"""The folder of an unfinished job: its claim, its journal and its intermediates.

The claim is one value, ``job.json``. A driver begins, finishes or removes a job while the claim is
locked, as far as the store has locks: one of two drivers is first, and the other sees what it did.
The claim goes last, so that a process that is killed leaves what the next one can go on with.
Without a claim, nothing in a folder is trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from typing import NamedTuple

from zarrix._errors import JobError
from zarrix._metadata.json import json_dumps
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.local import LocalStore
from zarrix.jobs._running.foreign import Claim, claim_of

__all__ = ["CLAIM", "JOURNAL", "Fence", "Folder", "Gate", "folder_of_run"]

CLAIM = "job.json"
JOURNAL = "journal"
_OF_A_RUN = "run-"
_ASKED_S = 1.0


def _now() -> float:
    """Seconds that go on while the machine sleeps, where the system has such a clock."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def folder_of_run(run: str) -> str:
    """The name of what has the intermediates of a run."""
    return f"{_OF_A_RUN}{run}"


def encoded(claim: Claim) -> bytes:
    """The claim as it is stored; members of documents have an order of their own."""
    return json_dumps(claim.to_json(), indent=0, sort_keys=False)


class Folder:
    """A folder in which a job has its claim.

    Parameters
    ----------
    store : Store
    path : str
    """

    def __init__(self, store: Store, path: str) -> None:
        self.store, self.path = store, path
        self._key = key_of(path, CLAIM)

    def read(self) -> Claim | None:
        """The claim; None if no job has the folder.

        Raises
        ------
        JobError
            It is damaged.
        """
        self._require_no_link()
        found = self.store._value(self._key)
        return None if found is None else claim_of(bytes(found), self._key)

    @property
    def is_taken(self) -> bool:
        """Whether something is there that may be a claim."""
        return self.store._value(self._key) is not None

    def change(
        self, decide: Callable[[Claim | None], Claim | None], *, replaces_damaged: bool = False
    ) -> Claim | None:
        """Replace the claim by ``decide(claim)``, with no other driver in between.

        On servers without locks it may be called again, after another driver was faster.
        With ``replaces_damaged``, a claim that is not one counts as none.
        """
        self._require_no_link()
        kept: list[Claim | None] = []

        def of_bytes(old: bytes | None) -> bytes | None:
            try:
                found = None if old is None else claim_of(old, self._key)
            except JobError:
                if not replaces_damaged:
                    raise
                found = None
            kept[:] = [decide(found)]
            if kept[0] is None:
                return None
            return old if kept[0] is found else encoded(kept[0])

        self.store.update_value(self._key, of_bytes)
        if kept[0] is None:
            self._remove_empty()
        return kept[0]

    def _remove_empty(self) -> None:
        """Remove the folder itself, where folders exist without values."""
        if isinstance(self.store, LocalStore):
            # Another driver may have begun meanwhile, or a user has put something there.
            with contextlib.suppress(OSError):
                os.rmdir(self.store.dir_path(self.path))

    def sweep(self) -> None:
        """Remove what a job has made beside its claim, and nothing else."""
        self._require_no_link()
        for name in self.store.listdir(self.path):
            if name == JOURNAL or name.startswith(_OF_A_RUN):
                self.store.rmdir(key_of(self.path, name))

    def sweep_without_claim(self) -> None:
        """Remove what came back after the end of a job, by a late worker or a late driver."""

        def decide(stored: Claim | None) -> Claim | None:
            if stored is None:
                self.sweep()
            return stored

        if self.is_taken:
            return
        if self.store.listdir(self.path):
            self.change(decide)
        self._remove_empty()

    def fence(self, claim: Claim) -> Fence:
        """What workers ask before they write."""
        return Fence(hashlib.sha256(encoded(claim)).hexdigest())

    def _require_no_link(self) -> None:
        # What is behind it is not ours.
        store = self.store
        if isinstance(store, LocalStore) and os.path.islink(store.dir_path(self.path)):
            raise JobError(
                f"{store.dir_path(self.path)!r} is a link, behind which a job keeps nothing; "
                "remove it"
            )


class Fence(NamedTuple):
    """The digest of the claim of a run; a worker that finds another claim may not write.

    Attributes
    ----------
    digest : str
    """

    digest: str

    def holds(self, folder: Folder) -> bool:
        """Whether the run goes on."""
        found = folder.store._value(key_of(folder.path, CLAIM))
        return found is not None and hashlib.sha256(found).hexdigest() == self.digest


class Gate:
    """Asks the fence: each time in stores that answer at once, and each second of a server.

    Parameters
    ----------
    folder : Folder
    fence : Fence
    """

    def __init__(self, folder: Folder, fence: Fence) -> None:
        self._folder, self._fence = folder, fence
        self._asked = float("-inf")

    def pass_through(self) -> None:
        """Raise an error if the run has ended.

        Raises
        ------
        JobError
            The job was finished, abandoned, or begun again meanwhile.
        """
        now = _now()
        if self._folder.store.is_remote and now - self._asked < _ASKED_S:
            return
        if not self._fence.holds(self._folder):
            raise JobError(
                "the job was finished, abandoned or begun again by another process, so that this "
                "one writes no more"
            )
        self._asked = now
