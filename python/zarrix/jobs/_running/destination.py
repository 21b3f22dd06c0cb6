"""The destination of a job, which belongs to it from its first task to its end.

The folder ``.zarrix-job`` there has the job's claim, its journal and its intermediates. Without it,
chunks without an array would be keys of unknown origin. What others have put there is never
removed, but named in an error.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from zarrix._errors import (
    ContainsArrayError,
    ContainsGroupError,
    JobError,
    SourceChangedError,
)
from zarrix._metadata.json import json_dumps
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENTS, JOB_FOLDER, JOB_MARK, is_document, key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.overlap import Named, refuse_overlap
from zarrix.jobs._running.folder import Folder
from zarrix.jobs._running.foreign import Claim, Mark, mark_of
from zarrix.jobs._running.operation import Operation
from zarrix.jobs._running.places import Place
from zarrix.jobs._running.sources import States, check_unchanged, digest_of_states, states_of

__all__ = ["Destination", "Finished", "Identity"]

_WAYS_OUT = "begin it again with overwrite=True, or call abandon()"


class Finished(Exception):
    """Another driver has finished this very run; its result stands."""


class Identity(NamedTuple):
    """A job by its document, and by the hash of the document, which is its id."""

    document: Mapping[str, Any]
    id: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Identity:
        """The identity of the job that a document describes."""
        # In its own order, because the order of a document's members is that of the result.
        text = json_dumps(document, sort_keys=False)
        return cls(document, hashlib.sha256(text).hexdigest()[:16])


class Destination:
    """The destination of an operation.

    Parameters
    ----------
    operation : Operation
    job : Identity
        The job that the operation is of.
    overwrite : bool
        Whether what is there is removed.
    folder : Folder, optional
        Where the claim of the job is: in its destination, or beside a journal elsewhere. Without
        one, the run is known to this process only.
    follows : Claim, optional
        Of the pass before this one, whose sources have to be the same.
    """

    def __init__(
        self,
        operation: Operation,
        job: Identity,
        overwrite: bool,
        folder: Folder | None,
        follows: Claim | None = None,
    ) -> None:
        self.operation = operation
        self._document, self._id = job
        self._overwrite = overwrite
        self.folder, self._follows = folder, follows

    # Beginning

    def take(self, *, afresh: bool, checks_sources: bool) -> Claim:
        """Begin the job there, or go on with it; ``afresh`` removes what it has done.

        Raises
        ------
        JobError
            Another job is unfinished there.
        SourceChangedError
            The sources have changed since the job began.
        ContainsArrayError, ContainsGroupError
            Something else is there.
        """
        if self.folder is None:
            self._prepare(None)
            return self._claim()
        is_new = False

        def decide(stored: Claim | None) -> Claim:
            nonlocal is_new
            is_new = not self._goes_on(stored, afresh)
            if stored is not None and not is_new:
                return stored
            self._prepare(stored)
            assert self.folder is not None
            self.folder.sweep()
            return self._claim()

        claim = self.folder.change(decide, replaces_damaged=self._overwrite)
        assert claim is not None
        if not is_new and checks_sources:
            self.check_sources(claim)
        return claim

    def require_apart(self, elsewhere: Iterable[Named]) -> None:
        """Raise an error if the job would write over what it reads, before it changes anything.

        Parameters
        ----------
        elsewhere : iterable of place
            Where else the job writes: intermediates, and the journal.

        Raises
        ------
        OverlapError
        ContainsArrayError
            It would write among the chunks of an array.
        """
        new, kept = list(self.operation.new_places), list(self.operation.kept())
        for place in new:
            refuse_overlap(self.operation.kind, place, kept)
        for store, path in self._every_place():
            nodes.refuse_below_array(store, path)
        for other in elsewhere:
            refuse_overlap(f"{self.operation.kind} with its own files there", other, [*kept, *new])

    def _claim(self) -> Claim:
        before = self._follows
        as_of = time.time_ns() if before is None else before.as_of
        states = states_of(self.operation.sources(), as_of)
        if before is not None:
            check_unchanged(before.sources, states, "the pass before began", "call it again")
        return Claim(self._id, os.urandom(8).hex(), "running", as_of, states, self._document)

    def _goes_on(self, claim: Claim | None, afresh: bool) -> bool:
        """Whether the job that is there is this one, and is to go on."""
        if claim is None or claim.job != self._id or claim.state == "abandoned":
            return False
        if claim.state in ("finishing", "finished"):
            return True
        return not afresh and not (self._overwrite and self._has_changed(claim))

    def _has_changed(self, claim: Claim) -> bool:
        now = states_of(self.operation.sources(), claim.as_of)
        return any(one is not None and one != now[name] for name, one in claim.sources.items())

    def check_sources(self, claim: Claim) -> None:
        """Raise an error if the sources have changed since the run began.

        Raises
        ------
        SourceChangedError
        """
        if claim.state != "finished":
            now = states_of(self.operation.sources(), claim.as_of)
            check_unchanged(claim.sources, now, "the job began", _WAYS_OUT)

    def _prepare(self, claim: Claim | None) -> None:
        """Make the destination empty, or raise an error that says why that may not be."""
        is_own = claim is not None and claim.job == self._id
        if claim is not None and not is_own and not self._overwrite:
            raise self._another(claim)
        if self._overwrite:
            self._require_removable()
            self._remove_all()
        elif claim is not None:
            self._require_removable(unfinished=claim.state == "running")
            self._remove_all()
        else:
            try:
                for place in self._every_place():
                    _require_free(*place)
            except (ContainsArrayError, ContainsGroupError):
                # On a server, another driver of the same job may have begun it meanwhile.
                if self.read() is None:
                    raise

        if claim is not None and is_own:
            self.operation.remove_temporary(claim.run)

    def _another(self, claim: Claim) -> JobError:
        kind = claim.document.get("kind")
        differs = ", ".join(_differences(claim.document, self._document))
        return JobError(
            f"another job ({kind}) is unfinished at the destination, which differs in {differs}: "
            "go on with it (Job.load), abandon() it, or pass overwrite=True"
        )

    # Ending

    def finish(self, claim: Claim, store_documents: Callable[[], Any]) -> Any:
        """Make the result visible, once, and remove the folder.

        Raises
        ------
        Finished
            Another driver has done so.
        """
        if self.folder is None or self.operation.destination is None:
            result = store_documents()
            self.release(claim)
            return result
        self._advance(claim, "running", "finishing")
        made: list[Any] = []

        def decide(stored: Claim | None) -> Claim | None:
            stored = self._own(claim, stored)
            if stored.state == "finishing":
                made[:] = [store_documents()]
                self._mark(claim)
            return stored._replace(state="finished")

        self.folder.change(decide)
        self.release(claim)
        if not made:
            raise Finished
        return made[0]

    def _advance(self, claim: Claim, before: str, after: str) -> None:
        def decide(stored: Claim | None) -> Claim | None:
            stored = self._own(claim, stored)
            return stored._replace(state=after) if stored.state == before else stored

        assert self.folder is not None
        self.folder.change(decide)

    def _own(self, claim: Claim, stored: Claim | None) -> Claim:
        """The claim of this very run."""
        if stored is not None and stored.run == claim.run and stored.state != "abandoned":
            return stored
        if self.has_result_of(claim.run):
            raise Finished
        raise JobError(
            "the job was abandoned, or begun again, by another process; run the same line again"
        )

    def release(self, claim: Claim) -> None:
        """Remove what the job needs no more: all but its result."""
        if self.folder is None:
            self._tidy(claim.run)
            return

        def decide(stored: Claim | None) -> Claim | None:
            # After the end of the run, what is there belongs to others.
            if stored is None or stored.run != claim.run:
                return stored
            self._tidy(claim.run)
            return None

        self.folder.change(decide)

    def _tidy(self, run: str) -> None:
        self.operation.remove_temporary(run)
        for store, path in self._every_place():
            if isinstance(store, LocalStore):
                # Those of workers that were killed.
                for name in store._engine.leftovers(store.engine_path(path)):
                    store._engine.remove_leftover(name, timedelta(0))
        if self.folder is not None:
            self.folder.sweep()

    def abandon(self) -> None:
        """Remove all that the unfinished job has written; of a finished one, all but its result.

        Raises
        ------
        JobError
            Another job is there, or what it did not write.
        """
        if self.folder is None:
            return

        def decide(stored: Claim | None) -> Claim | None:
            if stored is None or stored.state == "finished":
                return stored
            if stored.job != self._id:
                raise self._another(stored)
            self._require_removable(unfinished=stored.state == "running")
            return stored._replace(state="abandoned")

        claim = self.folder.change(decide)
        if claim is None:
            self.folder.sweep_without_claim()
            return
        if claim.state == "abandoned":
            self._remove_all()
        self.release(claim)

    # What is there

    def read(self) -> Claim | None:
        """The claim of this job, if it is the one that is there."""
        found = None if self.folder is None else self.folder.read()
        return found if found is not None and found.job == self._id else None

    @property
    def mark(self) -> Mark | None:
        """What the result tells about the job that has made it; None without a result."""
        marked = self._marked()
        if marked is None:
            return None
        found = marked.store._value(key_of(marked.path, JOB_MARK))
        if found is None or nodes.find(marked.store, marked.path) is None:
            return None
        return mark_of(bytes(found))

    def has_result_of(self, run: str) -> bool:
        """Whether a run is finished, and its result is there."""
        found = self.mark
        return found is not None and found.run == run

    def check_mark(self, mark: Mark) -> States:
        """The states of the sources, which have not changed since the result was made of them.

        Raises
        ------
        SourceChangedError
        """
        now = states_of(self.operation.sources(), mark.as_of)
        if digest_of_states(now) != mark.sources:
            raise SourceChangedError(
                f"stored values of {', '.join(list(now)[:3])} have changed since this result was "
                "made of them; overwrite=True makes it again"
            )
        return now

    def _mark(self, claim: Claim) -> None:
        """Record that the job is done, where listings of groups do not see it."""
        marked = self._marked()
        if marked is not None:
            told = Mark(self._id, claim.run, claim.as_of, digest_of_states(claim.sources))
            marked.store[key_of(marked.path, JOB_MARK)] = told.to_bytes()

    def _marked(self) -> Place | None:
        """The array that has the mark."""
        return None if self.operation.folder is None else self.operation.marked

    def _every_place(self) -> Iterator[tuple[Store, str]]:
        """The stores and paths that the job alone writes to."""
        for store, path, chunk_store in self.operation.new_places:
            yield store, path
            if chunk_store is not None and chunk_store is not store:
                yield chunk_store, path

    # Removing

    def _require_removable(self, *, unfinished: bool = False) -> None:
        """Raise an error if something is there that no job has made.

        Before the documents of the result are stored, a node there is somebody else's.
        """
        for store, path in self._every_place():
            stranger = nodes.stranger(store, path, apart=JOB_FOLDER)
            if stranger is None and unfinished:
                stranger = next(filter(is_document, _keys_of(store, path)), None)
            if stranger is not None:
                raise JobError(
                    f"{nodes.describe(store, path)} has {stranger!r}, which the job has not made, "
                    "so that nothing there is removed; move it, or delete it yourself"
                )

    def _remove_all(self) -> None:
        """Remove all that is at the places, except the folder of the job; documents first."""
        for store, path in self._every_place():
            files, folders = store._engine.list_dir(store.engine_path(path))
            for name in sorted(files, key=lambda name: name not in DOCUMENTS):
                store._engine.delete(store.engine_path(key_of(path, name)), fsync=store.syncs)
            for name in set(folders) - {JOB_FOLDER}:
                store.rmdir(key_of(path, name))


def _keys_of(store: Store, path: str) -> Iterator[str]:
    """The keys below a path that are not in the folder of a job."""
    apart = store.engine_path(key_of(path, JOB_FOLDER)) + "/"
    keys = store._engine.list_prefix(store.engine_path(path))
    return (key for key in keys if not key.startswith(apart))


def _require_free(store: Store, path: str) -> None:
    node = nodes.find(store, path)
    if node is not None:
        error = ContainsArrayError if node.kind == "array" else ContainsGroupError
        raise error(
            f"{nodes.describe(store, path)} contains a node ({node.kind}); pass overwrite=True to "
            "replace it"
        )
    files, folders = store._engine.list_dir(store.engine_path(path))
    there = sorted({*files, *folders} - {JOB_FOLDER})
    if there:
        raise ContainsArrayError(
            f"{nodes.describe(store, path)} has {there[0]!r}, which is not of this job; choose "
            "another destination, or pass overwrite=True to remove it"
        )


def _differences(own: Any, other: Any, name: str = "") -> list[str]:
    """The names of members that differ, for people."""
    if isinstance(own, dict) and isinstance(other, dict) and len(name.split(".")) < 3:
        found = []
        for key in dict.fromkeys([*own, *other]):
            if own.get(key) != other.get(key):
                found += _differences(
                    own.get(key), other.get(key), f"{name}.{key}" if name else key
                )
        return found[:5]
    return [name]
