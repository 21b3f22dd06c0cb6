"""The driver of a stage: hands out its tasks, records what is done, and tries again what failed."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zarrix._errors import JobFailed, JobInterrupted
from zarrix.jobs._running.crews import Crew
from zarrix.jobs._running.feed import Feed, ending_on_ctrl_c
from zarrix.jobs._running.journal import Journal
from zarrix.jobs._running.worker import Failure, Outcome, Runner

__all__ = ["Driving", "drive", "raise_failures"]

Events = Callable[[Mapping[str, Any]], object]

_MOST_SHOWN = 5
# Where the first tasks fail alike and none succeeds, a function always fails.
_ALIKE = 8
# As many are listed, at most.
_MOST_FAILURES = 1000


@dataclass
class Driving:
    """What a run of a job counts.

    Attributes
    ----------
    retries : int
        How often a failed task is tried again.
    on_error : str
        "stop" if the first task that failed for good ends the run, "all" if no number of them does,
        and "collect" if many that failed alike do.
    tell : callable
        Gets the number of finished tasks of all stages.
    events : callable, optional
        Gets a dict for every finished or failed task.
    tasks, again, bytes_in, bytes_out : int
        Finished in this run; tried again; moved.
    seconds : float
        Of all tasks together.
    failures : dict of (int, int) to Failure
        By stage and number.
    has_success : bool
        Whether a task of the stage is done.
    """

    retries: int
    on_error: str
    tell: Callable[[int], object]
    events: Events | None = None
    tasks: int = 0
    again: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    seconds: float = 0.0
    failures: dict[tuple[int, int], Failure] = field(default_factory=dict)
    has_success: bool = False

    @property
    def is_hopeless(self) -> bool:
        """Whether other tasks would fail as those that failed did."""
        count = len(self.failures)
        if self.on_error != "collect":
            return self.on_error == "stop" and count > 0
        if self.has_success or count < _ALIKE:
            return count >= _MOST_FAILURES
        kinds = {(one.error, one.is_of_data) for one in self.failures.values()}
        return len(kinds) == 1 and not next(iter(kinds))[1]


def drive(
    crew: Crew,
    runner: Runner,
    stage: int,
    journal: Journal,
    among: range,
    state: Driving,
    *,
    saves: bool = True,
) -> None:
    """Have those tasks of a stage done that the journal does not have.

    With ``saves=False`` the journal may lag by its usual second afterwards: the job is finished
    at once, and then needs it no more.

    Raises
    ------
    JobFailed
        Tasks failed for good; the others are done, unless the first failure stops.
    JobInterrupted
        There are no workers.
    """
    state.has_success = journal.count(stage) > 0
    feed = Feed(journal.missing(stage, among), len(among) - journal.count(stage))
    attempts: Counter[int] = Counter()
    try:
        with ending_on_ctrl_c(feed):
            while True:
                for outcomes in crew.outcomes(runner, stage, feed):
                    for one in outcomes:
                        _note(one, stage, journal, state, feed, attempts)
                pause = feed.pause()
                if pause is None:
                    break
                time.sleep(pause)
    except BaseException:
        # What ends the run is the error to see; the journal may lag.
        with contextlib.suppress(OSError):
            journal.save()
        raise
    if state.failures:
        with contextlib.suppress(OSError):
            journal.save()
    elif saves:
        journal.save()
    raise_failures(state, runner, stage)
    left = sum(1 for _ in journal.missing(stage, among))
    if left:
        raise JobInterrupted(f"{left} tasks did not come back; run the same line again")


def _note(
    one: Outcome, stage: int, journal: Journal, state: Driving, feed: Feed, attempts: Counter[int]
) -> None:
    failure = one.failure
    if failure is None:
        state.failures.pop((stage, one.number), None)
        state.has_success = True
        if journal.mark(stage, one.number, one.value):
            state.tasks += 1
            state.tell(state.tasks)
        state.bytes_in += one.bytes_in
        state.bytes_out += one.bytes_out
        state.seconds += one.seconds
    elif failure.is_passing and attempts[one.number] < state.retries and not feed.stopped:
        attempts[one.number] += 1
        state.again += 1
        feed.again(one.number, attempts[one.number])
    elif not journal.is_done(stage, one.number):
        state.failures[stage, one.number] = failure
        if failure.stops or state.is_hopeless:
            feed.stop()
    if state.events is not None:
        state.events(
            {
                "stage": stage,
                "task": one.number,
                "seconds": one.seconds,
                "bytes_in": one.bytes_in,
                "bytes_out": one.bytes_out,
                "retries": attempts[one.number],
                "error": None if failure is None else f"{failure.error}: {failure.message}",
            }
        )


def raise_failures(state: Driving, runner: Runner, stage: int) -> None:
    """Raise an error that lists the tasks that failed.

    Raises
    ------
    JobFailed
        If there are any.
    """
    failed = sorted((n, why) for (at, n), why in state.failures.items() if at == stage)
    if not failed:
        return
    said = [
        f"task {number} of stage {stage}: {why.error}: {why.message}"
        for number, why in failed[:_MOST_SHOWN]
    ]
    more = f"\n  and {len(failed) - _MOST_SHOWN} more" if len(failed) > _MOST_SHOWN else ""
    count = "1 task" if len(failed) == 1 else f"{len(failed)} tasks"
    listed = "".join(f"\n  {line}" for line in said)
    if state.is_hopeless and state.on_error == "collect":
        raise JobFailed(
            f"{count} failed alike, and the others were not tried (Job.run(on_error='all') tries "
            f"all of them):{listed}{more}"
        )
    raise JobFailed(f"{count} failed; the same call tries only what is not done:{listed}{more}")
