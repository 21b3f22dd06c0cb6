"""Every call to the store fails in turn: an error, a lost answer, late, truncated, out of order.

After each the hierarchy holds for every document and chunk what was there or what was to be, the
error says what happened and where, and the next who does the same finds nothing in the way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import zarrix as zarr
from zarrix import _engine

from tests.reliability.figures import Figure
from tests.reliability.libraries import Library
from tests.reliability.story import Opened, Step, Story, look, strays

_FAULTS = ("refused", "answer lost", "delayed", "cut")


_KNOWN = (OSError, zarr.errors.ZarrixError)
_AGAIN = (zarr.errors.ZarrixError, KeyError, ValueError)
"""What a step raises that is taken a second time, when the first has done its work."""

_NAMED = ("consolidated", "orphan", "missing")
"""Problems that `verify` names where nothing is damaged.

A store without renames deletes a node key by key, its metadata first: what is left then belongs to
no node, or is a member of a group that is gone.
"""


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """Each kind of step, with each kind of fault, at each of its calls, or a third if quick."""
    told = [
        outcome
        for zarr_format in (2, 3)
        for kind in Story(zarr_format, 0).kinds
        for number, fault in enumerate(_FAULTS)
        # Not inline: values are asked for in batches, and come in another order.
        for inline in ((True, False) if scale >= 1 else (zarr_format == 2,))
        for outcome in _each_call(
            # Each call is then the turn of one or two of the faults.
            *(zarr_format, kind, fault, inline),
            range(1000) if scale >= 1 else range(number % 3, 1000, 3),
        )
    ]
    what = f"{len(told)} calls that go wrong: "
    return [
        Figure(f"{what}documents and chunks neither old nor new", told.count("stray"), "= 0"),
        Figure(f"{what}errors that do not say what happened", told.count("unsaid"), "= 0"),
        Figure(f"{what}in the way of the next", told.count("stuck"), "= 0"),
        Figure(f"{what}errors", told.count("error"), "> 0"),
    ]


def _each_call(
    zarr_format: int, kind: str, fault: str, inline: bool, calls: range
) -> Iterator[str]:
    """What came of the fault at each of these calls, until a step is over before it."""
    for at in calls:
        inner, step = _stage(zarr_format, kind)
        old = look(inner, zarr_format)
        store = _engine.FaultyStore(inner, fault, at, inline)
        error = _taken(store, step, zarr_format)
        if not store.has_failed:
            return
        found = look(inner, zarr_format)
        new = _new(zarr_format, kind)
        left = strays(found, new if error is None else old, new)
        outcome = "ok" if error is None else "error"
        if left:
            outcome = "stray"
        elif error is not None and (fault == "delayed" or not _says(error, inner)):
            outcome = "unsaid"
        elif not _goes_on(inner, step, zarr_format):
            outcome = "stuck"
        if outcome not in ("ok", "error"):
            where = f"format {zarr_format}, {kind}, {fault} at {at}, inline {inline}"
            print(f"{where}: {outcome} {left} {error!r}"[:600], file=sys.stderr)
        yield outcome
    raise AssertionError(f"{kind} makes more than 1000 calls")


def _stage(zarr_format: int, kind: str) -> tuple[Any, Step]:
    """A store after a story's beginning, and the step that comes next; always the same."""
    inner, story = _engine.MemoryStore(), Story(zarr_format, 1)
    story.begin(Opened(inner))
    return inner, story.kinds[kind]()


@cache
def _new(zarr_format: int, kind: str) -> dict[str, Any]:
    inner, step = _stage(zarr_format, kind)
    step(zarr.open_group(Opened(inner), mode="r+", zarr_format=zarr_format))
    return look(inner, zarr_format)


def _taken(engine: Any, step: Step, zarr_format: int) -> Exception | None:
    """Takes the step; what it raised."""
    try:
        step(zarr.open_group(Opened(engine), mode="r+", zarr_format=zarr_format))
    except Exception as error:
        return error
    return None


def _says(error: Exception, inner: Any) -> bool:
    """Whether an error is one of ours or the system's, and names a key or what it begins with."""
    places = {part for key in inner.list_prefix("") for part in (key, key.rpartition("/")[0])}
    return isinstance(error, _KNOWN) and any(place in str(error) for place in places)


def _goes_on(inner: Any, step: Step, zarr_format: int) -> bool:
    """Whether the step can be taken again, or had been taken, and all that is stored is sound."""
    error = _taken(inner, step, zarr_format)
    verified = zarr.verify(Opened(inner))
    return (error is None or isinstance(error, _AGAIN)) and not [
        problem for problem in verified.problems if problem.kind not in _NAMED
    ]
