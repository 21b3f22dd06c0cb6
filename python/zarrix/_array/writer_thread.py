"""Blocks of a stream, stored in the background and shown to readers in their order.

The chunks of a block are stored first, in parallel, and then the array's shape grows: even if the
process is killed at any point, the shape covers only stored chunks. We rejected growing the shape
first, as `Array.append` must because several processes may append at the same time: a crash would
then leave fill values instead of frames. The next writer deletes chunks that a killed writer left
beyond the shape, before they could become visible.

Two blocks are stored at a time, so that processors that have finished their part of one block begin
the next; a third block waits, so that neither has to. The shape grows in one step over all stored
blocks up to the first that is not stored. It grows when no block is being stored, or some time
after it last grew.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from zarrix._array import resize
from zarrix._array.handle import ArrayHandle
from zarrix._array.length_lock import LengthLock
from zarrix._errors import WriterError
from zarrix._metadata.array import ArrayMetadata
from zarrix._runtime.wake import Wake, begin

__all__ = ["Block", "Storing"]

_AT_A_TIME = 2
_TAKEN = _AT_A_TIME + 1
"""Blocks that are being stored, or wait to be stored."""

_SHOW_SECONDS = 0.02
"""Minimum time between two changes of the shape, while blocks follow one another."""


@dataclass(frozen=True, slots=True)
class Block:
    """Frames that are stored together.

    Attributes
    ----------
    begin : int
        Position of the first frame on the axis.
    count : int
        Number of frames; the rest of ``values`` only fills the last chunk.
    values : ndarray
        Ends at a chunk boundary, so that no chunk is read; its memory is reused if the block is
        complete.
    whole : bool
        Whether the memory may be used for another block.
    """

    begin: int
    count: int
    values: Any
    whole: bool


class Storing:
    """Stores blocks along ``axis`` of ``array``, in their order.

    Attributes
    ----------
    stored : int
        Length of the axis that readers see.
    failure : BaseException or None
        The first error; blocks after the one that failed are dropped.
    spare : list of ndarray
        Memory of blocks that are stored.
    is_ending : bool
        Whether `end` was called: no block is accepted.
    """

    def __init__(self, array: ArrayHandle, axis: int) -> None:
        self._lock = LengthLock(array, alone=True)
        self._array, self._axis = array, axis
        self._frame: tuple[int, ...] = ()
        self._chunk_shape: tuple[int, ...] = ()
        self.stored = 0
        self.failure: BaseException | None = None
        self.spare: list[Any] = []
        # The caller adds a block and counts it; nothing else of what the threads use is the
        # caller's to change, so that a signal may interrupt it.
        self._blocks: dict[int, Block] = {}
        self._taken = 0
        self._last: tuple[int, int] | None = None
        self.is_ending = False
        # For the threads that store, and for the caller.
        self._arrived, self._changed = Wake(_AT_A_TIME), Wake()
        self._change = threading.Lock()
        # The attributes below are guarded by `_change`. One thread at a time makes blocks visible.
        self._begun = self._stored = 0
        self._showing = False
        self._shown_at = 0.0
        self._done = 0
        self._ends: dict[int, int | None] = {}
        self._is_whole = True
        self._drop_from: float = math.inf
        self._growing_to = 0
        self._threads = [
            threading.Thread(target=self._work, name="zarrix-writer", daemon=True)
            for _ in range(_AT_A_TIME)
        ]

    def open(self) -> None:
        """Take the lock, and erase what a killed writer left; after any exception call `end`."""
        self._lock.acquire()
        snapshot = self._array._load()
        metadata = snapshot.metadata
        self._frame = tuple(n for i, n in enumerate(metadata.shape) if i != self._axis)
        self._chunk_shape = metadata.chunk_shape
        self.stored = self._growing_to = metadata.shape[self._axis]
        resize.erase_beyond(self._array, snapshot, self._axis)
        for thread in self._threads:
            begin(thread)

    def put(self, block: Block) -> None:
        """Accept a block; waits while the maximum number of blocks is being stored.

        If a signal handler raises an exception, make the same call again: the block is accepted
        once.
        """
        frames = block.begin, block.count
        if frames != self._last:
            while self._taken - self._stored >= _TAKEN:
                self._changed.wait()
            # No call here: an exception of a signal handler comes before these lines, or after.
            self._blocks[self._taken] = block
            self._last = frames
            self._taken += 1
        self._arrived.set()

    def wait(self) -> None:
        """Wait until every block is stored, or dropped after an error."""
        while self._done != self._taken or self._showing:
            self._arrived.set()
            self._changed.wait()

    def end(self) -> None:
        """Store the waiting blocks, and accept no more."""
        self.is_ending = True
        for _ in self._threads:
            self._arrived.set()
        for thread in self._threads:
            # One that an interrupted call starts later ends at once.
            if thread.is_alive():
                thread.join()
        # If another process has changed the length, the chunks beyond it belong to that process.
        if self.failure is not None and not isinstance(self.failure, WriterError):
            # The caller gets the first error; the next writer deletes the remaining chunks.
            with contextlib.suppress(Exception):
                resize.erase_beyond(self._array, self._array._load(), self._axis)
        self._lock.release()

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            number, block = taken
            end: int | None = None
            try:
                # An earlier block is stored also where a later one has failed meanwhile.
                if number < self._drop_from:
                    self._store(block)
                    end = block.begin + block.count
            except BaseException as error:
                self._fail(error, number)
            if block.whole and len(self.spare) < _TAKEN:
                self.spare.append(block.values)
            with self._change:
                self._ends[number] = end
                self._stored += 1
                shows = not self._showing and self._is_due()
                self._showing = self._showing or shows
            # A reference here would keep the block until the next one arrives.
            del taken, block
            self._changed.set()
            if shows:
                self._show()

    def _next(self) -> tuple[int, Block] | None:
        """Wait for the next block, and take it; None at the end."""
        while True:
            with self._change:
                number = self._begun
                # Counted blocks only: the last one that is stored is made visible at once.
                if number < self._taken:
                    self._begun += 1
                    return number, self._blocks.pop(number)
                if self.is_ending:
                    return None
            self._arrived.wait(None)

    def _is_due(self) -> bool:
        all_are_stored = self._done + len(self._ends) == self._taken
        return all_are_stored or time.monotonic() - self._shown_at >= _SHOW_SECONDS

    def _fail(self, error: BaseException, number: int) -> None:
        with self._change:
            self.failure = self.failure or error
            self._drop_from = min(self._drop_from, number)

    def _store(self, block: Block) -> None:
        """Store the chunks of a block, which are not visible yet."""
        array, axis = self._array, self._axis
        with array._writing():
            least = self.stored
            snapshot = array._load()
            metadata = snapshot.metadata
            # It may grow meanwhile.
            self._check_length(metadata.shape, least, self._growing_to)
            shape = list(metadata.shape)
            shape[axis] = block.begin + block.values.shape[axis]
            longer = replace(snapshot, metadata=self._reaching(metadata, shape))
            io = resize.io_to_chunk_end(array, longer, axis)
            ranges = [(0, 1, size) for size in shape]
            ranges[axis] = (block.begin, 1, block.values.shape[axis])
            array._location.store._before_write(array._location.path, tuple(ranges))
            io.write(tuple(ranges), block.values, array._fsync)

    def _show(self) -> None:
        """Grow the shape over all blocks up to the first that is not stored."""
        while True:
            end: int | None = None
            with self._change:
                first = self._done
                while self._done in self._ends:
                    next_end = self._ends.pop(self._done)
                    self._is_whole = self._is_whole and next_end is not None
                    end = next_end if self._is_whole else end
                    self._done += 1
                if self._done == first:
                    self._showing = False
                    break
            try:
                if end is not None:
                    self._grow(end)
            except BaseException as error:
                self._is_whole = False
                self._fail(error, 0)
            self._shown_at = time.monotonic()
        self._changed.set()

    def _grow(self, end: int) -> None:
        """Make the stored blocks up to ``length`` visible to readers."""

        def grow(metadata: ArrayMetadata) -> ArrayMetadata:
            self._check_length(metadata.shape, self.stored, self.stored)
            shape = list(metadata.shape)
            shape[self._axis] = end
            return self._reaching(metadata, shape)

        self._growing_to = end
        with self._array._writing():
            self._array._rewrite(grow)
        self.stored = end

    def _reaching(self, metadata: ArrayMetadata, shape: list[int]) -> ArrayMetadata:
        # In a rectilinear grid, new chunks are as long as the longest chunk so far.
        return metadata.with_shape(tuple(shape), self._chunk_shape)

    def _check_length(self, shape: tuple[int, ...], least: int, most: int) -> None:
        """Raise an error unless the array has the expected length, and its shape along the
        other axes.
        """
        frame = tuple(n for i, n in enumerate(shape) if i != self._axis)
        if frame != self._frame or not least <= shape[self._axis] <= most:
            expected = list(self._frame)
            expected.insert(self._axis, self.stored)
            raise WriterError(
                f"{self._array._title()} has the shape {shape} where its writer left "
                f"{tuple(expected)}; only one may change the length of an axis while a writer is "
                "open"
            )
