"""What a job reads, and whether its stored values are those that the job began with.

A job takes the state of its sources when it begins, and again before it goes on and before its
result becomes visible. Then a result is made of one state of each source, or there is an error.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from zarrix._display.printable import counted
from zarrix._errors import SourceChangedError
from zarrix._metadata.json import json_dumps
from zarrix._stores.generations import StoredState, state_below
from zarrix.jobs._running.places import Place

__all__ = [
    "States",
    "Source",
    "check_unchanged",
    "digest_of_states",
    "source_at",
    "states_of",
    "unknown_in",
]

States = Mapping[str, StoredState | None]
_MOST_SHOWN = 3


class Source(NamedTuple):
    """Something that a job reads.

    Attributes
    ----------
    name : str
        For people, and the same in each process.
    state : callable
        Its state, given the time at which the first state was taken; None if it cannot tell it.
    """

    name: str
    state: Callable[[int], StoredState | None]


def source_at(name: str, place: Place) -> Source:
    """The chunks of an array."""
    return Source(name, lambda as_of: state_below(place.chunks, place.path, as_of))


def states_of(sources: Iterable[Source], as_of: int) -> dict[str, StoredState | None]:
    """The states of sources by name."""
    return {one.name: one.state(as_of) for one in sources}


def digest_of_states(states: States) -> str:
    """A short digest of the states of all sources."""
    told = [[name, None if one is None else one.digest] for name, one in sorted(states.items())]
    return hashlib.sha256(json_dumps(told)).hexdigest()[:16]


def unknown_in(states: States) -> list[str]:
    """The sources whose changes are not seen."""
    return [name for name, one in states.items() if one is None]


def changes(before: States, now: States) -> Iterator[str]:
    """What differs, for people."""
    for name, one in before.items():
        other = now.get(name)
        if one is None or one == other:
            continue
        if other is None:
            yield f"{name} cannot tell its state any more"
            continue
        told = f"{name} had {_told(one)}, and has {_told(other)}"
        yield f"{told}, the newest of {_time(other.newest)}" if other.newest else told


def check_unchanged(before: States, now: States, what: str, ways_out: str) -> None:
    """Raise an error if stored values of a source were changed.

    Raises
    ------
    SourceChangedError
        It says which source, and the ways out.
    """
    found = list(changes(before, now))
    if found:
        more = f", and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        listed = "; ".join(found[:_MOST_SHOWN])
        raise SourceChangedError(
            f"stored values of the source have changed since {what}: {listed}{more}; {ways_out}"
        )


def _told(state: StoredState) -> str:
    return f"{counted(state.values, 'value')} of {state.nbytes:,} bytes"


def _time(nanoseconds: int) -> str:
    return datetime.datetime.fromtimestamp(nanoseconds / 1e9).isoformat(" ", "seconds")
