"""Blocks of a stream, stored in the background and shown to readers in their order.

A block's chunks are stored first, in parallel, and then the array's shape grows over them: whatever
is killed when, what the shape covers is there. The option that lost grew the shape first, as
`Array.append` must, which others may do at the same time: a crash then leaves fill where frames
should be. What a killed writer left beyond the shape is deleted by the next one, before it could
show up again.

Two blocks are stored at a time, so that the end of one, where some processors have nothing left of
it, is the begin of the next; the shape grows over a block when it has grown over all before it.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarrix import _resize
from zarrix._errors import WriterError
from zarrix._length_lock import LengthLock
from zarrix._metadata import ArrayMetadata

if TYPE_CHECKING:
    from zarrix._array import Array

__all__ = ["Block", "Storing"]

_AT_A_TIME = 2


@dataclass(frozen=True, slots=True)
class Block:
    """Frames that are stored together.

    Attributes
    ----------
    begin : int
        Where on the axis the first of them goes.
    count : int
        How many frames there are; what follows in ``values`` only fills the last chunk.
    values : ndarray
        Ends where a chunk ends, so that no chunk is read; its memory comes back when it is whole.
    whole : bool
        Whether the memory may be used for another block.
    """

    begin: int
    count: int
    values: Any
    whole: bool


class Storing:
    """Stores blocks along ``axis`` of ``array``, in the order in which it gets them.

    Attributes
    ----------
    stored : int
        Length of the axis that readers see.
    failure : BaseException or None
        What ended it; blocks that come after are dropped.
    spare : list of ndarray
        Memory of blocks that are stored.
    """

    def __init__(self, array: Array, axis: int) -> None:
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
            self._room = threading.Semaphore(_AT_A_TIME)
            self._taken = 0
            # What follows is of whoever has the turn: the block with the number `_done`.
            self._done = 0
            self._turn = threading.Condition()
            _resize.erase_beyond(array, metadata, axis)
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
        """Take a block; waits while as many are being stored as can be."""
        self._room.acquire()
        self._blocks.put((self._taken, block))
        self._taken += 1

    def wait(self) -> None:
        """Return when every block is stored, or dropped after a failure."""
        with self._turn:
            self._turn.wait_for(lambda: self._done == self._taken)

    def end(self) -> None:
        """Store what is waiting and take no more."""
        for _ in self._threads:
            self._blocks.put(None)
        for thread in self._threads:
            thread.join()
        # Where the length is somebody else's by now, so is what lies behind it.
        if self.failure is not None and not isinstance(self.failure, WriterError):
            # The failure is what the caller hears of; the next writer deletes what stays.
            with contextlib.suppress(Exception):
                _resize.erase_beyond(self._array, self._array._load(), self._axis)
        self._lock.release()

    def _work(self) -> None:
        while (taken := self._blocks.get()) is not None:
            number, block = taken
            failure: BaseException | None = None
            try:
                if self.failure is None:
                    self._store(block)
            except BaseException as error:
                failure = error
            with self._turn:
                while self._done != number:
                    self._turn.wait()
                try:
                    if self.failure is None and failure is None:
                        self._show(block)
                except BaseException as error:
                    failure = error
                self.failure = self.failure or failure
                if block.whole and len(self.spare) < _AT_A_TIME:
                    self.spare.append(block.values)
                # A block that is referred to here would live until the next one comes.
                del taken, block, failure
                self._done += 1
                self._turn.notify_all()
            self._room.release()

    def _store(self, block: Block) -> None:
        """Store the chunks of a block, which nobody sees yet."""
        array, axis = self._array, self._axis
        with array._writing():
            with self._turn:
                metadata = array._load()
                self._check_length(metadata.shape)
            shape = list(metadata.shape)
            shape[axis] = block.begin + block.values.shape[axis]
            io = _resize.io_to_chunk_end(array, self._reaching(metadata, shape), axis)
            ranges = [(0, 1, size) for size in shape]
            ranges[axis] = (block.begin, 1, block.values.shape[axis])
            io.write(tuple(ranges), block.values, array._fsync)

    def _show(self, block: Block) -> None:
        """Grow the shape over a block."""
        end = block.begin + block.count

        def grow(metadata: ArrayMetadata) -> ArrayMetadata:
            self._check_length(metadata.shape)
            shape = list(metadata.shape)
            shape[self._axis] = end
            return self._reaching(metadata, shape)

        with self._array._writing():
            self._array._rewrite(grow)
        self.stored = end

    def _reaching(self, metadata: ArrayMetadata, shape: list[int]) -> ArrayMetadata:
        # Where chunks are listed, those that come are as long as the longest so far.
        return metadata.with_shape(tuple(shape), self._chunk_shape)

    def _check_length(self, shape: tuple[int, ...]) -> None:
        expected = list(self._frame)
        expected.insert(self._axis, self.stored)
        if shape != tuple(expected):
            raise WriterError(
                f"{self._array._title()} has the shape {shape} where its writer left "
                f"{tuple(expected)}; only one may change the length of an axis while a writer is "
                "open"
            )
