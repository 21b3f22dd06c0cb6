"""Blocks of a stream, stored one after the other by a thread of their own.

A block's chunks are stored first, in parallel, and then the array's shape grows over them: whatever
is killed when, what the shape covers is there. The option that lost grew the shape first, as
`Array.append` must, which others may do at the same time: a crash then leaves fill where frames
should be. What a killed writer left beyond the shape is deleted by the next one, before it could
show up again.

One block may wait while another is stored, and who has a third one waits.
"""

from __future__ import annotations

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
        Memory of a block that is stored.
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
            self._blocks: queue.Queue[Block | None] = queue.Queue(maxsize=1)
            _resize.erase_beyond(array, metadata, axis)
            self._thread = threading.Thread(target=self._work, name="zarrix-writer", daemon=True)
            self._thread.start()
        except BaseException:
            self._lock.release()
            raise

    def put(self, block: Block) -> None:
        """Take a block; waits while another one waits."""
        self._blocks.put(block)

    def wait(self) -> None:
        """Return when every block is stored, or dropped after a failure."""
        self._blocks.join()

    def end(self) -> None:
        """Store what is waiting and take no more."""
        self._blocks.put(None)
        self._thread.join()
        self._lock.release()

    def _work(self) -> None:
        while (block := self._blocks.get()) is not None:
            try:
                if self.failure is None:
                    self._store(block)
            except BaseException as error:
                self.failure = error
            finally:
                # A block that is referred to here would live until the next one comes.
                del block
                self._blocks.task_done()
        self._blocks.task_done()

    def _store(self, block: Block) -> None:
        array, axis = self._array, self._axis
        end, padded = block.begin + block.count, block.begin + block.values.shape[axis]
        with array._writing():
            metadata = array._load()
            self._check_length(metadata.shape)
            shape = list(metadata.shape)
            shape[axis] = padded
            io = _resize.io_to_chunk_end(array, self._reaching(metadata, shape), axis)
            ranges = [(0, 1, size) for size in shape]
            ranges[axis] = (block.begin, 1, padded - block.begin)
            io.write(tuple(ranges), block.values, array._fsync)
            shape[axis] = end

            def grow(metadata: ArrayMetadata) -> ArrayMetadata:
                self._check_length(metadata.shape)
                return self._reaching(metadata, shape)

            array._rewrite(grow)
        self.stored = end
        if block.whole and not self.spare:
            self.spare.append(block.values)

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
