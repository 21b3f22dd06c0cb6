"""What a process holds while it takes part in a job: its claim, its journal, and their end."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.open import as_store
from zarrix.jobs._running.destination import Destination
from zarrix.jobs._running.folder import JOURNAL, Fence, Folder
from zarrix.jobs._running.foreign import Claim
from zarrix.jobs._running.journal import Journal
from zarrix.jobs._running.loading import understood
from zarrix.jobs._running.operation import Operation, operation_of
from zarrix.jobs._running.places import Place

if TYPE_CHECKING:
    from zarrix.jobs._running.job import Job

__all__ = ["Tenure", "fence_of"]


def fence_of(operation: Operation, claim: Claim) -> Fence | None:
    """What workers of an operation ask before they write; None if no other process can end it."""
    folder = operation.folder
    return None if folder is None else folder.fence(claim)


class Tenure:
    """A job at its destination, with its journal where ``resume=`` says.

    Parameters
    ----------
    job : Job
    resume : bool, str, Path or Store
    """

    def __init__(self, job: Job, resume: Any) -> None:
        self._job, self._resume = job, resume
        folder = job._operation.folder
        if job._operation.destination is None and not isinstance(resume, bool):
            folder = Folder(as_store(resume), job.id)
        self.destination = Destination(
            job._operation, job._identity, job._overwrite, folder, job._follows
        )

    def begin(self, part: tuple[int, int], *, joins: bool = False) -> tuple[Claim, Journal]:
        """Take possession of the destination, or go on there; one that ``joins`` never begins
        afresh.
        """
        temporary, kept_at = self._job._operation.intermediates("run"), self._journal_place()
        elsewhere = [] if temporary is None else [temporary]
        if kept_at is not None and not isinstance(self._resume, bool):
            elsewhere.append(Place(*kept_at))
        # Each part would list the sources; `finish` does it for all.
        alone, afresh = part[1] == 1, self._resume is False and not joins
        with understood(self._job._where):
            self.destination.require_apart(elsewhere)
            if self._job._where is not None:
                self._job._operation.check_plan()
            claim = self.destination.take(afresh=afresh, checks_sources=alone)
            self._job._claim = claim
            self.belong_to(claim)
            if claim.state == "running":
                self._job._operation.begin()
        journal = self.journal(part, claim)
        journal.load()
        return claim, journal

    def belong_to(self, claim: Claim) -> None:
        """Let the operation of this process do tasks of a run."""
        job = self._job
        if job._operation.run_name not in ("", claim.run):
            # It has open arrays of another run.
            job._operation = operation_of(job.kind, job._setting)
            self.destination.operation = job._operation
        job._operation.belong_to(claim.run, fence_of(job._operation, claim))

    def journal(self, part: tuple[int, int], claim: Claim | None) -> Journal:
        """The journal of a run; an empty one without a claim, because it is not trusted then."""
        counts = [stage.count for stage in self._job.stages]
        place = self._journal_place()
        if place is None or claim is None:
            return Journal(counts, "")
        folder = self.destination.folder
        fence = None if folder is None else folder.fence(claim)

        def goes_on() -> bool:
            return folder is None or fence is None or fence.holds(folder)

        return Journal(counts, claim.run, place, part, goes_on)

    def _journal_place(self) -> tuple[Store, str] | None:
        if self._resume is False:
            return None
        if self._resume is True:
            folder = self.destination.folder
            return None if folder is None else (folder.store, key_of(folder.path, JOURNAL))
        # A folder of its own for each job: one path may serve several.
        return as_store(self._resume), key_of(self._job.id, JOURNAL)

    def finish(self, claim: Claim, journal: Journal) -> Any:
        """Make the result visible, and remove what is not needed any more.

        Raises
        ------
        Finished
            Another driver has done so.
        SourceChangedError
            The sources have changed since the run began.
        """
        operation = self._job._operation
        try:
            with understood(self._job._where):
                if operation.needs_still_sources:
                    self.destination.check_sources(claim)
                values = journal.in_order()
                result = self.destination.finish(claim, lambda: operation.finish(values))
        except BaseException:
            # The error is the one to see.
            with contextlib.suppress(OSError):
                journal.save()
            raise
        if not isinstance(self._resume, bool):
            as_store(self._resume).rmdir(key_of(self._job.id, JOURNAL))
        return result
