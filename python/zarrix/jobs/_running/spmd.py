"""A job in an MPI program: the same call in every process, each with every n-th task of a stage.

A barrier is between stages, and an error of one process is raised in all of them, so that none
waits for a process that has left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zarrix._display.progress import Progress, phase
from zarrix._errors import JobFailed
from zarrix.jobs._running.crews import Alone
from zarrix.jobs._running.destination import Finished
from zarrix.jobs._running.drive import Driving, Team, drive
from zarrix.jobs._running.foreign import Claim
from zarrix.jobs._running.journal import Journal, part_of
from zarrix.jobs._running.report import Report
from zarrix.jobs._running.sources import unknown_in
from zarrix.jobs._running.tenure import Tenure

if TYPE_CHECKING:
    from zarrix.jobs._running.job import Job

__all__ = ["run_spmd"]


def run_spmd(
    job: Job, comm: Any, resume: Any, driving: Driving, progress: bool | Progress
) -> Report:
    """Run a job; the result is that of the process of rank 0, and None in the others.

    Raises
    ------
    JobFailed
        Tasks of this process failed, or another process has an error.
    """
    tenure = Tenure(job, resume)
    rank, _ = own = comm.Get_rank(), comm.Get_size()
    claim, journal = _begin(comm, tenure)
    counts = [stage.count for stage in job.stages]
    driving.before = sum(journal.count(at) for at in range(len(counts)))
    mine = sum(len(part_of(own, count)) for count in counts)
    tell = phase(progress if rank == 0 else False, "tasks of this process")
    driving.tell = lambda done: tell(done, mine)
    team = Team(Alone(), job._runner(claim), driving, journal)
    for at in range(len(counts) if claim.state == "running" else 0):
        _together(comm, functools.partial(drive, team, at, part_of(own, counts[at])))
    result = _finish(comm, job, tenure, claim, journal)
    return driving.report(job.id, result, tuple(unknown_in(claim.sources)), finished=True)


def _begin(comm: Any, tenure: Tenure) -> tuple[Claim, Journal]:
    """One process takes the destination; the others find it taken."""
    rank, size = comm.Get_rank(), comm.Get_size()
    begun: list[tuple[Claim, Journal]] = []

    def begin() -> None:
        begun.append(tenure.begin((rank, size), joins=rank > 0))

    _together(comm, begin if rank == 0 else None)
    _together(comm, begin if rank else None)
    return begun[0]


def _finish(comm: Any, job: Job, tenure: Tenure, claim: Claim, journal: Journal) -> Any:
    """The process of rank 0 finishes the job with the values of all; None in the others."""
    gathered = comm.gather(journal.values, root=0)
    result = None

    def finish() -> None:
        nonlocal result
        for values in gathered:
            for merged, stage in zip(journal.values, values, strict=True):
                merged.update(stage)
        try:
            result = tenure.finish(claim, journal)
        except Finished:
            result = job._result()

    _together(comm, finish if comm.Get_rank() == 0 else None)
    return result


def _together(comm: Any, work: Callable[[], object] | None) -> None:
    """Work of some processes of an MPI program; all wait for it, and raise its error."""
    error: Exception | None = None
    try:
        if work is not None:
            work()
    except Exception as raised:
        error = raised
    told = comm.allgather(None if error is None else f"{type(error).__name__}: {error}")
    if error is not None:
        raise error
    failed = [f"process {rank}: {one}" for rank, one in enumerate(told) if one is not None]
    if failed:
        raise JobFailed("\n".join(failed))
