"""The driver of a stage: hands out its tasks, records what is done, and tries again what failed."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zarrix._errors import JobFailed, JobInterrupted
from zarrix.jobs._running.crews import Crew
from zarrix.jobs._running.feed import Feed, ending_on_ctrl_c
from zarrix.jobs._running.journal import Journal
from zarrix.jobs._running.report import Report
from zarrix.jobs._running.worker import Failure, Outcome, Runner

__all__ = ["Driving", "Team", "drive"]

Events = Callable[[Mapping[str, Any]], object]

_MOST_SHOWN = 5
# Where the first tasks fail alike and none succeeds, a function always fails.
_ALIKE = 8
# As many are listed, at most.
_MOST_FAILURES = 1000


@dataclass
class Driving:
    """How a run of a job treats its tasks, and what it counts.

    Attributes
    ----------
    retries : int
        How often a failed task is tried again.
    on_error : str
        "stop" if the first task that failed for good ends the run, "all" if no number of them does,
        and "collect" if many that failed alike do.
    events : callable, optional
        Gets a dict for every finished or failed task.
    tell : callable
        Gets the number of finished tasks of all stages.
    begun : float
        When the run began, by the monotonic clock.
    before : int
        Tasks that were done before the run.
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
    events: Events | None = None
    tell: Callable[[int], object] = lambda done: None
    begun: float = field(default_factory=time.monotonic)
    before: int = 0
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

    def report(
        self, job: str, result: Any, unchecked: tuple[str, ...], *, finished: bool, note: str = ""
    ) -> Report:
        """What the run did, until now."""
        return Report(
            job,
            self.tasks,
            self.before,
            self.again,
            self.bytes_in,
            self.bytes_out,
            time.monotonic() - self.begun,
            finished,
            result,
            unchecked,
            note,
        )


class Team(NamedTuple):
    """What does the tasks of a run, and what records them.

    Attributes
    ----------
    crew : Crew
    runner : Runner
    state : Driving
    journal : Journal
        Of the part of this process.
    """

    crew: Crew
    runner: Runner
    state: Driving
    journal: Journal


def drive(team: Team, stage: int, among: range, *, saves: bool = True) -> None:
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
    state, journal = team.state, team.journal
    state.has_success = journal.count(stage) > 0
    feed = Feed(journal.missing(stage, among), len(among) - journal.count(stage))
    attempts: Counter[int] = Counter()
    try:
        with ending_on_ctrl_c(feed):
            while True:
                for outcomes in team.crew.outcomes(team.runner, stage, feed):
                    for outcome in outcomes:
                        _note(outcome, stage, team, feed, attempts)
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
    _raise_failures(state, stage)
    left = sum(1 for _ in journal.missing(stage, among))
    if left:
        raise JobInterrupted(f"{left} tasks did not come back; run the same line again")


def _note(outcome: Outcome, stage: int, team: Team, feed: Feed, attempts: Counter[int]) -> None:
    state, number, failure = team.state, outcome.number, outcome.failure
    if failure is None:
        state.failures.pop((stage, number), None)
        state.has_success = True
        if team.journal.mark(stage, number, outcome.value):
            state.tasks += 1
            state.tell(state.tasks)
        state.bytes_in += outcome.bytes_in
        state.bytes_out += outcome.bytes_out
        state.seconds += outcome.seconds
    elif failure.is_passing and attempts[number] < state.retries and not feed.stopped:
        attempts[number] += 1
        state.again += 1
        feed.again(number, attempts[number])
    elif not team.journal.is_done(stage, number):
        state.failures[stage, number] = failure
        if failure.stops or state.is_hopeless:
            feed.stop()
    if state.events is not None:
        state.events(
            {
                "stage": stage,
                "task": number,
                "seconds": outcome.seconds,
                "bytes_in": outcome.bytes_in,
                "bytes_out": outcome.bytes_out,
                "retries": attempts[number],
                "error": None if failure is None else f"{failure.error}: {failure.message}",
            }
        )


def _raise_failures(state: Driving, stage: int) -> None:
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
