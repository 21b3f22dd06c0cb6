"""Documents of jobs that this process did not write become values here, or one clear error.

A job folder can come from anywhere, and can be damaged. Everything that is read from one is parsed
by a function of this module, and nothing else is believed of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from zarrix import _engine
from zarrix._errors import JobError, ZarrixError, shorten
from zarrix._metadata.json import json_loads
from zarrix._stores.generations import StoredState

__all__ = ["FORM", "Claim", "Mark", "claim_of", "done_of", "job_of", "mark_of", "values_of"]

FORM = 2
"""The version of these documents."""

_STATES = ("running", "finishing", "finished", "abandoned")
_WAYS_OUT = "remove it, or begin the job again with overwrite=True"


class Claim(NamedTuple):
    """Which job has a folder, and how far it is.

    Attributes
    ----------
    job : str
        The id of the job.
    run : str
        A random name for what was begun once; a job that is begun again gets another one.
    state : str
        "running" until all tasks are done; "finishing" while documents are stored; "finished" when
        the result stands and only the folder is left; "abandoned" while all is removed.
    as_of : int
        When the state of the sources was taken, in nanoseconds.
    sources : mapping of str to StoredState or None
        Their states then; None for a source that cannot tell it.
    document : mapping
        The document of the job.
    """

    job: str
    run: str
    state: str
    as_of: int
    sources: Mapping[str, StoredState | None]
    document: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The claim as JSON values."""
        told = {name: None if one is None else list(one) for name, one in self.sources.items()}
        return {"zarrix_job": FORM, **self._asdict(), "sources": told}


class Mark(NamedTuple):
    """What a finished result has beside its metadata, in few bytes.

    Attributes
    ----------
    job : str
    run : str
    as_of : int
        When the states of the sources were taken, in nanoseconds.
    sources : str
        A digest of the states of the sources that the result was made of.
    """

    job: str
    run: str
    as_of: int
    sources: str

    def to_bytes(self) -> bytes:
        """The mark as it is stored."""
        return f"{self.job} {self.run} {self.as_of} {self.sources}".encode()


def job_of(value: bytes, label: str) -> tuple[dict[str, Any], str]:
    """The document of a job, and the id that was stored with it; empty if there was none.

    Raises
    ------
    JobError
        It is not a job of this version.
    """
    told = _parsed(value, label)
    if not isinstance(told, dict) or told.get("zarrix_job") != FORM:
        raise JobError(f"{label!r} is not a job that this version of zarrix knows")
    document = told.get("document", told)
    stored = told.get("job", "")
    fits = isinstance(document, dict) and document.get("zarrix_job") == FORM
    fits = fits and isinstance(stored, str)
    for name, kind in (("kind", str), ("engine", str), ("places", dict), ("parameters", dict)):
        fits = fits and isinstance(document.get(name), kind)
    if not fits or not all(isinstance(one, dict) for one in document["places"].values()):
        raise JobError(f"the job {label!r} is damaged: members are missing, or of another type")
    if document["engine"] != _engine.__version__:
        raise JobError(
            f"the job {label!r} is of zarrix {document['engine']}, and this is "
            f"{_engine.__version__}: bytes could differ; go on with that version, or abandon it"
        )
    return document, stored


def claim_of(value: bytes, label: str) -> Claim:
    """The claim in the folder of a job.

    Raises
    ------
    JobError
        It is damaged, or of another version.
    """
    told = _parsed(value, label)
    if not isinstance(told, dict) or told.get("zarrix_job") != FORM:
        raise JobError(f"{label!r} is not a job that this version of zarrix knows; {_WAYS_OUT}")
    try:
        found = Claim(
            told["job"],
            told["run"],
            told["state"],
            told["as_of"],
            _states(told["sources"]),
            told["document"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(label, error) from error
    types = zip(found[:4] + found[5:], (str, str, str, int, dict), strict=True)
    if found.state not in _STATES or not all(isinstance(one, kind) for one, kind in types):
        raise _damaged(label, f"state {shorten(found.state)}")
    if not found.run.isalnum():
        raise _damaged(label, f"run {shorten(found.run)}")
    return found


def mark_of(value: bytes) -> Mark | None:
    """The mark of a finished result; None for what is not one: then no job has made it."""
    try:
        job, run, as_of, sources = value.decode("ascii").split(" ")
        return Mark(job, run, int(as_of), sources)
    except ValueError:
        return None


def done_of(value: bytes, label: str, run: str, counts: list[int]) -> list[list[range]] | None:
    """The runs of finished tasks of each stage; None if they are those of another run.

    Raises
    ------
    JobError
        The document is damaged.
    """
    told = _of_run(value, label, run, len(counts))
    if told is None:
        return None
    try:
        return [
            [_range(one, count) for one in runs] for runs, count in zip(told, counts, strict=True)
        ]
    except (TypeError, ValueError) as error:
        raise _damaged(label, error) from error


def values_of(value: bytes, label: str, run: str, counts: list[int]) -> list[dict[int, Any]] | None:
    """The values of tasks of each stage; None if they are those of another run.

    Raises
    ------
    JobError
        The document is damaged.
    """
    told = _of_run(value, label, run, len(counts))
    if told is None:
        return None
    try:
        found = [{int(number): one for number, one in values.items()} for values in told]
    except (AttributeError, ValueError) as error:
        raise _damaged(label, error) from error
    for values, count in zip(found, counts, strict=True):
        if any(not 0 <= number < count for number in values):
            raise _damaged(label, f"a task that is not one of {count}")
    return found


def _parsed(value: bytes, label: str) -> Any:
    try:
        return json_loads(value)
    except (ValueError, RecursionError, ZarrixError) as error:
        raise _damaged(label, error) from error


def _of_run(value: bytes, label: str, run: str, stages: int) -> list[Any] | None:
    told = _parsed(value, label)
    if not isinstance(told, dict) or not isinstance(told.get("stages"), list):
        raise _damaged(label, "expected a mapping with 'run' and 'stages'")
    if told.get("run") != run:
        return None
    if len(told["stages"]) != stages:
        raise _damaged(label, f"{len(told['stages'])} stages, and the job has {stages}")
    found: list[Any] = told["stages"]
    return found


def _range(value: Any, total: int) -> range:
    first, count, step = value
    if not all(type(one) is int for one in (first, count, step)):
        raise TypeError(f"{first!r}, {count!r}, {step!r} are not numbers")
    if first < 0 or count < 1 or step < 1 or first + (count - 1) * step >= total:
        raise ValueError(f"{count} tasks from {first} by {step}, and the stage has {total}")
    return range(first, first + count * step, step)


def _states(value: Any) -> dict[str, StoredState | None]:
    if not isinstance(value, dict):
        raise TypeError(f"the states of the sources are {shorten(value)}")
    found: dict[str, StoredState | None] = {}
    for name, one in value.items():
        if one is None:
            found[name] = None
            continue
        count, nbytes, newest, digest = one
        if not all(type(n) is int for n in (count, nbytes, newest)) or type(digest) is not str:
            raise TypeError(f"the state of {name!r} is {shorten(one)}")
        found[name] = StoredState(count, nbytes, newest, digest)
    return found


def _damaged(label: str, why: object) -> JobError:
    return JobError(f"{label!r} is damaged ({shorten(str(why))}); {_WAYS_OUT}")
