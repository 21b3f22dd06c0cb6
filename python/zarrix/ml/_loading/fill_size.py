"""How many batches one native call reads, a fill.

A fill has the batches of one window of blocks, so that each chunk of the window is decoded once.
The batches of other orders are read together, too, where their samples share chunks: as many as the
loader's memory holds beside those that wait to be used, which is at least half of it.

Where a window is not read in a thread, or replaces what is corrupt at the end of a call, its first
fills are short, so that the first batch does not wait for the window.
"""

from __future__ import annotations

import time
from collections.abc import Sized
from dataclasses import dataclass

from zarrix.ml._loading.options import Options
from zarrix.ml._reading.decoding import times_less
from zarrix.ml._reading.pace import Pace

__all__ = ["FillSize", "batches_of_a_fill"]

# Where batches share no chunks, reading several in one call only spares calls.
_SMALL_BYTES = 2**22
_SMALL = 16
_MAX_BATCHES = 4096
# Batches that a consumer has while it takes the next one: the one before is not given up yet.
_IN_USE = 2
# How long a fill waits to see whether the consumer has a step at all.
_GLANCE_S = 0.002
# Memory is spent on a long fill if it decodes so many times less.
_WORTH = 1.1
# Each short fill of a window decodes most of the window's chunks once more. With a growth of 2, an
# epoch of one window decoded each chunk five times.
_GROWTH = 8


@dataclass(frozen=True)
class FillSize:
    """How many batches the fills of a schedule have.

    Attributes
    ----------
    max_batches : int
        Of a fill beside batches that wait to be used.
    held : int
        Batches that the loader's memory holds.
    prefetch : int
        Batches that the caller wants to be read ahead at least.
    delivers_while_reading : bool
        Whether batches of a fill are delivered while the rest of it is read.
    has_windows : bool
        Whether batches of one window share chunks.
    is_sequential : bool
        Whether the chunks of the first batches are the first chunks.
    has_workers : bool
        Whether processes transform batches while the next ones are read.
    """

    max_batches: int
    held: int
    prefetch: int
    delivers_while_reading: bool
    has_windows: bool
    is_sequential: bool
    has_workers: bool

    @classmethod
    def of(cls, options: Options, batch_size: int) -> FillSize:
        count, has_windows = batches_of_a_fill(options, batch_size), _has_windows(options)
        is_long = has_windows or count > _small(options, batch_size)
        delivers = is_long and _can_deliver(options)
        if delivers and has_windows:
            # A window begins and ends within batches.
            count += 1
        return cls(
            max_batches=count,
            held=_held_batches(options, batch_size),
            prefetch=options.prefetch,
            delivers_while_reading=delivers,
            has_windows=has_windows,
            is_sequential=options.kind == "sequential",
            has_workers=options.workers is not None,
        )

    @property
    def shares_memory(self) -> bool:
        """Whether a fill may have the memory that waiting batches leave.

        Blocks have windows of the same length always, on which their order depends.
        """
        return self.delivers_while_reading and not self.has_windows

    @property
    def first(self) -> int:
        """How many batches the first fill may have."""
        return self.max_batches if self.delivers_while_reading and self.has_windows else 1

    def after(self, count: int, waiting: Sized, pace: Pace) -> int:
        """How many batches a fill may have after one of ``count``.

        There are 1, 8, 64, ... if none is delivered before the end of its fill. Otherwise there are
        as many as are worth it and, in a shuffle, as the consumer's steps leave time for: chunks of
        a shard are read together, so that the first batch would wait for many of the others.
        """
        if not self.delivers_while_reading:
            return min(self.max_batches, count * _GROWTH)
        if not self.shares_memory:
            return self.max_batches
        if not pace.is_known:
            time.sleep(_GLANCE_S)
        ready = len(waiting)
        possible = max(self.max_batches, self.held - ready - _IN_USE)
        if self.is_sequential:
            return possible
        return pace.at_most(possible, ready, time.perf_counter())

    def room(self, count: int, pace: Pace) -> int:
        """How many batches may wait to be used when the fill after one of ``count`` begins.

        For a consumer with short steps few of them wait, so that nearly all memory is for one fill:
        it decodes less than two fills of half the memory, by more than what the steps would save
        beside it. Workers would have nothing to do while it is read.
        """
        possible = count if count > 1 else 0
        if self.shares_memory:
            is_short = pace.is_fast and not (self.is_sequential or self.has_workers)
            possible = 0 if is_short else self.held - self.max_batches - _IN_USE
        return max(self.prefetch - 1, possible)


def batches_of_a_fill(options: Options, batch_size: int) -> int:
    """How many batches one call reads at most."""
    small = _small(options, batch_size)
    count = max(1, min(_held_batches(options, batch_size) // 2, _MAX_BATCHES))
    if _has_windows(options):
        return count
    if not _can_deliver(options) or count <= small:
        return small
    # Neighbours share chunks wherever they are, random samples only if there are enough of them.
    size = len(options.dataset)
    items = size if options.kind == "sequential" else count * batch_size
    return count if times_less(options.share, items, size) > _WORTH else small


def _can_deliver(options: Options) -> bool:
    """Whether batches may be delivered while later ones of their call are read."""
    return options.corrupt.kind == "raise" and options.prefetch > 0


def _has_windows(options: Options) -> bool:
    """Whether batches of one window share chunks. Arrays in memory have none."""
    return options.kind == "block" and options.share > 0


def _held_batches(options: Options, batch_size: int) -> int:
    """How many batches the loader's memory holds."""
    return options.memory // (options.sample_bytes * batch_size)


def _small(options: Options, batch_size: int) -> int:
    batch_bytes = options.sample_bytes * batch_size
    return max(1, min(min(_SMALL_BYTES, options.memory // 2) // batch_bytes, _SMALL))
