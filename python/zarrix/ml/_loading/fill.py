"""Reading ahead: a thread that fills batches, and the queue from which they are taken.

A fill is one native call, for one batch or for several: those of one window of blocks, so that each
chunk of the window is decoded once. The batches of other orders are read together, too, where their
samples share chunks: as many as the loader's memory holds beside those that wait to be used, which
is at least half of it. Batches of a window are delivered while the rest of it is read
(`Reading`). The samples of a batch that belong to the next window are read with that one.

Where a window is not read in a thread, or replaces what is corrupt at the end of a call, its first
fills are short, so that the first batch does not wait for the window.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from zarrix._runtime.wake import First, Wake, begin
from zarrix.ml._datasets.dataset import Draws
from zarrix.ml._loading.damage import Repair
from zarrix.ml._loading.options import Options
from zarrix.ml._order.random import draw, key_of
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.decoding import times_less
from zarrix.ml._reading.fetch import Cancel, Entry, fetch
from zarrix.ml._reading.pace import Pace
from zarrix.ml._reading.reading import Reading
from zarrix.ml._reading.substitutes import settle

__all__ = ["Filled", "Filler", "batches_of_a_fill"]

# Where batches share no chunks, reading several in one call only spares calls.
_SMALL_BYTES = 2**22
_SMALL = 16
_MOST = 4096
# Batches that a consumer has while it takes the next one: the one before is not given up yet.
_IN_USE = 2
# How long a fill waits to see whether the consumer has a step at all.
_GLANCE_S = 0.002
# Memory is spent on a long fill if it decodes so many times less.
_WORTH = 1.1
# Each short fill of a window decodes most of the window's chunks once more. With a growth of 2, an
# epoch of one window decoded each chunk five times.
_GROWTH = 8


class _Planned(NamedTuple):
    """A batch that is not read yet; from sample ``inside`` on it belongs to later windows."""

    draws: Draws
    valid: Any
    window: int
    inside: int


class Filled(NamedTuple):
    """What the caller gets of a batch, which may be anything, and how many samples it has."""

    batch: Any
    samples: int


class _Run:
    """One thread that fills; after an error another one goes on."""

    def __init__(self) -> None:
        # The first that calls this fills, or closes before anything is filled.
        self.is_first = First()
        self.thread: threading.Thread | None = None
        self.is_started = self.has_left = False


# The fillers that may have a thread, for the end of the interpreter.
_open: WeakValueDictionary[int, Filler] = WeakValueDictionary()


class Filler:
    """The batches of a schedule, filled by a thread of its own unless nothing is read ahead."""

    def __init__(self, options: Options, schedule: Schedule) -> None:
        self._options, self._schedule = options, schedule
        self._pid = os.getpid()
        self._ready: deque[Filled] = deque()
        self._error: BaseException | None = None
        self._ended = self._stopped = False
        self._run = _Run()
        # How many batches were made ready.
        self._handed = 0
        # For the consumer, for the thread that fills, and for `close`.
        self._more, self._used, self._over = Wake(), Wake(), Wake()
        self._cancel = Cancel()
        self._most = most = batches_of_a_fill(options, schedule.batch_size)
        self._hold = _held_batches(options, schedule.batch_size)
        is_long = most > _small(options, schedule.batch_size)
        self._delivers_while_reading = can_deliver(options) and (reads_blocks(options) or is_long)
        # Blocks have windows of the same length always, on which their order depends.
        self._shares_memory = self._delivers_while_reading and not reads_blocks(options)
        if self._delivers_while_reading and reads_blocks(options):
            # A window begins and ends within batches.
            self._most += 1
        self._pace = Pace()
        # The batch of which only the first samples were read.
        self._divided: tuple[_Planned, Batch] | None = None
        self._slots = options.slots
        self._memory = self._slots.__call__
        self._kinds = options.dataset._kinds()
        self._rules = options.dataset._nan_rules()
        self._marks = options.marks or options.corrupt.kind == "fill"
        # Without a thread: the fills, None if they may have been interrupted, and the one that is
        # not complete.
        self._fills: Iterator[list[_Planned]] | None = None
        self._begun: list[_Planned] | None = None
        self._failed: tuple[BaseException, list[_Planned]] | None = None

    # The caller's side

    def asked(self) -> float:
        """The consumer asks for a batch; returns the time.

        Raises RuntimeError in a forked child, before it could wait for a lock of its parent.
        """
        if os.getpid() != self._pid:
            raise RuntimeError(
                "this iterator belongs to the process that was forked; iter(loader) makes one here"
            )
        now = time.perf_counter()
        self._pace.asked(now)
        return now

    def filled(self) -> deque[Filled]:
        """The batches that are ready, in their order; the caller deletes the one that it takes.

        Raises StopIteration at the end of the epoch. An exception of a signal handler, at any
        point, changes nothing. After an error the next call reads the batch again that failed.
        """
        if self._options.prefetch:
            self._await()
        else:
            self._fill_here()
        ready = self._ready
        if ready:
            return ready
        error = self._error
        if error is not None:
            run = _Run()
            self._run = run
            self._error = None
            try:
                raise error
            finally:
                # The frames of its traceback have batches; this one would keep them with it.
                del error
        raise StopIteration

    @property
    def is_complete(self) -> bool:
        """Whether all batches were taken, rather than that it was closed before."""
        return self._ended and not self._stopped

    def took(self, samples: int, since: float) -> None:
        """A batch of so many samples, which was asked for at that time, is not ready any more."""
        self._used.set()
        self._pace.gave(time.perf_counter())
        self._options.counters.delivered(samples, since)

    def _await(self) -> None:
        while not (self._ready or self._error or self._ended or self._stopped):
            run = self._run
            if not run.is_started:
                _open[id(self)] = self
                # If it is interrupted, the next call starts another thread: one of them fills.
                begin(
                    threading.Thread(
                        target=self._fill_all, args=(run,), name="zarrix-loader", daemon=True
                    )
                )
                run.is_started = True
            # A `took` that was interrupted may not have woken it.
            self._used.set()
            self._more.wait()

    def _fill_here(self) -> None:
        if self._ready or self._stopped:
            return
        failed = self._failed
        if failed is not None:
            self._begun, self._failed = failed[1], None
            try:
                raise failed[0]
            finally:
                del failed
        if self._begun is None:
            fills = self._fills
            if fills is None:
                fills = self._grouped(self._handed)
            # An exception of a signal handler ends a generator.
            self._fills = None
            found = next(fills, None)
            self._begun, self._fills = found, fills
        if self._begun is None:
            self._ended = True
            return
        # Kept until it is complete: an interrupted fill is read again.
        self._failed = None
        ready = deque(self._fill(self._begun))
        handed = self._handed + len(ready)
        self._ready, self._begun, self._handed = ready, None, handed

    def close(self, seconds: float = math.inf) -> None:
        """Stop, and wait until nothing is read any more; nothing is done in a forked child.

        A finalizer waits for so many seconds at most: garbage collection may run in a thread that
        holds a lock which the reading takes.
        """
        if os.getpid() != self._pid:
            return
        until = time.monotonic() + seconds
        self._stopped = True
        self._cancel.cancel()
        self._ready = deque()
        self._more.set()
        self._used.set()
        run = self._run
        if run.is_first():
            run.has_left = True
        while not run.has_left and run.thread is not threading.current_thread():
            if time.monotonic() > until:
                return
            self._over.wait()
        if run.thread is not None and run.thread is not threading.current_thread():
            run.thread.join()
        self._ready, self._error, self._failed, self._divided = deque(), None, None, None

    # The thread's side

    def _fill_all(self, run: _Run) -> None:
        if not run.is_first():
            return
        run.thread = threading.current_thread()
        try:
            self._fill_rest()
            self._ended = True
        except BaseException as error:
            # Before the caller has the error and begins another run.
            run.has_left = True
            # Every error is one for the caller; after `close` no call raises it.
            if self._stopped:
                self._ended = True
            else:
                self._error = error
        finally:
            run.has_left = True
            self._more.set()
            self._over.set()

    def _fill_rest(self) -> None:
        """Make all batches ready that are not yet, unless the filler is closed."""
        self._divided = self._failed = None
        for fill in self._grouped(self._handed):
            since = time.perf_counter()
            if self._delivers_while_reading:
                for batch in self._window(fill):
                    self._hand_over([batch])
                    del batch
            else:
                self._hand_over(self._fill(fill))
            self._pace.read(time.perf_counter() - since, len(fill))
            if self._failed is not None:
                failed, self._failed = self._failed, None
                try:
                    raise failed[0]
                finally:
                    del failed
            # Batches that were taken meanwhile make room for new ones.
            room = max(self._options.prefetch - 1, self._room(len(fill)))
            while len(self._ready) > room and not self._stopped:
                self._used.wait(None)
            if self._stopped:
                return

    def _room(self, filled: int) -> int:
        """How many batches may wait to be used when the next fill begins, after one of so many."""
        if self._shares_memory:
            return self._hold - self._most - _IN_USE
        return filled if filled > 1 else 0

    def _next_fill(self) -> int:
        """How many batches the next fill may have, beside those that wait to be used."""
        if self._shares_memory:
            if not self._pace.is_known:
                time.sleep(_GLANCE_S)
            ready = len(self._ready)
            most = max(self._most, self._hold - ready - _IN_USE)
            if self._options.kind == "sequential":
                # The chunks of the first batches are the first chunks.
                return most
            return self._pace.at_most(most, ready, time.perf_counter())
        return self._most

    def _hand_over(self, batches: list[Filled]) -> None:
        if not self._stopped:
            self._ready.extend(batches)
            self._handed += len(batches)
        self._more.set()

    def _grouped(self, skipped: int) -> Iterator[list[_Planned]]:
        """The batches but the first ones in fills: those of one window, up to half of the memory.

        There are 1, 8, 64, ... of them in a fill if none is delivered before its end. Batches of no
        window are one at first. Then there are as many as are worth it and, in a shuffle, as the
        consumer's steps leave time for (`Pace`): chunks of a shard are read together, so that
        the first batch would wait for many of the others.
        """
        most, found = 1, list[_Planned]()
        if self._delivers_while_reading and reads_blocks(self._options):
            most = self._most
        for planned in self._planned(skipped):
            if found and (len(found) >= most or planned.window != found[-1].window):
                yield found
                if self._delivers_while_reading:
                    most = self._next_fill()
                else:
                    most = min(self._most, most * _GROWTH)
                found = []
            found.append(planned)
        if found:
            yield found
        if self._delivers_while_reading:
            # What is left of a batch whose samples are of two windows.
            yield []

    def _planned(self, skipped: int) -> Iterator[_Planned]:
        options, schedule = self._options, self._schedule
        schedule = replace(schedule, first=schedule.first + skipped * schedule.whole)
        for share in schedule.shares():
            items, rounds = schedule.order.at(share.positions)
            draws = options.dataset._draws(items, options.seed, options.epoch, rounds)
            draws.extras["seeds"] = draw(
                options.seed, "batch", options.epoch, items, rounds=rounds
            )[0]
            begin = 0
            for place, size in enumerate(share.sizes):
                part = slice(begin, begin + size)
                begin += size
                valid = None if share.valid is None else share.valid[part]
                window = 0 if share.windows is None else int(share.windows[place])
                inside = size if share.inside is None else min(size, int(share.inside[place]))
                yield _Planned(draws[part], valid, window, inside)

    def _window(self, planned: list[_Planned]) -> Iterator[Filled]:
        """Batches of one window, each as soon as it is complete, while the others are read."""
        dataset, counters = self._options.dataset, self._options.counters
        waiting: deque[tuple[_Planned, Batch, int]] = deque()
        entries: list[Entry] = []
        divided, self._divided = self._divided, None
        if divided is not None:
            one, batch = divided
            rest = slice(one.inside, len(one.draws))
            entries += dataset._entries(one.draws[rest], batch, np.arange(rest.start, rest.stop))
            waiting.append((one, batch, len(entries)))
        for one in planned:
            batch, more = dataset._batch(one.draws, self._memory)
            if one.inside < len(one.draws) and one is planned[-1]:
                self._divided = one, batch
                entries += dataset._entries(one.draws[0 : one.inside], batch)
            else:
                entries += more
                waiting.append((one, batch, len(entries)))
            del more
        if not entries:
            return
        size = sum(entry.out.nbytes for entry in entries)
        reading = Reading(
            entries,
            self._cancel,
            lambda seconds: counters.read(seconds, size),
            self._options.threads,
        )
        # The batches are the consumer's: what it has used is free for the next window.
        del entries, batch, divided
        try:
            while waiting and not self._stopped and reading.has(waiting[0][2]):
                one, batch, _ = waiting.popleft()
                yield self._finished(self._marked(batch, one), one)
                del batch
        finally:
            reading.join()
        if reading.error is None or self._stopped:
            return
        # One by one, so that all batches before the one that fails are delivered.
        again = [one for one, _, _ in waiting]
        if self._divided is not None:
            again.append(self._divided[0])
            self._divided = None
        waiting.clear()
        for one in again:
            yield from self._fill([one])

    def _marked(self, batch: Batch, one: _Planned) -> Batch:
        """The batch with its seeds, what is valid if that is asked for, and rules for NaN."""
        batch.seeds = batch.pop("seeds")
        if self._marks:
            valid = batch.get("valid")
            valid = np.ones(len(one.draws), np.bool_) if valid is None else valid
            batch["valid"] = valid if one.valid is None else valid & one.valid
        if self._rules:
            options = self._options
            options.counters.rejected += settle(
                options.dataset,
                self._rules,
                batch,
                one.draws,
                options.seed,
                options.epoch,
                cancel=self._cancel,
                passes=options.corrupt.kind != "raise",
            )
        return batch

    def _fill(self, planned: list[_Planned]) -> list[Filled]:
        options, since = self._options, time.perf_counter()
        batches: list[Batch] = []
        entries: list[Entry] = []
        cuts = [0]
        for one in planned:
            batch, more = options.dataset._batch(one.draws, self._memory)
            batches.append(batch)
            entries.extend(more)
            cuts.append(len(entries))
        if options.corrupt.kind == "raise":
            fetch(entries, self._cancel, threads=options.threads)
        else:
            repair = Repair(options, [one.draws for one in planned], entries, cuts)
            fetch(entries, self._cancel, repair, threads=options.threads)
            repair.finish(batches, self._cancel)
        for batch, one in zip(batches, planned, strict=True):
            self._marked(batch, one)
        size = sum(entry.out.nbytes for entry in entries)
        options.counters.read(time.perf_counter() - since, size)
        ready: list[Filled] = []
        for place, batch in enumerate(batches):
            if self._stopped:
                break
            try:
                ready.append(self._finished(batch, planned[place]))
            except Exception as error:
                if not ready:
                    raise
                # Batches before the one that failed are delivered first.
                self._failed = error, planned[place:]
                break
        return ready

    def _finished(self, batch: Batch, planned: _Planned) -> Filled:
        options = self._options
        found: Any = batch
        if options.transform is not None:
            since = time.perf_counter()
            first = int(planned.draws.items[0])
            key = key_of(options.seed, "batch", options.epoch, first)
            found = options.transform(batch, np.random.Generator(np.random.Philox(key=key)))
            found = batch if found is None else found
            options.counters.transform_s += time.perf_counter() - since
        if options.deliver is not None:
            found = options.deliver(found, self._kinds)
        return Filled(found, len(planned.draws))


def can_deliver(options: Options) -> bool:
    """Whether batches may be delivered while later ones of their call are read."""
    return options.corrupt.kind == "raise" and options.prefetch > 0


def reads_blocks(options: Options) -> bool:
    """Whether batches of one window share chunks. Arrays in memory have none."""
    return options.kind == "block" and options.share > 0


def batches_of_a_fill(options: Options, batch_size: int) -> int:
    """How many batches one call reads at most."""
    small = _small(options, batch_size)
    most = max(1, min(_held_batches(options, batch_size) // 2, _MOST))
    if reads_blocks(options):
        return most
    if not can_deliver(options) or most <= small:
        return small
    # Neighbours share chunks wherever they are, random samples only if there are enough of them.
    size = len(options.dataset)
    items = size if options.kind == "sequential" else most * batch_size
    return most if times_less(options.share, items, size) > _WORTH else small


def _held_batches(options: Options, batch_size: int) -> int:
    """How many batches the loader's memory holds."""
    return options.memory // (options.sample_bytes * batch_size)


def _small(options: Options, batch_size: int) -> int:
    each = options.sample_bytes * batch_size
    return max(1, min(min(_SMALL_BYTES, options.memory // 2) // each, _SMALL))


@atexit.register
def _close_all() -> None:
    """At the end of the interpreter, however long it takes: threads still run then."""
    for reference in _open.valuerefs():
        filler = reference()
        if filler is not None:
            filler.close()
