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
import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarrix._array import resize
from zarrix._array.length_lock import LengthLock
from zarrix._errors import WriterError
from zarrix._metadata.array import ArrayMetadata

if TYPE_CHECKING:
    from zarrix._array.protocols import StoredArray

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
    """

    def __init__(self, array: StoredArray, axis: int) -> None:
        self._lock = LengthLock(array, alone=True)
        try:
            metadata = array._load()
            self._array = array
            self._axis = axis
            self._frame = tuple(n for i, n in enumerate(metadata.shape) if i != axis)
            self.stored = metadata.shape[axis]
            self._chunk_shape = metadata.chunk_shape
            self.failure: BaseException | None = None
            self.spare: list[Any] = []
            self._blocks: queue.SimpleQueue[tuple[int, Block] | None] = queue.SimpleQueue()
            self._room = threading.Semaphore(_TAKEN)
            self._taken = 0
            self._change = threading.Condition()
            # The attributes below are guarded by `_change`. One thread at a time makes blocks
            # visible.
            self._showing = False
            self._shown_at = 0.0
            self._done = 0
            self._ends: dict[int, int | None] = {}
            self._is_whole = True
            self._drop_from: float = math.inf
            self._growing_to = self.stored
            resize.erase_beyond(array, metadata, axis)
            self._threads = [
                threading.Thread(target=self._work, name="zarrix-writer", daemon=True)
                for _ in range(_AT_A_TIME)
            ]
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._lock.release()
            raise

    def put(self, block: Block) -> None:
        """Accept a block; waits while the maximum number of blocks is being stored."""
        self._room.acquire()
        number = self._taken
        # Counted before a thread can have stored it, because the last stored block is made visible
        # at once.
        self._taken += 1
        self._blocks.put((number, block))

    def wait(self) -> None:
        """Wait until every block is stored, or dropped after an error."""
        with self._change:
            self._change.wait_for(lambda: self._done == self._taken and not self._showing)

    def end(self) -> None:
        """Store the waiting blocks, and accept no more."""
        for _ in self._threads:
            self._blocks.put(None)
        for thread in self._threads:
            thread.join()
        # If another process has changed the length, the chunks beyond it belong to that process.
        if self.failure is not None and not isinstance(self.failure, WriterError):
            # The caller gets the first error; the next writer deletes the remaining chunks.
            with contextlib.suppress(Exception):
                resize.erase_beyond(self._array, self._array._load(), self._axis)
        self._lock.release()

    def _work(self) -> None:
        while (taken := self._blocks.get()) is not None:
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
                shows = not self._showing and self._is_due()
                self._showing = self._showing or shows
            # A reference here would keep the block until the next one arrives.
            del taken, block
            self._room.release()
            if shows:
                self._show()

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
            metadata = array._load()
            # It may grow meanwhile.
            self._check_length(metadata.shape, least, self._growing_to)
            shape = list(metadata.shape)
            shape[axis] = block.begin + block.values.shape[axis]
            io = resize.io_to_chunk_end(array, self._reaching(metadata, shape), axis)
            ranges = [(0, 1, size) for size in shape]
            ranges[axis] = (block.begin, 1, block.values.shape[axis])
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
                    self._change.notify_all()
                    return
            try:
                if end is not None:
                    self._grow(end)
            except BaseException as error:
                self._is_whole = False
                self._fail(error, 0)
            self._shown_at = time.monotonic()

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
