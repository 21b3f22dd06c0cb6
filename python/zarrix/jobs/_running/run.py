"""What every function of the package does with its job: run it, or hand out its plan.

The keywords of a run are those of `Job.run`, and are described there.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from zarrix._display.progress import Progress
from zarrix.jobs._running.job import Job

__all__ = ["Running", "run_or_plan"]


class Running(TypedDict, total=False):
    """How a job is run; as for `Job.run`."""

    executor: Any
    resume: Any
    retries: int
    patience: float
    progress: bool | Progress


def run_or_plan(job: Job, run: bool, **running: Unpack[Running]) -> Any:
    """The result of a job; or the job itself, which has done nothing yet."""
    return job.run(**running).result if run else job
