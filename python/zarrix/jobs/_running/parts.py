"""The parts of a job array: each is a process with every n-th task of each stage.

A scheduler may run only some of them at once. Therefore a part waits only for parts that have
begun. Where tasks of others have not begun, it leaves, and the parts that are still there at the
next stage take over its share. The part that ends last in a stage finds all others done, so that
one at least goes on.

What parts tell each other is in the names of keys: one listing has all of it, however many there
are.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from zarrix._errors import JobInterrupted
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of

__all__ = ["Parts", "drive_parts"]

_BEGUN, _LEFT, _DONE, _TAKEN = "begun", "left", "done", "taken"
# Pauses between two listings grow up to so many seconds, and to a tenth of a second for each part.
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 30.0
_PAUSE_OF_A_PART_S = 0.1
# A part tells that it is alive at most so often, and those that wait ask a few.
_BEAT_S = 15.0
_ASKED = 4

_sleep = time.sleep


class Parts:
    """What the parts of a run of a job have begun and done.

    Parameters
    ----------
    store : Store
    path : str
        The prefix of the keys.
    run : str
        The name of the run; other runs count for nothing.
    part : (int, int)
        Which part this is, of how many.
    counts : sequence of int
        The number of tasks of each stage.
    """

    def __init__(
        self, store: Store, path: str, run: str, part: tuple[int, int], counts: Sequence[int]
    ) -> None:
        self.number, self.count = part
        self.counts = counts
        self._store = store
        self._path = key_of(path, f"parts-{run}-{self.count}")
        self._names: frozenset[str] = frozenset()
        self._beat_at = time.monotonic()
        self._beats = 0
        self._random = random.Random()

    def begin(self) -> None:
        """Tell that this part is here."""
        self._put(f"{_BEGUN}-{self.number}")
        if f"{_LEFT}-{self.number}" in self.look():
            del self._store[self._key(f"{_LEFT}-{self.number}")]

    def beat(self) -> None:
        """Tell that this part has finished tasks, from time to time."""
        now = time.monotonic()
        if now - self._beat_at >= _BEAT_S:
            self._beat_at = now
            self._beats += 1
            self._put(f"{_BEGUN}-{self.number}", self._beats)

    def record(self, stage: int, number: int) -> None:
        """Tell that the share of a part in a stage is done."""
        self._put(f"{_DONE}-{stage}-{number}")

    def leave(self) -> None:
        """Tell that other parts have to do what is left of the share of this one."""
        self._put(f"{_LEFT}-{self.number}")

    def take(self, stage: int, number: int) -> bool:
        """Take over the share of another part; False if one has it already."""
        own, taken = str(self.number).encode(), self._key(f"{_TAKEN}-{stage}-{number}")
        stored = self._store.update_value(taken, lambda old: own if old is None else old)
        return stored == own

    def look(self) -> frozenset[str]:
        """What all parts have told, by one listing."""
        self._names = frozenset(self._store.listdir(self._path))
        return self._names

    def undone(self, stage: int) -> list[int]:
        """The parts whose share of a stage is not done, as last seen."""
        having = range(min(self.count, self.counts[stage]))
        return [one for one in having if f"{_DONE}-{stage}-{one}" not in self._names]

    def to_take(self, stage: int) -> list[int]:
        """The parts that have left, whose share of a stage is not taken over, as last seen."""
        return [
            one
            for one in self.undone(stage)
            if f"{_LEFT}-{one}" in self._names and f"{_TAKEN}-{stage}-{one}" not in self._names
        ]

    def not_begun(self, numbers: Sequence[int]) -> list[int]:
        """Those of some parts that have not begun, as last seen."""
        return [one for one in numbers if f"{_BEGUN}-{one}" not in self._names]

    def signs(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """What a few of some parts, drawn at random, have told last."""
        drawn = self._random.sample(list(numbers), min(_ASKED, len(numbers)))
        keys = {self._key(f"{_BEGUN}-{one}"): one for one in drawn}
        found = self._store.getitems(list(keys), contexts={})
        return {keys[key]: bytes(value) for key, value in found.items()}

    def pause(self, times: int) -> float:
        """The seconds before the next listing: at random, so that parts do not list together."""
        longest = min(_LONGEST_PAUSE_S, max(1.0, _PAUSE_OF_A_PART_S * self.count))
        return min(longest, _FIRST_PAUSE_S * 1.5**times) * self._random.uniform(0.5, 1.5)

    def _key(self, name: str) -> str:
        return key_of(self._path, name)

    def _put(self, name: str, beats: int = 0) -> None:
        self._store[self._key(name)] = str(beats).encode()


def drive_parts(
    parts: Parts,
    work: Callable[[int, int], None],
    is_complete: Callable[[int], bool],
    patience: float,
) -> str:
    """Do the share of a part in every stage, and shares of parts that have left.

    Parameters
    ----------
    parts : Parts
    work : callable
        ``work(stage, number)`` does the share of a part, and returns when it is done.
    is_complete : callable
        Whether a stage is known to be complete.
    patience : float
        Seconds without a sign of the parts that are waited for.

    Returns
    -------
    str
        What is left to parts that have not begun; empty if there is nothing.

    Raises
    ------
    JobInterrupted
        Parts that have begun neither end nor tell anything.
    """
    parts.begin()
    stages = range(len(parts.counts))
    for stage in stages:
        if stage and not is_complete(stage - 1):
            later = _settled(parts, stage - 1, work, patience)
            if later:
                parts.leave()
                return (
                    f"the tasks of stage {stage} are left to the parts that have not begun, of "
                    f"which part {later[0]} of {parts.count} is the first"
                )
        work(stage, parts.number)
        parts.record(stage, parts.number)
    parts.look()
    _take_over(parts, stages[-1], work)
    return ""


def _settled(
    parts: Parts, stage: int, work: Callable[[int, int], None], patience: float
) -> list[int]:
    """Wait until all shares of a stage are done; or the parts that have not begun theirs."""
    heard, times, before = time.monotonic(), 0, -1
    signs: dict[int, bytes] = {}
    while True:
        parts.look()
        if _take_over(parts, stage, work):
            parts.look()
        missing = parts.undone(stage)
        later = parts.not_begun(missing)
        if not missing or later:
            return later
        if len(missing) != before:
            heard, before, times = time.monotonic(), len(missing), 0
        elif time.monotonic() - heard >= patience / 2:
            now = parts.signs(missing)
            if any(signs.get(one, b"0") != told for one, told in now.items()):
                heard = time.monotonic()
            signs |= now
        if time.monotonic() - heard >= patience:
            raise JobInterrupted(
                f"part {missing[0]} of {parts.count} has begun and does not end its share of stage "
                f"{stage}; run the same line again when it is done"
            )
        _sleep(parts.pause(times))
        times += 1


def _take_over(parts: Parts, stage: int, work: Callable[[int, int], None]) -> bool:
    """Do shares of parts that have left, one after the other; whether there were any."""
    took = False
    while numbers := parts.to_take(stage):
        # Those that take over at the same time begin with different ones.
        number = numbers[parts.number % len(numbers)]
        if parts.take(stage, number):
            work(stage, number)
            parts.record(stage, number)
            took = True
        parts.look()
    return took
