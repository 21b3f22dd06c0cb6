"""The stages of a run: one after the other, in one process or in the parts of a job array."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zarrix._errors import JobInterrupted
from zarrix.jobs._running.drive import Team, drive
from zarrix.jobs._running.journal import Journal, part_of
from zarrix.jobs._running.parts import Parts, drive_parts

__all__ = ["Share", "drive_as_part", "drive_stages"]


class Share(NamedTuple):
    """What a run does of a job: all of it, every n-th task, or one stage.

    Attributes
    ----------
    part : (int, int), optional
        ``(i, n)``: every n-th task, beginning with i.
    stage : int, optional
    patience : float
        Seconds without a sign of the parts that a part waits for.
    """

    part: tuple[int, int] | None
    stage: int | None
    patience: float

    @property
    def is_all(self) -> bool:
        """Whether the job is done at the end of the run."""
        return self.part is None and self.stage is None


def drive_stages(team: Team, counts: list[int], share: Share) -> None:
    """Have the tasks of all stages done, or those of one.

    Raises
    ------
    JobInterrupted
        The stages before one are not done.
    """
    for at in range(len(counts)) if share.stage is None else [share.stage]:
        if not all(team.journal.is_complete(before) for before in range(at)):
            raise JobInterrupted(
                f"stage {at} needs all tasks of the stages before it, and they are not done; run "
                "the same line again when they are"
            )
        # It may be synced, which takes longer than a short job.
        saves = not share.is_all or at + 1 < len(counts)
        drive(team, at, part_of(share.part or (0, 1), counts[at]), saves=saves)


def drive_as_part(
    team: Team,
    parts: Parts,
    journal_of: Callable[[tuple[int, int]], Journal],
    patience: float,
) -> str:
    """Have the share of a part done in all stages, and shares of parts that have left.

    Parameters
    ----------
    team : Team
    parts : Parts
    journal_of : callable
        The journal of another part of the same run.
    patience : float
        Seconds without a sign of the parts that are waited for.

    Returns
    -------
    str
        What is left to other parts; empty if there is nothing.
    """
    tell = team.state.tell

    def tell_and_beat(done: int) -> None:
        parts.beat()
        tell(done)

    team.state.tell = tell_and_beat

    def work(at: int, number: int) -> None:
        part = number, parts.count
        own = team if number == parts.number else team._replace(journal=journal_of(part))
        drive(own, at, part_of(part, parts.counts[at]))

    return drive_parts(parts, work, team.journal.is_complete, patience)
