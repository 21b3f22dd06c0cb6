"""Jobs from documents: of a file, or of the folder at a destination."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zarrix._display.printable import counted
from zarrix._errors import JobError, ZarrixError, shorten
from zarrix._stores.path import normalize_storage_path
from zarrix.jobs._running.folder import Folder
from zarrix.jobs._running.foreign import job_of
from zarrix.jobs._running.operation import Setting, class_of
from zarrix.jobs._running.places import place_at
from zarrix.jobs._running.report import Tasks

if TYPE_CHECKING:
    from zarrix.jobs._running.job import Job

__all__ = ["check_part", "loaded", "require_home", "understood"]

# The journal has a byte for each.
_MOST_TASKS = 1 << 28
_OF_PARAMETERS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError),
    *(RecursionError, TypeError, ValueError),
)


def loaded(
    make: type[Job],
    value: bytes,
    label: str,
    function: Callable[..., Any] | None,
    modules: Sequence[str],
) -> Job:
    """The job of a document.

    Raises
    ------
    JobError
        It is damaged, or calls a function that is neither given nor allowed.
    """
    document, stored = job_of(value, label)
    parameters = document["parameters"]
    with understood(label):
        objects = class_of(document["kind"]).objects_of(parameters, function, modules)
        places = {name: place_at(one) for name, one in document["places"].items()}
        job = make(document["kind"], Setting(parameters, places, objects))
        _look_over(job)
    job._where = label
    if stored and stored != job.id:
        raise JobError(f"the job {label!r} is damaged: it is not the one with the id {stored!r}")
    return job


@contextlib.contextmanager
def understood(label: str | None) -> Iterator[None]:
    """Errors that the parameters of a document cause, as one error that names the document.

    Operations take what they have planned themselves, and the parameters of a document from
    elsewhere may be anything. None for a job of this process, whose errors are what they are.
    """
    try:
        yield
    except ZarrixError:
        raise
    except _OF_PARAMETERS as error:
        if label is None:
            raise
        raise JobError(
            f"the job {label!r} is damaged ({type(error).__name__}: {shorten(str(error))}); plan "
            "it again"
        ) from error


def _look_over(job: Job) -> None:
    """Compute all that the plan says, as far as no store is asked."""
    operation = job._operation
    for number, stage in enumerate(job.stages):
        if type(stage.count) is not int or not 0 <= stage.count <= _MOST_TASKS:
            raise ValueError(f"a stage has {shorten(stage.count)} tasks")
        tasks = Tasks(number, stage)
        _ = [tasks[at] for at in (0, -1) if len(tasks)]
    str(job)
    operation.kept()
    operation.sources()
    marked = [] if operation.marked is None else [operation.marked]
    for place in [*operation.new_places, *marked, *operation.read_places().values()]:
        if normalize_storage_path(place.path) != place.path:
            raise ValueError(f"{shorten(place.path)} is not a path")


def require_home(job: Job, folder: Folder, label: str) -> None:
    """Raise an error if a job was found in a folder that is not that of its destination.

    Raises
    ------
    JobError
        The folder was moved or copied.
    """
    own = job._operation.folder
    if own is None or own.store._engine.id != folder.store._engine.id or own.path != folder.path:
        place = job.document["places"].get(job._operation.destination or "")
        raise JobError(
            f"the job in {label!r} belongs to another destination, {place}: its folder was moved "
            "or copied; go on with it there, or begin again with overwrite=True"
        )


def check_part(part: Any, stage: Any, stages: int) -> None:
    """Raise an error for a part or a stage that the job does not have.

    Raises
    ------
    ValueError, JobError
    """
    is_pair = isinstance(part, tuple | list) and len(part) == 2
    if part is not None and not (
        is_pair and all(type(n) is int for n in part) and 0 <= part[0] < part[1]
    ):
        raise ValueError(f"part={part!r}; expected (i, n) with 0 <= i < n")
    if stage is not None and (type(stage) is not int or not 0 <= stage < stages):
        raise JobError(f"stage={stage!r}; the job has {counted(stages, 'stage')}, from 0")
