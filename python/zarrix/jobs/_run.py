"""What every function of the package does with its job: run it, or hand out its plan."""

from __future__ import annotations

from typing import Any

from zarrix.jobs._job import Job

__all__ = ["run_or_plan"]


def run_or_plan(job: Job, run: bool, executor: Any, **options: Any) -> Any:
    """The result of a job; or the job itself, which has done nothing yet."""
    return job.run(executor, **options).result if run else job
