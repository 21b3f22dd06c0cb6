"""The journal of a job: which tasks are done, and their values.

It has one key for each driver (``done-0-of-1``), which is replaced at most once a second, and
keys of values. It lags behind the tasks, never ahead of them: what it lacks is done again, to equal
bytes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zarrix._metadata.json import json_dumps, json_loads
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of

__all__ = ["Journal", "batches", "part_of"]

_LAG_S = 1.0
_REMOTE_LAG_S = 5.0
_REMOTE_TASKS = 1000


class Journal:
    """The finished tasks of a job; kept in a store, or only in memory without one.

    Parameters
    ----------
    counts : sequence of int
        The number of tasks of each stage.
    store : Store, optional
    path : str
        The prefix of its keys.
    part : (int, int)
        Which driver this is, of how many.
    """

    def __init__(
        self,
        counts: Sequence[int],
        store: Store | None = None,
        path: str = "",
        part: tuple[int, int] = (0, 1),
    ) -> None:
        self._store, self._path, self._part = store, path, part
        # A byte for each task: a set of numbers would take sixty times as much.
        self._done = [bytearray(count) for count in counts]
        self.values: list[dict[int, Any]] = [{} for _ in counts]
        self._unsaved: list[dict[int, Any]] = [{} for _ in counts]
        self._pending = 0
        self._saved_at = time.monotonic()
        self._sequence = 0

    def load(self) -> None:
        """Read what all drivers have done."""
        if self._store is None:
            return
        names = self._store.listdir(self._path)
        values = [name for name in names if name.startswith("values-")]
        done = [name for name in names if name.startswith("done-")]
        # Values first: a task is done only if its value is there, and they are stored first.
        keys = [key_of(self._path, name) for name in (*done, *values)]
        found = self._store.getitems(keys, contexts={})
        for name in values:
            document = found.get(key_of(self._path, name))
            if document is not None:
                for stage, one in enumerate(json_loads(document)):
                    self.values[stage].update((int(k), v) for k, v in one.items())
        for name in done:
            document = found.get(key_of(self._path, name))
            if document is None:
                continue
            for stage, runs in enumerate(json_loads(document)):
                for first, count, step in runs:
                    self._done[stage][first : first + count * step : step] = b"\1" * count
        own = f"values-{self._part[0]}-of-{self._part[1]}-"
        taken = [int(name.removeprefix(own)) for name in values if name.startswith(own)]
        self._sequence = max(taken, default=-1) + 1

    def is_done(self, stage: int, number: int) -> bool:
        """Whether a task is done."""
        return bool(self._done[stage][number])

    def count(self, stage: int) -> int:
        """The number of finished tasks of a stage."""
        return self._done[stage].count(1)

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
        self._done[stage][number] = 1
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
        """Store what was recorded since the last time."""
        if self._store is None or not self._pending:
            return
        name = f"{self._part[0]}-of-{self._part[1]}"
        if any(self._unsaved):
            # Values before what says that they are there.
            document = [{str(k): v for k, v in one.items()} for one in self._unsaved]
            self._put(f"values-{name}-{self._sequence}", document)
            self._sequence += 1
            self._unsaved = [{} for _ in self._done]
        step = self._part[1]
        runs = [list(_runs(done, self._part[0], step)) for done in self._done]
        self._put(f"done-{name}", runs)
        self._pending, self._saved_at = 0, time.monotonic()

    def _put(self, name: str, document: Any) -> None:
        assert self._store is not None
        engine = self._store._engine
        key = self._store.engine_path(key_of(self._path, name))
        # As durable as the values that it speaks of, and not more.
        engine.put(key, json_dumps(document, indent=0), fsync=self._store.syncs)

    def in_order(self) -> list[Mapping[int, Any]]:
        """The values of each stage, by ascending number."""
        return [dict(sorted(one.items())) for one in self.values]


def _runs(done: bytearray, first: int, step: int) -> Iterator[tuple[int, int, int]]:
    """Runs of finished tasks: the first, their count, and their distance.

    Those of other drivers are in their own keys, unless this one has no others.
    """
    own = done[first::step] if step > 1 else done
    begin = own.find(1)
    while begin >= 0:
        end = own.find(0, begin)
        end = len(own) if end < 0 else end
        yield (first + begin * step if step > 1 else begin), end - begin, step
        begin = own.find(1, end)


def part_of(part: tuple[int, int], count: int) -> range:
    """The tasks of a part: every n-th, beginning with i."""
    return range(part[0], count, part[1])


def batches(numbers: Iterable[int], length: int) -> Iterator[list[int]]:
    """The same numbers, in lists of a length."""
    remaining = iter(numbers)
    while batch := list(itertools.islice(remaining, length)):
        yield batch
