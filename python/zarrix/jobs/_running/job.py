"""A job: a document that any process can carry on, and the calls that do.

The document has the kind, the places, the parameters and the version of the engine. Its hash is the
job's name. While a job is unfinished, its claim and journal are in ``.zarrix-job`` at the
destination, which otherwise has chunks, but no array: metadata is stored last.

`Job.run` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zarrix import _engine
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._display.table import Printed
from zarrix._errors import JobError, JobFailed, JobInterrupted, SourceChangedError
from zarrix._metadata.json import json_dumps
from zarrix._stores.base import Store
from zarrix._stores.keys import JOB_FOLDER, key_of
from zarrix._stores.open import as_store
from zarrix._stores.zip import ZipStore
from zarrix.jobs._running.clusters import cluster_crew
from zarrix.jobs._running.crews import Crew, crew_of
from zarrix.jobs._running.destination import Finished, Identity
from zarrix.jobs._running.documents import opened
from zarrix.jobs._running.drive import Driving, Team
from zarrix.jobs._running.folder import CLAIM, Folder
from zarrix.jobs._running.foreign import FORM, Claim
from zarrix.jobs._running.loading import check_part, loaded, require_home
from zarrix.jobs._running.operation import Operation, Setting, Stage, operation_of
from zarrix.jobs._running.parts import Parts
from zarrix.jobs._running.places import address, in_this_process, place_at
from zarrix.jobs._running.report import Report, Task, Tasks, plan_rows
from zarrix.jobs._running.sources import unknown_in
from zarrix.jobs._running.spmd import run_spmd
from zarrix.jobs._running.stages import Share, drive_as_part, drive_stages
from zarrix.jobs._running.tenure import Tenure, fence_of
from zarrix.jobs._running.worker import Runner

__all__ = ["Job", "Report", "Task"]


class Job(Printed):
    """Work on whole arrays, in tasks that any number of processes can do.

    If anything is killed at any point, the same call goes on, and the result has the bytes of an
    undisturbed run. Until the end, the destination has no array, so that a reader never sees half
    of a result. Made by the functions of `zarrix.jobs` with ``run=False``, and by `load`.

    Parameters
    ----------
    kind : str
    setting : Setting
    overwrite : bool
        Replace what is at the destination, when the job begins.

    Raises
    ------
    JobError
        This version has no jobs of the kind.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
    >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
    >>> job.save("job.json")
    >>> zarr.jobs.Job.load("job.json").run().result[-1]
    np.int64(99)
    """

    __module__ = "zarrix.jobs"

    def __init__(self, kind: str, setting: Setting, *, overwrite: bool = False) -> None:
        self.kind = kind
        self._setting = setting
        self._overwrite = overwrite
        self._operation: Operation = operation_of(kind, setting)
        places = {name: address(place) for name, place in setting.places.items()}
        self._document: dict[str, Any] = {
            "zarrix_job": FORM,
            "kind": kind,
            "engine": _engine.__version__,
            "places": places,
            "parameters": setting.parameters,
        }
        self._identity = Identity.of(self._document)
        self.id: str = self._identity.id
        # What this process has begun or joined; and the pass before, whose sources must be those
        # of this one.
        self._claim: Claim | None = None
        self._follows: Claim | None = None
        self._unchecked: tuple[str, ...] = ()
        # The document that it was loaded from.
        self._where: str | None = None

    # The plan

    @property
    def stages(self) -> Sequence[Stage]:
        """The stages of the plan, in order."""
        return self._operation.stages

    @property
    def memory(self) -> int:
        """The bytes that a task needs at most, as planned."""
        return max((stage.memory for stage in self.stages), default=0)

    @property
    def document(self) -> dict[str, Any]:
        """The job as JSON values."""
        return dict(self._document)

    def tasks(self, stage: int = 0) -> Sequence[Task]:
        """The tasks of a stage; they are computed when they are asked for.

        Parameters
        ----------
        stage : int

        Returns
        -------
        sequence of Task

        Raises
        ------
        IndexError
            There is no such stage.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
        >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
        >>> len(job.tasks(0)), job.tasks(0)[0].number
        (1, 0)
        """
        return Tasks(stage, self.stages[stage])

    def __str__(self) -> str:
        rows = plan_rows(self.stages)
        return lines([f"{self.kind} {self.id}", *rows, *self._operation.explain()])

    def __repr__(self) -> str:
        count = sum(stage.count for stage in self.stages)
        return f"<zarrix.jobs.Job {self.kind} {self.id}, {counted(count, 'task')}>"

    def __reduce__(self) -> Any:
        return _made, (self.kind, self._setting, self._overwrite)

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the job to a file, without credentials; `load` reads it anywhere.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        JobError
            A place has neither a path nor a URL, or the job has a function of this program.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2], store="one.zarr")
        >>> zarr.jobs.copy(z, "two.zarr", run=False).save("job.json")
        """
        objects = self._setting.objects.items()
        nameless = [name for name, one in objects if getattr(one, "name", None) is None]
        if nameless:
            raise JobError(
                f"the job has {', '.join(map(repr, nameless))}, which a file cannot hold; give "
                "functions as 'module:name'"
            )
        for told in self._document["places"].values():
            place_at(told)
        told = {"zarrix_job": FORM, "job": self.id, "document": self._document}
        with open(path, "wb") as file:
            file.write(json_dumps(told, sort_keys=False))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        function: Callable[..., Any] | None = None,
        modules: Sequence[str] = (),
    ) -> Job:
        """The job of a file, or the unfinished job at a destination.

        The document names what is read and written, and by which credentials of yours, but runs no
        code: a function that it names is called only if it is of a module in ``modules``.

        Parameters
        ----------
        path : str or Path
            What `save` wrote; or the path or URL of a destination.
        function : callable, optional
            The function that the job calls, which must be that of the job's beginning. A function
            of a program has to be given again.
        modules : sequence of str
            Names of modules and packages whose functions the job may call.

        Returns
        -------
        Job

        Raises
        ------
        JobError
            It is not a job, or damaged, or the job of another version of zarrix or of another
            destination; or it calls a function that is neither given nor allowed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2], store="one.zarr")
        >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
        >>> job.save("job.json")
        >>> zarr.jobs.Job.load("job.json").id == job.id
        True
        """
        where = os.fspath(path)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return loaded(cls, file.read(), where, function, modules)
        folder = Folder(as_store(path), JOB_FOLDER)
        if not folder.is_taken:
            raise JobError(f"{where!r} is not a job, and has no unfinished job")
        stored = bytes(folder.store[key_of(JOB_FOLDER, CLAIM)])
        job = loaded(cls, stored, where, function, modules)
        require_home(job, folder, where)
        return job

    # Running

    def run(
        self,
        executor: Any = None,
        *,
        part: tuple[int, int] | None = None,
        stage: int | None = None,
        resume: Any = True,
        retries: int = 3,
        patience: float = 300.0,
        on_error: str = "collect",
        progress: bool | Progress = False,
        events: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> Report:
        """Do what is not done yet; at the end the result is visible, except after a ``part``.

        A job that is done does nothing again, and gives its result, also in another process: the
        first array of the result has the job's id in ``.zarrix-done``. It is done again with
        ``overwrite=True``, or if the result was removed. If stored values of the source have
        changed since the job began, it neither goes on nor gives its result, but raises an error.
        Whether the result was changed is not checked.

        Parameters
        ----------
        executor : optional
            None for this process; ``"processes"``, ``"threads"``; a `concurrent.futures.Executor`
            or a function that makes one; a ``distributed.Client``, ``ray``, an MPI communicator, a
            Spark context; or a function ``(function, iterable) -> iterable``.
        part : (int, int), optional
            ``(i, n)``: only every n-th task, beginning with i, for job arrays. The result becomes
            visible by `finish`. Before a further stage it waits for parts that have begun. If
            tasks of others are missing, it ends, as `Report.note` says, and parts that are still
            there do the rest of its share.
        stage : int, optional
            Only this stage. With a ``part``, it waits for no other part.
        resume : bool, str, Path or Store
            True keeps the journal at the destination; a path or store keeps it there. False does
            everything again and keeps no journal.
        retries : int
            Number of retries of a task after its worker died, or its input or output failed.
        patience : float
            Seconds without a finished task and without a worker, or without a sign of the parts
            that a part waits for, after which the job is interrupted.
        on_error : {"collect", "stop", "all"}
            Whether other tasks go on when one fails for good. With "collect" they do, unless the
            first eight fail with the same error of a function, or a thousand have failed; with
            "all" they always do.
        progress : bool or callable
            True draws a bar on stderr; a callable gets the number of finished tasks, and the total.
        events : callable, optional
            Gets a dict for each attempt: stage, task, seconds, bytes_in, bytes_out, retries, error.

        Returns
        -------
        Report

        Raises
        ------
        JobFailed
            Tasks failed for good; it names them. All others are done.
        JobInterrupted
            Workers died or are gone; the same call goes on.
        JobError
            Another job is at the destination, or the executor cannot reach a store; or there is no
            such stage or part.
        SourceChangedError
            The source is not the one that the job began with, or its stored values have changed.
        ContainsArrayError
            Something else is at the destination.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
        >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
        >>> report = job.run("threads", retries=1)
        >>> report.tasks, report.result[:3]
        (1, array([0, 1, 2]))
        """
        if on_error not in ("collect", "stop", "all"):
            raise ValueError(f"on_error is 'collect', 'stop' or 'all', not {on_error!r}")
        check_part(part, stage, len(self.stages))
        driving, share = Driving(retries, on_error, events), Share(part, stage, patience)
        if resume is not False and self._has_result():
            return self._report_done(driving)
        if hasattr(executor, "Get_rank"):
            if not share.is_all:
                raise ValueError("an MPI communicator divides the job itself: leave out part=")
            return run_spmd(self, executor, resume, driving, progress)
        crew = cluster_crew(executor, retries=retries, patience=patience, memory=self.memory)
        if crew is None:
            crew = crew_of(executor, retries=retries, patience=patience)
        tenure = Tenure(self, resume)
        try:
            self._check_reach(crew)
            result, note = self._carry_out(tenure, crew, driving, share, progress)
        except Finished:
            return self._report_done(driving)
        except (JobFailed, JobInterrupted):
            # What failed may be what the other of two drivers has done.
            if tenure.destination.has_result_of(self._operation.run_name):
                return self._report_done(driving)
            raise
        finally:
            crew.close()
        return driving.report(self.id, result, self._unchecked, finished=share.is_all, note=note)

    def _carry_out(
        self,
        tenure: Tenure,
        crew: Crew,
        driving: Driving,
        share: Share,
        progress: bool | Progress,
    ) -> tuple[Any, str]:
        """Begin or go on, and do a share of the job.

        Returns
        -------
        result : object
            What the operation returns, if the share is all of the job.
        note : str
            What is left to other parts.
        """
        claim, journal = tenure.begin(share.part or (0, 1))
        self._unchecked = tuple(unknown_in(claim.sources))
        counts = [stage.count for stage in self.stages]
        before = driving.before = sum(journal.count(at) for at in range(len(counts)))
        tell = phase(progress, "tasks")
        driving.tell = lambda done: tell(before + done, sum(counts))
        note = ""
        if claim.state == "running":
            team = Team(crew, self._runner(claim), driving, journal)
            if share.part is not None and share.stage is None and journal.place is not None:
                parts = Parts(*journal.place, claim.run, share.part, counts)
                note = drive_as_part(
                    team, parts, lambda part: tenure.journal(part, claim), share.patience
                )
            else:
                drive_stages(team, counts, share)
        return (tenure.finish(claim, journal) if share.is_all else None), note

    def _runner(self, claim: Claim) -> Runner:
        fence = fence_of(self._operation, claim)
        return Runner(self.kind, self._setting, claim.run, fence, self._operation)

    def _report_done(self, driving: Driving) -> Report:
        """The report of a run that found the result."""
        found = Driving(driving.retries, driving.on_error, begun=driving.begun)
        found.before = sum(stage.count for stage in self.stages)
        return found.report(self.id, self._result(), self._unchecked, finished=True)

    @property
    def is_done(self) -> bool:
        """Whether the job has made what is there, of its sources as they are.

        Never with ``overwrite=True``.
        """
        try:
            return self._has_result()
        except SourceChangedError:
            return False

    def _has_result(self) -> bool:
        """Whether this very job has made what is there.

        Raises
        ------
        SourceChangedError
            It has, of sources that have changed since.
        """
        if self._overwrite or not self._operation.is_named:
            return False
        destination = Tenure(self, True).destination
        mark = destination.mark
        if mark is None or mark.job != self.id or destination.folder is None:
            return False
        if destination.folder.is_taken:
            return False
        destination.folder.sweep_without_claim()
        self._unchecked = tuple(unknown_in(destination.check_mark(mark)))
        return True

    def _result(self) -> Any:
        assert self._operation.destination is not None
        return opened(self._operation.places[self._operation.destination])

    def finish(self, *, resume: Any = True) -> Any:
        """Make the result visible, after all parts have run.

        Parameters
        ----------
        resume : bool, str, Path or Store
            Where the journals are, as for `run`.

        Returns
        -------
        object
            What the operation returns, such as an `Array`.

        Raises
        ------
        JobInterrupted
            Tasks are not done yet; it says how many.
        SourceChangedError
            Stored values of the source have changed since the job began.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
        >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
        >>> for i in range(2):
        ...     report = job.run(part=(i, 2))
        >>> job.finish()[-1]
        np.int64(99)
        """
        if self._has_result():
            return self._result()
        tenure = Tenure(self, resume)
        claim = tenure.destination.read()
        journal = tenure.journal((0, 1), claim)
        journal.load()
        for at, stage in enumerate(self.stages):
            left = stage.count - journal.count(at)
            if left and (claim is None or claim.state == "running"):
                raise JobInterrupted(f"{counted(left, 'task')} of stage {at} are not done yet")
        if claim is None:
            claim = tenure.destination.take(afresh=False, checks_sources=False)
        tenure.belong_to(claim)
        try:
            return tenure.finish(claim, journal)
        except Finished:
            return self._result()

    def status(self, *, resume: Any = True) -> dict[str, Any]:
        """How much of the job is done, as JSON values.

        Parameters
        ----------
        resume : bool, str, Path or Store
            Where the journals are, as for `run`.

        Returns
        -------
        dict
            ``state`` is "not begun", "running" or "done"; ``stages`` has a (done, total) each.

        Raises
        ------
        JobError
            The claim or the journal is damaged.
        OSError
            The journal cannot be read.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
        >>> zarr.jobs.copy(z, "two.zarr", run=False).status()
        {'job': '...', 'state': 'not begun', 'stages': [(0, 1)]}
        """
        if self.is_done:
            stages = [(stage.count, stage.count) for stage in self.stages]
            return {"job": self.id, "state": "done", "stages": stages}
        tenure = Tenure(self, resume)
        claim = tenure.destination.read()
        journal = tenure.journal((0, 1), claim)
        journal.load()
        done = [(journal.count(at), stage.count) for at, stage in enumerate(self.stages)]
        state = "not begun" if claim is None or claim.state == "abandoned" else "running"
        if state == "running" and all(n == total for n, total in done):
            state = "done"
        return {"job": self.id, "state": state, "stages": done}

    def abandon(self) -> None:
        """Remove what the unfinished job has written: chunks, intermediates and journal.

        A result that was complete when the job was interrupted stays.

        Raises
        ------
        JobError
            Another job is at the destination, or something that the job did not write.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
        >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
        >>> report = job.run(part=(0, 2))
        >>> job.abandon()
        >>> list(zarr.DirectoryStore("two.zarr"))
        []
        """
        Tenure(self, True).destination.abandon()

    # What a run waits for

    def _check_reach(self, crew: Crew) -> None:
        for name, place in self._setting.places.items():
            stores = [place.store, place.chunks]
            if not crew.is_here and any(map(in_this_process, stores)):
                raise JobError(
                    f"the {name} is in the memory of this process, which the workers of this "
                    "executor cannot reach; use executor=None or 'threads', or store it on disk"
                )
            if not crew.is_here and name == self._operation.destination:
                _check_one_writer(place.chunks)


def _made(kind: str, setting: Setting, overwrite: bool) -> Job:
    return Job(kind, setting, overwrite=overwrite)


def _check_one_writer(store: Store) -> None:
    if isinstance(store, ZipStore):
        raise JobError(
            "a zip archive has one writer at a time: use executor=None or 'threads', or write to a "
            "directory and copy it into an archive"
        )
