"""The stages of a run: one after the other, in one process or in the parts of a job array."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zarrix._errors import JobInterrupted
from zarrix.jobs._running.crews import Crew
from zarrix.jobs._running.drive import Driving, drive
from zarrix.jobs._running.journal import Journal, part_of
from zarrix.jobs._running.parts import Parts, drive_parts
from zarrix.jobs._running.worker import Runner

__all__ = ["Team", "drive_stages"]


class Team(NamedTuple):
    """What does the tasks of a run, and what records them.

    Attributes
    ----------
    crew : Crew
    runner : Runner
    state : Driving
    journal : Journal
        Of the part of this process.
    journal_of : callable
        The journal of another part of the same run.
    """

    crew: Crew
    runner: Runner
    state: Driving
    journal: Journal
    journal_of: Callable[[tuple[int, int]], Journal]


def drive_stages(
    team: Team,
    counts: list[int],
    part: tuple[int, int] | None,
    stage: int | None,
    parts: Parts | None,
    patience: float,
) -> str:
    """Have the tasks of all stages done, or those of one, or those of a part.

    Returns
    -------
    str
        What is left to other parts; empty if there is nothing.

    Raises
    ------
    JobInterrupted
        The stages before one are not done.
    """
    if parts is not None:
        return _as_part(team, counts, parts, patience)
    for at in range(len(counts)) if stage is None else [stage]:
        if not all(team.journal.is_complete(one) for one in range(at)):
            raise JobInterrupted(
                f"stage {at} needs all tasks of the stages before it, and they are not done; run "
                "the same line again when they are"
            )
        # It may be synced, which takes longer than a short job.
        saves = part is not None or stage is not None or at + 1 < len(counts)
        among = part_of(part or (0, 1), counts[at])
        drive(team.crew, team.runner, at, team.journal, among, team.state, saves=saves)
    return ""


def _as_part(team: Team, counts: list[int], parts: Parts, patience: float) -> str:
    tell = team.state.tell

    def tell_and_beat(done: int) -> None:
        parts.beat()
        tell(done)

    team.state.tell = tell_and_beat

    def work(at: int, number: int) -> None:
        share = number, parts.count
        journal = team.journal if number == parts.number else team.journal_of(share)
        drive(team.crew, team.runner, at, journal, part_of(share, counts[at]), team.state)

    return drive_parts(parts, work, team.journal.is_complete, patience)
