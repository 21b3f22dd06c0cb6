"""A job: a document that any process can carry on, and the calls that do.

The document has the kind, the places, the parameters and the version of the engine. Its hash is the
job's name. While a job is unfinished, its document and journal are in ``.zarrix-job`` at the
destination, which otherwise has chunks, but no array: metadata is stored last.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zarrix import _engine
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._errors import JobError, JobInterrupted
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.open import as_store
from zarrix._stores.zip import ZipStore
from zarrix.jobs._clusters import cluster_crew
from zarrix.jobs._crews import Crew, crew_of
from zarrix.jobs._destination import DOCUMENT, FOLDER, Destination, id_of
from zarrix.jobs._documents import opened
from zarrix.jobs._drive import Driving, drive
from zarrix.jobs._journal import Journal, part_of
from zarrix.jobs._operation import Operation, Setting, Stage, operation_of
from zarrix.jobs._places import address, in_this_process, place_at
from zarrix.jobs._report import Report, Task, Tasks
from zarrix.jobs._spmd import run_spmd
from zarrix.jobs._units import size_text
from zarrix.jobs._worker import Runner

__all__ = ["Job", "Report", "Task"]

_JOURNAL = "journal"
_FORM = 1
_POLL_S = 0.5


class Job:
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
            "zarrix_job": _FORM,
            "kind": kind,
            "engine": _engine.__version__,
            "places": places,
            "parameters": setting.parameters,
        }
        # In its own order, because the order of a document's members is that of the result.
        self._stored = json_dumps(self._document, sort_keys=False)
        self.id: str = id_of(self._stored)

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
        rows = [f"{self.kind} {self.id}"]
        heads = ("stage", "tasks", "region", "memory", "reads", "writes", "requests")
        table = [heads]
        for stage in self.stages:
            region = str(stage.shape) if stage.shape else "-"
            requests = f"{stage.gets:,} GET, {stage.puts:,} PUT"
            table.append(
                (
                    stage.name,
                    f"{stage.count:,}",
                    region,
                    size_text(stage.memory),
                    size_text(stage.bytes_in),
                    size_text(stage.bytes_out),
                    requests,
                )
            )
        widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
        rows += [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return lines([*rows, *self._operation.explain()])

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
        if self._setting.objects:
            names = ", ".join(map(repr, self._setting.objects))
            raise JobError(
                f"the job has {names}, which a file cannot hold; give functions as 'module:name'"
            )
        for told in self._document["places"].values():
            place_at(told)
        with open(path, "wb") as file:
            file.write(self._stored)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Job:
        """The job of a file, or the unfinished job at a destination.

        Parameters
        ----------
        path : str or Path
            What `save` wrote; or the path or URL of a destination.

        Returns
        -------
        Job

        Raises
        ------
        JobError
            It is not a job, or the job of another version of zarrix.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2], store="one.zarr")
        >>> job = zarr.jobs.copy(z, "two.zarr", run=False)
        >>> job.save("job.json")
        >>> zarr.jobs.Job.load("job.json").id == job.id
        True
        """
        if os.path.isfile(path):
            with open(path, "rb") as file:
                document = file.read()
        else:
            found = as_store(path).get(key_of(FOLDER, DOCUMENT))
            if found is None:
                raise JobError(f"{os.fspath(path)!r} is not a job, and has no unfinished job")
            document = bytes(found)
        return cls._of_document(document, os.fspath(path))

    @classmethod
    def _of_document(cls, document: bytes, where: str) -> Job:
        told = json_loads(document)
        if not isinstance(told, dict) or told.get("zarrix_job") != _FORM:
            raise JobError(f"{where!r} is not a job that this version of zarrix knows")
        if told["engine"] != _engine.__version__:
            raise JobError(
                f"the job {where!r} is of zarrix {told['engine']}, and this is "
                f"{_engine.__version__}: bytes could differ; go on with that version, or abandon it"
            )
        places = {name: place_at(one) for name, one in told["places"].items()}
        return cls(told["kind"], Setting(told["parameters"], places))

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
        ``overwrite=True``, or if the result was removed. Whether elements were changed since, in
        the source or the result, is not checked.

        Parameters
        ----------
        executor : optional
            None for this process; ``"processes"``, ``"threads"``; a `concurrent.futures.Executor`
            or a function that makes one; a ``distributed.Client``, ``ray``, an MPI communicator, a
            Spark context; or a function ``(function, iterable) -> iterable``.
        part : (int, int), optional
            ``(i, n)``: only every n-th task, beginning with i, for job arrays. The result becomes
            visible by `finish`.
        stage : int, optional
            Only this stage. With a ``part``, it waits for no other part.
        resume : bool, str, Path or Store
            True keeps the journal at the destination; a path or store keeps it there. False does
            everything again and keeps no journal.
        retries : int
            How often a task is tried again whose worker died or whose input or output failed.
        patience : float
            Seconds without a finished task and without a worker, after which the job is
            interrupted.
        on_error : {"collect", "stop"}
            Whether other tasks go on when one fails for good.
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
            Another job is at the destination, or the executor cannot reach a store.
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
        if on_error not in ("collect", "stop"):
            raise ValueError(f"on_error is 'collect' or 'stop', not {on_error!r}")
        if part is not None and not (0 <= part[0] < part[1]):
            raise ValueError(f"part={part!r}; expected (i, n) with 0 <= i < n")
        begun = time.monotonic()
        if resume is not False and self.is_done:
            tasks = sum(one.count for one in self.stages)
            seconds = time.monotonic() - begun
            return Report(self.id, 0, tasks, 0, 0, 0, seconds, True, self._result())
        if hasattr(executor, "Get_rank"):
            if part is not None or stage is not None:
                raise ValueError("an MPI communicator divides the job itself: leave out part=")
            return run_spmd(self, executor, resume, retries, on_error, progress, events)
        crew = cluster_crew(executor, retries=retries, patience=patience, memory=self.memory)
        if crew is None:
            crew = crew_of(executor, retries=retries, patience=patience)
        try:
            self._check_reach(crew)
            journal = self._begin(resume, part or (0, 1))
            counts = [one.count for one in self.stages]
            before = sum(journal.count(at) for at in range(len(counts)))
            tell = phase(progress, "tasks")
            state = Driving(
                retries,
                on_error == "stop",
                lambda done: tell(before + done, sum(counts)),
                events,
            )
            runner = Runner(self.kind, self._setting, self._operation)
            for at in range(len(counts)) if stage is None else [stage]:
                self._await_stages(journal, at, part, patience if stage is None else 0.0)
                among = part_of(part or (0, 1), counts[at])
                # It may be synced, which takes longer than a short job.
                saves = part is not None or stage is not None or at + 1 < len(counts)
                drive(crew, runner, at, journal, among, state, saves=saves)
            result = self._finish(journal, resume) if part is None and stage is None else None
        finally:
            crew.close()
        return Report(
            self.id,
            state.tasks,
            before,
            state.again,
            state.bytes_in,
            state.bytes_out,
            time.monotonic() - begun,
            part is None and stage is None,
            result,
        )

    @property
    def is_done(self) -> bool:
        """Whether the result is there, and made by this job; never with ``overwrite=True``."""
        return not self._overwrite and self._destination.is_done

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
        if self.is_done:
            return self._result()
        journal = self._journal(resume, (0, 1))
        journal.load()
        for at, stage in enumerate(self.stages):
            left = stage.count - journal.count(at)
            if left:
                raise JobInterrupted(f"{counted(left, 'task')} of stage {at} are not done yet")
        return self._finish(journal, resume)

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
        journal = self._journal(resume, (0, 1))
        journal.load()
        done = [(journal.count(at), stage.count) for at, stage in enumerate(self.stages)]
        state = "running" if self._destination.is_taken or any(n for n, _ in done) else "not begun"
        if state == "running" and all(n == total for n, total in done):
            state = "done"
        return {"job": self.id, "state": state, "stages": done}

    def abandon(self) -> None:
        """Remove what the unfinished job has written: chunks, intermediates and journal.

        Raises
        ------
        JobError
            Another job is at the destination.

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
        self._destination.abandon()

    # The destination

    @property
    def _destination(self) -> Destination:
        return Destination(self._operation, self._stored, self._overwrite)

    def _begin(self, resume: Any, part: tuple[int, int]) -> Journal:
        """Take possession of the destination, or go on there."""
        self._destination.take(afresh=resume is False)
        self._operation.begin()
        journal = self._journal(resume, part)
        if resume is not False:
            journal.load()
        return journal

    def _journal(self, resume: Any, part: tuple[int, int]) -> Journal:
        counts = [stage.count for stage in self.stages]
        if resume is False:
            return Journal(counts)
        if resume is True:
            folder = self._destination.folder
            if folder is None:
                return Journal(counts)
            return Journal(counts, folder[0], key_of(folder[1], _JOURNAL), part)
        # A folder of its own for each job: one path may serve several.
        return Journal(counts, as_store(resume), self.id, part)

    def _finish(self, journal: Journal, resume: Any) -> Any:
        try:
            result = self._operation.finish(journal.in_order())
            self._destination.mark()
        except BaseException:
            # The error is the one to see.
            with contextlib.suppress(OSError):
                journal.save()
            raise
        self._destination.release()
        if resume is not True and resume is not False:
            as_store(resume).rmdir(self.id)
        return result

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

    def _await_stages(
        self, journal: Journal, stage: int, part: tuple[int, int] | None, patience: float
    ) -> None:
        """Wait until the stages before ``stage`` are done by all parts."""
        heard, before = time.monotonic(), -1
        while not all(journal.is_complete(one) for one in range(stage)):
            count = sum(journal.count(one) for one in range(stage))
            if count != before:
                heard, before = time.monotonic(), count
            if part is None or time.monotonic() - heard >= patience:
                raise JobInterrupted(
                    f"stage {stage} needs all tasks of the stages before it, and they are not "
                    "done; run the same line again when they are"
                )
            time.sleep(_POLL_S)
            journal.load()


def _made(kind: str, setting: Setting, overwrite: bool) -> Job:
    return Job(kind, setting, overwrite=overwrite)


def _check_one_writer(store: Store) -> None:
    if isinstance(store, ZipStore):
        raise JobError(
            "a zip archive has one writer at a time: use executor=None or 'threads', or write to a "
            "directory and copy it into an archive"
        )
