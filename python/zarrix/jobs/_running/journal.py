"""The journal of a job: which tasks are done, and their values.

Each driver has keys of its own, with a random name: ``done-NAME``, which is replaced at most once a
second, and ``values-NAME-0`` and so on. A task with a value is done only if its value is there; all
others are if ``done`` says so. The journal lags behind the tasks, never ahead of them: what it
lacks is done again, to equal bytes. Every document names the run that it belongs to, and those of
other runs do not count.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from zarrix._metadata.json import json_dumps
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix.jobs._running.foreign import done_of, values_of

__all__ = ["Journal", "batches", "part_of"]

_LAG_S = 1.0
_REMOTE_LAG_S = 5.0
_REMOTE_TASKS = 1000
# What a task is: not done, done, or done with a value.
_DONE, _VALUED = 1, 2
_WITHOUT_VALUED = bytes.maketrans(bytes([_VALUED]), bytes([0]))


class Journal:
    """The finished tasks of a job; kept in a store, or only in memory without one.

    Parameters
    ----------
    counts : sequence of int
        The number of tasks of each stage.
    run : str
        The run that the tasks belong to.
    place : (Store, str), optional
        Where it is stored, and the prefix of its keys.
    part : (int, int)
        Which driver this is, of how many.
    goes_on : callable, optional
        Whether the run has not ended: after its end, nothing is stored.
    """

    def __init__(
        self,
        counts: Sequence[int],
        run: str,
        place: tuple[Store, str] | None = None,
        part: tuple[int, int] = (0, 1),
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self._counts, self._run = list(counts), run
        self.place, self._part, self._goes_on = place, part, goes_on
        self._store: Store | None = None if place is None else place[0]
        self._path = "" if place is None else place[1]
        # A byte for each task: a set of numbers would take sixty times as much.
        self._done = [bytearray(count) for count in counts]
        self.values: list[dict[int, Any]] = [{} for _ in counts]
        self._unsaved: list[dict[int, Any]] = [{} for _ in counts]
        self._pending = 0
        self._saved_at = time.monotonic()
        self._name, self._sequence, self._process = "", 0, 0

    def load(self) -> None:
        """Read what all drivers have done.

        Raises
        ------
        JobError
            A document of the journal is damaged.
        """
        if self._store is None:
            return
        names = self._store.listdir(self._path)
        # Parts of a job array keep theirs beside it.
        kept = [name for name in names if name.startswith(("values-", "done-"))]
        keys = [key_of(self._path, name) for name in kept]
        for key, document in self._store.getitems(keys, contexts={}).items():
            name = key.rpartition("/")[2]
            if name.startswith("values-"):
                values = values_of(bytes(document), key, self._run, self._counts)
                for stage, one in enumerate(values or ()):
                    self.values[stage].update(one)
                    for number in one:
                        self._done[stage][number] = _VALUED
            elif name.startswith("done-"):
                done = done_of(bytes(document), key, self._run, self._counts)
                for stage, runs in enumerate(done or ()):
                    for run in runs:
                        self._mark_all(stage, run)

    def _mark_all(self, stage: int, run: range) -> None:
        done = self._done[stage]
        part = slice(run.start, run.stop, run.step)
        if _VALUED in done[part]:
            for number in run:
                done[number] = done[number] or _DONE
        else:
            done[part] = bytes([_DONE]) * len(run)

    def is_done(self, stage: int, number: int) -> bool:
        """Whether a task is done."""
        return bool(self._done[stage][number])

    def count(self, stage: int) -> int:
        """The number of finished tasks of a stage."""
        return self._counts[stage] - self._done[stage].count(0)

    def is_complete(self, stage: int) -> bool:
        """Whether all tasks of a stage are done."""
        return 0 not in self._done[stage]

    def missing(self, stage: int, among: range) -> Iterator[int]:
        """Those of some tasks that are not done."""
        done = self._done[stage]
        return (number for number in among if not done[number])

    def mark(self, stage: int, number: int, value: Any) -> bool:
        """Record a finished task; False if it was recorded before."""
        if self._done[stage][number]:
            return False
        self._done[stage][number] = _DONE if value is None else _VALUED
        if value is not None:
            self.values[stage][number] = value
            self._unsaved[stage][number] = value
        self._pending += 1
        if self._store is not None:
            lag = _REMOTE_LAG_S if self._store.is_remote else _LAG_S
            late = time.monotonic() - self._saved_at >= lag
            if late or (self._store.is_remote and self._pending >= _REMOTE_TASKS):
                self.save()
        return True

    def save(self) -> None:
        """Store what was recorded since the last time, unless the run has ended."""
        if self._store is None or not self._pending or not self._goes_on():
            return
        if self._process != os.getpid():
            # A fork has the numbers of its parent, and may not replace what that stores.
            self._name, self._sequence, self._process = os.urandom(8).hex(), 0, os.getpid()
        stored = []
        if any(self._unsaved):
            document = [{str(k): v for k, v in one.items()} for one in self._unsaved]
            stored.append(self._put(f"values-{self._name}-{self._sequence}", document))
            self._sequence += 1
            self._unsaved = [{} for _ in self._done]
        first, step = self._part
        runs = [list(_runs(done, first, step)) for done in self._done]
        stored.append(self._put(f"done-{self._name}", runs))
        self._pending, self._saved_at = 0, time.monotonic()
        if not self._goes_on():
            # It ended between the two questions: what came back after that goes again.
            for key in stored:
                self._store._engine.delete(key, fsync=self._store.syncs)

    def _put(self, name: str, stages: Any) -> str:
        assert self._store is not None
        engine = self._store._engine
        key = self._store.engine_path(key_of(self._path, name))
        document = json_dumps({"run": self._run, "stages": stages}, indent=0)
        # As durable as the values that it speaks of, and not more.
        engine.put(key, document, fsync=self._store.syncs)
        return key

    def in_order(self) -> list[Mapping[int, Any]]:
        """The values of each stage, by ascending number."""
        return [dict(sorted(one.items())) for one in self.values]


def _runs(done: bytearray, first: int, step: int) -> Iterator[tuple[int, int, int]]:
    """Runs of finished tasks without a value: the first, their count, and their distance.

    Those of other drivers are in their own keys, unless this one has no others.
    """
    own = (done[first::step] if step > 1 else done).translate(_WITHOUT_VALUED)
    begin = own.find(_DONE)
    while begin >= 0:
        end = own.find(0, begin)
        end = len(own) if end < 0 else end
        yield (first + begin * step if step > 1 else begin), end - begin, step
        begin = own.find(_DONE, end)


def part_of(part: tuple[int, int], count: int) -> range:
    """The tasks of a part: every n-th, beginning with i."""
    return range(part[0], count, part[1])


def batches(numbers: Iterable[int], length: int) -> Iterator[list[int]]:
    """The same numbers, in lists of a length."""
    remaining = iter(numbers)
    while batch := list(itertools.islice(remaining, length)):
        yield batch
