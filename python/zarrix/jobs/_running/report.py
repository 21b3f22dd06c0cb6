"""What people see of a job: its tasks, and the report of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zarrix._display.printable import counted
from zarrix._display.table import Printed
from zarrix._runtime.sizes import size_text
from zarrix.jobs._running.operation import Stage
from zarrix.jobs._running.tiling import Region

__all__ = ["Report", "Task", "Tasks", "plan_rows"]


@dataclass(frozen=True)
class Task:
    """One task of a job.

    Attributes
    ----------
    stage, number : int
    region : tuple of slice or None
        The elements that it writes; None for a task that writes no elements.
    memory : int
        The bytes that it needs at most, as planned.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.array(range(100), chunks=10, store="one.zarr")
    >>> zarr.jobs.copy(z, "two.zarr", run=False).tasks(0)[0]
    Task(stage=0, number=0, region=None, memory=640)
    """

    stage: int
    number: int
    region: Region | None
    memory: int


@dataclass(frozen=True)
class Report(Printed):
    """What a run of a job did.

    Attributes
    ----------
    job : str
        The name of the job.
    tasks : int
        Tasks that this run has done.
    resumed : int
        Tasks that were done before.
    again : int
        Failed attempts that were made again.
    bytes_in, bytes_out : int
        Bytes that the tasks have read and written.
    seconds : float
    finished : bool
        Whether the result is visible.
    result : object
        What the operation returns: an `Array`, a `Group`, or a report of its own.
    unchecked : tuple of str
        The sources that are on a server, in a database or too large to list, so that the job would
        not see if their stored values changed before its end.
    note : str
        What a part of a job array has left to other parts; empty if there is nothing.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.array(range(6), chunks=2, store="one.zarr")
    >>> report = zarr.jobs.copy(z, "two.zarr", run=False).run()
    >>> report.tasks, report.finished, report.result[:]
    (1, True, array([0, 1, 2, 3, 4, 5]))
    """

    job: str
    tasks: int
    resumed: int
    again: int
    bytes_in: int
    bytes_out: int
    seconds: float
    finished: bool
    result: Any = None
    unchecked: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        done = counted(self.tasks, "task")
        before = f", {self.resumed} done before" if self.resumed else ""
        again = f", {self.again} again" if self.again else ""
        state = "" if self.finished else f"; {self.note or 'not finished'}"
        moved = f"{size_text(self.bytes_in)} read, {size_text(self.bytes_out)} written"
        names = f"; changes of {', '.join(self.unchecked)} are not seen" if self.unchecked else ""
        return f"{done}{before}{again}: {moved} in {self.seconds:.1f} s{state}{names}"

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, without the result.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2], store="one.zarr")
        >>> zarr.jobs.copy(z, "two.zarr", run=False).run().to_json()["finished"]
        True
        """
        told = {name: value for name, value in vars(self).items() if name != "result"}
        return {**told, "seconds": round(self.seconds, 3)}


def _plan_row(stage: Stage) -> tuple[str, ...]:
    return (
        stage.name,
        f"{stage.count:,}",
        str(stage.shape) if stage.shape else "-",
        size_text(stage.memory),
        size_text(stage.bytes_in),
        size_text(stage.bytes_out),
        f"{stage.gets:,} GET, {stage.puts:,} PUT",
    )


def plan_rows(stages: Sequence[Stage]) -> list[str]:
    """The plan as lines of a table: a stage in each."""
    heads = ("stage", "tasks", "region", "memory", "reads", "writes", "requests")
    table = [heads, *map(_plan_row, stages)]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    padded = ([cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in table)
    return ["  ".join(cells).rstrip() for cells in padded]


class Tasks(Sequence[Task]):
    """The tasks of a stage, computed when asked for."""

    def __init__(self, number: int, stage: Stage) -> None:
        self._number, self._stage = number, stage

    def __len__(self) -> int:
        return self._stage.count

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if not 0 <= number < len(self):
            raise IndexError(f"task {at} of a stage of {len(self)} tasks")
        return Task(self._number, number, self._stage.region(number), self._stage.memory)
